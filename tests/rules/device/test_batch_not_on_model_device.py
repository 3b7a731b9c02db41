"""ACC302 batch-not-on-model-device, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair
from ..programs import IMPORTS, LEARNER, NET
from .programs import FRAMEWORKS

MOVED: dict[str, str] = {
    "fully_shard": """
from torch.distributed.fsdp import fully_shard
model = nn.Linear(8, 2).cuda()
fully_shard(model)
for x, y in loader:
    model(x).sum().backward()
""",
    "collate on GPU": """
def collate(batch):
    xs = torch.stack([b[0] for b in batch]).cuda()
    return xs, torch.zeros(len(batch)).cuda()
model = nn.Linear(8, 2).cuda()
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4, collate_fn=collate)
for x, y in loader:
    model(x).sum().backward()
""",
    "dataset gets tensors": """
class D(Dataset):
    def __init__(self, x): self.x = x
    def __len__(self): return 8
    def __getitem__(self, i): return self.x[i], 0
model = nn.Linear(8, 2).to("cuda")
loader = DataLoader(D(torch.zeros(8, 8).to("cuda")), batch_size=4)
for x, y in loader:
    model(x).sum().backward()
""",
    "dataset gets unknown data": """
import store
class D(Dataset):
    def __init__(self, x): self.x = x
    def __len__(self): return 8
    def __getitem__(self, i): return self.x[i], 0
model = nn.Linear(8, 2).to("cuda")
loader = DataLoader(D(store.load()), batch_size=4)
for x, y in loader:
    model(x).sum().backward()
""",
    "dataset transform moves": """
from torchvision import datasets, transforms
t = transforms.Compose([transforms.ToTensor(), transforms.Lambda(lambda x: x.cuda())])
model = nn.Linear(8, 2).to("cuda")
loader = DataLoader(datasets.MNIST("r", transform=t), batch_size=4)
for x, y in loader:
    model(x).sum().backward()
""",
    "set_default_tensor_type in function": """
def main():
    if torch.cuda.is_available():
        torch.set_default_tensor_type("torch.cuda.FloatTensor")
    model = nn.Linear(8, 2).cuda()
    loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
    for x, y in loader:
        model(x).sum().backward()
main()
""",
    "to_device helper recursive": """
def to_device(obj, device):
    if isinstance(obj, (list, tuple)):
        return [to_device(o, device) for o in obj]
    return obj.to(device, non_blocking=True)
model = nn.Linear(8, 2).cuda()
for batch in loader:
    x, y = to_device(batch, "cuda")
    model(x).sum().backward()
""",
    "jovian DeviceDataLoader": """
def to_device(data, device):
    if isinstance(data, (list, tuple)):
        return [to_device(x, device) for x in data]
    return data.to(device, non_blocking=True)
class DeviceDataLoader():
    def __init__(self, dl, device):
        self.dl = dl
        self.device = device
    def __iter__(self):
        for b in self.dl:
            yield to_device(b, self.device)
    def __len__(self):
        return len(self.dl)
device = torch.device("cuda")
loader = DeviceDataLoader(loader, device)
model = to_device(nn.Linear(8, 2), device)
for x, y in loader:
    model(x).sum().backward()
""",
    "tree_map": """
from torch.utils._pytree import tree_map
model = nn.Linear(8, 2).cuda()
for batch in loader:
    x, y = tree_map(lambda t: t.cuda(), batch)
    model(x).sum().backward()
""",
    "dict comprehension": """
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return {"x": torch.zeros(8), "y": 0}
model = nn.Linear(8, 2).cuda()
loader = DataLoader(D(), batch_size=4)
for batch in loader:
    batch = {k: v.cuda() for k, v in batch.items()}
    model(batch["x"]).sum().backward()
""",
    "dict assigned in place": """
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return {"x": torch.zeros(8), "y": 0}
model = nn.Linear(8, 2).cuda()
loader = DataLoader(D(), batch_size=4)
for batch in loader:
    for k in batch:
        batch[k] = batch[k].cuda()
    model(batch["x"]).sum().backward()
""",
    "list in place": """
