"""ACC212 loop-invariant-transfer, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair
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
