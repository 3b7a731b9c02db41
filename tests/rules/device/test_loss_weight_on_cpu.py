"""ACC307 loss-weight-on-cpu, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair
from ..programs import IMPORTS

SILENT_PROGRAMS = {
    "weights moved": """
w = torch.tensor([1.0, 5.0]).cuda()
crit = nn.CrossEntropyLoss(weight=w)
model = nn.Linear(8, 2).cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    crit(model(x.cuda()), y.cuda()).backward()
""",
    "crit moved later": """
crit = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]))
model = nn.Linear(8, 2).cuda()
crit.cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    crit(model(x.cuda()), y.cuda()).backward()
""",
    "in a module": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
        self.crit = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]))
    def forward(self, x, y):
        return self.crit(self.fc(x), y)
model = Net().cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    model(x.cuda(), y.cuda()).backward()
""",
    "numpy weights unknown": """
import conf
crit = nn.CrossEntropyLoss(weight=conf.weights())
model = nn.Linear(8, 2).cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    crit(model(x.cuda()), y.cuda()).backward()
""",
    "outputs moved back": """
crit = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]))
model = nn.Linear(8, 2).cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    crit(model(x.cuda()).cpu(), y).backward()
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC307", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


GPU = "import os\nimport conf\nmodel = nn.Linear(8, 2).cuda()\nx = torch.zeros(4, 8, device='cuda')\ny = torch.zeros(4, device='cuda')\n"
HOST = "import os\nimport conf\nnet = nn.Linear(8, 2)\n"
SILENT = {
    "made there": GPU + "c = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0], device='cuda'))\nc(model(x), y)",
    "weights moved": GPU + "c = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]).cuda())\nc(model(x), y)",
    "loss moved": GPU + "c = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0])).to('cuda')\nc(model(x), y)",
    "moved later": GPU + "c = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]))\nc.cuda()\nc(model(x), y)",
    "on the host": HOST + "c = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]))\nc(net(torch.zeros(4, 8)), conf.y)",
    "no dimensions": GPU + "c = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(5.0))\nc(model(x), y)",
    "part of a module": (
        GPU + "class N(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.c = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]))\n"
        "    def run(self):\n        return self.c(model(x), y)\nN().cuda().run()"
    ),
    "a framework": (
        GPU + "from accelerate import Accelerator\na = Accelerator()\n"
        "c = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]))\nc(model(x), y)"
    ),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC307", IMPORTS + source, tmp_path)


PAIR_GPU = (
    IMPORTS
    + "import os, conf\nmodel = nn.Linear(8, 2).cuda()\nx = torch.zeros(4, 8, device='cuda')\ny = torch.zeros(4, device='cuda')\n"
)
W = "torch.tensor([1.0, 5.0])"
CRIT = f"crit = nn.CrossEntropyLoss(weight={W})\n"
USE = "crit(model(x), y)\n"
PAIRS = {
    "made there": Pair(PAIR_GPU + CRIT.replace("5.0]", "5.0], device='cuda'") + USE, "5.0], device='cuda'", "5.0]"),
    "weights moved": Pair(
        PAIR_GPU + f"w = {W}.cuda()\ncrit = nn.CrossEntropyLoss(weight=w)\n" + USE, ".cuda()\ncrit", "\ncrit"
    ),
    "weights moved by to": Pair(
        PAIR_GPU + f"w = {W}\nw = w.to('cuda')\ncrit = nn.CrossEntropyLoss(weight=w)\n" + USE, "w = w.to('cuda')\n"
    ),
    "weights of an unknown device": Pair(
        PAIR_GPU + f"crit = nn.CrossEntropyLoss(weight={W}.to(conf.device))\n" + USE, ".to(conf.device)"
    ),
    "moved as a whole": Pair(PAIR_GPU + CRIT.replace(")\n", ").to('cuda')\n") + USE, ".to('cuda')\ncrit(", "\ncrit("),
    "moved later": Pair(PAIR_GPU + CRIT + "crit.cuda()\n" + USE, "crit.cuda()\n"),
    "moved in a function": Pair(PAIR_GPU + CRIT + "def place(c):\n    c.cuda()\nplace(crit)\n" + USE, "place(crit)\n"),
    "given away": Pair(PAIR_GPU + CRIT + "conf.place(crit)\n" + USE, "conf.place(crit)\n"),
    "part of a module": Pair(
        PAIR_GPU
        + f"class N(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.crit = nn.CrossEntropyLoss(weight={W})\n"
        "    def run(self):\n        return self.crit(model(x), y)\nN().run()\n",
        "class N(nn.Module):\n    def __init__(self):\n        super().__init__()",
        "class N:\n    def __init__(self):\n        print(1)",
    ),
    "logits on the host": Pair(PAIR_GPU + CRIT + "crit(model(x).cpu(), y)\n", ".cpu()"),
    "a model on the host": Pair(
        PAIR_GPU.replace("nn.Linear(8, 2).cuda()", "nn.Linear(8, 2)") + CRIT + USE,
        "nn.Linear(8, 2)",
        "nn.Linear(8, 2).cuda()",
    ),
    "no dimensions": Pair(
        PAIR_GPU + "crit = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(5.0))\n" + USE,
        "torch.tensor(5.0)",
        "torch.tensor([5.0])",
    ),
    "a framework": Pair(
        PAIR_GPU + "import accelerate\na = accelerate.Accelerator()\n" + CRIT + USE, "a = accelerate.Accelerator()\n"
    ),
    "Lightning": Pair(PAIR_GPU + "import lightning as L\n" + CRIT + USE + "L.Trainer()\n", "L.Trainer()\n"),
    "moved in the function": Pair(
        PAIR_GPU + f"w = {W}\nnn.functional.cross_entropy(model(x), y, weight=w.cuda())\n", ".cuda())\n", ")\n"
    ),
    "the default device": Pair(
        PAIR_GPU + "torch.set_default_device('cuda')\n" + CRIT + USE, "torch.set_default_device('cuda')\n"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC307", PAIRS[case], tmp_path)


REPORTED_PROGRAMS = {
    "positional weight": """
crit = nn.CrossEntropyLoss(torch.tensor([1.0, 5.0]))  # -> error none
model = nn.Linear(8, 2).cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    crit(model(x.cuda()), y.cuda()).backward()
""",
    "in trainer class": """
class T:
    def __init__(self):
        self.device = torch.device("cuda")
        self.model = nn.Linear(8, 2).to(self.device)
        self.crit = nn.BCEWithLogitsLoss(pos_weight=torch.ones(2) * 3)  # -> error none
        self.loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)))
    def run(self):
        for x, y in self.loader:
            x, y = x.to(self.device), y.to(self.device)
            self.crit(self.model(x), y).backward()
T().run()
""",
    "functional": """
import torch.nn.functional as F
w = torch.FloatTensor([1.0, 2.0])
model = nn.Linear(8, 2).cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    F.cross_entropy(model(x.cuda()), y.cuda(), weight=w).backward()  # -> error none
""",
    "functional positional": """
import torch.nn.functional as F
w = torch.FloatTensor([1.0, 2.0])
model = nn.Linear(8, 2).cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8))):
    F.nll_loss(model(x.cuda()), y.cuda(), w).backward()  # -> error none
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC307", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
import torch.nn.functional as F
c = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]))  # -> ACC307 error none
c(model(x), y)
F.cross_entropy(model(x), y, weight=torch.ones(2))  # -> ACC307 error none
"""
    check(IMPORTS + GPU + source, tmp_path)