model = nn.Linear(8, 2).cuda()
for batch in loader:
    for i in range(len(batch)):
        batch[i] = batch[i].cuda()
    model(batch[0]).sum().backward()
""",
    "generator unpack": """
model = nn.Linear(8, 2).cuda()
for batch in loader:
    x, y = (t.cuda(non_blocking=True) for t in batch)
    model(x).sum().backward()
""",
    "map lambda": """
model = nn.Linear(8, 2).cuda()
for batch in loader:
    x, y = map(lambda t: t.cuda(non_blocking=True), batch)
    model(x).sum().backward()
""",
    "helper in place": """
def prepare(batch):
    for k in batch:
        batch[k] = batch[k].cuda()
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return {"x": torch.zeros(8), "y": 0}
model = nn.Linear(8, 2).cuda()
loader = DataLoader(D(), batch_size=4)
for batch in loader:
    prepare(batch)
    model(batch["x"]).sum().backward()
""",
    "unknown helper in place": """
import lib
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return {"x": torch.zeros(8), "y": 0}
model = nn.Linear(8, 2).cuda()
loader = DataLoader(D(), batch_size=4)
for batch in loader:
    lib.prepare(batch)
    model(batch["x"]).sum().backward()
""",
    ".data in place": """
model = nn.Linear(8, 2).cuda()
for x, y in loader:
    x.data = x.data.cuda()
    model(x).sum().backward()
""",
    "BatchEncoding to": """
class D(Dataset):
    def __init__(self, t): self.t = t
    def __len__(self): return 8
    def __getitem__(self, i): return self.t("abc", return_tensors="pt")
from transformers import AutoTokenizer
tok = AutoTokenizer.from_pretrained("b")
model = nn.Linear(8, 2).cuda()
loader = DataLoader(D(tok), batch_size=4)
for batch in loader:
    batch.to("cuda")
    model(batch["input_ids"]).sum().backward()
""",
    "prefetcher class": """
