"""ACC434 recorded-then-detached, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

NETS = (
    IMPORTS
    + """
import copy
import conf
net, other = nn.Linear(8, 8), nn.Linear(8, 8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
second = torch.optim.SGD(other.parameters(), lr=0.1)
second.step()
def halve(x):
    return x / 2
def cut(x):
    y = x.detach()
    return y
"""
)
STEP = (
    NETS
    + """
for x, y in conf.batches:
    {}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
)
RESULT = "z = other(x)\n    "
DETACHED = RESULT + "loss = (net(x) - z.detach()).sum()"


def in_step(code: str) -> str:
    """A program whose step begins with these lines."""
    return STEP.format(code)


@pytest.mark.parametrize(
    "use",
    [
        "loss = (net(x) - z).sum()",
        "loss = (net(x) - z.detach()).sum() + z.mean()",
        "loss = (net(x) - z.detach()).sum()\n    loss += halve(z).sum()",
        "loss = (net(x) - z.detach()).sum()\n    loss = loss + net(z).sum()",
        "loss = (net(x) - z.detach()).sum()\n    conf.kept.append(z)",
        "loss = (net(x) - z.detach()).sum()\n    conf.cache = z",
        "loss = (net(x) - z.detach()).sum()\n    conf.penalize(z)",
        "parts = [z, x]\n    loss = (net(x) - z.detach()).sum() + sum(parts).sum()",
        "loss = (net(x) - z.detach()).sum()\n    torch.autograd.grad(z.sum(), other.parameters())",
        "w = z.detach()\n    loss = (net(x) - w).sum() + torch.stack([z for _ in range(2)]).sum()",
        "loss = (net(x) - z.detach()).sum()\n    def more():\n        return z",
        "if y:\n        z = z.detach()\n    loss = (net(x) - z).sum()",
        "z.register_hook(print)\n    loss = (net(x) - z.detach()).sum()",
    ],
)
def test_silent_where_a_backward_pass_may_reach_it(use: str, tmp_path: Path) -> None:
    check_one("ACC434", in_step(RESULT + use), tmp_path)


SILENT = {
    "no_grad": Pair(
        in_step("with torch.no_grad():\n        z = other(x)\n    loss = (net(x) - z.detach()).sum()"),
        "with torch.no_grad():",
        "if True:",
    ),
    "under inference_mode": Pair(
        in_step("with torch.inference_mode():\n        z = other(x)\n    loss = (net(x) - z.detach()).sum()"),
        "with torch.inference_mode():",
        "if True:",
    ),
    "nothing trains": Pair(
        in_step(DETACHED).replace("loss.backward()", "loss.mean()"), "loss.mean()", "loss.backward()"
    ),
    "frozen": Pair(
        NETS + "other.requires_grad_(False)\n" + in_step(DETACHED)[len(NETS) :], "other.requires_grad_(False)"
    ),
    "frozen by a function that is told so": Pair(
        NETS + in_step("conf.freeze(other, True)\n    " + DETACHED)[len(NETS) :],
        "conf.freeze(other, True)",
        "conf.set_requires_grad(other, True)",
    ),
    "frozen one by one": Pair(
        NETS + "for p in other.parameters():\n    p.requires_grad = False\n" + in_step(DETACHED)[len(NETS) :],
        "p.requires_grad = False",
        "p.data.zero_()",
    ),
    "frozen by a function": Pair(
        NETS + "conf.set_requires_grad(other, False)\n" + in_step(DETACHED)[len(NETS) :],
        "conf.set_requires_grad(other, False)",
    ),
    "one pass of so many": Pair(
        in_step("loss = net(x).sum()\n    if y % 10 == 0:\n        z = other(x)\n        print(z.detach())"),
        "y % 10 == 0",
        "True",
    ),
    "a network of nobody": Pair(
        in_step(DETACHED).replace("SGD(other.parameters()", "SGD(conf.parameters"),
        "SGD(conf.parameters",
        "SGD(other.parameters()",
    ),
    "recording is switched off": Pair(
        NETS + "torch.set_grad_enabled(False)\n" + in_step(DETACHED)[len(NETS) :], "torch.set_grad_enabled(False)"
    ),
    "frozen by detaching its parameters": Pair(
        NETS + "for p in other.parameters():\n    p.detach_()\n" + in_step(DETACHED)[len(NETS) :],
        "p.detach_()",
        "p.data.zero_()",
    ),
    "frozen by what makes it": Pair(
        in_step(DETACHED)
        .replace(
            "net, other =",
            "def make(x, deep):\n    for p in x.parameters():\n        p.requires_grad_(False)\n    return x\nnet, other =",
        )
        .replace("second =", "other = make(other, deep=True)\nsecond ="),
        "other = make(other, deep=True)\n",
    ),
    "frozen by itself": Pair(
        in_step(DETACHED)
        .replace(
            "net, other =",
            "class Fixed(nn.Linear):\n    def __init__(self):\n        super().__init__(8, 8)\n"
            "        self.requires_grad_(False)\nnet, other =",
        )
        .replace("second =", "other = Fixed()\nsecond ="),
        "self.requires_grad_(False)",
        "self.reset_parameters()",
    ),
    "its callers do not record": Pair(
        in_step("with torch.no_grad():\n        z = work(x)\n    loss = (net(x) - z).sum()").replace(
            "for x, y", "def work(x):\n    z = other(x).detach()\n    return z\nfor x, y"
        ),
        "with torch.no_grad():",
        "if True:",
    ),
    "a method that takes nothing": Pair(
        in_step("loss = (net(x) - other.kinds().detach()).sum()"), "other.kinds()", "other.kinds(x)"
    ),
    "a method of which nothing is known": Pair(
        in_step("loss = net(x).sum()\n    print(other.price(x).item())  # no detach"), ".item()", ".detach()"
    ),
    "a copy of something else": Pair(
        in_step("loss = (net(x) - kept(x).detach()).sum()").replace(
            "second =", "kept = copy.deepcopy(conf.some)\nsecond ="
        ),
        "conf.some",
        "conf.model",
    ),
    "what it leaves behind": Pair(in_step(DETACHED + " + other.penalty"), " + other.penalty"),
}


