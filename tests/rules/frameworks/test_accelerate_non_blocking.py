"""ACC608 accelerate-non-blocking, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS
from .programs import ACCELERATE, MACOS

SILENT = (
    "a = Accelerator(dataloader_config=DataLoaderConfiguration())\nloader = a.prepare(loader)",
    "a = Accelerator(**conf.kw)\nloader = a.prepare(loader)",
    "a = Accelerator(cpu=True)\nloader = a.prepare(loader)",
    "a = Accelerator(device_placement=False)\nloader = a.prepare(loader)",
    "a = Accelerator()\nloader = a.prepare(DataLoader(TensorDataset(torch.zeros(64, 8))))",
    "a = Accelerator()",
)


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC608", ACCELERATE + source + "\n", tmp_path)


PAIR_ACCELERATE = IMPORTS + "import conf\nfrom accelerate import Accelerator, DataLoaderConfiguration\n"
LOADER = "model = nn.Linear(8, 2)\nloader = DataLoader(TensorDataset(torch.zeros(64, 8)), pin_memory=True)\n"


def accelerate(body: str, condition: str, instead: str = "") -> Pair:
    return Pair(PAIR_ACCELERATE + LOADER + body, condition, instead)


PREPARE = "model, loader = a.prepare(model, loader)\n"
PAIRS = {
    "configured": accelerate(
        "a = Accelerator(dataloader_config=DataLoaderConfiguration())\n" + PREPARE,
        "dataloader_config=DataLoaderConfiguration()",
    ),
    "arguments unseen": accelerate("a = Accelerator(**conf.kw)\n" + PREPARE, "**conf.kw"),
    "on the CPU": accelerate("a = Accelerator(cpu=True)\n" + PREPARE, "cpu=True"),
    "without placement": accelerate("a = Accelerator(device_placement=False)\n" + PREPARE, "device_placement=False"),
    "not pinned": accelerate(
        "a = Accelerator()\nloader = DataLoader(TensorDataset(torch.zeros(64, 8)))\n" + PREPARE,
        "loader = DataLoader(TensorDataset(torch.zeros(64, 8)))\n",
    ),
    "not prepared": accelerate("a = Accelerator()\nprint(a)\n", "print(a)\n", PREPARE),
    "mps": accelerate("device = torch.device('mps')\na = Accelerator()\n" + PREPARE, "device = torch.device('mps')\n"),
    "TPU": accelerate(
        "import torch_xla.core.xla_model as xm\na = Accelerator()\n" + PREPARE,
        "import torch_xla.core.xla_model as xm\n",
    ),
    "only for macOS": Pair(
        PAIR_ACCELERATE + LOADER + "a = Accelerator()\n" + PREPARE, ":: MacOS", ":: POSIX :: Linux", MACOS
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC608", PAIRS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = "a = Accelerator(mixed_precision='bf16')  # -> info none\nloader = a.prepare(loader)\n"
    check_one("ACC608", ACCELERATE + source, tmp_path)
