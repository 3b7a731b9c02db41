"""ACC606 hf-non-blocking, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from .programs import HF, HF_SETTINGS, MACOS, hf

SILENT = (
    "a = TrainingArguments('o', accelerator_config={'non_blocking': True})",
    "a = TrainingArguments('o', accelerator_config=conf.accelerate)",
    "a = TrainingArguments('o', dataloader_pin_memory=False)",
    "a = TrainingArguments('o', use_cpu=True)",
    "a = TrainingArguments('o', **conf.kw)",
)


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC606", HF_SETTINGS + source + "\n", tmp_path)


PAIRS = {
    "given": hf(", accelerator_config={'non_blocking': True}", ", accelerator_config={'non_blocking': True}"),
    "given otherwise": hf(", accelerator_config=conf.c", ", accelerator_config=conf.c"),
    "not pinned": hf(", dataloader_pin_memory=False", ", dataloader_pin_memory=False"),
    "a setting": hf(", dataloader_pin_memory=conf.pin", ", dataloader_pin_memory=conf.pin"),
    "on the CPU": hf(", use_cpu=True", ", use_cpu=True"),
    "without CUDA": hf(", no_cuda=True", ", no_cuda=True"),
    "mps": hf("", "device = torch.device('mps')\n", before="device = torch.device('mps')\n"),
    "arguments unseen": hf(", **conf.kw", ", **conf.kw"),
    "set later": hf(
        "", "a.accelerator_config.non_blocking = True\n", after="a.accelerator_config.non_blocking = True\n"
    ),
    "only for macOS": Pair(HF + "TrainingArguments('o')\n", ":: MacOS", ":: POSIX :: Linux", MACOS),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC606", PAIRS[case], tmp_path)


@pytest.mark.parametrize("source", ["a = TrainingArguments('o', dataloader_pin_memory=True)  # -> info unsafe"])
def test_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC606", HF_SETTINGS + source + "\n", tmp_path)
