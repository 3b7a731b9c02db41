"""ACC314 device-move-with-hf-trainer, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.rule import registry

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

TRAINER = "from transformers import Trainer\nclass Mine(Trainer):\n"
SILENT = {
    "elsewhere": TRAINER + "    def evaluate(self, x):\n        return x.cuda()",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC314", IMPORTS + source, tmp_path)


PAIR_HF = IMPORTS + "from transformers import Trainer\nclass Mine(Trainer):\n"
PAIRS = {
    "evaluation": Pair(
        PAIR_HF + "    def prediction_step(self, model, inputs):\n        return inputs.to('cuda')\n",
        "prediction_step",
        "compute_loss",
    ),
    "generation": Pair(
        PAIR_HF + "    def generate(self, model, inputs):\n        return inputs.cuda()\n",
        "def generate",
        "def compute_loss",
    ),
    "to the host": Pair(
        PAIR_HF + "    def compute_loss(self, model, inputs):\n        return model(**inputs).to('cpu')\n",
        "'cpu'",
        "'cuda'",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC314", PAIRS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    loss = "    def compute_loss(self, model, inputs):\n        return model(inputs['x'].cuda())\n"
    assert len(findings_of("ACC314", IMPORTS + TRAINER + loss, tmp_path)) == 1


def test_off_unless_asked_for() -> None:
    assert not registry()["ACC314"].enabled