@pytest.mark.parametrize("pair", SILENT.values(), ids=SILENT.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC434", pair, tmp_path)


def test_silent_about_a_copy_that_its_class_freezes(tmp_path: Path) -> None:
    """Whoever calls it may do so by the attribute."""
    kept = (
        "class Average:\n    def __init__(self, model):\n        self.slow = copy.deepcopy(model)\n"
        "        self.slow.requires_grad_(False)\naverage = Average(net)\n"
    )
    step = in_step("loss = (net(x) - average.slow(x).detach()).sum()")[len(NETS) :]
    (tmp_path / "average.py").write_text(IMPORTS + "import copy\n" + kept.replace("average = Average(net)\n", ""))
    source = NETS + "from average import Average\naverage = Average(net)\n" + step
    assert findings_of("ACC434", source, tmp_path) == []
    (tmp_path / "average.py").write_text(
        (tmp_path / "average.py").read_text().replace("requires_grad_(False)", "eval()")
    )
    assert findings_of("ACC434", source, tmp_path)


def test_silent_about_what_is_read_at_once(tmp_path: Path) -> None:
    """ACC401 reports that."""
    source = in_step("z = other(x).detach().{}\n    loss = net(x).sum()")
    check_one("ACC434", source.format("cpu().numpy()"), tmp_path)
    assert findings_of("ACC401", source.format("cpu().numpy()"), tmp_path)
    assert findings_of("ACC434", source.format("clone()"), tmp_path)
    assert findings_of("ACC401", source.format("clone()"), tmp_path) == []


def test_silent_in_functions_that_evaluate(tmp_path: Path) -> None:
    work = "def {}(x):\n    z = other(x).detach()\n    net(x).sum().backward()\n    return z\n"
    source = NETS + work + "for x in conf.batches:\n    {}(x)\n"
    check_one("ACC434", source.format("validate", "validate"), tmp_path)
    assert findings_of("ACC434", source.format("work", "work"), tmp_path)


def test_silent_about_methods_that_run_no_layers(tmp_path: Path) -> None:
    source = (
        IMPORTS
        + """
import conf
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.register_buffer("count", torch.zeros(1))
    def forward(self, x):
        return self.fc(x)
    def state(self, x):
        return {}
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in conf.batches:
    print(net.state(x).detach())
    net(x).sum().backward()
    optimizer.step()
"""
    )
    check_one("ACC434", source.format("x * self.count"), tmp_path)
    check_one("ACC434", source.format("next(self.parameters()).data.new(8).zero_()"), tmp_path)
    check_one("ACC434", source.format("self.known.get(x, 'none')"), tmp_path)
    assert findings_of("ACC434", source.format("self.fc(x)"), tmp_path)


@pytest.mark.parametrize(
    "use",
    [
        "z = other(x)  # -> info none\n    loss = (net(x) - z.detach()).sum()",
        "z = other(x).detach()  # -> info none\n    loss = (net(x) - z).sum()",
        "z = other(x)  # -> info none\n    z = z.detach()\n    loss = (net(x) - z).sum()",
        "z = 0\n    if y:\n        z = other(x)  # -> info none\n        z = z.detach()\n    loss = (net(x) - z).sum()",
        "z = other(x)  # -> info none\n    z.detach_()\n    loss = (net(x) - z).sum()",
        "z = other(x)  # -> info none\n    loss = (net(x) - z.data).sum()",
        "z, _ = other(x), 1  # -> info none\n    loss = (net(x) - cut(z)).sum()",
        "z = other(x)  # -> info none\n    w = halve(z.mean(0))\n    loss = (net(x) - w.detach()).sum()",
        "z = other(x)  # -> info none\n    loss = net(x).sum()\n    print(z.mean().item())",
        "z = other(x)  # -> info none\n    loss = net(x)[z > 0].sum()",
        "z = other(x)  # -> info none\n    with torch.no_grad():\n        w = z * 2\n    loss = (net(x) - w).sum()",
        "loss = (net(x) - other(other(x)).detach()).sum()  # -> info none",
    ],
)
def test_reported(use: str, tmp_path: Path) -> None:
    check_one("ACC434", in_step(use), tmp_path)


@pytest.mark.parametrize(
    "copied",
    [
        "target = copy.deepcopy(net)",
        "target = nn.Linear(8, 8)\ntarget.load_state_dict(net.state_dict())",
        "target = nn.Linear(8, 8)\nfor p, q in zip(net.parameters(), target.parameters()):\n    q.data.lerp_(p.data, 0.1)",
    ],
)
def test_copies_of_networks_are_reported(copied: str, tmp_path: Path) -> None:
    step = in_step("loss = (net(x) - target(x).detach()).sum()")[len(NETS) :]
    (found,) = findings_of("ACC434", f"{NETS}{copied}\n{step}", tmp_path)
    assert "`target`" in found.message
    assert findings_of("ACC434", f"{NETS}target = conf.target\n{step}", tmp_path) == []


def test_a_switch_in_the_step_counts_until_the_next(tmp_path: Path) -> None:
    """The last one before the call decides."""
    off, on = "other.requires_grad_(False)\n    ", "other.requires_grad_(True)\n    "
    check_one("ACC434", in_step(on + off + DETACHED), tmp_path)
    assert findings_of("ACC434", in_step(off + on + DETACHED), tmp_path)


def test_the_calls_of_a_function_are_one_finding(tmp_path: Path) -> None:
    (found,) = findings_of("ACC434", in_step("loss = (net(x) - other(other(x)).detach()).sum()"), tmp_path)
    assert [one.message for one in found.related] == ["so is what this computes"]


def test_attributes_of_a_trainer(tmp_path: Path) -> None:
    source = (
        IMPORTS
        + """
import conf
class Trainer:
    def __init__(self):
        self.g, self.d = conf.Generator(), conf.Critic()
        ours = list(self.g.parameters())
        self.g_optimizer = torch.optim.Adam([p for p in ours if p.requires_grad])
        self.d_optimizer = torch.optim.Adam(self.d.parameters())
    def update_d(self, z, real):
        self.d_optimizer.zero_grad()
        fake, _ = self.g.decode(z)  # -> info none
        loss = self.d.loss(fake.detach(), real)
        loss.backward()
        self.d_optimizer.step()
    def update_g(self, z):
        self.g_optimizer.zero_grad()
        fake, _ = self.g.decode(z)
        self.d.loss(fake, None).backward()
        self.g_optimizer.step()
trainer = Trainer()
for z, real in conf.batches:
    trainer.update_d(z, real)
    trainer.update_g(z)
"""
    )
    check_one("ACC434", source, tmp_path)


def test_what_a_step_calls_is_a_part_of_it(tmp_path: Path) -> None:
    source = (
        NETS
        + """
def loss_of(x):
    return (net(x) - other(x).detach()).sum()
for x in conf.batches:
    loss = loss_of(x)
    {}
    optimizer.step()
"""
    )
    assert findings_of("ACC434", source.format("loss.backward()"), tmp_path)
    check_one("ACC434", source.format("print(loss)"), tmp_path)