class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.stream = torch.cuda.Stream()
        self.preload()
    def preload(self):
        try:
            self.next_input, self.next_target = next(self.loader)
        except StopIteration:
            self.next_input = None
            self.next_target = None
            return
        with torch.cuda.stream(self.stream):
            self.next_input = self.next_input.cuda(non_blocking=True)
            self.next_target = self.next_target.cuda(non_blocking=True)
    def next(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        i, t = self.next_input, self.next_target
        self.preload()
        return i, t
model = nn.Linear(8, 2).cuda()
p = Prefetcher(loader)
x, y = p.next()
while x is not None:
    model(x).sum().backward()
    x, y = p.next()
""",
    "another branch": """
import argparse
a = argparse.ArgumentParser(); a.add_argument("--gpu", type=int); args = a.parse_args()
model = nn.Linear(8, 2)
if args.gpu is not None:
    model = model.cuda(args.gpu)
else:
    model = torch.nn.DataParallel(model).cuda()
for x, y in loader:
    if args.gpu is not None:
        x = x.cuda(args.gpu, non_blocking=True)
    y = y.cuda(args.gpu, non_blocking=True)
    nn.functional.cross_entropy(model(x), y).backward()
""",
    "if cuda both": """
cuda = torch.cuda.is_available()
model = nn.Linear(8, 2)
crit = nn.CrossEntropyLoss()
if cuda:
    model.cuda(); crit.cuda()
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
for x, y in loader:
    x = x.type(Tensor)
    y = torch.autograd.Variable(y.type(Tensor))
    crit(model(x), y).backward()
""",
    "custom decorator wraps": """
import functools
def on_gpu(fn):
    @functools.wraps(fn)
    def inner(x, y):
        return fn(x.cuda(), y.cuda())
    return inner
model = nn.Linear(8, 2).cuda()
@on_gpu
def step(x, y):
    return model(x).sum()
for x, y in loader:
    step(x, y).backward()
""",
    "custom decorator from library": """
import lib
model = nn.Linear(8, 2).cuda()
@lib.on_gpu
def step(x, y):
    return model(x).sum()
for x, y in loader:
    step(x, y).backward()
""",
    "deepspeed": """
import deepspeed
model = nn.Linear(8, 2)
engine, _, loader, _ = deepspeed.initialize(model=model, training_data=TensorDataset(torch.zeros(8, 8)))
for x, y in loader:
    engine(x.cuda()).sum().backward()
    model(x.cuda())
""",
    "functools partial": """
from functools import partial
def step(model, device, x, y):
    return model(x.to(device)).sum()
model = nn.Linear(8, 2).cuda()
go = partial(step, model, "cuda")
for x, y in loader:
    go(x, y).backward()
""",
    "loss on cpu on purpose": """
model = nn.Linear(8, 2).cuda()
crit = nn.CrossEntropyLoss()
for x, y in loader:
    out = model(x.cuda()).cpu()
    crit(out, y).backward()
""",
    "model given by keyword/unpack in **batch": """
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return {"x": torch.zeros(8), "y": 0}
model = nn.Linear(8, 2).cuda()
loader = DataLoader(D(), batch_size=4)
for b in loader:
    model(**b)
    model(*b)
""",
}


@pytest.mark.parametrize("source", MOVED.values(), ids=MOVED.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    for code in ("ACC302", "ACC303"):
        check_one(code, NET + source, tmp_path)


ELSEWHERE = {
    "dataset keeps device given and moves in helper": (
        """
from util import to_dev
class D(Dataset):
    def __init__(self, x, d): self.x = x; self.d = d
    def __len__(self): return 8
    def __getitem__(self, i): return to_dev(self.x[i], self.d), 0
model = nn.Linear(8, 2).to("cuda")
loader = DataLoader(D([1.0], "cuda"), batch_size=4)
for x, y in loader:
    model(x).sum().backward()
""",
        "util.py",
        """
import torch
def to_dev(x, d):
    return torch.tensor(x).to(d)
""",
    ),
}
"""Programs of two files."""


@pytest.mark.parametrize(("source", "name", "other"), ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_silent_across_files(source: str, name: str, other: str, tmp_path: Path) -> None:
    for code in ("ACC302", "ACC303"):
        check_one(code, NET + source, tmp_path, {name: other})


LOADER = "loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), pin_memory=True)\n"
SILENT = {
    "both moved": "model = nn.Linear(8, 2).cuda()\nfor x, y in loader:\n    model(x.cuda(non_blocking=True))",
    "neither": "model = nn.Linear(8, 2)\nfor x, y in loader:\n    model(x)",
    "moved by a helper": (
        "import mystery\nmodel = nn.Linear(8, 2).cuda()\nfor batch in loader:\n    x, y = mystery.move(batch)\n    model(x)"
    ),
    "moved by forward": (
        "class Net(nn.Module):\n    def forward(self, x):\n        return x.to(next(self.parameters()).device)\n"
        "model = Net().cuda()\nfor x, y in loader:\n    model(x)"
    ),
    "moved on some paths": (
        "model = nn.Linear(8, 2)\nif torch.cuda.is_available():\n    model.cuda()\nfor x, y in loader:\n    model(x)"
    ),
    "both on the same path": (
        "gpu = torch.cuda.is_available()\nmodel = nn.Linear(8, 2)\nif gpu:\n    model.cuda()\nfor x, y in loader:\n"
        "    if gpu:\n        x = x.cuda(non_blocking=True)\n    model(x)"
    ),
    "data parallel": "model = nn.DataParallel(nn.Linear(8, 2), [0]).cuda()\nfor x, y in loader:\n    model(x)",
    "distributed": (
        "from torch.nn.parallel import DistributedDataParallel as DDP\nmodel = DDP(nn.Linear(8, 2).cuda(), device_ids=[0])\n"
        "for x, y in loader:\n    model(x)  # -> ACC201 warning"
    ),
    "prepared": (
        "from accelerate import Accelerator, DataLoaderConfiguration as Conf\n"
        "a = Accelerator(dataloader_config=Conf(non_blocking=True))\nmodel, loader = a.prepare(nn.Linear(8, 2).cuda(), loader)\n"
        "for x, y in loader:\n    model(x)"
    ),
    "model handed away": (
        "import mystery\nmodel = nn.Linear(8, 2)\nmystery.place(model)\nfor x, y in loader:\n"
        "    model(x.cuda(non_blocking=True))"
    ),
    "model from a factory": (
        "import mystery\nmodel = mystery.make()\nfor x, y in loader:\n    model(x.cuda(non_blocking=True))"
    ),
    "part of a moved model": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.inner = nn.Linear(8, 2)\n"
        "    def run(self, x):\n        return self.inner(x)\nmodel = Net().cuda()\nfor x, y in loader:\n"
        "    model.run(x.cuda(non_blocking=True))"
    ),
    "built on the device": (
        "with torch.device('cuda'):\n    model = nn.Linear(8, 2)\nfor x, y in loader:\n    model(x.cuda(non_blocking=True))"
    ),
    "a loss without weights": (
        "model = nn.Linear(8, 2).cuda()\nloss = nn.MSELoss()\nfor x, y in loader:\n"
        "    loss(model(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))"
    ),
    "moved later in the program": ("model = nn.Linear(8, 2)\nfor x, y in loader:\n    model(x)\nmodel.cuda()"),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_where_not_both_places_are_proven(source: str, tmp_path: Path) -> None:
    check(IMPORTS + LOADER + source + "\n", tmp_path)


PAIR_MODEL = "model = Net().cuda()\n"
PAIR_LOOP = "for x, y in loader:\n    model(x).sum().backward()\n"
TARGET = "for x, y in loader:\n    nn.functional.cross_entropy(model(x.cuda()), y).backward()\n"
PAIRS = {
    **{name: Pair(NET + PAIR_MODEL + source + PAIR_LOOP, source, "") for name, source in FRAMEWORKS.items()},
    "a prepared loader": Pair(
        NET + PAIR_MODEL + "import conf\nloader = conf.place(loader)\n" + PAIR_LOOP, "loader = conf.place(loader)\n"
    ),
    "a loader that moves": Pair(
        NET
        + PAIR_MODEL
        + "import torch_xla.distributed.parallel_loader as pl\nloader = pl.MpDeviceLoader(loader, 'x')\n"
        + PAIR_LOOP,
        "loader = pl.MpDeviceLoader(loader, 'x')\n",
    ),
    "in DataParallel": Pair(
        NET + "model = nn.DataParallel(Net()).cuda()\n" + PAIR_LOOP, "nn.DataParallel(Net())", "Net()"
    ),
    "in DistributedDataParallel": Pair(
        NET + "model = nn.parallel.DistributedDataParallel(Net().cuda(), device_ids=[0])\n" + PAIR_LOOP,
        "nn.parallel.DistributedDataParallel(Net().cuda(), device_ids=[0])",
        "Net().cuda()",
    ),
    "devices of DistributedDataParallel": Pair(
        NET + "model = nn.parallel.DistributedDataParallel(Net().cuda(), device_ids=[0])\n" + PAIR_LOOP,
        ", device_ids=[0]",
    ),
    "in FSDP": Pair(
        NET
        + "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\nmodel = FSDP(Net().cuda())\n"
        + PAIR_LOOP,
        "FSDP(Net().cuda())",
        "Net().cuda()",
    ),
    "fully sharded": Pair(
        NET + PAIR_MODEL + "from torch.distributed.fsdp import fully_shard\nfully_shard(model)\n" + PAIR_LOOP,
        "fully_shard(model)\n",
    ),
    "forward moves": Pair(
        NET.replace("self.fc(x)", "self.fc(x.to(self.device))").replace(
            "self.fc =", "self.device = 'cuda'\n        self.fc ="
        )
        + PAIR_MODEL
        + PAIR_LOOP,
        "x.to(self.device)",
        "x",
    ),
    "forward moves to its parameters": Pair(
        NET.replace("self.fc(x)", "self.fc(x.to(next(self.parameters()).device))") + PAIR_MODEL + PAIR_LOOP,
        "x.to(next(self.parameters()).device)",
        "x",
    ),
    "moved by a helper": Pair(
        NET
        + PAIR_MODEL
        + "import conf\nfor x, y in loader:\n    x = conf.to_device(x)\n    model(x).sum().backward()\n",
        "    x = conf.to_device(x)\n",
    ),
    "a batch moved by a helper": Pair(
        NET
        + PAIR_MODEL
        + "import conf\nfor batch in loader:\n    batch = conf.prepare(batch)\n    model(batch[0]).sum().backward()\n",
        "    batch = conf.prepare(batch)\n",
    ),
    "moved in a comprehension": Pair(
        NET
        + PAIR_MODEL
        + "for batch in loader:\n    x, y = [one.cuda() for one in batch]\n    model(x).sum().backward()\n",
        "one.cuda()",
        "one",
    ),
    "moved by map": Pair(
        NET
        + PAIR_MODEL
        + "for batch in loader:\n    x, y = map(lambda one: one.cuda(), batch)\n    model(x).sum().backward()\n",
        "one.cuda()",
        "one",
    ),
    "moved by tree_map": Pair(
        NET
        + PAIR_MODEL
        + "from torch.utils._pytree import tree_map\nfor batch in loader:\n    batch = tree_map(lambda one: one.cuda(), batch)\n"
        + "    model(batch[0]).sum().backward()\n",
        "    batch = tree_map(lambda one: one.cuda(), batch)\n",
    ),
    "in place": Pair(
        NET + PAIR_MODEL + "for batch in loader:\n    batch.to('cuda')\n    model(batch[0]).sum().backward()\n",
        "    batch.to('cuda')\n",
    ),
    "data on the GPU": Pair(
        NET.replace("torch.zeros(8, 8),", "torch.zeros(8, 8).cuda(),") + PAIR_MODEL + PAIR_LOOP,
        "torch.zeros(8, 8).cuda(),",
        "torch.zeros(8, 8),",
    ),
    "a data set that moves": Pair(
        NET
        + "class Data(Dataset):\n    def __len__(self): return 8\n    def __getitem__(self, i): return torch.zeros(8).cuda(), 1\n"
        + "loader = DataLoader(Data())\n"
        + PAIR_MODEL
        + PAIR_LOOP,
        "torch.zeros(8).cuda()",
        "torch.zeros(8)",
    ),
    "collated on the GPU": Pair(
        NET
        + "def collate(some):\n    return torch.stack([one[0] for one in some]).cuda(), 1\n"
        + "loader = DataLoader(TensorDataset(torch.zeros(8, 8)), collate_fn=collate)\n"
        + PAIR_MODEL
        + PAIR_LOOP,
        ", collate_fn=collate",
    ),
    "the default device": Pair(
        NET + "torch.set_default_device('cuda')\n" + PAIR_MODEL + PAIR_LOOP, "torch.set_default_device('cuda')\n"
    ),
    "the default type of tensors": Pair(
        NET + "torch.set_default_tensor_type('torch.cuda.FloatTensor')\n" + PAIR_MODEL + PAIR_LOOP,
        "torch.set_default_tensor_type('torch.cuda.FloatTensor')\n",
    ),
    "no dimensions": Pair(NET + PAIR_MODEL + "model(torch.tensor(1.0))\n", "torch.tensor(1.0)", "torch.ones(8)"),
    "a number": Pair(NET + PAIR_MODEL + "model(1.0)\n", "1.0", "torch.ones(8)"),
    "an index": Pair(
        NET.replace("self.fc(x)", "self.fc.weight[x]") + PAIR_MODEL + PAIR_LOOP, "self.fc.weight[x]", "self.fc(x)"
    ),
    "moved": Pair(NET + PAIR_MODEL + PAIR_LOOP.replace("(x)", "(x.cuda())"), ".cuda())", ")"),
    "a model that may stay": Pair(
        NET + "import conf\nmodel = Net()\nif conf.gpu:\n    model.cuda()\n" + PAIR_LOOP,
        "if conf.gpu:\n    model.cuda()",
        "model.cuda()",
    ),
    "unknown device": Pair(NET + "import conf\nmodel = Net().to(conf.device)\n" + PAIR_LOOP, "conf.device", "'cuda'"),
    "handed away": Pair(NET + PAIR_MODEL + "import conf\nconf.wrap(model)\n" + PAIR_LOOP, "conf.wrap(model)\n"),
    "unknown data": Pair(
        NET + "import conf\nloader = DataLoader(conf.data)\n" + PAIR_MODEL + PAIR_LOOP,
        "loader = DataLoader(conf.data)\n",
    ),
    "a custom loader": Pair(
        NET
        + "class Mine(DataLoader):\n    def __iter__(self):\n        for x, y in super().__iter__():\n            yield x.cuda(), y.cuda()\n"
        "loader = Mine(TensorDataset(torch.zeros(8, 8), torch.zeros(8)))\n" + PAIR_MODEL + PAIR_LOOP,
        "Mine(TensorDataset",
        "DataLoader(TensorDataset",
    ),
    "a target that is moved": Pair(NET + PAIR_MODEL + TARGET.replace(", y)", ", y.cuda())"), "y.cuda()", "y"),
    "outputs moved back": Pair(NET + PAIR_MODEL + TARGET.replace(", y)", ".cpu(), y)"), ".cpu(), y)", ", y)"),
    "a target without dimensions": Pair(
        NET + PAIR_MODEL + TARGET.replace(", y)", ", torch.tensor(1))"), "torch.tensor(1)", "torch.ones(8)"
    ),
    "lengths": Pair(
        NET + PAIR_MODEL + "for x, y in loader:\n    nn.functional.ctc_loss(model(x.cuda()), y, 1, 1)\n",
        "nn.functional.ctc_loss(model(x.cuda()), y, 1, 1)",
        "nn.functional.cross_entropy(model(x.cuda()), y)",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC302", PAIRS[case], tmp_path)


def test_what_is_known_of_a_module_is_known_of_the_compiled_one(tmp_path: Path) -> None:
    source = """
net = torch.compile(nn.Linear(8, 2))
net.cuda()
for (x,) in DataLoader(TensorDataset(torch.zeros(8, 8))):
    net(x)  # -> error
"""
    check_one("ACC302", IMPORTS + LEARNER + source, tmp_path)


FORGOTTEN = {
    "notebook tutorial cifar": """
import torchvision, torchvision.transforms as transforms
import torch.nn.functional as F
import torch.optim as optim
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
trainset = torchvision.datasets.CIFAR10(root='./data', train=True, transform=transforms.ToTensor())
trainloader = torch.utils.data.DataLoader(trainset, batch_size=4, shuffle=True, num_workers=2)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.fc = nn.Linear(10, 10)
    def forward(self, x):
        x = F.relu(self.conv1(x))
        return self.fc(x)
net = Net()
net.to(device)
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.001, momentum=0.9)
for epoch in range(2):
    running_loss = 0.0
    for i, data in enumerate(trainloader, 0):
        inputs, labels = data
        optimizer.zero_grad()
        outputs = net(inputs)  # -> error
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
""",
    "labels forgotten": """
