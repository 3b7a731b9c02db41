"""ACC307 to ACC314, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Finding
from accel_advisor.rule import registry

from .marked import check, findings_in
from .programs import IMPORTS


def of(code: str, source: str, folder: Path) -> list[Finding]:
    return [one for one in findings_in(source, folder)[1] if one.code == code]


GPU = "import os\nimport conf\nmodel = nn.Linear(8, 2).cuda()\nx = torch.zeros(4, 8, device='cuda')\ny = torch.zeros(4, device='cuda')\n"
HOST = "import os\nimport conf\nnet = nn.Linear(8, 2)\n"
LIGHTNING = "import lightning as L\nclass Net(L.LightningModule):\n"
ACCELERATE = (
    "from accelerate import Accelerator, DataLoaderConfiguration\n"
    "a = Accelerator(dataloader_config=DataLoaderConfiguration(non_blocking=True))\n"
    "loader = a.prepare(DataLoader(TensorDataset(torch.zeros(4, 8)), pin_memory=True))\n"
)
TRAINER = "from transformers import Trainer\nclass Mine(Trainer):\n"

SILENT = {
    "ACC307": {
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
    },
    "ACC308": {
        "Adam": HOST + "o = torch.optim.Adam(net.parameters())\nnet.cuda()",
        "SGD": HOST + "o = torch.optim.SGD(net.parameters(), lr=0.1)\nnet.cuda()",
        "moved before": HOST + "net.cuda()\no = torch.optim.Adagrad(net.parameters())",
        "built again": (
            HOST + "o = torch.optim.Adagrad(net.parameters())\nnet.cuda()\no = torch.optim.Adagrad(net.parameters())"
        ),
        "another model": HOST + "o = torch.optim.Adagrad(net.parameters())\nother = nn.Linear(8, 2)\nother.cuda()",
        "to the host": HOST + "o = torch.optim.Adagrad(net.parameters())\nnet.to('cpu')",
        "loaded after": HOST + "o = torch.optim.Adam(net.parameters())\nnet.cuda()\no.load_state_dict(torch.load('o.pt'))",
        "a framework": (
            HOST + "from accelerate import Accelerator\na = Accelerator()\n"
            "o = torch.optim.Adagrad(net.parameters())\nnet.cuda()"
        ),
        "in another function": (
            HOST + "def build(net):\n    return torch.optim.Adagrad(net.parameters())\ndef place(net):\n    net.cuda()\n"
            "build(net)\nplace(net)"
        ),
    },
    "ACC309": {
        "asks": HOST + "print(torch.cuda.is_available())\nnet.cuda()",
        "on a condition": HOST + "net = net.cuda() if conf.gpu else net",
        "distributed": HOST + "torch.distributed.init_process_group('nccl')\nnet.cuda()",
        "on the host": HOST + "net.to('cpu')",
    },
    "ACC310": {
        "no workers": IMPORTS + "torch.set_default_device('cuda')\nl = DataLoader([1], pin_memory=True)",
        "on the host": IMPORTS + "torch.set_default_device('cpu')\nl = DataLoader([1], num_workers=2)",
        "around the model": IMPORTS + "with torch.device('cuda'):\n    m = nn.Linear(8, 2)\nl = DataLoader([1], num_workers=2)",
        "no loader": IMPORTS + "torch.set_default_device('cuda')",
    },
    "ACC311": {
        "before": HOST + "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\nnet.cuda()",
        "only imports before": "import os\nimport torch\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'",
        "another variable": HOST + "net.cuda()\nos.environ['OMP_NUM_THREADS'] = '1'",
        "only the seed before": HOST + "torch.cuda.manual_seed(1)\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'",
        "in functions": (
            HOST + "def b():\n    net.cuda()\ndef a():\n    os.environ['CUDA_VISIBLE_DEVICES'] = '1'\na()\nb()"
        ),
        "on a condition": HOST + "print(torch.cuda.is_available())\nif conf.gpu:\n    os.environ['CUDA_VISIBLE_DEVICES'] = '1'",
    },
    "ACC312": {
        "its own device": LIGHTNING + "    def training_step(self, b, i):\n        return b.to(self.device)",
        "another's device": LIGHTNING + "    def training_step(self, b, i):\n        return b.to(b.device)",
        "setup": LIGHTNING + "    def setup(self, stage):\n        conf.net.cuda()",
        "outside": LIGHTNING + "    pass\ndef predict(b):\n    return b.cuda()",
    },
    "ACC313": {
        "not prepared": ACCELERATE + "e = nn.Linear(8, 2)\ne.to(a.device)\nfor (x,) in loader:\n    z = torch.ones(2, 2)\n    z = z.to(a.device)",
        "without placement": ACCELERATE.replace("non_blocking=True)", "non_blocking=True), device_placement=False")
        + "for (x,) in loader:\n    x = x.to(a.device)",
        "cast too": ACCELERATE + "for (x,) in loader:\n    x = x.to(a.device, torch.float16)",
    },
    "ACC314": {
        "elsewhere": TRAINER + "    def evaluate(self, x):\n        return x.cuda()",
        "to the host": TRAINER + "    def compute_loss(self, model, inputs):\n        return model(**inputs).to('cpu')",
    },
}  # fmt: skip
CASES = [
    pytest.param(code, source, id=f"{code} {name}") for code, all_ in SILENT.items() for name, source in all_.items()
]


@pytest.mark.parametrize(("code", "source"), CASES)
def test_silent(code: str, source: str, tmp_path: Path) -> None:
    source = source if source.startswith(("import torch", IMPORTS)) else IMPORTS + source
    assert not of(code, source + f"\n# {code}\n", tmp_path)


def test_weights_on_the_host(tmp_path: Path) -> None:
    source = """
