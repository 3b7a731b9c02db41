"""ACC413 checkpoint-use-reentrant, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, check_since, severities
from ..programs import IMPORTS

SILENT = {
    "given": "y = cp.checkpoint(block, x, use_reentrant=False)",
    "given as true": "y = cp.checkpoint(block, x, use_reentrant=True)",
    "through a partial": "import functools\nf = functools.partial(cp.checkpoint, use_reentrant=False)\ny = f(block, x)",
    "perhaps given": "import conf\ny = cp.checkpoint(block, x, **conf.kw)",
    "from a dict": "kw = {'use_reentrant': False}\ny = cp.checkpoint(block, x, **kw)",
    "the library decides": "block.gradient_checkpointing_enable()",
}
BLOCK = "import torch.utils.checkpoint as cp\nblock = nn.Linear(8, 8)\nx = torch.zeros(4, 8)\n"


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC413", IMPORTS + BLOCK + source + "\n", tmp_path)


SILENT_PROGRAMS = {
    "explicit": """
from torch.utils.checkpoint import checkpoint
checkpoint(print, 1, use_reentrant=True)
""",
    "partial": """
from functools import partial
from torch.utils.checkpoint import checkpoint
ck = partial(checkpoint, use_reentrant=False)
ck(print, 1)
""",
    "kwargs": """
from torch.utils.checkpoint import checkpoint
def f(**kw):
    checkpoint(print, 1, **kw)
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC413", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


def test_silent_where_an_older_torch_is_supported(tmp_path: Path) -> None:
    source = IMPORTS + "from torch.utils.checkpoint import checkpoint\ncheckpoint(print, 1)\n"
    check_since("ACC413", source, (2, 0), tmp_path)


PAIR_BLOCK = (
    IMPORTS
    + "import conf, functools\nimport torch.utils.checkpoint as cp\nblock = nn.Linear(8, 8)\nx = torch.zeros(4, 8)\n"
)
KEPT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.ck = functools.partial(cp.checkpoint, use_reentrant=False)
    def forward(self, x):
        return self.ck(block, x)
Net()(x)
"""
PAIRS = {
    "given": Pair(PAIR_BLOCK + "cp.checkpoint(block, x, use_reentrant=conf.a)\n", ", use_reentrant=conf.a"),
    "a partial in an object": Pair(PAIR_BLOCK + KEPT, ", use_reentrant=False"),
    "a wrapper": Pair(PAIR_BLOCK + "def wrap(*a, **kw):\n    return cp.checkpoint(*a, **kw)\n", "*a, **kw", "block, x"),
    "transformers decides": Pair(
        PAIR_BLOCK + "conf.net.gradient_checkpointing_enable()\n",
        "conf.net.gradient_checkpointing_enable()",
        "cp.checkpoint(block, x)",
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC413", pair, tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
from torch.utils.checkpoint import checkpoint_sequential
class Net(nn.Module):
    def forward(self, x):
        return cp.checkpoint(self.block, x)  # -> warning unsafe
y = checkpoint_sequential(block, 2, x)  # -> warning unsafe
y = torch.utils.checkpoint.checkpoint(block, *[x])  # -> warning none
"""
    check_one("ACC413", IMPORTS + BLOCK + source, tmp_path)


REPORTED_PROGRAMS = {
    "plain": """
import torch.utils.checkpoint as cp
cp.checkpoint(print, 1)  # -> warning unsafe
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC413", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


def test_information_where_an_option_asks_for_checkpoints(tmp_path: Path) -> None:
    model = """
class Net(nn.Module):
    def __init__(self, saves=False):
        super().__init__()
        self.saves, self.block = saves, nn.Linear(8, 8)
    def forward(self, x):
        if self.saves:
            return cp.checkpoint(self.block, x)
        return self.block(x)
Net()(torch.zeros(4, 8))
"""
    for source, level in ((model, "info"), (model.replace("if self.saves", "for _ in (1,)"), "warning")):
        assert severities("ACC413", IMPORTS + BLOCK + source, tmp_path) == [level]
