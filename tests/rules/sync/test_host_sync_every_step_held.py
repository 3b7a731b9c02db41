"""ACC208 host-sync-every-step for what a module holds: buffers, parameters and other modules; silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import IMPORTS

NET = (
    IMPORTS
    + """
class Net(nn.Module):
    def __init__(self, found=None):
        super().__init__()
        self.l = nn.Linear(8, 2)
        self.register_buffer("at", torch.zeros(1))
        self.register_buffer("begun", tensor=torch.tensor(0))
        self.register_buffer("found", found)
        self.register_buffer("late", None)
        self.scale = nn.Parameter(torch.ones(8))
        self.count = 0
    def forward(self, x):
        BODY
        return self.l(x)
model = Net(torch.load("found.pt")).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in DataLoader(TensorDataset(torch.zeros(8, 8)), batch_size=8):
    loss = model(x.cuda()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
)
"""A model whose steps do not wait, but for what its ``forward`` does."""

PAIRS = {
    "a counter of Python": ("at = int(self.count)", "at = int(self.at)"),
    "a flag of Python": ("if self.count == 0: self.count = 1", "if self.begun == 0: self.begun.fill_(1)"),
    "what is not there yet": ("if self.late: x = x + 1", "if self.begun: x = x + 1"),
    "whether it is there": ("if self.found is None: x = x + 1", "if self.found.sum() > 0: x = x + 1"),
    "how many a buffer has": ("at = int(len(self.at))", "at = int(self.at[0])"),
    "the length of a slice": ("x = x[:self.count]", "x = x[:self.begun]"),
    "a condition on a size": ("while self.at.numel() > 9: x = x + 1", "while self.at.sum() > 9: x = x + 1"),
    "a parameter's size": ("if self.scale.size(0) > 3: x = x + 1", "if self.scale.norm() > 3: x = x + 1"),
    "a mode alone": ("if self.training and self.count: x = x + 1", "if self.training and self.begun: x = x + 1"),
    "one behind another": ("if self.count or self.late: x = x + 1", "if self.count or (x > 9).any(): x = x + 1"),
    "not for the truth": ("a = self.count or x.sum()", "a = not (self.count or x.sum())"),
    "a comprehension": ("a = [i for i in (1, 2) if i > 1]", "a = [i for i in (1, 2) if x.sum() > i]"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_reports_tensors_that_a_module_holds(case: str, tmp_path: Path) -> None:
    silent, spoken = (NET.replace("BODY", one) for one in PAIRS[case])
    assert findings_of("ACC208", silent, tmp_path) == []
    (found,) = findings_of("ACC208", spoken, tmp_path)
    assert "at every step" in found.message


HOLDING = (
    IMPORTS
    + """
class Asks(nn.Module):
    def forward(self, x):
        return x * x.sum().item()
class Keeps(nn.Module):
    def forward(self, x):
        return x * x.sum()
class Net(nn.Module):
    def __init__(self, layer, layers=()):
        super().__init__()
        self.l = nn.Linear(8, 2)
        parts = []
        for i in range(3):
            parts.append(Keeps())
        MAKE
    def forward(self, x):
        CALL
        return self.l(x)
model = Net(Keeps(), [Keeps() for i in range(3)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in DataLoader(TensorDataset(torch.zeros(8, 8)), batch_size=8):
    loss = model(x.cuda()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
)
"""A model whose parts do not wait."""

PARTS = {
    "a list": ("self.a = nn.ModuleList([Keeps() for i in range(3)])", "for one in self.a: x = one(x)"),
    "a list that grows": (
        "self.a = nn.ModuleList()\n        for i in range(3): self.a.append(Keeps())",
        "for i, one in enumerate(self.a): x = one(x)",
    ),
    "a list of Python's": ("self.a = nn.ModuleList(parts)", "for one in self.a[1:]: x = one(x)"),
    "in a row": ("self.a = nn.Sequential(nn.ReLU(), *parts)", "x = self.a(x)"),
    "by its place": ("self.a = nn.ModuleList([Keeps(), nn.ReLU()])", "x = self.a[0](x)"),
    "a dict": ("self.a = nn.ModuleDict({'a': Keeps()})", "x = self.a['a'](x)"),
    "a dict that grows": (
        "self.a = nn.ModuleDict()\n        for i in 'ab': self.a[i] = Keeps()",
        "for key, one in self.a.items(): x = one(x)",
    ),
    "one that it is given": ("self.a = layer", "x = self.a(x)"),
    "several that it is given": ("self.a = nn.ModuleList(layers)", "for one in self.a: x = one(x)"),
}


@pytest.mark.parametrize("case", PARTS)
def test_reports_waits_in_parts_of_a_model(case: str, tmp_path: Path) -> None:
    make, call = PARTS[case]
    silent = HOLDING.replace("MAKE", make).replace("CALL", call)
    assert findings_of("ACC208", silent, tmp_path) == []
    (found,) = findings_of("ACC208", silent.replace("Keeps()", "Asks()"), tmp_path)
    assert "`x.sum().item()`" in found.message


def test_a_part_that_is_held_and_never_called_is_no_part_of_the_step(tmp_path: Path) -> None:
    source = HOLDING.replace("MAKE", "self.a = nn.ModuleList(layers)").replace("Keeps()", "Asks()")
    assert findings_of("ACC208", source.replace("CALL", "x = x + 1"), tmp_path) == []
    assert len(findings_of("ACC208", source.replace("CALL", "x = self.a[0](x)"), tmp_path)) == 1


OPTIMIZER = """
import torch
from torch import nn
class Slow(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                BODY
                p.add_(p.grad, alpha=-group["lr"])
model = nn.Linear(8, 2).cuda()
optimizer = Slow(model.parameters(), 0.1)
"""
OF_PARAMETERS = {
    "a condition": ("r = torch.where(p.norm(2) == 0, 1.0, p.norm(2))", "r = 1.0 if p.data.norm(2) == 0 else 2.0"),
    "its own number": ('if group["lr"] > 0: p.mul_(0.9)', "if p.pow(2).sum().clamp(0, 10) > 0: p.mul_(0.9)"),
    "a factor": ('p.add_(p.grad, alpha=group["lr"])', "p.add_(p.grad, alpha=p.norm())"),
}


@pytest.mark.parametrize("case", OF_PARAMETERS)
def test_reports_an_optimizer_that_reads_parameters(case: str, tmp_path: Path) -> None:
    silent, spoken = (OPTIMIZER.replace("BODY", one) for one in OF_PARAMETERS[case])
    assert findings_of("ACC208", silent, tmp_path) == []
    (found,) = findings_of("ACC208", spoken, tmp_path)
    assert "for each parameter" in found.message
    (idle,) = findings_of("ACC208", spoken.replace("optimizer = Slow(model.parameters(), 0.1)\n", ""), tmp_path)
    assert str(idle.severity) == "info", "nothing is seen to use it"


TRAINS_ITSELF = """
import torch
from torch import nn
class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 2)
        self.optimizer = torch.optim.Adam(self.net.parameters())
    def forward(self, x, y):
        loss = nn.functional.cross_entropy(self.net(x), y)
        right = (self.net(x).argmax(1) == y).sum().item()
        LEARN
        return right
learner = Learner().to("cuda")
for step in range(10000):
    learner(torch.rand(5, 8, device="cuda"), torch.ones(5, device="cuda").long())
"""


def test_a_forward_that_trains_is_a_step_of_the_loop_that_calls_it(tmp_path: Path) -> None:
    learn = "self.optimizer.zero_grad(); loss.backward(); self.optimizer.step()"
    assert findings_of("ACC208", TRAINS_ITSELF.replace("LEARN", "print(self.net)"), tmp_path) == []
    assert len(findings_of("ACC208", TRAINS_ITSELF.replace("LEARN", learn), tmp_path)) == 1


WRITES = """
import torch
from torch import nn
def main(writer, loader, model, optimizer, scheduler):
    model.cuda()
    for step, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        writer.add_scalar("rate", scheduler.get_last_lr()[0], step)
        for name, parameter in model.named_parameters():
            writer.add_scalar(name, READS, step)
"""


def test_a_writer_reads_what_it_is_given(tmp_path: Path) -> None:
    assert findings_of("ACC208", WRITES.replace("READS", "parameter.numel()"), tmp_path) == []
    (found,) = findings_of("ACC208", WRITES.replace("READS", "parameter.grad.norm()"), tmp_path)
    assert "for each parameter" in found.message
    (found,) = findings_of("ACC208", WRITES.replace("READS", "loss"), tmp_path)
    assert not found.related
