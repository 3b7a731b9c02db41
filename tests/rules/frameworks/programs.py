"""Beginnings that the programs of rules/frameworks share."""

from __future__ import annotations

from ..checks import Pair
from ..programs import IMPORTS

HF = IMPORTS + "import conf\nfrom transformers import Trainer, TrainingArguments\n"


def hf(arguments: str, condition: str, instead: str = "", before: str = "", after: str = "") -> Pair:
    """The settings of a Trainer."""
    return Pair(f"{HF}{before}a = TrainingArguments('o'{arguments})\n{after}", condition, instead)


HF_SETTINGS = "from transformers import TrainingArguments, Seq2SeqTrainingArguments\nimport conf\n"
LIGHTNING = IMPORTS + "import conf\nimport lightning as L\nfrom torch.utils.data import DistributedSampler\n"

LIGHTNING_DATA = """
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
import conf

class Data(L.LightningDataModule):
    def train_dataloader(self):
        data = TensorDataset(torch.zeros(64, 8))
        return DataLoader(data, sampler=DistributedSampler(data))
"""
"""A module whose loader divides its samples by itself."""

MACOS = {"pyproject.toml": '[project]\nname = "x"\nclassifiers = ["Operating System :: MacOS"]\n'}
"""A project for macOS alone."""

ACCELERATE = """
import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import conf

model = nn.Linear(8, 2)
loader = DataLoader(TensorDataset(torch.zeros(64, 8)), pin_memory=True)
"""
"""A model and a loader that pins, before they are prepared."""
