"""ACC601 to ACC612, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import fixed
from .single import check_one

HF = "from transformers import TrainingArguments, Seq2SeqTrainingArguments\nimport conf\n"

HF_SILENT = {
    "ACC601": (
        "a = TrainingArguments('o', dataloader_num_workers=2)",
        "a = TrainingArguments('o', dataloader_num_workers=0)",
        "a = TrainingArguments('o', dataloader_num_workers=conf.n)",
        "a = TrainingArguments('o', **conf.kw)",
        "a = TrainingArguments('o', use_cpu=True)",
        "from datasets import load_dataset\nd = load_dataset('x', streaming=True)\na = TrainingArguments('o')",
        "from transformers import HfArgumentParser\na = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()",
    ),
    "ACC602": (
        "a = TrainingArguments('o')",
        "a = TrainingArguments('o', dataloader_pin_memory=True)",
        "a = TrainingArguments('o', dataloader_pin_memory=conf.pin)",
        "a = TrainingArguments('o', dataloader_pin_memory=False, use_cpu=True)",
    ),
    "ACC603": (
        "a = TrainingArguments('o', dataloader_num_workers=2, dataloader_prefetch_factor=4)",
        "a = TrainingArguments('o', dataloader_num_workers=conf.n, dataloader_prefetch_factor=4)",
        "a = TrainingArguments('o', dataloader_prefetch_factor=None)",
        "a = TrainingArguments('o', fp16=True, bf16=False)",
        "a = TrainingArguments('o', fp16=conf.half, bf16=not conf.half)",
    ),
    "ACC604": (
        "a = TrainingArguments('o')",
        "a = TrainingArguments('o', dataloader_num_workers=2, num_train_epochs=1)",
        "a = TrainingArguments('o', dataloader_num_workers=2, num_train_epochs=conf.epochs)",
        "a = TrainingArguments('o', dataloader_num_workers=2, max_steps=100)",
        "a = TrainingArguments('o', dataloader_num_workers=2, dataloader_persistent_workers=False)",
    ),
    "ACC605": (
        "a = TrainingArguments('o', bf16=True)",
        "a = TrainingArguments('o', fp16=conf.half)",
        "a = TrainingArguments('o', tf32=True)",
        "a = TrainingArguments('o', use_cpu=True)",
        "a = TrainingArguments('o', **conf.kw)",
        "import torch\ntorch.set_float32_matmul_precision('high')\na = TrainingArguments('o')",
        "import torch\nd = torch.device('mps')\na = TrainingArguments('o')",
        "import torch, transformers\nm = transformers.AutoModel.from_pretrained('x', dtype='auto')\na = TrainingArguments('o')",
    ),
    "ACC606": (
        "a = TrainingArguments('o', accelerator_config={'non_blocking': True})",
        "a = TrainingArguments('o', accelerator_config=conf.accelerate)",
        "a = TrainingArguments('o', dataloader_pin_memory=False)",
        "a = TrainingArguments('o', use_cpu=True)",
        "a = TrainingArguments('o', **conf.kw)",
    ),
}


@pytest.mark.parametrize(("code", "source"), [(code, one) for code, some in HF_SILENT.items() for one in some])
def test_trainer_settings_silent(code: str, source: str, tmp_path: Path) -> None:
    check_one(code, f"{HF}# {code}\n{source}\n", tmp_path)


@pytest.mark.parametrize(
    ("code", "source"),
    [
        ("ACC601", "a = TrainingArguments('o')  # -> info unsafe"),
        ("ACC601", "kw = {'learning_rate': 1e-4}\na = Seq2SeqTrainingArguments('o', **kw)  # -> info none"),
        ("ACC602", "a = TrainingArguments('o', dataloader_pin_memory=False)  # -> info none"),
        ("ACC603", "a = TrainingArguments('o', dataloader_prefetch_factor=2)  # -> error safe"),
        ("ACC603", "a = TrainingArguments('o', fp16=True, bf16=True)  # -> error none"),
        ("ACC604", "a = TrainingArguments('o', dataloader_num_workers=2)  # -> info unsafe"),
        ("ACC604", "a = TrainingArguments('o', num_train_epochs=2.0, dataloader_num_workers=2)  # -> info unsafe"),
        ("ACC605", "a = TrainingArguments('o')  # -> info none"),
        ("ACC606", "a = TrainingArguments('o', dataloader_pin_memory=True)  # -> info unsafe"),
    ],
)
def test_trainer_settings_reported(code: str, source: str, tmp_path: Path) -> None:
    check_one(code, f"{HF}# {code}\n{source}\n", tmp_path)


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

ACCELERATE_SILENT = {
    "ACC607": (
        "a = Accelerator()\nmodel, loader = a.prepare(model, loader)\nfor (x,) in loader:\n    a.backward(model(x).sum())",
        "a = Accelerator()\nfor (x,) in loader:\n    model(x).sum().backward()",
        "for (x,) in loader:\n    model(x).sum().backward()\na = Accelerator()\nmodel, fed = a.prepare(model, loader)",
        "a = Accelerator()\nfor (x,) in a.prepare(loader):\n    a.backward(model(x).sum())\n    other(x).backward()",
    ),
    "ACC608": (
        "a = Accelerator(dataloader_config=DataLoaderConfiguration())\nloader = a.prepare(loader)",
        "a = Accelerator(**conf.kw)\nloader = a.prepare(loader)",
        "a = Accelerator(cpu=True)\nloader = a.prepare(loader)",
        "a = Accelerator(device_placement=False)\nloader = a.prepare(loader)",
        "a = Accelerator()\nloader = a.prepare(DataLoader(TensorDataset(torch.zeros(64, 8))))",
        "a = Accelerator()",
    ),
}


@pytest.mark.parametrize(("code", "source"), [(code, one) for code, some in ACCELERATE_SILENT.items() for one in some])
def test_accelerate_silent(code: str, source: str, tmp_path: Path) -> None:
    check_one(code, ACCELERATE + source + "\n", tmp_path)


def test_accelerate_reported(tmp_path: Path) -> None:
    source = """
