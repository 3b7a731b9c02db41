"""ACC208 host-sync-every-step, inside of models that only a factory knows, and of what their steps go through."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Confidence

from ..checks import Pair, check_pair, findings_of

NET = """
import torch, conf
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
    def forward(self, x):
        out = self.layer(x)
        print(out.sum())
        return out
"""
STEPS = """
class Trainer:
    def __init__(self, loader):
        self.loader = loader
    def prepare(self):
        self.model = conf.models.build(conf.name)
    def run(self):
        for x, y in self.loader:
            loss = nn.functional.mse_loss(self.model(x.cuda()), y.cuda())
            loss.backward()
"""
HOOKS = """
class Trainer:
    def __init__(self, loader):
        self.model, self.loader = nn.Linear(8, 2).cuda(), loader
    def run(self):
        for epoch in range(9):
            for batch in self.loader:
                self.step(batch)
    def step(self, batch):
        loss = self.model(batch.cuda()).sum()
        loss.backward()
        print(loss.item())

class Shows(Trainer):
    def step(self, batch):
        print(batch.shape)

Shows(conf.loader).run()
"""
COUNTS = """
model = nn.Linear(8, 2).cuda()
for x, count in conf.loader:
    loss = model(x.cuda()).sum()
    loss.backward()
    if count == 0:
        print("nothing")
    else:
        print(loss.item())
"""
MODES = """
def assign(out, mode="gpu"):
    if mode == "cpu":
        return out.cpu()
    return out.detach()
model = nn.Linear(8, 2).cuda()
for x in conf.loader:
    out = model(x.cuda())
    out.sum().backward()
    assign(out, "gpu")
"""
HELPER = """
def log(values):
    for name, value in values.items():
        print(name, value.item())
model = nn.Linear(8, 2).cuda()
for epoch in range(9):
    for step, x in enumerate(conf.loader):
        loss = model(x.cuda()).sum()
        loss.backward()
        if step % 100 == 0:
            log({"loss": loss})
    log({"last": loss})
"""
PAIRS = {
    "no training": Pair(
        NET + STEPS.replace("loss.backward()", "print(loss.shape)"), "print(loss.shape)", "loss.backward()"
    ),
    "no name of a model": Pair(NET + STEPS.replace("self.model(", "self.convert("), "self.convert(", "self.model("),
    "a model of another class": Pair(
        NET + STEPS.replace("conf.models.build(conf.name)", "nn.Linear(8, 2).cuda()").replace("prepare", "__init__"),
        "nn.Linear(8, 2).cuda()",
        "conf.models.build(conf.name)",
    ),
    "in evaluation": Pair(
        NET.replace("        print(out.sum())", "        if not self.training:\n            print(out.sum())") + STEPS,
        "not self.training",
        "self.training",
    ),
    "in evaluation, where an option asks for it": Pair(
        NET.replace(
            "        print(out.sum())", "        if self.flips and not self.training:\n            print(out.sum())"
        )
        + STEPS,
        "self.flips and not self.training",
        "self.flips or not self.training",
    ),
    "a forward for inference": Pair(
        NET.replace("    def forward", "    @torch.inference_mode()\n    def forward") + STEPS,
        "@torch.inference_mode()",
        "@torch.autocast('cuda')",
    ),
    "a class that is called elsewhere": Pair(NET + STEPS + "shown = Net()(torch.zeros(1, 8))\n", "Net()(", "len("),
    "where there is nothing": Pair(NET + COUNTS.replace("== 0", "!= 0"), "count != 0", "count == 0"),
    "every so many steps": Pair(NET + COUNTS.replace("count == 0", "count % 9 == 8"), "count % 9 == 8", "count == 0"),
    "a mode that nobody asks for": Pair(NET + MODES, 'out, "gpu")', 'out, "cpu")'),
    "now and then, and once an epoch": Pair(NET + HELPER, "if step % 100 == 0", "if conf.log"),
    "a hook that another class replaces": Pair(
        NET + HOOKS.replace("        print(loss.item())\n", ""),
        "loss.backward()",
        "loss.backward(); print(loss.item())",
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_where_no_step_waits(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC208", pair, tmp_path)


def test_the_classes_that_a_factory_may_choose_are_evident(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", NET + STEPS, tmp_path)
    assert found.confidence is Confidence.EVIDENT
    assert "that the program chooses among its own classes" in found.message


def test_a_forward_without_gradients_inside_of_a_step_waits_too(tmp_path: Path) -> None:
    quiet = NET.replace(
        "    def forward", "    @torch.no_grad()\n    def shown(self, out):\n        print(out.sum())\n    def forward"
    )
    source = (
        quiet.replace("        print(out.sum())\n        return", "        self.shown(out)\n        return") + STEPS
    )
    assert len(findings_of("ACC208", source, tmp_path)) == 1


MASKED = """
import torch
from torch import nn
from torch.utils.data import DataLoader