from torchvision import datasets, transforms, models
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(datasets.ImageFolder("d", transforms.ToTensor()), batch_size=4)
model = models.resnet18(pretrained=True)
model.fc = nn.Linear(512, 2)
model = model.to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def train_model(model, criterion, optimizer, num_epochs=25):
    for epoch in range(num_epochs):
        for inputs, labels in loader:
            inputs = inputs.to(device)
            optimizer.zero_grad()
            outputs = model(inputs)
            loss = criterion(outputs, labels)  # -> error
            loss.backward()
            optimizer.step()
train_model(model, criterion, optimizer)
""",
    "main with train function (official mnist), batch not moved": """
import argparse
import torch.nn.functional as F
from torchvision import datasets, transforms
class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc = nn.Linear(784, 10)
    def forward(self, x):
        return F.log_softmax(self.fc(torch.flatten(x, 1)), dim=1)
def train(args, model, device, train_loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        optimizer.zero_grad()
        output = model(data)  # -> error
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            print(loss.item())
def test(model, device, test_loader):
    model.eval()
    with torch.no_grad():
        for data, target in test_loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--no-cuda', action='store_true', default=False)
    parser.add_argument('--log-interval', type=int, default=10)
    args = parser.parse_args()
    use_cuda = not args.no_cuda and torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")
    train_kwargs = {'batch_size': 64}
    if use_cuda:
        train_kwargs.update({'num_workers': 1, 'pin_memory': True})
    dataset1 = datasets.MNIST('../data', train=True, download=True, transform=transforms.ToTensor())
    train_loader = torch.utils.data.DataLoader(dataset1, **train_kwargs)
    model = Net().to(device)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    for epoch in range(1, 3):
        train(args, model, device, train_loader, optimizer, epoch)
        test(model, device, train_loader)
if __name__ == '__main__':
    main()
""",
    "custom dataset": """
from PIL import Image
class Photos(Dataset):
    def __init__(self, paths, transform=None):
        self.paths = paths
        self.transform = transform
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, i):
        img = Image.open(self.paths[i])
        if self.transform:
            img = self.transform(img)
        return img, 1
