"""ACC312 device-move-in-lightning, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

LIGHTNING_NET = "import lightning as L\nclass Net(L.LightningModule):\n"
SILENT = {
    "its own device": LIGHTNING_NET + "    def training_step(self, b, i):\n        return b.to(self.device)",
    "another's device": LIGHTNING_NET + "    def training_step(self, b, i):\n        return b.to(b.device)",
    "setup": LIGHTNING_NET + "    def setup(self, stage):\n        conf.net.cuda()",
    "outside": LIGHTNING_NET + "    pass\ndef predict(b):\n    return b.cuda()",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC312", IMPORTS + source, tmp_path)


PAIR_LIGHTNING = IMPORTS + "import lightning as L\nimport conf\nclass M(L.LightningModule):\n"
DATA = IMPORTS + "import lightning as L\nclass D(L.LightningDataModule):\n"
PAIRS = {
    "its own device": Pair(
        PAIR_LIGHTNING + "    def training_step(self, b, i):\n        return b.to(self.device)\n",
        "self.device",
        "'cuda'",
    ),
    "another's device": Pair(
        PAIR_LIGHTNING + "    def training_step(self, b, i):\n        x = b[0]\n        return x.to(b.device)\n",
        "b.device",
        "'cuda'",
    ),
    "in setup": Pair(
        PAIR_LIGHTNING + "    def setup(self, stage):\n        stage.cuda()\n",
        "def setup(self, stage)",
        "def training_step(self, stage)",
    ),
    "in a helper": Pair(
        PAIR_LIGHTNING + "    def place(self, b):\n        return b.cuda()\n", "def place", "def training_step"
    ),
    "in the transfer of a data module": Pair(
        DATA + "    def transfer_batch_to_device(self, b, device, i):\n        return b.cuda()\n",
        "transfer_batch_to_device",
        "training_step",
    ),
    "outside of the Trainer": Pair(
        PAIR_LIGHTNING + "    pass\ndef predict(b):\n    return b.cuda()\n",
        "    pass\ndef predict(b):\n    return b.cuda()\n",
        "    def forward(self, b):\n        return b.cuda()\n",
    ),
    "another module": Pair(
        PAIR_LIGHTNING + "    pass\nclass N(nn.Module):\n    def forward(self, b):\n        return b.cuda()\n",
        "class N(nn.Module)",
        "class N(L.LightningModule)",
    ),
    "numbered": Pair(
        PAIR_LIGHTNING + "    def training_step(self, b, i):\n        return b.cuda(self.local_rank)\n",
        "self.local_rank",
        "",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC312", PAIRS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    step = "    def training_step(self, b, i):\n        return b.cuda() + b.to('cuda:0')\n"
    assert len(findings_of("ACC312", IMPORTS + LIGHTNING_NET + step, tmp_path)) == 2
