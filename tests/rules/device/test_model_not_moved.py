"""ACC303 model-not-moved, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair, fixed
from ..programs import IMPORTS, NET
from .programs import FRAMEWORKS

MOVED: dict[str, str] = {
    "getattr models": """
import torchvision.models as models
import argparse
a = argparse.ArgumentParser(); a.add_argument("--arch", default="resnet18"); args = a.parse_args()
model = models.__dict__[args.arch]().cuda()
model2 = getattr(models, args.arch)().cuda()
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


BUILT = "model = Net()\n"
PAIR_MOVED = "for x, y in loader:\n    model(x.cuda()).sum().backward()\n"


def unmoved(between: str, instead: str = "", built: str = BUILT) -> Pair:
    """A model on the host that is given batches on the GPU, and what stands between."""
    return Pair(NET + "import conf\n" + built + between + PAIR_MOVED, between, instead)


PAIRS = {
    "moved": Pair(NET + "model = Net().cuda()\n" + PAIR_MOVED, "Net().cuda()", "Net()"),
    "moved later": unmoved("model.cuda()\n"),
    "moved in a function": unmoved("def place(net):\n    net.cuda()\nplace(model)\n"),
    "given to a function": unmoved("conf.place(model)\n"),
    "given in a list": unmoved("conf.place([model])\n"),
    "kept in a list": unmoved("conf.models.append(model)\n"),
    "kept in a list that is given": unmoved("models = [model]\nconf.place(models)\n"),
    "kept on an object": unmoved("conf.model = model\n"),
    "kept in a dict": unmoved("conf.models['x'] = model\n"),
    "prepared": unmoved("model = conf.accelerator.prepare(model)\n"),
    "prepared in place": unmoved("conf.accelerator.prepare(model)\n"),
    "set up": unmoved("model = conf.fabric.setup(model)\n"),
    "in DDP": unmoved("model = nn.parallel.DistributedDataParallel(model)\n"),
    "in DataParallel": unmoved("model = nn.DataParallel(model)\n"),
    "compiled and moved": unmoved("model = torch.compile(model).cuda()\n", "model = torch.compile(model)\n"),
    "moved and compiled": unmoved("model = torch.compile(model.cuda())\n", "model = torch.compile(model)\n"),
    "returned, then moved": unmoved(
        "model = make().cuda()\n", "model = make()\n", "def make():\n    net = Net()\n    return net\n"
    ),
    "built there": unmoved("with torch.device('cuda'):\n    model = Net()\n", "model = Net()\n", ""),
    "the default device": unmoved("torch.set_default_device('cuda')\nmodel = Net()\n", "model = Net()\n", ""),
    "an unseen factory": unmoved("model = conf.make(8)\n", "model = Net()\n", ""),
    "moves itself": Pair(
        NET.replace("self.fc =", "self.cuda()\n        self.fc =").replace(
            "self.cuda()\n        self.fc = nn.Linear(8, 2)", "self.fc = nn.Linear(8, 2)\n        self.cuda()"
        )
        + BUILT
        + PAIR_MOVED,
        "        self.cuda()\n",
    ),
    "moves itself to": Pair(
        NET.replace("nn.Linear(8, 2)", "nn.Linear(8, 2)\n        self.to('cuda')") + BUILT + PAIR_MOVED,
        "        self.to('cuda')\n",
    ),
    "layers made there": Pair(
        NET.replace("nn.Linear(8, 2)", "nn.Linear(8, 2, device='cuda')") + BUILT + PAIR_MOVED, ", device='cuda'"
    ),
    "a device map": unmoved(
        "from transformers import AutoModel\nmodel = AutoModel.from_pretrained('x', device_map='auto')\n",
        "model = Net()\n",
        "",
    ),
    "quantized": unmoved(
        "from transformers import AutoModel\nmodel = AutoModel.from_pretrained('x', quantization_config=conf.q)\n",
        "model = Net()\n",
        "",
    ),
    "a pipeline": unmoved(
        "from transformers import pipeline\nmodel = pipeline('x', device=0)\n", "model = Net()\n", ""
    ),
    "sentences": unmoved(
        "from sentence_transformers import SentenceTransformer\nmodel = SentenceTransformer('x')\n",
        "model = Net()\n",
        "",
    ),
    "YOLO": unmoved("from ultralytics import YOLO\nmodel = YOLO('x')\n", "model = Net()\n", ""),
    "deepspeed": unmoved("import deepspeed\nengine, *_ = deepspeed.initialize(model=model)\n"),
    "an output moved back": Pair(NET + BUILT + PAIR_MOVED.replace(".cuda()", ".cuda().cpu()"), ".cpu()"),
    "an unknown device": Pair(
        NET + "import conf\n" + BUILT + PAIR_MOVED.replace(".cuda()", ".to(conf.device)"),
        ".to(conf.device)",
        ".to('cuda')",
    ),
    "forward takes it back": Pair(NET.replace("self.fc(x)", "self.fc(x.cpu())") + BUILT + PAIR_MOVED, "x.cpu()", "x"),
    "a part of something": unmoved("outer = nn.Sequential(model)\n"),
    **{name: unmoved(source) for name, source in FRAMEWORKS.items()},
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC303", PAIRS[case], tmp_path)


FORGOTTEN = {
    "model not moved class trainer": """
class Trainer:
    def __init__(self, loader):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = Net()  # -> error
        self.loader = loader
        self.optimizer = torch.optim.Adam(self.model.parameters())
    def train_epoch(self):
        for x, y in self.loader:
            x, y = x.to(self.device), y.to(self.device)
            loss = nn.functional.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
Trainer(loader).train_epoch()
""",
    "model factory in the same file": """
import torchvision
def build():
    m = torchvision.models.resnet50()  # -> error
    m.fc = nn.Linear(2048, 10)
    return m
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = build()
loader = DataLoader(TensorDataset(torch.zeros(8, 784), torch.zeros(8)), batch_size=4)
for x, y in loader:
    x = x.to(device)
    model(x).sum().backward()
""",
    "model that the run chooses": """
import argparse
import torchvision.models as models
parser = argparse.ArgumentParser()
parser.add_argument("--arch", default="resnet18")
args = parser.parse_args()
model = models.__dict__[args.arch]()  # -> error
for x, y in loader:
    model(x.cuda()).sum().backward()
""",
}


@pytest.mark.parametrize("source", FORGOTTEN.values(), ids=FORGOTTEN.keys())
def test_forgotten(source: str, tmp_path: Path) -> None:
    check_one("ACC303", NET + source, tmp_path)


DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")'
LOADER = "loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), pin_memory=True)\n"


def test_model_that_was_not_moved(tmp_path: Path) -> None:
    source = f"{DEVICE}\nmodel = nn.Linear(8, 2)  # -> ACC303 error unsafe\nfor x, y in loader:\n    model(x.to(device, non_blocking=True))\n"
    check(IMPORTS + LOADER + source, tmp_path)
    assert "model = nn.Linear(8, 2).to(device)" in fixed("ACC303", IMPORTS + LOADER + source, tmp_path)


def test_model_that_was_not_moved_across_functions(tmp_path: Path) -> None:
    source = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
    def forward(self, x):
        return self.layer(x)
def train(model, loader, device):
    for x, y in loader:
        model(x.to(device, non_blocking=True)).sum().backward()
def main():
    train(Net(), loader, torch.device("cuda"))  # -> ACC303 error none
main()
"""
    check(IMPORTS + LOADER + source, tmp_path)


MOVES_ITS_INPUT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
    def forward(self, x):
        x = x.to(device)
        return self.layer(x)
model = Net()  # -> error unsafe
print(model(torch.zeros(4, 8)))
"""
HARMLESS = {
    "it is moved": ("Net()", "Net().to(device)"),
    "it is moved later": ("print(", "model.to(device)\nprint("),
    "its layer is moved": ("nn.Linear(8, 2)", "nn.Linear(8, 2).to(device)"),
    "it moves itself": ("x = x.to(device)", "self.to(device)\n        x = x.to(device)"),
    "it moves its layer": ("self.layer(x)", "self.layer.to(device)(x)"),
    "it follows its weights": ("x.to(device)", "x.to(self.layer.weight.device)"),
    "on a condition": ("x = x.to(device)", "if x.is_pinned(): x = x.to(device)"),
    "the layer meets something else": ("self.layer(x)", "self.layer(torch.zeros(4, 8)) * x"),
    "an unknown function has it": ("print(", "prepare(model)\nprint("),
    "a device that nothing is known of": (DEVICE, "device = settings.device"),
}


@pytest.mark.parametrize("case", HARMLESS)
def test_a_model_that_moves_its_input(tmp_path: Path, case: str) -> None:
    source = f"{IMPORTS}\nimport settings\nfrom settings import prepare\n{DEVICE}\n{MOVES_ITS_INPUT}"
    check_one("ACC303", source, tmp_path)
    before, after = HARMLESS[case]
    assert before in source
    check_one("ACC303", source.replace(before, after).replace("  # -> error unsafe", ""), tmp_path)
