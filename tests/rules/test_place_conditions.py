"""Each condition under which ACC301, ACC302 and ACC303 are silent, and that they speak without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from .pairs import Pair, check_pair
from .programs import IMPORTS, NET
from .single import check_one

DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
TRAIN = """
from conf import batch
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    model(batch()).sum().backward()
    optimizer.step()
"""
CHOSEN = IMPORTS + DEVICE + "model = nn.Linear(8, 2)\n"


def unused(condition: str, instead: str = "", others: dict[str, str] | None = None) -> Pair:
    """A program that trains and has chosen a device."""
    return Pair(CHOSEN + condition + TRAIN, condition, instead, others or {})


FRAMEWORKS = {
    "Lightning": "import lightning as L\ntrainer = L.Trainer()\n",
    "a module of Lightning": "import pytorch_lightning as pl\nclass Mine(pl.LightningModule):\n    pass\n",
    "Fabric": "from lightning.fabric import Fabric\nfabric = Fabric()\n",
    "transformers": "from transformers import Trainer\ntrainer = Trainer(model)\n",
    "Accelerate": "from accelerate import Accelerator\naccelerator = Accelerator()\n",
    "ignite": "from ignite.engine import create_supervised_trainer as make\nmake(model, None, None, device='cuda')\n",
    "skorch": "from skorch import NeuralNet\nnet = NeuralNet(nn.Linear, device='cuda')\n",
    "a regressor of skorch": "from skorch import NeuralNetRegressor\nnet = NeuralNetRegressor(nn.Linear, device='cuda')\n",
    "fastai": "from fastai.learner import Learner\nLearner(None, model)\n",
    "a star of fastai": "from fastai.vision.all import Learner\nLearner(None, model)\n",
    "DeepSpeed": "import deepspeed\nengine, *_ = deepspeed.initialize(model=nn.Linear(8, 2))\n",
    "Composer": "from composer import Trainer\nTrainer(model=None)\n",
    "mmengine": "from mmengine.runner import Runner\nRunner(model=None)\n",
}

PAIRS = {
    "ACC301: read": unused("print(device.type)\nmodel.to(device)\n"),
    "ACC301: given to a call": unused("import conf\nconf.place(device)\n"),
    "ACC301: kept on an object": Pair(
        IMPORTS
        + DEVICE
        + "class Run:\n    def __init__(self):\n        self.device = device\nrun = Run()\nmodel = nn.Linear(8, 2)\n"
        + TRAIN,
        "self.device = device",
        "self.other = None",
    ),
    "ACC301: returned": Pair(
        f"{IMPORTS}def choose():\n    {DEVICE}    return device\nchoose()\nmodel = nn.Linear(8, 2)\n{TRAIN}",
        "    return device\n",
        "    return None\n",
    ),
    "ACC301: exported": unused("__all__ = ['device', 'model']\n", "__all__ = ['model']\n"),
    "ACC301: imported by another file": Pair(
        CHOSEN + TRAIN, "device =", "unread =", {"other.py": "from train import device\nprint(device.type)\n"}
    ),
    "ACC301: read as an attribute by another file": Pair(
        CHOSEN + TRAIN, "device =", "unread =", {"other.py": "import train\nprint(train.device.type)\n"}
    ),
    "ACC301: the default device": unused("torch.set_default_device('cuda')\n"),
    "ACC301: something else is placed": unused("model.cuda()\n"),
    "ACC301: placed by its device map": unused(
        "from transformers import AutoModel\nother = AutoModel.from_pretrained('x', device_map='auto')\n",
        "from transformers import AutoModel\nother = AutoModel.from_pretrained('x')\n",
    ),
    "ACC301: made there": unused("x = torch.zeros(8, device='cuda')\n"),
    "ACC301: built there": unused("with torch.device('cuda'):\n    other = nn.Linear(8, 2)\n"),
    "ACC301: read by its text": unused("print(globals())\n"),
}

MODEL = "model = Net().cuda()\n"
LOOP = "for x, y in loader:\n    model(x).sum().backward()\n"
GIVEN = NET + MODEL + LOOP
PAIRS |= {
    **{f"ACC302: {name}": Pair(NET + MODEL + source + LOOP, source, "") for name, source in FRAMEWORKS.items()},
    "ACC302: a prepared loader": Pair(
        NET + MODEL + "import conf\nloader = conf.place(loader)\n" + LOOP, "loader = conf.place(loader)\n"
    ),
    "ACC302: a loader that moves": Pair(
        NET
        + MODEL
        + "import torch_xla.distributed.parallel_loader as pl\nloader = pl.MpDeviceLoader(loader, 'x')\n"
        + LOOP,
        "loader = pl.MpDeviceLoader(loader, 'x')\n",
    ),
    "ACC302: in DataParallel": Pair(
        NET + "model = nn.DataParallel(Net()).cuda()\n" + LOOP, "nn.DataParallel(Net())", "Net()"
    ),
    "ACC302: in DistributedDataParallel": Pair(
        NET + "model = nn.parallel.DistributedDataParallel(Net().cuda(), device_ids=[0])\n" + LOOP,
        "nn.parallel.DistributedDataParallel(Net().cuda(), device_ids=[0])",
        "Net().cuda()",
    ),
    "ACC302: devices of DistributedDataParallel": Pair(
        NET + "model = nn.parallel.DistributedDataParallel(Net().cuda(), device_ids=[0])\n" + LOOP,
        ", device_ids=[0]",
    ),
    "ACC302: in FSDP": Pair(
        NET
        + "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\nmodel = FSDP(Net().cuda())\n"
        + LOOP,
        "FSDP(Net().cuda())",
        "Net().cuda()",
    ),
    "ACC302: fully sharded": Pair(
        NET + MODEL + "from torch.distributed.fsdp import fully_shard\nfully_shard(model)\n" + LOOP,
        "fully_shard(model)\n",
    ),
    "ACC302: forward moves": Pair(
        NET.replace("self.fc(x)", "self.fc(x.to(self.device))").replace(
            "self.fc =", "self.device = 'cuda'\n        self.fc ="
        )
        + MODEL
        + LOOP,
        "x.to(self.device)",
        "x",
    ),
    "ACC302: forward moves to its parameters": Pair(
        NET.replace("self.fc(x)", "self.fc(x.to(next(self.parameters()).device))") + MODEL + LOOP,
        "x.to(next(self.parameters()).device)",
        "x",
    ),
    "ACC302: moved by a helper": Pair(
        NET + MODEL + "import conf\nfor x, y in loader:\n    x = conf.to_device(x)\n    model(x).sum().backward()\n",
        "    x = conf.to_device(x)\n",
    ),
    "ACC302: a batch moved by a helper": Pair(
        NET
        + MODEL
        + "import conf\nfor batch in loader:\n    batch = conf.prepare(batch)\n    model(batch[0]).sum().backward()\n",
        "    batch = conf.prepare(batch)\n",
    ),
    "ACC302: moved in a comprehension": Pair(
        NET + MODEL + "for batch in loader:\n    x, y = [one.cuda() for one in batch]\n    model(x).sum().backward()\n",
        "one.cuda()",
        "one",
    ),
    "ACC302: moved by map": Pair(
        NET
        + MODEL
        + "for batch in loader:\n    x, y = map(lambda one: one.cuda(), batch)\n    model(x).sum().backward()\n",
        "one.cuda()",
        "one",
    ),
    "ACC302: moved by tree_map": Pair(
        NET
        + MODEL
        + "from torch.utils._pytree import tree_map\nfor batch in loader:\n    batch = tree_map(lambda one: one.cuda(), batch)\n"
        + "    model(batch[0]).sum().backward()\n",
        "    batch = tree_map(lambda one: one.cuda(), batch)\n",
    ),
    "ACC302: in place": Pair(
        NET + MODEL + "for batch in loader:\n    batch.to('cuda')\n    model(batch[0]).sum().backward()\n",
        "    batch.to('cuda')\n",
    ),
    "ACC302: data on the GPU": Pair(
        NET.replace("torch.zeros(8, 8),", "torch.zeros(8, 8).cuda(),") + MODEL + LOOP,
        "torch.zeros(8, 8).cuda(),",
        "torch.zeros(8, 8),",
    ),
    "ACC302: a data set that moves": Pair(
        NET
        + "class Data(Dataset):\n    def __len__(self): return 8\n    def __getitem__(self, i): return torch.zeros(8).cuda(), 1\n"
        + "loader = DataLoader(Data())\n"
        + MODEL
        + LOOP,
        "torch.zeros(8).cuda()",
        "torch.zeros(8)",
    ),
    "ACC302: collated on the GPU": Pair(
        NET
        + "def collate(some):\n    return torch.stack([one[0] for one in some]).cuda(), 1\n"
        + "loader = DataLoader(TensorDataset(torch.zeros(8, 8)), collate_fn=collate)\n"
        + MODEL
        + LOOP,
        ", collate_fn=collate",
    ),
    "ACC302: the default device": Pair(
        NET + "torch.set_default_device('cuda')\n" + MODEL + LOOP, "torch.set_default_device('cuda')\n"
    ),
    "ACC302: the default type of tensors": Pair(
        NET + "torch.set_default_tensor_type('torch.cuda.FloatTensor')\n" + MODEL + LOOP,
        "torch.set_default_tensor_type('torch.cuda.FloatTensor')\n",
    ),
    "ACC302: no dimensions": Pair(NET + MODEL + "model(torch.tensor(1.0))\n", "torch.tensor(1.0)", "torch.ones(8)"),
    "ACC302: a number": Pair(NET + MODEL + "model(1.0)\n", "1.0", "torch.ones(8)"),
    "ACC302: an index": Pair(
        NET.replace("self.fc(x)", "self.fc.weight[x]") + MODEL + LOOP, "self.fc.weight[x]", "self.fc(x)"
    ),
    "ACC302: moved": Pair(NET + MODEL + LOOP.replace("(x)", "(x.cuda())"), ".cuda())", ")"),
    "ACC302: a model that may stay": Pair(
        NET + "import conf\nmodel = Net()\nif conf.gpu:\n    model.cuda()\n" + LOOP,
        "if conf.gpu:\n    model.cuda()",
        "model.cuda()",
    ),
    "ACC302: unknown device": Pair(
        NET + "import conf\nmodel = Net().to(conf.device)\n" + LOOP, "conf.device", "'cuda'"
    ),
    "ACC302: handed away": Pair(NET + MODEL + "import conf\nconf.wrap(model)\n" + LOOP, "conf.wrap(model)\n"),
    "ACC302: unknown data": Pair(
        NET + "import conf\nloader = DataLoader(conf.data)\n" + MODEL + LOOP, "loader = DataLoader(conf.data)\n"
    ),
    "ACC302: a custom loader": Pair(
        NET
        + "class Mine(DataLoader):\n    def __iter__(self):\n        for x, y in super().__iter__():\n            yield x.cuda(), y.cuda()\n"
        "loader = Mine(TensorDataset(torch.zeros(8, 8), torch.zeros(8)))\n" + MODEL + LOOP,
        "Mine(TensorDataset",
        "DataLoader(TensorDataset",
    ),
}

TARGET = "for x, y in loader:\n    nn.functional.cross_entropy(model(x.cuda()), y).backward()\n"
PAIRS |= {
    "ACC302: a target that is moved": Pair(NET + MODEL + TARGET.replace(", y)", ", y.cuda())"), "y.cuda()", "y"),
    "ACC302: outputs moved back": Pair(NET + MODEL + TARGET.replace(", y)", ".cpu(), y)"), ".cpu(), y)", ", y)"),
    "ACC302: a target without dimensions": Pair(
        NET + MODEL + TARGET.replace(", y)", ", torch.tensor(1))"), "torch.tensor(1)", "torch.ones(8)"
    ),
    "ACC302: lengths": Pair(
        NET + MODEL + "for x, y in loader:\n    nn.functional.ctc_loss(model(x.cuda()), y, 1, 1)\n",
        "nn.functional.ctc_loss(model(x.cuda()), y, 1, 1)",
        "nn.functional.cross_entropy(model(x.cuda()), y)",
    ),
}

BUILT = "model = Net()\n"
MOVED = "for x, y in loader:\n    model(x.cuda()).sum().backward()\n"


def unmoved(between: str, instead: str = "", built: str = BUILT) -> Pair:
    """A model on the host that is given batches on the GPU, and what stands between."""
    return Pair(NET + "import conf\n" + built + between + MOVED, between, instead)


PAIRS |= {
    "ACC303: moved": Pair(NET + "model = Net().cuda()\n" + MOVED, "Net().cuda()", "Net()"),
    "ACC303: moved later": unmoved("model.cuda()\n"),
    "ACC303: moved in a function": unmoved("def place(net):\n    net.cuda()\nplace(model)\n"),
    "ACC303: given to a function": unmoved("conf.place(model)\n"),
    "ACC303: given in a list": unmoved("conf.place([model])\n"),
    "ACC303: kept in a list": unmoved("conf.models.append(model)\n"),
    "ACC303: kept in a list that is given": unmoved("models = [model]\nconf.place(models)\n"),
    "ACC303: kept on an object": unmoved("conf.model = model\n"),
    "ACC303: kept in a dict": unmoved("conf.models['x'] = model\n"),
    "ACC303: prepared": unmoved("model = conf.accelerator.prepare(model)\n"),
    "ACC303: prepared in place": unmoved("conf.accelerator.prepare(model)\n"),
    "ACC303: set up": unmoved("model = conf.fabric.setup(model)\n"),
    "ACC303: in DDP": unmoved("model = nn.parallel.DistributedDataParallel(model)\n"),
    "ACC303: in DataParallel": unmoved("model = nn.DataParallel(model)\n"),
    "ACC303: compiled and moved": unmoved("model = torch.compile(model).cuda()\n", "model = torch.compile(model)\n"),
    "ACC303: moved and compiled": unmoved("model = torch.compile(model.cuda())\n", "model = torch.compile(model)\n"),
    "ACC303: returned, then moved": unmoved(
        "model = make().cuda()\n", "model = make()\n", "def make():\n    net = Net()\n    return net\n"
    ),
    "ACC303: built there": unmoved("with torch.device('cuda'):\n    model = Net()\n", "model = Net()\n", ""),
    "ACC303: the default device": unmoved("torch.set_default_device('cuda')\nmodel = Net()\n", "model = Net()\n", ""),
    "ACC303: an unseen factory": unmoved("model = conf.make(8)\n", "model = Net()\n", ""),
    "ACC303: moves itself": Pair(
        NET.replace("self.fc =", "self.cuda()\n        self.fc =").replace(
            "self.cuda()\n        self.fc = nn.Linear(8, 2)", "self.fc = nn.Linear(8, 2)\n        self.cuda()"
        )
        + BUILT
        + MOVED,
        "        self.cuda()\n",
    ),
    "ACC303: moves itself to": Pair(
        NET.replace("nn.Linear(8, 2)", "nn.Linear(8, 2)\n        self.to('cuda')") + BUILT + MOVED,
        "        self.to('cuda')\n",
    ),
    "ACC303: layers made there": Pair(
        NET.replace("nn.Linear(8, 2)", "nn.Linear(8, 2, device='cuda')") + BUILT + MOVED, ", device='cuda'"
    ),
    "ACC303: a device map": unmoved(
        "from transformers import AutoModel\nmodel = AutoModel.from_pretrained('x', device_map='auto')\n",
        "model = Net()\n",
        "",
    ),
    "ACC303: quantized": unmoved(
        "from transformers import AutoModel\nmodel = AutoModel.from_pretrained('x', quantization_config=conf.q)\n",
        "model = Net()\n",
        "",
    ),
    "ACC303: a pipeline": unmoved(
        "from transformers import pipeline\nmodel = pipeline('x', device=0)\n", "model = Net()\n", ""
    ),
    "ACC303: sentences": unmoved(
        "from sentence_transformers import SentenceTransformer\nmodel = SentenceTransformer('x')\n",
        "model = Net()\n",
        "",
    ),
    "ACC303: YOLO": unmoved("from ultralytics import YOLO\nmodel = YOLO('x')\n", "model = Net()\n", ""),
    "ACC303: deepspeed": unmoved("import deepspeed\nengine, *_ = deepspeed.initialize(model=model)\n"),
    "ACC303: an output moved back": Pair(NET + BUILT + MOVED.replace(".cuda()", ".cuda().cpu()"), ".cpu()"),
    "ACC303: an unknown device": Pair(
        NET + "import conf\n" + BUILT + MOVED.replace(".cuda()", ".to(conf.device)"), ".to(conf.device)", ".to('cuda')"
    ),
    "ACC303: forward takes it back": Pair(
        NET.replace("self.fc(x)", "self.fc(x.cpu())") + BUILT + MOVED, "x.cpu()", "x"
    ),
    "ACC303: a part of something": unmoved("outer = nn.Sequential(model)\n"),
    **{f"ACC303: {name}": unmoved(source) for name, source in FRAMEWORKS.items()},
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair(case[:6], PAIRS[case], tmp_path)


WRAPPED = {
    "DataParallel": "nn.DataParallel(Net()).cuda()",
    "DistributedDataParallel": "nn.parallel.DistributedDataParallel(Net().cuda(), device_ids=[0])",
}


@pytest.mark.parametrize("model", WRAPPED.values(), ids=WRAPPED.keys())
def test_wrappers_move_inputs_and_no_targets(model: str, tmp_path: Path) -> None:
    given = f"{NET}model = {model}\nfor x, y in loader:\n    out = model(x)\n"
    check_one("ACC302", given + "    nn.functional.cross_entropy(out, y.cuda()).backward()\n", tmp_path)
    check_one("ACC302", given + "    nn.functional.cross_entropy(out, y).backward()  # -> error none\n", tmp_path)


def test_a_device_that_a_magic_of_a_notebook_reads(tmp_path: Path) -> None:
    for last, severities in (("%time model.to(device)", []), ("%time model.eval()", ["warning"])):
        path = tmp_path / "train.ipynb"
        sources = [CHOSEN, TRAIN, last]
        cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": one} for one in sources]
        path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
        assert [str(one.severity) for one in registry()["ACC301"].check(facts)] == severities
