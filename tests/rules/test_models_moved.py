"""ACC303 is silent: something moves the model, or may move it, or it has no weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import NET
from .single import check_one

MOVED: dict[str, str] = {
    "getattr models": """
import torchvision.models as models
import argparse
a = argparse.ArgumentParser(); a.add_argument("--arch", default="resnet18"); args = a.parse_args()
model = models.__dict__[args.arch]()
model2 = getattr(models, args.arch)()
for x, y in loader:
    model(x.cuda()).sum().backward()
    model2(x.cuda())
""",
    "EMA deepcopy of moved model": """
import copy
model = nn.Linear(8, 2).cuda()
ema = copy.deepcopy(model)
for x, y in loader:
    x = x.cuda()
    model(x).sum().backward()
    ema(x)
""",
    "EMA class": """
import copy
class EMA(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.module = copy.deepcopy(model)
    def forward(self, x):
        return self.module(x)
model = nn.Linear(8, 2).cuda()
ema = EMA(model)
for x, y in loader:
    x = x.cuda()
    model(x).sum().backward()
    ema(x)
""",
    "wrapping module of a moved module": """
class Wrap(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
    def forward(self, x):
        return self.model(x)
model = Wrap(nn.Linear(8, 2).cuda())
for x, y in loader:
    x = x.cuda()
    model(x).sum().backward()
""",
    "class moves itself by plain method": """
class Net(nn.Module):
    def __init__(self, gpu):
        super().__init__()
        self.fc = nn.Linear(8, 2)
        if gpu:
            self.cuda()
    def forward(self, x):
        return self.fc(x)
model = Net(True)
for x, y in loader:
    x = x.cuda()
    model(x).sum().backward()
""",
    "layers with device kw": """
class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.fc = nn.Linear(8, 2, device=device)
    def forward(self, x):
        return self.fc(x)
model = Net("cuda")
lin = nn.Linear(8, 2, device="cuda")
for x, y in loader:
    x = x.cuda()
    model(x).sum().backward()
    lin(x)
""",
    "module without parameters": """
class Loss(nn.Module):
    def forward(self, a, b):
        return ((a - b) ** 2).mean()
crit = Loss()
model = nn.Linear(8, 2).cuda()
for x, y in loader:
    crit(model(x.cuda()), y.cuda()).backward()
""",
    "module with functional only, inherits": """
class Base(nn.Module):
    pass
class Pool(Base):
    def __init__(self, k):
        super().__init__()
        self.k = k
    def forward(self, x):
        return nn.functional.avg_pool2d(x, self.k)
p = Pool(2)
for x, y in loader:
    p(x.cuda())
""",
    "model on cpu with cpu copy given": """
model = nn.Linear(8, 2).cuda()
host = nn.Linear(8, 2)
for x, y in loader:
    out = model(x.cuda())
    host(out.cpu())
""",
    "stateless sequential": """
act = nn.Sequential(nn.ReLU(), nn.Dropout(0.5))
fl = nn.Flatten()
for x, y in loader:
    act(fl(x.cuda()))
""",
    "for m in models": """
a = nn.Linear(8, 8); b = nn.Linear(8, 2)
for m in (a, b):
    m.to("cuda")
for x, y in loader:
    b(a(x.cuda())).sum().backward()
""",
    "dict of models moved in a loop": """
nets = {"a": nn.Linear(8, 8), "b": nn.Linear(8, 2)}
for k in nets:
    nets[k] = nets[k].to("cuda")
nets2 = {"a": nn.Linear(8, 8)}
for n in nets2.values():
    n.cuda()
for x, y in loader:
    x = x.cuda()
    nets["b"](nets["a"](x)).sum().backward()
    nets2["a"](x)
""",
    "part of moved parent via a function": """
class Parent(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def forward(self, x):
        return self.inner(x)
inner = nn.Linear(8, 8)
p = Parent(inner)
p.cuda()
for x, y in loader:
    x = x.cuda()
    p(x).sum().backward()
    inner(x)
""",
    "nested trainer: moves in another method called in run": """
class Trainer:
    def __init__(self, model, loader):
        self.model = model
        self.loader = loader
    def setup(self):
        self.model.cuda()
    def train(self):
        for x, y in self.loader:
            self.model(x.cuda()).sum().backward()
    def fit(self):
        self.setup()
        self.train()
t = Trainer(nn.Linear(8, 2), loader)
t.fit()
""",
    "agent handed away unknown": """
import lib
class Agent:
    def __init__(self):
        self.model = nn.Linear(8, 2)
        self.loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
    def train(self):
        for x, y in self.loader:
            self.model(x.cuda()).sum().backward()
agent = Agent()
lib.place(agent)
agent.train()
""",
    "module instance handed inside list": """
import lib
a = nn.Linear(8, 8)
lst = []
lst.append(a)
lib.place(lst)
for x, y in loader:
    a(x.cuda()).sum().backward()
""",
    "setattr moves": """
class Agent:
    def __init__(self):
        self.a = nn.Linear(8, 2)
        self.names = ["a"]
        for n in self.names:
            setattr(self, n, getattr(self, n).cuda())
        self.loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
    def train(self):
        for x, y in self.loader:
            self.a(x.cuda()).sum().backward()
Agent().train()
""",
    "for name in self.model_names getattr(net).to": """
class Agent:
    def __init__(self):
        self.netG = nn.Linear(8, 2)
        self.model_names = ["G"]
        self.loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
        self.place()
    def place(self):
        for name in self.model_names:
            net = getattr(self, "net" + name)
            net.to("cuda")
    def train(self):
        for x, y in self.loader:
            self.netG(x.cuda()).sum().backward()
Agent().train()
""",
    "uncalled train, model moved elsewhere in another uncalled function": """
model = nn.Linear(8, 2)
def train():
    for x, y in loader:
        model(x.cuda()).sum().backward()
def setup():
    model.cuda()
""",
    "teacher student": """
import torchvision
teacher = torchvision.models.resnet50(pretrained=True).eval()
student = torchvision.models.resnet18()
for net in [teacher, student]:
    net.cuda()
for x, y in loader:
    x = x.cuda()
    with torch.no_grad():
        t = teacher(x)
    nn.functional.kl_div(student(x), t).backward()
""",
    "inference after moving to cpu": """
model = nn.Linear(8, 2).cuda()
for x, y in loader:
    model(x.cuda()).sum().backward()
model.cpu()
for x, y in loader:
    model(x)
""",
}


@pytest.mark.parametrize("source", MOVED.values(), ids=MOVED.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    for code in ("ACC302", "ACC303"):
        check_one(code, NET + source, tmp_path)


ELSEWHERE = {
    "class builds its layers elsewhere, on device": (
        """
from lib import layer
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = layer(8, 2)
    def forward(self, x):
        return self.fc(x)
model = Net()
for x, y in loader:
    x = x.cuda()
    model(x).sum().backward()
""",
        "lib.py",
        """
from torch import nn
def layer(a, b):
    return nn.Linear(a, b).cuda()
""",
    ),
    "setup method from base moves the model": (
        """
from base import Base
class Net(Base):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
        self.setup()
    def forward(self, x):
        return self.fc(x)
model = Net()
for x, y in loader:
    model(x.cuda()).sum().backward()
""",
        "base.py",
        """
from torch import nn
class Base(nn.Module):
    def setup(self):
        self.cuda()
""",
    ),
}
"""Programs of two files."""


@pytest.mark.parametrize(("source", "name", "other"), ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_silent_across_files(source: str, name: str, other: str, tmp_path: Path) -> None:
    for code in ("ACC302", "ACC303"):
        check_one(code, NET + source, tmp_path, {name: other})
