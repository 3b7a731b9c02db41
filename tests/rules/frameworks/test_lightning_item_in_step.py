"""ACC611 lightning-item-in-step, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS
from .programs import LIGHTNING, LIGHTNING_DATA

SILENT = (
    "class Net(L.LightningModule):\n    def training_step(self, batch, i):\n        self.log('l', batch.sum())",
    "class Net(L.LightningModule):\n    def validation_step(self, batch, i):\n        batch.sum().item()",
    (
        "class Net(L.LightningModule):\n    def training_step(self, batch, i):\n        if i % 50 == 0:\n"
        "            print(batch.sum().item())"
    ),
    "class Net(L.LightningModule):\n    def training_step(self, b, i):\n        torch.zeros(1).item()",
    "class Net(nn.Module):\n    def training_step(self, b, i):\n        b.item()",
)


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC611", LIGHTNING_DATA + source + "\n", tmp_path)


SILENT_PROGRAMS = {
    "guarded": """
import lightning as L
class M(L.LightningModule):
    def training_step(self, b, i):
        loss = self.fc(b).sum()
        if i % 100 == 0:
            print(loss.item())
        return loss
""",
    "validation": """
import lightning as L
class M(L.LightningModule):
    def validation_step(self, b, i):
        self.log("l", self.fc(b).sum().item())
""",
    "batch item of host number": """
import lightning as L
import numpy as np
class M(L.LightningModule):
    def training_step(self, b, i):
        n = np.mean([1.0]).item()
        return self.fc(b).sum() * n
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC611", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


STEP = "class M(L.LightningModule):\n    def training_step(self, b, i):\n        loss = self.net(b).sum()\n"
PAIRS = {
    "the tensor": Pair(LIGHTNING + STEP + "        self.log('x', loss)\n", "'x', loss", "'x', loss.item()"),
    "at times": Pair(
        LIGHTNING + STEP + "        if i % 50 == 0:\n            print(loss.item())\n",
        "        if i % 50 == 0:\n            print",
        "        print",
    ),
    "validation": Pair(
        LIGHTNING + STEP.replace("training_step", "validation_step") + "        print(loss.item())\n",
        "validation_step",
        "training_step",
    ),
    "on the host": Pair(
        LIGHTNING + STEP + "        n = torch.zeros(1)\n        print(n.item())\n", "n.item()", "loss.item()"
    ),
    "no module of Lightning": Pair(
        LIGHTNING + STEP.replace("L.LightningModule", "nn.Module") + "        print(loss.item())\n",
        "nn.Module",
        "L.LightningModule",
    ),
    "of numpy": Pair(
        LIGHTNING + "import numpy as np\n" + STEP + "        print(np.mean([1.0]).item())\n",
        "np.mean([1.0]).item()",
        "loss.item()",
    ),
    "when debugging": Pair(
        LIGHTNING + STEP + "        if conf.debug:\n            print(loss.item())\n",
        "        if conf.debug:\n            print",
        "        print",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC611", PAIRS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    step = """
class Net(L.LightningModule):
    def training_step(self, batch, index):
        loss = batch.sum()
        self.log("loss", loss.item())  # -> info none
        self.total += loss.item()
        return loss
"""
    found = check_one("ACC611", LIGHTNING_DATA + step, tmp_path)
    assert len(found[0].related) == 1


REPORTED_PROGRAMS = {
    "item": """
import lightning as L
class M(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    def training_step(self, b, i):
        loss = self.fc(b).sum()
        self.log("l", loss.item())  # -> info none
        return loss
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC611", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
