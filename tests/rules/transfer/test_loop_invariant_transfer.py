"""ACC212 loop-invariant-transfer, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair, findings_of
from ..programs import REGRESSION

SILENT = {
    "made in the loop": "for x, y in loader:\n    w = torch.zeros(8)\n    v = w.to('cuda')",
    "a module": "m = nn.Linear(8, 2)\nfor x, y in loader:\n    m.to('cuda')",
    "unknown": "def f(w):\n    for x, y in loader:\n        v = w.to('cuda')",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC212", REGRESSION + "import conf\n" + source + "\n", tmp_path)


LOADED = REGRESSION + "import conf\n"
FIXED = "w = torch.zeros(8)\nfor x, y in loader:\n    "
PAIRS: dict[str, tuple[str, ...]] = {
    "rebinding": (FIXED + "w = w.to('cuda')", "w = w.to", "v = w.to"),
    "made in loop": (FIXED + "w = torch.zeros(8)\n    v = w.to('cuda')", "    w = torch.zeros(8)\n"),
    "changed": (FIXED + "w[0] = 1\n    v = w.to('cuda')", "w[0] = 1", "pass"),
    "filled": (FIXED + "w.copy_(x)\n    v = w.to('cuda')", "w.copy_(x)", "pass"),
    "added": (FIXED + "w += 1\n    v = w.to('cuda')", "w += 1", "pass"),
    "assigned": (FIXED + "w = w + 1\n    v = w.to('cuda')", "w = w + 1", "pass"),
    "assigned later": (FIXED + "v = w.to('cuda')\n    w = conf.n()", "w = conf.n()", "pass"),
    "part": (
        ("w = torch.zeros(8, 8)\nfor i, (x, y) in enumerate(loader):\n    v = w[i]\n    v = v.to('cuda')"),
        "v = v.to",
        "v = w.to",
    ),
    "before": (
        "w = torch.zeros(8)\nv = w.to('cuda')\nfor x, y in loader:\n    pass",
        "v = w.to('cuda')\nfor x, y in loader:\n    pass",
        "for x, y in loader:\n    v = w.to('cuda')",
    ),
    "condition": (
        ("w = torch.zeros(8)\nfor i, (x, y) in enumerate(loader):\n    if i == 0:\n        v = w.to('cuda')"),
        "if i == 0",
        "with torch.enable_grad()",
    ),
    "method": (
        (
            "class T:\n    def __init__(self): self.w = torch.zeros(8)\n"
            "    def move(self): self.w = self.w.to('cuda')\n    def fit(self):\n        for x, y in loader:\n"
            "            self.move()\nT().fit()"
        ),
        "self.w = self.w.to",
        "v = self.w.to",
    ),
    "perhaps": (FIXED + "conf.refill(w)\n    v = w.to('cuda')", "conf.refill(w)", "pass"),
    "module": (
        "m = nn.Linear(8, 2)\nfor x, y in loader:\n    v = m.to('cuda')",
        "nn.Linear(8, 2)\n",
        "torch.zeros(8)\n",
    ),
    "unknown": (
        "def f(w):\n    for x, y in loader:\n        v = w.to('cuda')\nf(conf.w)",
        "conf.w",
        "torch.zeros(8)",
    ),
    "to the host": (FIXED + "v = w.to('cpu')", "'cpu'", "'cuda'"),
    "no CUDA": (FIXED + "v = w.to('mps')", "'mps'", "'cuda'"),
    "unknown device": (FIXED + "v = w.to(conf.d)", "conf.d", "'cuda'"),
    "not batch loop": (
        "w = torch.zeros(8)\nfor i in range(9):\n    v = w.to('cuda')",
        "i in range(9)",
        "x, y in loader",
    ),
    "on the GPU already": (
        "w = torch.zeros(8).cuda()\nfor x, y in loader:\n    v = w.to('cuda')",
        ".cuda()\nfor",
        "\nfor",
    ),
    "one step": (FIXED + "v = w.to('cuda')\n    break", "break", "pass"),
    "bound again among others": (FIXED + "w, v = w.to('cuda'), 1", ":\n    w", ":\n    u"),
    "bound again as an attribute": (
        (
            "class T:\n    def __init__(self): self.w = torch.zeros(8)\n    def fit(self):\n"
            "        for x, y in loader:\n            self.w = self.w.to('cuda')\nT().fit()"
        ),
        "\n            self.w",
        "\n            v",
    ),
    "bound again in an expression": (FIXED + "model(w := w.to('cuda'))", "w := "),
    "bound again afterwards": (FIXED + "v = w.to('cuda')\n    w = v", ")\n    w", ")\n    u"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC212", Pair(LOADED + source, *change), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
w = torch.zeros(8)
for x, y in loader:
    x = model(x.cuda(non_blocking=True)) + w.cuda()  # -> ACC212 warning none
"""
    check(REGRESSION + source, tmp_path)


