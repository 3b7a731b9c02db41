"""ACC411 zero-grad-set-to-none-false, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, check_since
from ..programs import IMPORTS, MODEL

DROPS = MODEL.replace("zero_grad()", "zero_grad(set_to_none=True)")
"""A step that drops gradients by itself."""
SILENT = {
    "no argument": "optimizer.zero_grad()",
    "true": "optimizer.zero_grad(set_to_none=True)",
    "an option": "import conf\noptimizer.zero_grad(set_to_none=conf.none)",
    "somebody else's": "import conf\nconf.optimizer.zero_grad(set_to_none=False)",
    "a captured graph": "g = torch.cuda.CUDAGraph()\noptimizer.zero_grad(set_to_none=False)",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC411", IMPORTS + MODEL + source + "\n", tmp_path)


SILENT_PROGRAMS = {
    "own module zero_grad": """
class My:
    def zero_grad(self, set_to_none=False):
        pass
My().zero_grad(set_to_none=False)
""",
    "arg": """
import argparse
p = argparse.ArgumentParser(); p.add_argument("--n", action="store_true"); a = p.parse_args()
model = nn.Linear(2, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
opt.zero_grad(set_to_none=a.n)
""",
    "grads read afterwards": """
model = nn.Linear(2, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
opt.zero_grad(set_to_none=False)
for p in model.parameters():
    p.grad.add_(torch.ones_like(p))
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC411", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


def test_silent_where_an_older_torch_is_supported(tmp_path: Path) -> None:
    source = IMPORTS + DROPS + "optimizer.zero_grad(set_to_none=False)\n"
    check_since("ACC411", source, (2, 0), tmp_path)


KEEPS = [
    "for p in model.parameters():\n    print(p.grad)\n",
    "graph = torch.cuda.CUDAGraph()\n",
    "with torch.cuda.graph(1):\n    pass\n",
    "torch.cuda.make_graphed_callables(model, (torch.zeros(2, 8),))\n",
    "nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)\n",
    "torch._foreach_zero_([model.weight])\n",
]


@pytest.mark.parametrize("line", KEEPS)
def test_silent_for_one_reason(line: str, tmp_path: Path) -> None:
    source = f"{IMPORTS}{MODEL}{line}optimizer.zero_grad(set_to_none=False)\n"
    check_pair("ACC411", Pair(source, line), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = (
        "optimizer.zero_grad(set_to_none=False)  # -> info unsafe\noptimizer.zero_grad(False)  # -> info unsafe\n"
        "model.zero_grad(set_to_none=False)  # -> info unsafe\n"
    )
    check_one("ACC411", IMPORTS + MODEL + source, tmp_path)


REPORTED_PROGRAMS = {
    "literal": """
model = nn.Linear(2, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
opt.zero_grad(set_to_none=False)  # -> info unsafe
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC411", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


LOOP = (
    IMPORTS
    + DROPS
    + """
for step in range(9):
    optimizer.zero_grad(){mark}
    model(torch.zeros(2, 8)).sum().backward()
    optimizer.step()
    model.zero_grad()
"""
)


@pytest.mark.parametrize(
    ("pin", "said"),
    [
        ("torch==1.9.0", True),
        ("torch>=1.7,<2", True),
        ("torch==1.6.0", False),
        ("torch==2.0.1", False),
        ("torch>=1.9", False),
        ("numpy", False),
        ("numpy==1.15.2", True),
        ("numpy==1.21.6", False),
    ],
)
def test_zeros_by_default_are_named_where_only_an_older_torch_may_run(pin: str, said: bool, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(f"{pin}\n")
    mark = "  # -> info unsafe"
    found = check_one("ACC411", LOOP.format(mark=mark if said else ""), tmp_path)
    if said:
        (one,) = found
        assert "with a torch before 2.0, which is what the project's pins allow" in one.message
        assert [at.message for at in one.related] == ["so does this one"]
        assert one.fix is not None
        assert len(one.fix.edits) == 2


@pytest.mark.parametrize(
    ("requirements", "readme", "older"),
    [
        ("numpy==1.15.2", "- PyTorch 1.0", True),
        ("numpy==1.15.2", "- PyTorch 1.8", False),
        ("torch>=1.6,<2", "", True),
        ("torch>=1.7,<2", "", False),
    ],
)
def test_what_a_torch_before_it_may_not_know_is_no_fix(
    requirements: str, readme: str, older: bool, tmp_path: Path
) -> None:
    (tmp_path / "requirements.txt").write_text(f"{requirements}\n")
    (tmp_path / "README.md").write_text(f"## Requirements\n{readme}\n")
    found = check_one("ACC411", LOOP.format(mark=f"  # -> info {'none' if older else 'unsafe'}"), tmp_path)
    assert [one.minor for one in found] == [older]
    assert [one.message.endswith("(torch 1.7 or later)") for one in found] == [older]


BY_DEFAULT = {
    "no loop": ("for step in range(9):", "if True:"),
    "dropped already": ("optimizer.zero_grad()", "optimizer.zero_grad(set_to_none=True)"),
    "gradients are touched": ("optimizer.step()", "print(model.weight.grad)"),
    "somebody else's": ("optimizer.zero_grad()", "conf.optimizer.zero_grad()"),
}


@pytest.mark.parametrize("case", BY_DEFAULT)
def test_silent_about_zeros_by_default_for_one_reason(case: str, tmp_path: Path) -> None:
    source = "import conf\n" + LOOP.format(mark="").replace("    model.zero_grad()\n", "")
    before, after = BY_DEFAULT[case]
    pinned = {"requirements.txt": "torch==1.9.0\n"}
    check_pair("ACC411", Pair(source.replace(before, after), after, before, pinned), tmp_path)
