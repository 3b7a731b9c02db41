"""ACC612 timm-pin-memory, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS
from .programs import MACOS

SILENT = (
    "loader = create_loader(data, 224, 8, pin_memory=True, device=torch.device('cuda'))",
    "loader = create_loader(data, 224, 8, pin_memory=False, device=torch.device('cuda'))",
    "loader = create_loader(data, 224, 8, **conf.kw)\nx = torch.zeros(1).cuda()",
    "loader = create_loader(data, 224, 8, device=torch.device('cpu'))",
)


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one(
        "ACC612", "import torch, conf\nfrom timm.data import create_loader\ndata = conf.data\n" + source, tmp_path
    )


SILENT_PROGRAMS = {
    "given": """
import timm.data
l = timm.data.create_loader([], 3, 4, pin_memory=False)
torch.zeros(3).cuda()
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC612", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


TIMM = IMPORTS + "import conf\nfrom timm.data import create_loader\n"
PAIRS = {
    "given": Pair(TIMM + "create_loader([], 3, 4, pin_memory=False)\ntorch.zeros(3).cuda()\n", ", pin_memory=False"),
    "arguments unseen": Pair(TIMM + "create_loader([], 3, 4, **conf.kw)\ntorch.zeros(3).cuda()\n", ", **conf.kw"),
    "no GPU in sight": Pair(TIMM + "create_loader([], 3, 4)\nprint(1)\n", "print(1)", "torch.zeros(3).cuda()"),
    "on the CPU": Pair(
        TIMM + "create_loader([], 3, 4, device=torch.device('cpu'))\ntorch.zeros(3).cuda()\n",
        ", device=torch.device('cpu')",
    ),
    "only mps": Pair(TIMM + "create_loader([], 3, 4, device=torch.device('mps'))\n", "'mps'", "'cuda'"),
    "only for macOS": Pair(
        TIMM + "create_loader([], 3, 4)\ntorch.zeros(3).cuda()\n", ":: MacOS", ":: POSIX :: Linux", MACOS
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC612", PAIRS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = "import torch, timm\nx = torch.zeros(1).cuda()\nloader = timm.data.create_loader([], 224, 8)  # -> info unsafe\n"
    check_one("ACC612", source, tmp_path)


REPORTED_PROGRAMS = {
    "missing": """
from timm.data import create_loader
l = create_loader([], 3, 4)  # -> info unsafe
torch.zeros(3).cuda()
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC612", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
