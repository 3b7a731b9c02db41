"""ACC602 hf-args-pin-memory-off, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from .programs import HF, HF_SETTINGS, MACOS, hf

SILENT = (
    "a = TrainingArguments('o')",
    "a = TrainingArguments('o', dataloader_pin_memory=True)",
    "a = TrainingArguments('o', dataloader_pin_memory=conf.pin)",
    "a = TrainingArguments('o', dataloader_pin_memory=False, use_cpu=True)",
)


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC602", HF_SETTINGS + source + "\n", tmp_path)


PAIRS = {
    "not given": hf("", "TrainingArguments('o')", "TrainingArguments('o', dataloader_pin_memory=False)"),
    "a setting": hf(", dataloader_pin_memory=conf.pin", "conf.pin", "False"),
    "on the CPU": hf(", dataloader_pin_memory=False, use_cpu=True", ", use_cpu=True"),
    "without CUDA": hf(", dataloader_pin_memory=False, no_cuda=True", ", no_cuda=True"),
    "mps": hf(
        ", dataloader_pin_memory=False", "device = torch.device('mps')\n", before="device = torch.device('mps')\n"
    ),
    "mps if there is one": hf(
        ", dataloader_pin_memory=False",
        "'mps' if torch.backends.mps.is_available() else 'cpu'",
        "'cpu'",
        before="device = 'mps' if torch.backends.mps.is_available() else 'cpu'\n",
    ),
    "collated on the GPU": hf(
        ", dataloader_pin_memory=False",
        ".cuda()",
        before="def collate(some):\n    return {'x': torch.stack(some).cuda()}\n",
        after="Trainer(args=a, data_collator=collate)\n",
    ),
    "a data set on the GPU": hf(
        ", dataloader_pin_memory=False",
        ", device='cuda'",
        before="class D(Dataset):\n    def __getitem__(self, i):\n        return {'x': torch.zeros(1, device='cuda')}\n",
        after="Trainer(args=a, train_dataset=D())\n",
    ),
    "only for macOS": Pair(
        HF + "TrainingArguments('o', dataloader_pin_memory=False)\n", ":: MacOS", ":: POSIX :: Linux", MACOS
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC602", PAIRS[case], tmp_path)


@pytest.mark.parametrize("source", ["a = TrainingArguments('o', dataloader_pin_memory=False)  # -> info none"])
def test_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC602", HF_SETTINGS + source + "\n", tmp_path)