class Weighted(nn.SmoothL1Loss):
    def forward(self, out, target):
        loss = super().forward(out, target)
        mask = target.tril() > 0
        return loss[mask].mean()
model, criterion = nn.Linear(8, 2).cuda(), Weighted(reduction="none")
for x, y in DataLoader(data, pin_memory=True):
    loss = criterion(model(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))
    loss.backward()
"""
SOME = (" > 0\n        return loss[mask]", "\n        return loss[(mask > 0).triu()]")


@pytest.mark.parametrize("some", SOME)
def test_a_loss_of_torch_is_a_module_whose_forward_each_step_runs(some: str, tmp_path: Path) -> None:
    source = MASKED.replace(SOME[0], "\n        return loss * mask")
    check_pair("ACC208", Pair(source, "\n        return loss * mask", some), tmp_path)


def test_a_method_of_a_module_knows_what_it_is_given(tmp_path: Path) -> None:
    source = """
import torch
from torch import nn

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
    def forward(self, x, lengths):
        out = self.layer(x)
        return out[:, : int(lengths.cpu().numpy().max())]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
    def loss(self, x, lengths):
        return self.encoder(x, lengths).sum()

net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for i in range(100):
    x = torch.zeros(2, 4, 8, device="cuda")
    lengths = torch.LongTensor([4, 2])
    optimizer.zero_grad()
    net.loss(x, lengths).backward()
    optimizer.step()
"""
    check_pair("ACC208", Pair(source, "LongTensor([4, 2])", "LongTensor([4, 2]).cuda()"), tmp_path)


ASKED = NET.replace("def forward(self, x):", "def forward(self, x, shown=False):").replace(
    "        print(out.sum())", "        if shown:\n            print(out.sum())"
)


@pytest.mark.parametrize(
    ("default", "speaks"), [("False", "True"), ("None", "True"), ("False, other=True", "True, other=True")]
)
def test_silent_about_what_nobody_is_seen_to_ask_a_model_for(default: str, speaks: str, tmp_path: Path) -> None:
    source = ASKED.replace("shown=False", f"shown={default}") + STEPS
    check_pair("ACC208", Pair(source, f"shown={default}", f"shown={speaks}"), tmp_path)


def test_the_other_branch_of_a_flag_is_what_a_model_does_unasked(tmp_path: Path) -> None:
    check_pair("ACC208", Pair(ASKED + STEPS, "if shown:", "if not shown:"), tmp_path)


WITHIN = ASKED.replace("        if shown:\n            print(out.sum())", "        inner(out)").replace(
    "shown=False):\n",
    "shown=False):\n        def inner(out):\n            if shown:\n                print(out.sum())\n",
)


@pytest.mark.parametrize("before", ["shown=False", "def inner(out)"])
def test_a_function_within_takes_the_option_from_around_it(before: str, tmp_path: Path) -> None:
    after = "shown=True" if before == "shown=False" else "def inner(out, shown=1)"
    check_pair("ACC208", Pair(WITHIN + STEPS, before, after), tmp_path)


PATCHES = """
import torch
from torch import nn

class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.cut = nn.Conv2d(3, 8, 4, 4)
    def forward(self, x):
        x = self.cut(x)
        _, _, H, W = x.shape
        W = W * 2
        return x.flatten(2), RETURNED

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.layer = Patches(), nn.Linear(8, 2)
    def forward(self, x):
        x, high, wide = self.patches(x)
        if high != self.layer.weight.shape[0]:
            x = x * 2
        if wide > 8:
            x = x / 2
        return self.layer(x.transpose(1, 2))

net = Net().cuda()
for x, y in loader:
    loss = nn.functional.mse_loss(net(x.cuda()), y.cuda())
    loss.backward()
"""


@pytest.mark.parametrize(
    ("returned", "waits"),
    [
        ("H, W", []),
        ("x.size(2), H // 2", []),
        ("x.mean(), x.norm()", [21, 23]),
        ("H, x.norm()", [23]),
        ("x, W", [21]),
        ("x.float(), int(W)", [21]),
    ],
)
def test_sizes_that_a_layer_returns_beside_a_tensor_are_no_tensors(
    tmp_path: Path, returned: str, waits: list[int]
) -> None:
    found = findings_of("ACC208", PATCHES.replace("RETURNED", returned), tmp_path)
    places = [one.span for one in found] + [more.span for one in found for more in one.related]
    assert sorted({one.start.row for one in places}) == waits