def main():
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    ds = Photos(["a"])
    dl = DataLoader(ds, batch_size=2, shuffle=True)
    model = nn.Sequential(nn.Flatten(), nn.Linear(8, 2)).to(device)
    crit = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(model.parameters())
    for epoch in range(5):
        for images, labels in dl:
            preds = model(images)  # -> error
            loss = crit(preds, labels)
            opt.zero_grad()
            loss.backward()
            opt.step()
main()
""",
    "validation loop forgotten": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
tr = DataLoader(TensorDataset(torch.randn(8, 8), torch.zeros(8)), batch_size=4)
va = DataLoader(TensorDataset(torch.randn(8, 8), torch.zeros(8)), batch_size=4)
model = nn.Linear(8, 2).to(device)
opt = torch.optim.Adam(model.parameters())
for e in range(3):
    for x, y in tr:
        x, y = x.to(device), y.to(device)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
    model.eval()
    with torch.no_grad():
        for x, y in va:
            out = model(x)  # -> error
""",
    "dict batch": """
class D(Dataset):
    def __init__(self, xs): self.xs = xs
    def __len__(self): return len(self.xs)
    def __getitem__(self, i):
        return {"image": torch.tensor(self.xs[i]), "label": 1}
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
tr = DataLoader(D([1]), batch_size=4)
model = nn.Linear(8, 2).to(device)
for batch in tr:
    out = model(batch["image"])  # -> error
    loss = nn.functional.cross_entropy(out, batch["label"].to(device))
    loss.backward()
""",
    "noise on CPU in GAN": """
class G(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(100, 784)
    def forward(self, z):
        return self.fc(z)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
g = G().to(device)
loader = DataLoader(TensorDataset(torch.zeros(8, 784)), batch_size=4)
for (x,) in loader:
    x = x.to(device)
    z = torch.randn(x.size(0), 100)
    fake = g(z)  # -> error
    loss = (x - fake).mean()
    loss.backward()
""",
    "full-batch tensors no loader": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