def test_reported_beside_the_other_rules_about_loops(tmp_path: Path) -> None:
    source = """
import gc
tensors = [torch.zeros(8) for _ in range(9)]
batch = torch.cat([t.to("cuda") for t in tensors])  # -> ACC210 warning unsafe, ACC211 info none
moved = [t.to("cuda") for t in tensors]  # -> ACC211 info none
w = torch.zeros(8)
small = torch.zeros(8, dtype=torch.uint8)
large = small.float().to("cuda")  # -> ACC213 info unsafe
kept = torch.zeros(0, 8)
copied = torch.tensor(w)  # -> ACC218 info safe
for x, y in loader:
    x = model(x.cuda(non_blocking=True)) + w.cuda()  # -> ACC212 warning none
    kept = torch.cat([kept, x])  # -> ACC216 info none
    half = torch.tensor(0.5, device="cuda")  # -> ACC219 info safe
    gc.collect()  # -> ACC214 warning unsafe
    torch.cuda.empty_cache()  # -> ACC214 warning unsafe
    torch.cuda.synchronize()  # -> ACC215 info unsafe
"""
    check(REGRESSION + source, tmp_path)


KEPT = """
import numpy as np
from torch.nn import functional as F
TABLE = [0.1, 0.9]
def take(table, t):
    return torch.from_numpy(table).to(t.device)[t]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(4, 4)
        self.table, self.map = np.linspace(0, 1, 1000), list(range(1000))
    def forward(self, x):
        k = self.kernel.type_as(x)
        return x * k
model = Net().cuda()
class Steps:
    def __init__(self):
        self.table, self.map = np.linspace(0, 1, 1000), list(range(1000))
    def step(self, x):
        m = torch.tensor(self.map, device="cuda")
        w = torch.from_numpy(self.table).cuda()
        (model(x) * w[m[x]] * take(self.table, x)).sum().backward()
steps = Steps()
for x in DataLoader([1]):
    steps.step(x.cuda())
"""
SETTLED: dict[str, tuple[str, str]] = {
    "the tensor is set again": ("        return x * k", "        self.kernel = conf.k(x)\n        return x * k"),
    "the tensor is written to": ("        return x * k", "        self.kernel[0] = 1\n        return x * k"),
    "the tensor is a buffer": ("self.kernel = torch.ones(4, 4)", "self.register_buffer('kernel', torch.ones(4, 4))"),
    "the copy is made once": ("k = self.kernel.type_as(x)", "self.kernel = k = self.kernel.type_as(x)"),
    "the list grows": ("m = torch", "self.map.append(1)\n        m = torch"),
    "the array is set again": ("w = torch", "self.table = conf.table\n        w = torch"),
    "random numbers": ("w = torch.from_numpy(self.table)", "w = torch.from_numpy(np.random.randn(8))"),
    "the array is shuffled": ("w = torch", "np.random.shuffle(self.table)\n        w = torch"),
    "a parameter is given something else": ("take(self.table, x)", "take(conf.table(x), x)"),
    "on the host": ('device="cuda"', 'device="cpu"'),
    "now and then": ("    steps.step(x.cuda())", "    pass\nsteps.step(x.cuda())"),
}


def test_what_the_host_keeps_is_copied_at_every_step(tmp_path: Path) -> None:
    source = KEPT
    for one in ("k = self.kernel.type_as(x)", 'm = torch.tensor(self.map, device="cuda")'):
        source = source.replace(one, f"{one}  # -> warning none")
    for one in ("w = torch.from_numpy(self.table).cuda()", "return torch.from_numpy(table).to(t.device)[t]"):
        source = source.replace(one, f"{one}  # -> warning none")
    check_one("ACC212", REGRESSION.rstrip() + "\nimport conf\n" + source, tmp_path)


