"""ACC610 lightning-manual-sampler, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS
from .programs import LIGHTNING, LIGHTNING_DATA

SILENT = (
    "t = L.Trainer(use_distributed_sampler=False)",
    "t = L.Trainer(**conf.kw)",
    "sampler = conf.trainer",
    "s = DistributedSampler(TensorDataset(torch.zeros(8)))",
)


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC610", LIGHTNING_DATA + source + "\n", tmp_path)


SILENT_PROGRAMS = {
    "use_distributed_sampler False": """
import lightning as L
from torch.utils.data import DistributedSampler
class D(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(self.d, sampler=DistributedSampler(self.d))
L.Trainer(use_distributed_sampler=False)
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC610", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


DATA = "class D(L.LightningDataModule):\n    def train_dataloader(self):\n        return DataLoader(conf.d, sampler=DistributedSampler(conf.d))\n"
PAIRS = {
    "switched off": Pair(
        LIGHTNING + DATA + "L.Trainer(use_distributed_sampler=False)\n", "use_distributed_sampler=False"
    ),
    "switched off, by the old name": Pair(
        LIGHTNING + DATA + "L.Trainer(replace_sampler_ddp=False)\n", "replace_sampler_ddp=False"
    ),
    "arguments unseen": Pair(LIGHTNING + DATA + "L.Trainer(**conf.kw)\n", "**conf.kw"),
    "no Trainer": Pair(LIGHTNING + DATA + "print(1)\n", "print(1)", "L.Trainer()"),
    "outside": Pair(
        LIGHTNING + DATA.replace("class D(L.LightningDataModule)", "class D") + "L.Trainer()\n",
        "class D:",
        "class D(L.LightningDataModule):",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC610", PAIRS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    marked = LIGHTNING_DATA.removesuffix("\n") + "  # -> info none\n"
    check_one("ACC610", marked + "t = L.Trainer(devices=2)\n", tmp_path)


REPORTED_PROGRAMS = {
    "manual": """
import lightning as L
from torch.utils.data import DistributedSampler
class D(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(self.d, sampler=DistributedSampler(self.d))  # -> info none
L.Trainer(devices=4)
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC610", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
