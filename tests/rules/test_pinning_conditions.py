"""Each condition under which ACC101 is silent, and that it speaks without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import LOOP, MODEL, PHOTOS

HEAD = PHOTOS + MODEL + "import conf\n"
ON_HOST = HEAD.replace(".cuda()", "")
FED = "loader = DataLoader(photos, num_workers=2)" + LOOP
PIN = "loader = DataLoader(data, num_workers=2)" + LOOP
LIGHTNING = """
import lightning as L
class Module(L.LightningModule):
    def train_dataloader(self):
        return DataLoader(data, num_workers=2)
"""
RELOADED = """
import lightning as L
class Data(L.LightningDataModule):
    def train_dataloader(self): return DataLoader(photos, num_workers=2, persistent_workers=True)
L.Trainer(reload_dataloaders_every_n_epochs=1).fit(conf.model, Data())
"""
BATCH = """
class Batch:
    def __init__(self, items): self.x = torch.stack([one[0] for one in items])
    def to(self, device):
        self.x = self.x.to(device)
        return self
    def other(self): return self
def collate(items): return Batch(items)
loader = DataLoader(photos, num_workers=2, collate_fn=collate)
for batch in loader:
    model(batch.to("cuda").x).sum().backward()
"""

OTHERS = {
    "dgl": ("from dgl.dataloading import DataLoader as Other", "Other("),
    "fastai": ("from fastai.data.load import DataLoader as Other", "Other("),
    "ignite": ("import ignite.distributed as idist", "idist.auto_dataloader("),
    "ffcv": ("from ffcv.loader import Loader", "Loader("),
    "timm": ("from timm.data import create_loader", "create_loader("),
    "paddle": ("from paddle.io import DataLoader as Other", "Other("),
    "mindspore": ("from mindspore.dataset import DataLoader as Other", "Other("),
    "mxnet": ("from mxnet.gluon.data import DataLoader as Other", "Other("),
    "mlx": ("import mlx.data", "mlx.data.DataLoader("),
}


def data(sample: str, init: str = "pass", more: str = "", make: str = "Data()") -> str:
    return (
        f"class Data(Dataset):\n    def __init__(self, held=None):\n        {init}\n    def __len__(self): return 3\n"
        f"    def __getitem__(self, i):\n        {sample}\n{more}data = {make}\n"
    )


PAIRS = {
    "ACC101: the host": Pair(ON_HOST + FED.replace("cuda(non_blocking=True)", "to('cpu')"), "to('cpu')", "to('cuda')"),
    "ACC101: mps": Pair(ON_HOST + FED.replace("cuda(non_blocking=True)", "to('mps')"), "to('mps')", "to('cuda')"),
    "ACC101: XLA": Pair(
        ON_HOST
        + "import torch_xla.core.xla_model as xm\ndevice = xm.xla_device()\n"
        + FED.replace("cuda(non_blocking=True)", "to(device)"),
        "xm.xla_device()",
        "'cuda'",
    ),
    "ACC101: samples on the device": Pair(
        HEAD + data("return torch.load(str(i)).cuda(), i") + PIN, ".cuda(), i", ", i"
    ),
    "ACC101: a transform to the device": Pair(
        HEAD
        + "from torchvision import datasets, transforms\nsteps = transforms.Compose([transforms.ToTensor(), transforms.Lambda(lambda t: t.cuda())])\ndata = datasets.ImageFolder('r', steps)\n"
        + PIN,
        "t.cuda()",
        "t",
    ),
    "ACC101: a collate function to the device": Pair(
        HEAD
        + "def collate(items): return torch.stack([one[0] for one in items]).cuda(), 1\nloader = DataLoader(photos, num_workers=2, collate_fn=collate)"
        + LOOP,
        "items]).cuda()",
        "items])",
    ),
    "ACC101: tensors on the device": Pair(
        HEAD + "device = 'cuda'\nx = torch.zeros(9, 8)\ndata = TensorDataset(x.to(device), x.to(device))\n" + PIN,
        ".to(device)",
    ),
    "ACC101: a list on the device": Pair(
        HEAD + "data = [(torch.zeros(8, device='cuda'), 1) for i in range(9)]\n" + PIN, ", device='cuda'"
    ),
    "ACC101: sparse samples": Pair(HEAD + data("return torch.load(str(i)).to_sparse(), i") + PIN, ".to_sparse()"),
    "ACC101: sparse by a factory": Pair(
        HEAD + data("return torch.sparse_coo_tensor(*torch.load(str(i))), i") + PIN,
        "torch.sparse_coo_tensor(*torch.load(str(i)))",
        "torch.load(str(i))",
    ),
    "ACC101: nested batches": Pair(
        HEAD
        + "def collate(items): return torch.nested.nested_tensor([one[0] for one in items]), 1\nloader = DataLoader(photos, num_workers=2, collate_fn=collate)"
        + LOOP,
        "torch.nested.nested_tensor",
        "torch.stack",
    ),
    "ACC101: a class without pin_memory": Pair(HEAD + BATCH, "other(self)", "pin_memory(self)"),
    "ACC101: text that is encoded in the loop": Pair(
        HEAD
        + data("return open(str(i)).read(), i")
        + "loader = DataLoader(data, num_workers=2)\nfor texts, y in loader:\n    x = conf.tokenize(texts)\n    model(x.cuda()).sum().backward()\n",
        "conf.tokenize(texts)",
        "texts",
    ),
    "ACC101: text that a framework takes": Pair(
        PHOTOS + data("return open(str(i)).read()") + LIGHTNING, "open(str(i)).read()", "torch.load(str(i))"
    ),
    "ACC101: work on the host": Pair(
        HEAD + "loader = DataLoader(photos, num_workers=2)\ntotal = sum(x.float().cpu().mean() for x, y in loader)\n",
        ".cpu()",
        ".cuda()",
    ),
    "ACC101: only its length": Pair(
        HEAD
        + "loader = DataLoader(photos, num_workers=2)\nprint(len(loader))\nother = DataLoader(photos, pin_memory=True, num_workers=2)\n"
        + LOOP.replace("loader", "other"),
        "print(len(loader))",
        "for x, y in loader: step(x.cuda(), y.cuda())",
    ),
    "ACC101: a loader that moves": Pair(
        HEAD
        + "from torch_xla.distributed.parallel_loader import MpDeviceLoader\nloader = MpDeviceLoader(DataLoader(photos, num_workers=2), conf.device)"
        + LOOP,
        "MpDeviceLoader(DataLoader(photos, num_workers=2), conf.device)",
        "DataLoader(photos, num_workers=2)",
    ),
    "ACC101: TrainingArguments": Pair(
        HEAD
        + "from transformers import TrainingArguments, Trainer\nTrainer(args=TrainingArguments('o', dataloader_num_workers=2), train_dataset=photos).train()\nloader = DataLoader(photos, num_workers=2, pin_memory=True)"
        + LOOP,
        ", pin_memory=True",
    ),
    "ACC101: unknown keywords": Pair(
        HEAD + "loader = DataLoader(photos, num_workers=2, **conf.kw)" + LOOP, ", **conf.kw"
    ),
    "ACC101: unknown positionals": Pair(
        HEAD + "loader = DataLoader(photos, *conf.kw)" + LOOP, "*conf.kw", "num_workers=2"
    ),
    "ACC101: a subclass that sets it": Pair(
        HEAD
        + "class Mine(DataLoader):\n    def __init__(self, data):\n        super().__init__(data, num_workers=2, pin_memory=True)\nloader = Mine(photos)"
        + LOOP,
        ", pin_memory=True",
    ),
    "ACC101: Lightning builds it anew": Pair(PHOTOS + "import conf" + RELOADED, "reload_dataloaders_every_n_epochs=1"),
    "ACC101: workers of Lightning that live on": Pair(PHOTOS + "import conf" + RELOADED, ", persistent_workers=True"),
    "ACC101: given by position": Pair(
        HEAD + "loader = DataLoader(photos, 1, False, None, None, 2, None, True)" + LOOP, ", None, True)", ", None)"
    ),
    "ACC101: given by an option": Pair(
        HEAD
        + "import argparse\nq = argparse.ArgumentParser()\nq.add_argument('--pin', action='store_true')\nargs = q.parse_args()\nloader = DataLoader(photos, num_workers=2, pin_memory=args.pin)"
        + LOOP,
        ", pin_memory=args.pin",
    ),
    "ACC101: single batches": Pair(
        HEAD + "loader = DataLoader(photos, num_workers=2)\nx, y = next(iter(loader))\nstep(x.cuda(), y.cuda())\n",
        "x, y = next(iter(loader))\n",
        "for x, y in loader: ",
    ),
    **{
        f"ACC101: {name}": Pair(
            f"{HEAD}{imported}\nloader = {call}photos, num_workers=2){LOOP}", f"{call}photos", "DataLoader(photos"
        )
        for name, (imported, call) in OTHERS.items()
    },
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair(case[:6], PAIRS[case], tmp_path)
