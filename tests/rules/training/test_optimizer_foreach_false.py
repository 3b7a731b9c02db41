"""ACC416 optimizer-foreach-false, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, check_since, fixed
from ..programs import IMPORTS, MODEL
from .programs import NO_GPU

SILENT = {
    "default": "o = torch.optim.Adam(model.parameters())",
    "true": "o = torch.optim.Adam(model.parameters(), foreach=True)",
    "fused": "o = torch.optim.Adam(model.parameters(), foreach=False, fused=True)",
    "an option": "import conf\no = torch.optim.Adam(model.parameters(), foreach=conf.foreach)",
    "somebody else's": "import lion\no = lion.Lion(model.parameters(), foreach=False)",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC416", IMPORTS + MODEL + source + "\n", tmp_path)


def test_silent_on_the_host(tmp_path: Path) -> None:
    source = "o = torch.optim.Adam(nn.Linear(8, 2).parameters(), foreach=False)\n"
    check_one("ACC416", IMPORTS + source, tmp_path)


SILENT_PROGRAMS = {
    "cpu": """
model = nn.Linear(2, 2)
opt = torch.optim.Adam(model.parameters(), foreach=False)
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC416", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


FOREACH = IMPORTS + MODEL + "import conf\n{}o = torch.optim.Adam(model.parameters(), foreach=False){}\n"
SHORT = [
    "from torch.utils.checkpoint import checkpoint\ncheckpoint(model, conf.x, use_reentrant=False)\n",
    "conf.net.gradient_checkpointing_enable()\n",
    "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\nmodel = FSDP(model)\n",
    "torch.cuda.set_per_process_memory_fraction(0.5)\n",
    "with torch.autograd.graph.save_on_cpu():\n    pass\n",
    "# the default needs more memory than there is\n",
]


@pytest.mark.parametrize("line", SHORT)
def test_silent_where_memory_is_short(line: str, tmp_path: Path) -> None:
    check_pair("ACC416", Pair(FOREACH.format(line, ""), line), tmp_path)


COMMENTS = [
    Pair(FOREACH.format("", "  # saves memory"), "  # saves memory"),
    Pair(FOREACH.format("", "").replace("foreach", "\n    # OOM otherwise\n    foreach"), "    # OOM otherwise\n"),
]


@pytest.mark.parametrize("pair", COMMENTS, ids=["beside", "above"])
def test_silent_where_a_comment_says_why(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC416", pair, tmp_path)


ON_HOST = IMPORTS + "model = nn.Linear(8, 2)\n"


@pytest.mark.parametrize("line", NO_GPU)
def test_silent_where_nothing_shows_a_gpu(line: str, tmp_path: Path) -> None:
    source = f"{ON_HOST}{line}\no = torch.optim.Adam(model.parameters(), foreach=False)\n"
    check_pair("ACC416", Pair(source, line, "model.cuda()"), tmp_path)


def test_silent_where_an_older_torch_is_supported(tmp_path: Path) -> None:
    source = IMPORTS + MODEL + "torch.optim.Adam(model.parameters(), foreach=False)\n"
    check_since("ACC416", source, (2, 0), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = "o = torch.optim.Adam(model.parameters(), foreach=False, lr=1e-3)  # -> info unsafe\n"
    check_one("ACC416", IMPORTS + MODEL + source, tmp_path)
    assert "Adam(model.parameters(), lr=1e-3)" in fixed("ACC416", IMPORTS + MODEL + source, tmp_path)


REPORTED_PROGRAMS = {
    "cuda": """
model = nn.Linear(2, 2).cuda()
opt = torch.optim.Adam(model.parameters(), foreach=False)  # -> info unsafe
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC416", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