X = torch.randn(64, 8)
y = torch.randn(64, 1)
model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1)).to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(100):
    pred = model(X)  # -> error
    loss = nn.functional.mse_loss(pred, y)  # -> error
    opt.zero_grad(); loss.backward(); opt.step()
""",
    "eval with image from dataset, unsqueeze": """
from torchvision import datasets, transforms
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(datasets.MNIST("d", transform=transforms.ToTensor()), batch_size=64)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(28, 128, 2, batch_first=True)
        self.fc = nn.Linear(128, 10)
    def forward(self, x):
        h0 = torch.zeros(2, x.size(0), 128).to(x.device)
        out, _ = self.rnn(x, (h0, h0))
        return self.fc(out[:, -1])
model = Net().to(device)
for images, labels in loader:
    images = images.reshape(-1, 28, 28)
    outputs = model(images)  # -> error
    loss = nn.functional.cross_entropy(outputs, labels.to(device))
    loss.backward()
""",
    "inheritance of trainer": """
class Base:
    def __init__(self, model, loader):
        self.device = torch.device("cuda")
        self.model = model.to(self.device)
        self.loader = loader
    def run(self):
        for batch in self.loader:
            self.step(batch)
    def step(self, batch):
        raise NotImplementedError
class Classify(Base):
    def step(self, batch):
        x, y = batch
        out = self.model(x)  # -> error
        nn.functional.cross_entropy(out, y).backward()