import torch.nn.functional as F
c = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 5.0]))  # -> ACC307 error none
c(model(x), y)
F.cross_entropy(model(x), y, weight=torch.ones(2))  # -> ACC307 error none
"""
    check(IMPORTS + GPU + source, tmp_path)


def test_state_that_stays_on_the_host(tmp_path: Path) -> None:
    source = """
o = torch.optim.Adagrad(net.parameters())  # -> ACC308 error none
adam = torch.optim.Adam(net.parameters())
adam.load_state_dict(torch.load("o.pt"))  # -> ACC308 error none
net.to("cuda")
"""
    assert len(of("ACC308", IMPORTS + HOST + source.split("adam")[0] + 'net.to("cuda")\n', tmp_path)) == 1
    assert len(of("ACC308", IMPORTS + HOST + source, tmp_path)) == 2


def test_variable_set_too_late(tmp_path: Path) -> None:
    source = "net.cuda()\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'  # -> ACC311 warning none\n"
    check(IMPORTS + HOST + source, tmp_path)


def test_hard_coded_device(tmp_path: Path) -> None:
    found = of("ACC309", IMPORTS + HOST + "net.cuda()\nnet.to('cuda')\n# ACC309\n", tmp_path)
    assert len(found) == 1
    assert len(found[0].related) == 1


def test_default_device_and_workers(tmp_path: Path) -> None:
    source = "torch.set_default_device('cuda')\nl = DataLoader([1], num_workers=2)\n"
    assert len(of("ACC310", IMPORTS + source, tmp_path)) == 1


def test_moves_under_frameworks(tmp_path: Path) -> None:
    step = "    def training_step(self, b, i):\n        return b.cuda() + b.to('cuda:0')\n"
    assert len(of("ACC312", IMPORTS + LIGHTNING + step, tmp_path)) == 2
    assert len(of("ACC313", IMPORTS + ACCELERATE + "for (x,) in loader:\n    x = x.to(a.device)\n", tmp_path)) == 1
    loss = "    def compute_loss(self, model, inputs):\n        return model(inputs['x'].cuda())\n# ACC314\n"
    assert len(of("ACC314", IMPORTS + TRAINER + loss, tmp_path)) == 1


def test_opt_in_rules_are_off() -> None:
    assert not registry()["ACC309"].enabled
    assert not registry()["ACC314"].enabled
