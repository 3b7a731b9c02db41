"""ACC604 hf-args-persistent-workers, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import check_one, check_pair
from ..programs import IMPORTS
from .programs import HF_SETTINGS, hf

SILENT = (
    "a = TrainingArguments('o')",
    "a = TrainingArguments('o', dataloader_num_workers=2, num_train_epochs=1)",
    "a = TrainingArguments('o', dataloader_num_workers=2, num_train_epochs=conf.epochs)",
    "a = TrainingArguments('o', dataloader_num_workers=2, max_steps=100)",
    "a = TrainingArguments('o', dataloader_num_workers=2, dataloader_persistent_workers=False)",
)


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC604", HF_SETTINGS + source + "\n", tmp_path)


SILENT_PROGRAMS = {
    "one epoch": """
from transformers import TrainingArguments
a = TrainingArguments("o", dataloader_num_workers=2, num_train_epochs=1)
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC604", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


PAIRS = {
    "given": hf(
        ", dataloader_num_workers=2, dataloader_persistent_workers=False", ", dataloader_persistent_workers=False"
    ),
    "no workers": hf(", dataloader_num_workers=0", "=0", "=2"),
    "workers from a setting": hf(", dataloader_num_workers=conf.n", "conf.n", "2"),
    "one epoch": hf(", dataloader_num_workers=2, num_train_epochs=1", "num_train_epochs=1", "num_train_epochs=2"),
    "epochs from a setting": hf(", dataloader_num_workers=2, num_train_epochs=conf.n", "conf.n", "2"),
    "steps": hf(", dataloader_num_workers=2, max_steps=9", ", max_steps=9"),
    "arguments unseen": hf(", dataloader_num_workers=2, **conf.kw", ", **conf.kw"),
    "set later": hf(
        ", dataloader_num_workers=2",
        "a.dataloader_persistent_workers = True\n",
        after="a.dataloader_persistent_workers = True\n",
    ),
    "a data set that changes": hf(
        ", dataloader_num_workers=2",
        "on_epoch_begin",
        "on_log",
        before="class D(Dataset):\n    level = 1\n    def __getitem__(self, i):\n        return {'x': self.level}\ndata = D()\n",
        after="from transformers import TrainerCallback\nclass Next(TrainerCallback):\n    def on_epoch_begin(self, *some, **others):\n        data.level = 2\nTrainer(args=a, train_dataset=data, callbacks=[Next()])\n",
    ),
    "an epoch that is set": hf(
        ", dataloader_num_workers=2",
        "on_epoch_begin",
        "on_log",
        after="from transformers import TrainerCallback\nclass Next(TrainerCallback):\n    def on_epoch_begin(self, args, state, control, train_dataset, **others):\n        train_dataset.set_epoch(state.epoch)\n",
    ),
    "a transform that is set": hf(
        ", dataloader_num_workers=2",
        "on_epoch_end",
        "on_log",
        after="from transformers import TrainerCallback\nclass Next(TrainerCallback):\n    def on_epoch_end(self, args, state, control, **kw):\n        kw['train_dataloader'].dataset.set_transform(conf.t)\n",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC604", PAIRS[case], tmp_path)


@pytest.mark.parametrize(
    "source",
    [
        "a = TrainingArguments('o', dataloader_num_workers=2)  # -> info unsafe",
        "a = TrainingArguments('o', num_train_epochs=2.0, dataloader_num_workers=2)  # -> info unsafe",
    ],
)
def test_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC604", HF_SETTINGS + source + "\n", tmp_path)


REPORTED_PROGRAMS = {
    "several": """
from transformers import TrainingArguments
a = TrainingArguments("o", dataloader_num_workers=2, num_train_epochs=5)  # -> info unsafe
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC604", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