Classify(nn.Linear(8, 2), loader).run()
""",
    "loaders in a dict, phases": """
from torchvision import datasets, transforms, models
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
tf = {x: transforms.ToTensor() for x in ["train", "val"]}
image_datasets = {x: datasets.ImageFolder("d/" + x, tf[x]) for x in ["train", "val"]}
dataloaders = {x: torch.utils.data.DataLoader(image_datasets[x], batch_size=4) for x in ["train", "val"]}
def train_model(model, criterion, optimizer, num_epochs=25):
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            if phase == "train":
                model.train()
            else:
                model.eval()
            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)  # -> error
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
    return model
model_ft = models.resnet18(weights="IMAGENET1K_V1")
model_ft.fc = nn.Linear(512, 2)
model_ft = model_ft.to(device)
train_model(model_ft, nn.CrossEntropyLoss(), torch.optim.SGD(model_ft.parameters(), lr=0.1))
""",
    "decorated main with hydra": """
import hydra
@hydra.main(config_path="c")
def main(cfg):
    model = nn.Linear(8, 2).cuda()
    loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
    for x, y in loader:
        model(x).sum().backward()  # -> error
if __name__ == "__main__":
    main()
""",
}


@pytest.mark.parametrize("source", FORGOTTEN.values(), ids=FORGOTTEN.keys())
def test_forgotten(source: str, tmp_path: Path) -> None:
    check_one("ACC302", NET + source, tmp_path)


def test_forgotten_in_another_file(tmp_path: Path) -> None:
    source = """