@pytest.mark.parametrize("case", SETTLED)
def test_silent_about_what_changes(case: str, tmp_path: Path) -> None:
    before, after = SETTLED[case]
    assert before in KEPT
    head = REGRESSION.rstrip() + "\nimport conf\n"
    every = findings_of("ACC212", head + KEPT, tmp_path)
    assert len(findings_of("ACC212", head + KEPT.replace(before, after), tmp_path)) < len(every)


def test_a_constant_that_one_branch_of_each_step_copies(tmp_path: Path) -> None:
    source = REGRESSION + (
        "import numpy as np\nTABLE = np.linspace(0, 1, 9)\nimport conf\n"
        "for i, (x, y) in enumerate(loader):\n    if %s:\n        w = torch.from_numpy(TABLE).cuda()\n"
        "    else:\n        w = conf.w\n    (model(x.cuda()) * w).sum().backward()\n"
    )
    for seldom in ("i % 3 == 0", "i < 3"):
        assert not findings_of("ACC212", source % seldom, tmp_path)
    assert not findings_of("ACC212", source % "i % 3 == 0", tmp_path)


TABLE = """
class Embedded(nn.Module):
    def __init__(self, learnt=False):
        super().__init__()
        self.table = torch.zeros(1, 4, 8)
    def forward(self, x):
        return x + self.table.to(x.device)
embedded = Embedded().cuda()
for x, y in loader:
    embedded(x.cuda()).sum().backward()
"""
VIEWS = {
    "a view, cast and copied": "self.table.expand(x.shape[0], -1, -1).type_as(x).to(x.device).clone().detach()",
    "the first rows": "self.table[:, : x.shape[1]].to(x.device)",
    "a copy, permuted": "self.table.clone().permute(0, 2, 1).to(x.device)",
}
OTHER_VIEWS = {
    "rows that the batch names": "self.table[x.argmax()].to(x.device)",
    "a sum": "self.table.sum(0).to(x.device)",
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_what_an_attribute_keeps_is_copied_as_a_view_of_it(view: str, tmp_path: Path) -> None:
    found = findings_of("ACC212", REGRESSION + TABLE.replace("self.table.to(x.device)", view), tmp_path)
    assert [
        "copies `self.table`, which does not change, from the host at every step;" in one.message for one in found
    ] == [True]


@pytest.mark.parametrize("view", OTHER_VIEWS.values(), ids=OTHER_VIEWS)
def test_silent_about_what_is_computed_of_an_attribute(view: str, tmp_path: Path) -> None:
    assert not findings_of("ACC212", REGRESSION + TABLE.replace("self.table.to(x.device)", view), tmp_path)


def test_a_tensor_that_another_branch_makes_a_parameter(tmp_path: Path) -> None:
    plain = "        self.table = torch.zeros(1, 4, 8)\n"
    learnt = "        if learnt:\n            self.table = nn.Parameter(torch.zeros(1, 4, 8))\n"
    either = TABLE.replace(plain, f"{learnt}        else:\n            self.table = torch.zeros(1, 4, 8)\n")
    found = findings_of("ACC212", REGRESSION + either, tmp_path)
    assert ["at every step, where it is no parameter;" in one.message for one in found] == [True]
    buffer = either.replace("self.table = torch.zeros(1, 4, 8)", "self.register_buffer('table', torch.zeros(1, 4, 8))")
    assert buffer != either
    assert not findings_of("ACC212", REGRESSION + buffer, tmp_path)


def test_a_constant_of_a_library(tmp_path: Path) -> None:
    source = REGRESSION + (
        "from timm.data.constants import IMAGENET_DEFAULT_MEAN, resolve\n"
        "for x, y in loader:\n"
        "    mean = torch.as_tensor(IMAGENET_DEFAULT_MEAN).to('cuda')[None, :]\n"
        "    (model(x.cuda()) * mean).sum().backward()\n"
    )
    assert len(findings_of("ACC212", source, tmp_path)) == 1
    for other in ("resolve(x)", "resolve", "IMAGENET_DEFAULT_MEAN, requires_grad=True"):
        assert not findings_of("ACC212", source.replace("(IMAGENET_DEFAULT_MEAN)", f"({other})"), tmp_path)
