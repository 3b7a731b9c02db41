"""A realistic script for each framework: one in which nothing is left to say about data and moves, and what to leave
out of it so that something is."""

from __future__ import annotations

from dataclasses import dataclass

FAST = ", num_workers=4, pin_memory=True, persistent_workers=True"
IMPORTS = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.datasets import ImageFolder
"""
SETUP = """
device = torch.device("cuda")
model = nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
LOADER = f"loader = DataLoader(ImageFolder('x'), batch_size=32{FAST})\n"


def steps(forward: str, backward: str = "loss.backward()", target: str = "x, y") -> str:
    """A loop over epochs and batches."""
    return f"""
for epoch in range(3):
    for {target} in loader:
        optimizer.zero_grad()
        loss = {forward}
        {backward}
        optimizer.step()
"""


PLAIN = steps("nn.functional.cross_entropy(model(x), y)")
MOVING = steps("nn.functional.cross_entropy(model(x.to(device, non_blocking=True)), y.to(device, non_blocking=True))")


@dataclass(frozen=True)
class Script:
    """A program without findings about data and moves.

    Attributes:
        without: what to leave out; empty where the framework does all by itself.
        found: the codes that must be found then.
    """

    source: str
    without: str = ""
    found: tuple[str, ...] = ()


LOADING = ("ACC101", "ACC102")

