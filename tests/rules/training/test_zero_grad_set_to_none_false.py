"""ACC411 zero-grad-set-to-none-false, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, check_since
from ..programs import IMPORTS, MODEL

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
    source = IMPORTS + MODEL + "optimizer.zero_grad(set_to_none=False)\n"
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
