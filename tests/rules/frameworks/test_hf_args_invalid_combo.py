"""ACC603 hf-args-invalid-combo, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import check_one, check_pair
from ..programs import IMPORTS
from .programs import HF_SETTINGS, hf

SILENT = (
    "a = TrainingArguments('o', dataloader_num_workers=2, dataloader_prefetch_factor=4)",
    "a = TrainingArguments('o', dataloader_num_workers=conf.n, dataloader_prefetch_factor=4)",
    "a = TrainingArguments('o', dataloader_prefetch_factor=None)",
    "a = TrainingArguments('o', fp16=True, bf16=False)",
    "a = TrainingArguments('o', fp16=conf.half, bf16=not conf.half)",
)


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC603", HF_SETTINGS + source + "\n", tmp_path)


SILENT_PROGRAMS = {
    "ok": """
from transformers import TrainingArguments
import argparse
p = argparse.ArgumentParser(); p.add_argument("--w", type=int, default=0); g = p.parse_args()
a = TrainingArguments("o", dataloader_prefetch_factor=2, dataloader_num_workers=g.w)
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC603", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


PAIRS = {
    "workers": hf(", dataloader_prefetch_factor=2, dataloader_num_workers=2", ", dataloader_num_workers=2"),
    "workers from a setting": hf(
        ", dataloader_prefetch_factor=2, dataloader_num_workers=conf.n", ", dataloader_num_workers=conf.n"
    ),
    "none": hf(", dataloader_prefetch_factor=None", "None", "2"),
    "a setting": hf(", dataloader_prefetch_factor=conf.n", "conf.n", "2"),
    "arguments unseen": hf(", dataloader_prefetch_factor=2, **conf.kw", ", **conf.kw"),
    "one precision": hf(", fp16=True, bf16=False", "bf16=False", "bf16=True"),
    "one precision or the other": hf(
        ", fp16=not conf.b, bf16=conf.b", "fp16=not conf.b, bf16=conf.b", "fp16=True, bf16=True"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC603", PAIRS[case], tmp_path)


@pytest.mark.parametrize(
    "source",
    [
        "a = TrainingArguments('o', dataloader_prefetch_factor=2)  # -> error safe",
        "a = TrainingArguments('o', fp16=True, bf16=True)  # -> error none",
    ],
)
def test_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC603", HF_SETTINGS + source + "\n", tmp_path)


REPORTED_PROGRAMS = {
    "both precisions": """
from transformers import TrainingArguments
a = TrainingArguments("o", fp16=True, bf16=True)  # -> error none
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC603", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