acc = Accelerator()
model, loader = acc.prepare(model, loader)
for (x,) in loader:
    loss = model(x).sum() / 4
    loss.backward()  # -> error unsafe
"""
    check_one("ACC607", ACCELERATE + source, tmp_path)
    assert "    acc.backward(loss)  #" in fixed(ACCELERATE + source, tmp_path, "ACC607")
    source = "a = Accelerator(mixed_precision='bf16')  # -> info none\nloader = a.prepare(loader)\n"
    check_one("ACC608", ACCELERATE + source, tmp_path)


LIGHTNING = """
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
import conf

class Data(L.LightningDataModule):
    def train_dataloader(self):
        data = TensorDataset(torch.zeros(64, 8))
        return DataLoader(data, sampler=DistributedSampler(data))MARK
"""

LIGHTNING_SILENT = {
    "ACC609": (
        "t = L.Trainer(precision='16-mixed')",
        "t = L.Trainer(precision=32)",
        "t = L.Trainer(precision=conf.precision)",
        "t = L.Trainer()",
        "import pytorch_lightning as pl\nt = pl.Trainer(precision=16)",
    ),
    "ACC610": (
        "t = L.Trainer(use_distributed_sampler=False)",
        "t = L.Trainer(**conf.kw)",
        "sampler = conf.trainer",
        "s = DistributedSampler(TensorDataset(torch.zeros(8)))",
    ),
    "ACC611": (
        "class Net(L.LightningModule):\n    def training_step(self, batch, i):\n        self.log('l', batch.sum())",
        "class Net(L.LightningModule):\n    def validation_step(self, batch, i):\n        batch.sum().item()",
        (
            "class Net(L.LightningModule):\n    def training_step(self, batch, i):\n        if i % 50 == 0:\n"
            "            print(batch.sum().item())"
        ),
        "class Net(L.LightningModule):\n    def training_step(self, b, i):\n        torch.zeros(1).item()",
        "class Net(nn.Module):\n    def training_step(self, b, i):\n        b.item()",
    ),
}


@pytest.mark.parametrize(("code", "source"), [(code, one) for code, some in LIGHTNING_SILENT.items() for one in some])
def test_lightning_silent(code: str, source: str, tmp_path: Path) -> None:
    check_one(code, LIGHTNING.replace("MARK", "") + source + "\n", tmp_path)


def test_lightning_reported(tmp_path: Path) -> None:
    plain = LIGHTNING.replace("MARK", "")
    check_one("ACC609", plain + "t = L.Trainer(precision='bf16')  # -> info safe\n", tmp_path)
    check_one("ACC609", plain + "t = L.Trainer(precision=16)  # -> info safe\n", tmp_path)
    check_one("ACC610", LIGHTNING.replace("MARK", "  # -> info none") + "t = L.Trainer(devices=2)\n", tmp_path)
    step = """
class Net(L.LightningModule):
    def training_step(self, batch, index):
        loss = batch.sum()
        self.log("loss", loss.item())  # -> info none
        self.total += loss.item()
        return loss
"""
    found = check_one("ACC611", plain + step, tmp_path)
    assert len(found[0].related) == 1


TIMM_SILENT = (
    "loader = create_loader(data, 224, 8, pin_memory=True, device=torch.device('cuda'))",
    "loader = create_loader(data, 224, 8, pin_memory=False, device=torch.device('cuda'))",
    "loader = create_loader(data, 224, 8, **conf.kw)\nx = torch.zeros(1).cuda()",
    "loader = create_loader(data, 224, 8, device=torch.device('cpu'))",
)


@pytest.mark.parametrize("source", TIMM_SILENT)
def test_timm_silent(source: str, tmp_path: Path) -> None:
    check_one(
        "ACC612", "import torch, conf\nfrom timm.data import create_loader\ndata = conf.data\n" + source, tmp_path
    )


def test_timm_reported(tmp_path: Path) -> None:
    source = "import torch, timm\nx = torch.zeros(1).cuda()\nloader = timm.data.create_loader([], 224, 8)  # -> info unsafe\n"
    check_one("ACC612", source, tmp_path)
