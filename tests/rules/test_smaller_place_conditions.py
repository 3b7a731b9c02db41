"""Each condition under which ACC307 to ACC314 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import IMPORTS

GPU = (
    IMPORTS
    + "import os, conf\nmodel = nn.Linear(8, 2).cuda()\nx = torch.zeros(4, 8, device='cuda')\ny = torch.zeros(4, device='cuda')\n"
)
W = "torch.tensor([1.0, 5.0])"
CRIT = f"crit = nn.CrossEntropyLoss(weight={W})\n"
USE = "crit(model(x), y)\n"
PAIRS = {
    "ACC307: made there": Pair(GPU + CRIT.replace("5.0]", "5.0], device='cuda'") + USE, "5.0], device='cuda'", "5.0]"),
    "ACC307: weights moved": Pair(
        GPU + f"w = {W}.cuda()\ncrit = nn.CrossEntropyLoss(weight=w)\n" + USE, ".cuda()\ncrit", "\ncrit"
    ),
    "ACC307: weights moved by to": Pair(
        GPU + f"w = {W}\nw = w.to('cuda')\ncrit = nn.CrossEntropyLoss(weight=w)\n" + USE, "w = w.to('cuda')\n"
    ),
    "ACC307: weights of an unknown device": Pair(
        GPU + f"crit = nn.CrossEntropyLoss(weight={W}.to(conf.device))\n" + USE, ".to(conf.device)"
    ),
    "ACC307: moved as a whole": Pair(
        GPU + CRIT.replace(")\n", ").to('cuda')\n") + USE, ".to('cuda')\ncrit(", "\ncrit("
    ),
    "ACC307: moved later": Pair(GPU + CRIT + "crit.cuda()\n" + USE, "crit.cuda()\n"),
    "ACC307: moved in a function": Pair(
        GPU + CRIT + "def place(c):\n    c.cuda()\nplace(crit)\n" + USE, "place(crit)\n"
    ),
    "ACC307: given away": Pair(GPU + CRIT + "conf.place(crit)\n" + USE, "conf.place(crit)\n"),
    "ACC307: part of a module": Pair(
        GPU
        + f"class N(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.crit = nn.CrossEntropyLoss(weight={W})\n"
        "    def run(self):\n        return self.crit(model(x), y)\nN().run()\n",
        "class N(nn.Module):\n    def __init__(self):\n        super().__init__()",
        "class N:\n    def __init__(self):\n        print(1)",
    ),
    "ACC307: logits on the host": Pair(GPU + CRIT + "crit(model(x).cpu(), y)\n", ".cpu()"),
    "ACC307: a model on the host": Pair(
        GPU.replace("nn.Linear(8, 2).cuda()", "nn.Linear(8, 2)") + CRIT + USE,
        "nn.Linear(8, 2)",
        "nn.Linear(8, 2).cuda()",
    ),
    "ACC307: no dimensions": Pair(
        GPU + "crit = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(5.0))\n" + USE,
        "torch.tensor(5.0)",
        "torch.tensor([5.0])",
    ),
    "ACC307: a framework": Pair(
        GPU + "import accelerate\na = accelerate.Accelerator()\n" + CRIT + USE, "a = accelerate.Accelerator()\n"
    ),
    "ACC307: Lightning": Pair(GPU + "import lightning as L\n" + CRIT + USE + "L.Trainer()\n", "L.Trainer()\n"),
    "ACC307: moved in the function": Pair(
        GPU + f"w = {W}\nnn.functional.cross_entropy(model(x), y, weight=w.cuda())\n", ".cuda())\n", ")\n"
    ),
    "ACC307: the default device": Pair(
        GPU + "torch.set_default_device('cuda')\n" + CRIT + USE, "torch.set_default_device('cuda')\n"
    ),
}
HOST = IMPORTS + "import os, conf\nmodel = nn.Linear(8, 2)\n"
ADAGRAD = "opt = torch.optim.Adagrad(model.parameters())\n"
LOADED = "opt = torch.optim.Adam(model.parameters())\nopt.load_state_dict(torch.load('x'))\n"
MOVE = "model.cuda()\n"
PAIRS |= {
    "ACC308: no state yet": Pair(HOST + ADAGRAD.replace("Adagrad", "Adam") + MOVE, "Adam(", "Adagrad("),
    "ACC308: SGD": Pair(HOST + ADAGRAD.replace("Adagrad", "SGD") + MOVE, "SGD(", "Adagrad("),
    "ACC308: moved before": Pair(HOST + MOVE + ADAGRAD + "# later\n", MOVE + ADAGRAD + "# later\n", ADAGRAD + MOVE),
    "ACC308: loaded after": Pair(HOST + MOVE + LOADED + "# later\n", MOVE + LOADED + "# later\n", LOADED + MOVE),
    "ACC308: stays on the host": Pair(HOST + ADAGRAD + "model.to('cpu')\n", "'cpu'", "'cuda'"),
    "ACC308: built again": Pair(
        HOST + ADAGRAD + MOVE + "opt = torch.optim.Adagrad(model.parameters(), 0.1)\n",
        "opt = torch.optim.Adagrad(model.parameters(), 0.1)\n",
    ),
    "ACC308: another built later": Pair(
        HOST + ADAGRAD + MOVE + "opt = torch.optim.SGD(model.parameters(), 0.1)\n",
        "opt = torch.optim.SGD(model.parameters(), 0.1)\n",
    ),
    "ACC308: state moved by hand": Pair(
        HOST + LOADED + MOVE + "for s in opt.state.values():\n    for k, v in s.items():\n        s[k] = v.cuda()\n",
        "        s[k] = v.cuda()\n",
        "        print(v)\n",
    ),
    "ACC308: order unknown": Pair(
        HOST
        + "def build(m):\n    return torch.optim.Adagrad(m.parameters())\ndef place(m):\n    m.cuda()\nbuild(model)\nplace(model)\n",
        "build(model)\nplace(model)\n",
        ADAGRAD + MOVE,
    ),
    "ACC308: on some paths": Pair(
        HOST + ADAGRAD + "if conf.gpu:\n    model.cuda()\n", "if conf.gpu:\n    model.cuda()\n", MOVE
    ),
    "ACC308: another model": Pair(
        HOST + ADAGRAD + "other = nn.Linear(8, 2)\nother.cuda()\n", "other.cuda()", "model.cuda()"
    ),
    "ACC308: Accelerate": Pair(
        HOST + "import accelerate\na = accelerate.Accelerator()\n" + ADAGRAD + MOVE, "a = accelerate.Accelerator()\n"
    ),
    "ACC308: Lightning": Pair(HOST + "import lightning as L\nL.Trainer()\n" + ADAGRAD + MOVE, "L.Trainer()\n"),
    "ACC308: Fabric": Pair(HOST + "import lightning as L\nL.Fabric()\n" + ADAGRAD + MOVE, "L.Fabric()\n"),
    "ACC308: sharded before": Pair(
        HOST
        + "from torch.distributed.fsdp import fully_shard\nfully_shard(model)\nopt = torch.optim.Adam(model.parameters())\n# later\n",
        "fully_shard(model)\nopt = torch.optim.Adam(model.parameters())\n# later\n",
        "opt = torch.optim.Adam(model.parameters())\nfully_shard(model)\n",
    ),
    "ACC308: built again after sharding": Pair(
        HOST
        + "from torch.distributed.fsdp import fully_shard\nopt = torch.optim.Adam(model.parameters())\nfully_shard(model)\nopt = torch.optim.AdamW(model.parameters())\n",
        "opt = torch.optim.AdamW(model.parameters())\n",
    ),
    "ACC309: asks": Pair(HOST + "print(torch.cuda.is_available())\n" + MOVE, "print(torch.cuda.is_available())\n"),
    "ACC309: asserts": Pair(HOST + "assert torch.cuda.is_available()\n" + MOVE, "assert torch.cuda.is_available()\n"),
    "ACC309: asks in another file": Pair(
        HOST + "import other\n" + MOVE,
        "import other\n",
        "",
        {"other.py": "import torch\nhas = torch.cuda.is_available()\n"},
    ),
    "ACC309: NCCL": Pair(
        HOST + "torch.distributed.init_process_group('nccl')\n" + MOVE, "torch.distributed.init_process_group('nccl')\n"
    ),
    "ACC309: Triton": Pair(HOST + "import triton\n@triton.jit\ndef kernel(x):\n    pass\n" + MOVE, "@triton.jit\n"),
    "ACC309: kernels of its own": Pair(
        HOST + "from torch.utils import cpp_extension\nk = cpp_extension.load('k', ['k.cu'])\n" + MOVE,
        "k = cpp_extension.load('k', ['k.cu'])\n",
    ),
    "ACC309: inline kernels": Pair(
        HOST + "from torch.utils.cpp_extension import load_inline\nk = load_inline('k', ['k'])\n" + MOVE,
        "k = load_inline('k', ['k'])\n",
    ),
    "ACC309: on a condition": Pair(HOST + "if conf.gpu:\n    model.cuda()\n", "if conf.gpu:\n    model.cuda()\n", MOVE),
    "ACC309: on the host": Pair(HOST + "model.to('cpu')\n", "'cpu'", "'cuda'"),
    "ACC309: counts": Pair(HOST + "print(torch.cuda.device_count())\n" + MOVE, "print(torch.cuda.device_count())\n"),
    "ACC310: around the model": Pair(
        IMPORTS + "with torch.device('cuda'):\n    m = nn.Linear(8, 2)\nl = DataLoader([1], num_workers=2)\n",
        "with torch.device('cuda'):\n    m",
        "torch.set_default_device('cuda')\nm",
    ),
    "ACC310: no workers": Pair(
        IMPORTS + "torch.set_default_device('cuda')\nl = DataLoader([1], num_workers=0)\n",
        "num_workers=0",
        "num_workers=2",
    ),
    "ACC310: unknown workers": Pair(
        IMPORTS + "import conf\ntorch.set_default_device('cuda')\nl = DataLoader([1], num_workers=conf.n)\n",
        "conf.n",
        "2",
    ),
    "ACC310: on the host": Pair(
        IMPORTS + "torch.set_default_device('cpu')\nl = DataLoader([1], num_workers=2)\n", "'cpu'", "'cuda'"
    ),
    "ACC310: unknown device": Pair(
        IMPORTS + "import conf\ntorch.set_default_device(conf.device)\nl = DataLoader([1], num_workers=2)\n",
        "conf.device",
        "'cuda'",
    ),
    "ACC310: no loader of torch": Pair(
        IMPORTS
        + "from fastai.data.load import DataLoader as Other\ntorch.set_default_device('cuda')\nl = Other([1], num_workers=2)\n",
        "= Other",
        "= DataLoader",
    ),
    "ACC311: set before": Pair(
        HOST + "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n" + MOVE + "# later\n",
        "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n" + MOVE,
        MOVE + "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n",
    ),
    "ACC311: only imports before": Pair(
        IMPORTS + "import os, torchvision\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n",
        "import os, torchvision\n",
        "import os, torchvision\nprint(torch.cuda.device_count())\n",
    ),
    "ACC311: only the model before": Pair(
        HOST + "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n",
        "model = nn.Linear(8, 2)\n",
        "model = nn.Linear(8, 2).cuda()\n",
    ),
    "ACC311: only a seed before": Pair(
        HOST + "torch.cuda.manual_seed_all(1)\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n",
        "torch.cuda.manual_seed_all(1)",
        "torch.cuda.device_count()",
    ),
    "ACC311: for processes": Pair(
        HOST + "import subprocess\nmodel.cuda()\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\nsubprocess.run(['x'])\n",
        "subprocess.run(['x'])\n",
    ),
    "ACC311: on a condition": Pair(
        HOST + "model.cuda()\nif conf.one:\n    os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n", "if conf.one:\n    ", ""
    ),
    "ACC311: started on a condition": Pair(
        HOST + "if conf.gpu:\n    model.cuda()\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n", "if conf.gpu:\n    ", ""
    ),
    "ACC311: in functions whose order is not known": Pair(
        HOST + "def place():\n    model.cuda()\ndef choose():\n    os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n",
        "def choose():\n",
    ),
    "ACC311: another variable": Pair(
        HOST + "model.cuda()\nos.environ['OMP_NUM_THREADS'] = '1'\n", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"
    ),
}
LIGHTNING = IMPORTS + "import lightning as L\nimport conf\nclass M(L.LightningModule):\n"
DATA = IMPORTS + "import lightning as L\nclass D(L.LightningDataModule):\n"
ACCELERATE = (
    IMPORTS
    + "from accelerate import Accelerator\na = Accelerator()\nloader = a.prepare(DataLoader(TensorDataset(torch.zeros(4, 8))))\n"
)
HF = IMPORTS + "from transformers import Trainer\nclass Mine(Trainer):\n"
PAIRS |= {
    "ACC312: its own device": Pair(
        LIGHTNING + "    def training_step(self, b, i):\n        return b.to(self.device)\n", "self.device", "'cuda'"
    ),
    "ACC312: another's device": Pair(
        LIGHTNING + "    def training_step(self, b, i):\n        x = b[0]\n        return x.to(b.device)\n",
        "b.device",
        "'cuda'",
    ),
    "ACC312: in setup": Pair(
        LIGHTNING + "    def setup(self, stage):\n        stage.cuda()\n",
        "def setup(self, stage)",
        "def training_step(self, stage)",
    ),
    "ACC312: in a helper": Pair(
        LIGHTNING + "    def place(self, b):\n        return b.cuda()\n", "def place", "def training_step"
    ),
    "ACC312: in the transfer of a data module": Pair(
        DATA + "    def transfer_batch_to_device(self, b, device, i):\n        return b.cuda()\n",
        "transfer_batch_to_device",
        "training_step",
    ),
    "ACC312: outside of the Trainer": Pair(
        LIGHTNING + "    pass\ndef predict(b):\n    return b.cuda()\n",
        "    pass\ndef predict(b):\n    return b.cuda()\n",
        "    def forward(self, b):\n        return b.cuda()\n",
    ),
    "ACC312: another module": Pair(
        LIGHTNING + "    pass\nclass N(nn.Module):\n    def forward(self, b):\n        return b.cuda()\n",
        "class N(nn.Module)",
        "class N(L.LightningModule)",
    ),
    "ACC312: numbered": Pair(
        LIGHTNING + "    def training_step(self, b, i):\n        return b.cuda(self.local_rank)\n",
        "self.local_rank",
        "",
    ),
    "ACC313: not prepared": Pair(
        ACCELERATE + "for (x,) in loader:\n    z = torch.ones(2)\n    z = z.to(a.device)\n", "z = z.to", "z = x.to"
    ),
    "ACC313: a model that was not prepared": Pair(
        ACCELERATE + "vae = nn.Linear(8, 2)\nfor (x,) in loader:\n    vae.to(a.device)\n", "vae.to(", "x.to("
    ),
    "ACC313: without placement": Pair(
        ACCELERATE.replace("Accelerator()", "Accelerator(device_placement=False)")
        + "for (x,) in loader:\n    x = x.to(a.device)\n",
        "device_placement=False",
    ),
    "ACC313: with a cast": Pair(
        ACCELERATE + "for (x,) in loader:\n    x = x.to(a.device, torch.float16)\n", ", torch.float16"
    ),
    "ACC313: a loader that was not prepared": Pair(
        ACCELERATE.replace(
            "a.prepare(DataLoader(TensorDataset(torch.zeros(4, 8))))", "DataLoader(TensorDataset(torch.zeros(4, 8)))"
        )
        + "for (x,) in loader:\n    x = x.to(a.device)\n",
        "loader = DataLoader(TensorDataset(torch.zeros(4, 8)))",
        "loader = a.prepare(DataLoader(TensorDataset(torch.zeros(4, 8))))",
    ),
    "ACC313: placement of one call": Pair(
        ACCELERATE.replace("(4, 8))))", "(4, 8))), device_placement=[False])")
        + "for (x,) in loader:\n    x = x.to(a.device)\n",
        ", device_placement=[False]",
    ),
    "ACC314: evaluation": Pair(
        HF + "    def prediction_step(self, model, inputs):\n        return inputs.to('cuda')\n",
        "prediction_step",
        "compute_loss",
    ),
    "ACC314: generation": Pair(
        HF + "    def generate(self, model, inputs):\n        return inputs.cuda()\n",
        "def generate",
        "def compute_loss",
    ),
    "ACC314: to the host": Pair(
        HF + "    def compute_loss(self, model, inputs):\n        return model(**inputs).to('cpu')\n", "'cpu'", "'cuda'"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair(case[:6], PAIRS[case], tmp_path)