from net import Net
from data import get_loader
device = torch.device("cuda")
model = Net().to(device)
loader = get_loader("root", 32)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    out = model(x)  # -> error
    loss = nn.functional.cross_entropy(out, y)
    opt.zero_grad(); loss.backward(); opt.step()
"""
    net = """
import torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
    def forward(self, x):
        return self.fc(x)
"""
    data = """
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
def get_loader(root, bs):
    ds = datasets.ImageFolder(root, transforms.ToTensor())
    return DataLoader(ds, batch_size=bs, shuffle=True)
"""
    check_one("ACC302", NET + source, tmp_path, {"net.py": net, "data.py": data})


WRAPPED = {
    "DataParallel": "nn.DataParallel(Net()).cuda()",
    "DistributedDataParallel": "nn.parallel.DistributedDataParallel(Net().cuda(), device_ids=[0])",
}


@pytest.mark.parametrize("model", WRAPPED.values(), ids=WRAPPED.keys())
def test_wrappers_move_inputs_and_no_targets(model: str, tmp_path: Path) -> None:
    given = f"{NET}model = {model}\nfor x, y in loader:\n    out = model(x)\n"
    check_one("ACC302", given + "    nn.functional.cross_entropy(out, y.cuda()).backward()\n", tmp_path)
    check_one("ACC302", given + "    nn.functional.cross_entropy(out, y).backward()  # -> error none\n", tmp_path)


def test_batch_on_the_host_and_model_on_the_gpu(tmp_path: Path) -> None:
    source = "model = nn.Linear(8, 2).to('cuda')\nfor x, y in loader:\n    model(x)  # -> ACC302 error none\n"
    check(IMPORTS + LOADER + source, tmp_path)


DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")'


def test_model_moved_in_place_by_a_method(tmp_path: Path) -> None:
    source = (
        f"{DEVICE}\nmodel = nn.Linear(8, 2)\nmodel.to(device)\nfor x, y in loader:\n    model(x)  # -> ACC302 error\n"
    )
    check(IMPORTS + LOADER + source, tmp_path)


def test_target_on_the_host(tmp_path: Path) -> None:
    source = """
import torch.nn.functional as F
model = nn.Linear(8, 2).cuda()
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    F.cross_entropy(out, y).backward()  # -> ACC302 error
"""
    check(IMPORTS + LOADER + source, tmp_path)