SCRIPTS = {
    "a data module of Lightning": Script(
        IMPORTS
        + f"""
import lightning as L
class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 2)
    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.log("loss", loss)
        return loss
    def validation_step(self, batch, index):
        x, y = batch
        self.log("accuracy", (self.net(x).argmax(-1) == y).float().mean())
class Data(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(ImageFolder("x"), batch_size=32, shuffle=True{FAST})
L.Trainer(max_epochs=3, accelerator="gpu").fit(Net(), Data())
""",
        FAST,
        LOADING,
    ),
    "a loader for the Trainer of Lightning": Script(
        IMPORTS
        + LOADER
        + """
import pytorch_lightning as pl
class Net(pl.LightningModule):
    def training_step(self, batch, index):
        return batch[0].sum()
pl.Trainer(accelerator="gpu").fit(Net(), train_dataloaders=loader)
""",
        FAST,
        LOADING,
    ),
    "Fabric": Script(
        IMPORTS
        + LOADER
        + """
from lightning.fabric import Fabric
fabric = Fabric(accelerator="cuda", devices=2)
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = fabric.setup(model, optimizer)
loader = fabric.setup_dataloaders(loader)
"""
        + steps("nn.functional.cross_entropy(model(x), y)", "fabric.backward(loss)"),
        FAST,
        LOADING,
    ),
    "Accelerate": Script(
        IMPORTS
        + LOADER
        + """
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration
accelerator = Accelerator(dataloader_config=DataLoaderConfiguration(non_blocking=True))
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
"""
        + steps("nn.functional.cross_entropy(model(x), y)", "accelerator.backward(loss)"),
        FAST,
        LOADING,
    ),
    "the Trainer of transformers": Script(
        IMPORTS
        + """
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments
class Mine(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kw):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = nn.functional.cross_entropy(outputs.logits, labels)
        return (loss, outputs) if return_outputs else loss
model = AutoModelForSequenceClassification.from_pretrained("x")
args = TrainingArguments(
    "o", max_steps=99, accelerator_config={"non_blocking": True}, dataloader_num_workers=4
)
Mine(model=model, args=args, train_dataset=ImageFolder("x")).train()
""",
        ", dataloader_num_workers=4",
        ("ACC601",),
    ),
    "ignite": Script(
        IMPORTS
        + SETUP
        + LOADER
        + """
from ignite.engine import create_supervised_trainer
loss = nn.functional.cross_entropy
trainer = create_supervised_trainer(model, optimizer, loss, device=device, non_blocking=True)
trainer.run(loader, max_epochs=3)
""",
        FAST,
        LOADING,
    ),
    "automatic loaders of ignite": Script(
        IMPORTS
        + """
import ignite.distributed as idist
from ignite.engine import Engine
device = idist.device()
model = idist.auto_model(nn.Linear(8, 2))
optimizer = idist.auto_optim(torch.optim.SGD(model.parameters(), lr=0.1))
loader = idist.auto_dataloader(ImageFolder("x"), batch_size=32)
def step(engine, batch):
    x, y = (one.to(device, non_blocking=True) for one in batch)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
Engine(step).run(loader, max_epochs=3)
"""
    ),
    "fastai": Script(
        """
import torch
from fastai.data.core import DataLoaders
from fastai.data.load import DataLoader
from fastai.learner import Learner
from torch import nn
from torchvision.datasets import ImageFolder
train, valid = DataLoader(ImageFolder("x"), bs=64, shuffle=True), DataLoader(ImageFolder("y"), bs=64)
data = DataLoaders(train, valid, device=torch.device("cuda"))
Learner(data, nn.Linear(8, 2), loss_func=nn.functional.cross_entropy).fit(3)
"""
    ),
    "monai": Script(
        IMPORTS
        + SETUP
        + """
from monai.data import CacheDataset, DataLoader
from monai.transforms import LoadImaged
data = CacheDataset([{"x": "a", "y": "b"}], LoadImaged(["x", "y"]))
loader = DataLoader(data, 4, batch_size=2, shuffle=True, pin_memory=True, persistent_workers=True)
for epoch in range(9):
    for batch in loader:
        x, y = batch["x"].to(device, non_blocking=True), batch["y"].to(device, non_blocking=True)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
""",
        ", pin_memory=True",
        ("ACC101",),
    ),
    "timm": Script(
        IMPORTS
        + SETUP
        + """
from timm.data import create_dataset, create_loader
data = create_dataset("", root="x")
loader = create_loader(data, (3, 224, 224), 64, is_training=True, num_workers=8, device=device, pin_memory=True)
"""
        + PLAIN,
        ", pin_memory=True",
        ("ACC612",),
    ),
    "torch_geometric": Script(
        IMPORTS
        + SETUP
        + f"""
from torch_geometric.datasets import TUDataset
from torch_geometric.loader import DataLoader
loader = DataLoader(TUDataset("x", "MUTAG"), batch_size=64, shuffle=True{FAST})
for epoch in range(9):
    for data in loader:
        data = data.to(device, non_blocking=True)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(data.x), data.y).backward()
        optimizer.step()
""",
        ", pin_memory=True",
        ("ACC101",),
    ),
    "neighbours of torch_geometric": Script(
        IMPORTS
        + SETUP
        + f"""
from torch_geometric.datasets import Reddit
from torch_geometric.loader import NeighborLoader
graph = Reddit("x")[0]
loader = NeighborLoader(graph, [25, 10], graph.train_mask, batch_size=1024, shuffle=True{FAST})
for epoch in range(9):
    for data in loader:
        data = data.to(device, non_blocking=True)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(data.x), data.y).backward()
        optimizer.step()
""",
        ", pin_memory=True",
        ("ACC101",),
    ),
    "a loader of torch_geometric that moves": Script(
        IMPORTS
        + SETUP
        + """
from torch_geometric.loader import NeighborLoader, PrefetchLoader
import conf
loader = PrefetchLoader(NeighborLoader(conf.graph, [25, 10], num_workers=4, persistent_workers=True), device)
for epoch in range(9):
    for data in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(data.x), data.y).backward()
        optimizer.step()
"""
    ),
    "DeepSpeed": Script(
        IMPORTS
        + """
import deepspeed
import conf
net = nn.Linear(8, 2)
engine, _, loader, _ = deepspeed.initialize(
    args=conf.args, model=net, model_parameters=net.parameters(), training_data=ImageFolder("x")
)
for epoch in range(3):
    for x, y in loader:
        x, y = x.to(engine.device, non_blocking=True), y.to(engine.device, non_blocking=True)
        loss = nn.functional.cross_entropy(engine(x), y)
        engine.backward(loss)
        engine.step()
""",
        ", non_blocking=True",
        ("ACC201",),
    ),
    "Composer": Script(
        IMPORTS
        + LOADER
        + """
from composer import Trainer
from composer.models import ComposerClassifier
model = ComposerClassifier(nn.Linear(8, 2), num_classes=2)
Trainer(model=model, train_dataloader=loader, max_duration="3ep", device="gpu").fit()
""",
        FAST,
        LOADING,
    ),
    "mmengine": Script(
        IMPORTS
        + LOADER
        + """
from mmengine.model import BaseModel
from mmengine.runner import Runner
class Net(BaseModel):
    def forward(self, imgs, labels, mode):
        return {"loss": imgs.sum()}
Runner(model=Net(), work_dir="w", train_dataloader=loader, train_cfg={"by_epoch": True, "max_epochs": 5}).train()
""",
        FAST,
        LOADING,
    ),
    "skorch": Script(
        IMPORTS
        + """
from skorch import NeuralNetClassifier
net = NeuralNetClassifier(nn.Linear, max_epochs=9, device="cuda", iterator_train__num_workers=4)
net.fit(torch.randn(100, 8), torch.zeros(100, dtype=torch.long))
"""
    ),
    "webdataset": Script(
        IMPORTS
        + SETUP
        + f"""
import webdataset as wds
data = wds.WebDataset("{{0000..0099}}.tar", shardshuffle=100).decode("torchrgb").to_tuple("jpg", "cls").batched(64)
loader = wds.WebLoader(data, batch_size=None{FAST})
"""
        + MOVING,
        ", pin_memory=True",
        ("ACC101",),
    ),
    "litdata": Script(
        IMPORTS
        + SETUP
        + f"""
from litdata import StreamingDataLoader, StreamingDataset
loader = StreamingDataLoader(StreamingDataset("s3://x"), batch_size=64{FAST})
"""
        + MOVING,
        FAST,
        LOADING,
    ),
    "mosaic": Script(
        IMPORTS
        + SETUP
        + f"""
from streaming import StreamingDataLoader, StreamingDataset
loader = StreamingDataLoader(StreamingDataset(remote="s3://x"), batch_size=64{FAST})
"""
        + MOVING,
        FAST,
        LOADING,
    ),
    "torchdata": Script(
        IMPORTS
        + SETUP
        + f"""
from torchdata.stateful_dataloader import StatefulDataLoader
loader = StatefulDataLoader(ImageFolder("x"), batch_size=64{FAST})
"""
        + MOVING,
        FAST,
        LOADING,
    ),
    "torchio": Script(
        IMPORTS
        + SETUP
        + f"""
import torchio as tio
loader = tio.SubjectsLoader(tio.SubjectsDataset([]), batch_size=4{FAST})
"""
        + steps("model(x['t1'][tio.DATA].to(device, non_blocking=True)).sum()", target="x"),
        FAST,
        LOADING,
    ),
    "dgl": Script(
        IMPORTS
        + SETUP
        + """
import dgl, conf
from dgl.dataloading import DataLoader, NeighborSampler
loader = DataLoader(conf.graph, conf.nodes, NeighborSampler([4, 4]), device=device, batch_size=32, use_uva=True)
"""
        + steps("model(blocks[0].srcdata['feat']).sum()", target="_, _, blocks"),
    ),
    "torch_xla": Script(
        IMPORTS
        + """
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
device = xm.xla_device()
data = DataLoader(ImageFolder("x"), batch_size=32, num_workers=4, persistent_workers=True)
loader = pl.MpDeviceLoader(data, device)
model = nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        xm.optimizer_step(optimizer)
"""
    ),
    "DALI": Script(
        IMPORTS
        + SETUP
        + """
from nvidia.dali.plugin.pytorch import DALIGenericIterator
import conf
loader = DALIGenericIterator(conf.pipeline, ["data", "label"], reader_name="r")
"""
        + steps("model(data[0]['data']).sum()", target="data"),
    ),
    "ffcv": Script(
        IMPORTS
        + SETUP
        + """
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import ToDevice, ToTensor
pipelines = {"image": [ToTensor(), ToDevice(0)]}
loader = Loader("x.beton", batch_size=256, num_workers=8, order=OrderOption.RANDOM, pipelines=pipelines)
"""
        + PLAIN,
    ),
    "paddle": Script(
        """
import paddle
from paddle.io import DataLoader, Dataset
class Texts(Dataset):
    def __getitem__(self, i):
        return open(str(i)).read()
loader = DataLoader(Texts(), batch_size=64, shuffle=True)
model = paddle.nn.Linear(8, 2)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for x, y in loader:
    loss = paddle.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
    ),
    "mindspore": Script(
        """
from mindspore import dataset, nn
from mindspore.train import Model
loader = dataset.GeneratorDataset([1, 2], ["x"]).batch(32)
Model(nn.Dense(8, 2)).train(3, loader)
"""
    ),
    "mxnet": Script(
        """
import mxnet as mx
from mxnet.gluon.data import DataLoader
loader = DataLoader(mx.gluon.data.vision.ImageFolderDataset("x"), 32)
for x, y in loader:
    x.as_in_context(mx.gpu())
"""
    ),
    "mlx": Script(
        """
import mlx.core as mx
import mlx.data as dx
loader = dx.buffer_from_vector([{"x": b"a"}]).load_image("x").to_stream().batch(32)
for batch in loader:
    mx.array(batch["x"])
"""
    ),
}
