"""Each condition under which ACC205, ACC206 and ACC207 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import IMPORTS, PHOTOS

PINNED = "import conf\nloader = DataLoader(photos, num_workers=2, pin_memory=True)\n"
HEADS = {"ACC205": IMPORTS + "import conf\n", "ACC206": IMPORTS + "import conf\n", "ACC207": PHOTOS + PINNED}
PAIRS: dict[str, dict[str, tuple[str, ...]]] = {
    "ACC205": {
        "made there": ("x = torch.zeros(4, device='cuda').to('cuda')", ", device='cuda'"),
        "made from data": ("x = torch.tensor([1.0]).to('cuda')", "torch.tensor([1.0])", "torch.ones(1)"),
        "made by as_tensor": ("x = torch.as_tensor([1.0]).to('cuda')", "torch.as_tensor([1.0])", "torch.ones(1)"),
        "from numpy": (
            "import numpy as np\nx = torch.from_numpy(np.zeros(4)).to('cuda')",
            "torch.from_numpy(np.zeros(4))",
            "torch.zeros(4)",
        ),
        "no factory": ("x = torch.cat([torch.zeros(4)]).to('cuda')", "torch.cat([torch.zeros(4)])", "torch.zeros(4)"),
        "project function": (
            "def zeros(n): return torch.ones(n)\nx = zeros(4).to('cuda')",
            "x = zeros",
            "x = torch.zeros",
        ),
        "other library": ("import numpy as np\nx = np.zeros(4).to('cuda')", "np.zeros", "torch.zeros"),
        "only a cast": ("x = torch.zeros(4).to(torch.float16)", "torch.float16", "'cuda'"),
        "maybe only a cast": ("x = torch.zeros(4).to(conf.what)", "conf.what", "'cuda'"),
        "to another tensor": ("y = torch.zeros(4)\nx = torch.zeros(4).to(y)", "to(y)", "to('cuda')"),
        "cast and moved": ("x = torch.zeros(4).to('cuda', torch.float16)", ", torch.float16"),
        "cast by keyword and moved": ("x = torch.zeros(4).to('cuda', dtype=torch.float16)", ", dtype=torch.float16"),
        "to the host": ("x = torch.zeros(4).to('cpu')", "cpu", "cuda"),
        "pinned": ("x = torch.zeros(4, pin_memory=True).to('cuda')", ", pin_memory=True"),
        "into another tensor": ("y = torch.zeros(4)\nx = torch.zeros(4, out=y).to('cuda')", ", out=y"),
        "with a generator": ("g = torch.Generator()\nx = torch.randn(4, generator=g).to('cuda')", ", generator=g"),
        "through numpy": ("x = torch.zeros(4).numpy().to('cuda')", ".numpy()"),
        "through numpy and back": (
            "x = torch.from_numpy(torch.zeros(4).numpy()).to('cuda')",
            "torch.from_numpy(torch.zeros(4).numpy())",
            "torch.zeros(4)",
        ),
        "computed with in between": ("x = torch.zeros(4).sum().to('cuda')", ".sum()"),
        "requires_grad": ("x = torch.zeros(4, requires_grad=True).to('cuda')", ", requires_grad=True"),
        "arguments unseen": ("x = torch.zeros(4, **conf.kw).to('cuda')", ", **conf.kw"),
        "to start CUDA": ("torch.zeros(1).cuda()", "torch.zeros", "x = torch.zeros"),
        "later": ("x = torch.zeros(4)\nx = x.to('cuda')", "\nx = x.to", ".to"),
        "under a device": (
            "with torch.device('cuda'):\n    x = torch.zeros(4).to('cuda')",
            "with torch.device('cuda'):",
            "if 1:",
        ),
        "a default device": (
            "torch.set_default_device('cuda')\nx = torch.zeros(4).to('cuda')",
            "torch.set_default_device('cuda')\n",
        ),
        "cast before": ("x = torch.zeros(4).float().to('cuda')", ".float()"),
    },
    "ACC206": {
        "to the host": ("w = torch.zeros(8, requires_grad=True).to('cpu')", "'cpu'", "'cuda'"),
        "a parameter to the host": ("w = nn.Parameter(torch.zeros(8)).to('cpu')", "'cpu'", "'cuda'"),
        "a parameter to the host by name": (
            "d = torch.device('cpu')\nw = nn.Parameter(torch.zeros(8)).to(d)",
            "'cpu'",
            "'cuda'",
        ),
        "there already": ("w = torch.zeros(8, requires_grad=True, device='cuda').to('cuda')", ", device='cuda'"),
        "there already, cuda()": ("w = torch.zeros(8, requires_grad=True, device='cuda').cuda()", ", device='cuda'"),
        "a parameter there already": ("w = nn.Parameter(torch.zeros(8, device='cuda')).to('cuda')", ", device='cuda'"),
        "a parameter of what is there": (
            "w = nn.Parameter(torch.zeros(8).cuda()).cuda()",
            ".cuda()).cuda()",
            ").cuda()",
        ),
        "a parameter there on any machine": (
            (
                "d = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
                "w = nn.Parameter(torch.zeros(8, device=d)).to(d)"
            ),
            ", device=d",
        ),
        "made there": ("w = nn.Parameter(torch.zeros(8, device='cuda'))", ", device='cuda')", ")).to('cuda'"),
        "no leaf": ("w = torch.zeros(8, requires_grad=False).cuda()", "False", "True"),
        "no leaf by default": ("w = torch.zeros(8).cuda()", "8)", "8, requires_grad=True)"),
        "perhaps no leaf": ("w = torch.zeros(8, requires_grad=conf.g).cuda()", "conf.g", "True"),
        "a frozen parameter": ("w = nn.Parameter(torch.zeros(8), requires_grad=False).cuda()", "False", "True"),
        "a leaf on purpose": ("w = torch.zeros(8, requires_grad=True).cuda()\nw.retain_grad()", "w.retain_grad()"),
        "only an argument": ("print(torch.randn(3, requires_grad=True).cuda())", "print(", "w = ("),
        "that dtype already": (
            "w = torch.zeros(3, requires_grad=True, dtype=torch.float64).double()",
            ", dtype=torch.float64",
        ),
        "the default dtype": ("w = torch.randn(3, requires_grad=True).float()", ".float", ".double"),
        "the default dtype was set": (
            ("torch.set_default_dtype(torch.float64)\nw = torch.zeros(3, requires_grad=True).double()"),
            "torch.set_default_dtype(torch.float64)\n",
        ),
        "unknown dtype": ("w = nn.Parameter(conf.w).double()", "conf.w", "torch.zeros(3)"),
        "its data": ("w = nn.Parameter(torch.zeros(3)).data.to('cuda')", ".data.to", ".to"),
        "detach": ("w = torch.zeros(3, requires_grad=True).detach().to('cuda')", ".detach()"),
        "unknown device": ("w = nn.Parameter(torch.zeros(8)).to(conf.device)", "conf.device", "'cuda'"),
        "a tensor to an unknown device": (
            "w = torch.zeros(8, requires_grad=True).to(conf.device)",
            "conf.device",
            "'cuda'",
        ),
        "a parameter of a module to an unknown device": (
            (
                "class N(nn.Module):\n    def __init__(self, device):\n        super().__init__()\n"
                "        self.w = nn.Parameter(torch.zeros(8)).to(device)"
            ),
            "to(device)",
            "to('cuda')",
        ),
        "made a leaf again": (
            "w = torch.zeros(8, requires_grad=True).to('cuda').detach().requires_grad_()",
            ".detach().requires_grad_()",
        ),
        "module": ("w = nn.Linear(8, 2).to('cuda')", "nn.Linear(8, 2)", "nn.Parameter(torch.zeros(8))"),
        "moved inside": ("w = nn.Parameter(torch.zeros(8).to('cuda'))", ".to('cuda'))", ").to('cuda')"),
        "a default device": (
            "torch.set_default_device('cuda')\nw = torch.zeros(8, requires_grad=True).to('cuda')",
            "torch.set_default_device('cuda')\n",
        ),
        "a parameter on the default device": (
            "torch.set_default_device('cuda')\nw = nn.Parameter(torch.zeros(8)).to('cuda')",
            "torch.set_default_device('cuda')\n",
        ),
        "under a device": (
            "with torch.device('cuda'):\n    w = nn.Parameter(torch.zeros(8)).to('cuda')",
            "with torch.device('cuda')",
            "if True",
        ),
    },
    "ACC207": {
        "module": ("m = nn.Linear(8, 2)\nm.to('cuda')", "nn.Linear(8, 2)", "torch.zeros(8)"),
        "a module, cuda()": ("m = nn.Linear(8, 2)\nm.cuda()", "nn.Linear(8, 2)", "torch.zeros(8)"),
        "a module, half()": ("m = nn.Linear(8, 2)\nm.half()", "nn.Linear(8, 2)", "torch.zeros(8)"),
        "a loss": ("m = nn.MSELoss()\nm.to('cuda')", "nn.MSELoss()", "torch.zeros(8)"),
        "unknown": ("import mystery\nx = mystery.make()\nx.to('cuda')", "mystery.make()", "torch.zeros(8)"),
        "BatchEncoding": (
            "from transformers import BatchEncoding\nx = BatchEncoding({})\nx.to('cuda')",
            "BatchEncoding({})",
            "torch.zeros(8)",
        ),
        "tokenizer": (
            (
                "from transformers import AutoTokenizer\nt = AutoTokenizer.from_pretrained('a')\n"
                "x = t('b', return_tensors='pt')\nx.to('cuda')"
            ),
            "t('b', return_tensors='pt')",
            "torch.zeros(8)",
        ),
        "BatchFeature": (
            "from transformers import BatchFeature\nx = BatchFeature({})\nx.to('cuda')",
            "BatchFeature({})",
            "torch.zeros(8)",
        ),
        "PyG data": (
            "from torch_geometric.data import Data\nx = Data(x=torch.zeros(8))\nx.to('cuda')",
            "Data(x=torch.zeros(8))",
            "torch.zeros(8)",
        ),
        "PyG hetero": (
            "from torch_geometric.data import HeteroData\nx = HeteroData()\nx.to('cuda')",
            "HeteroData()",
            "torch.zeros(8)",
        ),
        "PyG batch": (
            ("from torch_geometric.loader import DataLoader as G\nfor b in G(conf.graphs):\n    b.to('cuda')"),
            "for b in G(conf.graphs)",
            "for b, c in loader",
        ),
        "custom batch": (
            "for b in DataLoader(photos, collate_fn=conf.c):\n    b.to('cuda')",
            "for b in DataLoader(photos, collate_fn=conf.c)",
            "for b, c in loader",
        ),
        "a whole batch": ("for b in loader:\n    b.to('cuda')", "for b in", "for b, c in"),
        "batch of tokens": (
            (
                "class D(Dataset):\n    def __getitem__(self, i): return conf.tok(i)\n"
                "for b, c in DataLoader(D()):\n    b.to('cuda')"
            ),
            "conf.tok(i)",
            "torch.zeros(8), 1",
        ),
        "user class": (
            "class B:\n    def to(self, d): self.d = d\nx = B()\nx.to('cuda')",
            "x = B()",
            "x = torch.zeros(8)",
        ),
        "used": ("x = torch.zeros(8)\nx = x.to('cuda')", "\nx = x.to", "\nx.to"),
        "only an argument": ("x = torch.zeros(8)\nprint(x.to('cuda'))", "print(x.to('cuda'))", "x.to('cuda')"),
        "returned": ("def f():\n    x = torch.zeros(8)\n    return x.to('cuda')\nf()", "return x.to", "x.to"),
        "to start CUDA": ("torch.zeros(1).to('cuda')", "torch.zeros", "x = torch.zeros(1)\nx.to('cuda') #zeros"),
        "a cast without a name": ("torch.zeros(1).half()", "torch.zeros", "x = torch.zeros(1)\nx.half() #zeros"),
        "parameter": ("def move(x):\n    x.to('cuda')", "def move(x):", "if True:\n    x = torch.zeros(1)"),
        "there already": ("x = torch.zeros(8)\nx.to('cpu')", "'cpu'", "'cuda'"),
        "there already by cuda()": ("x = torch.zeros(8).cuda()\nx.to('cuda')", ".cuda()"),
        "there already by name": (
            "d = torch.device('cuda:0')\nx = torch.zeros(8, device=d)\nx.to('cuda')",
            ", device=d",
        ),
        "that dtype already": ("x = torch.zeros(8, dtype=torch.float16)\nx.half()", ", dtype=torch.float16"),
        "dict": ("x = {'a': 1}\nx.to('cuda')", "{'a': 1}", "torch.zeros(1)"),
        "to the host, as a wait": ("x = torch.zeros(8).cuda()\nx.cpu()", "x.cpu()", "x.half()"),
        "perhaps a module": (
            "x = nn.Linear(8, 2) if conf.m else torch.zeros(8)\nx.to('cuda')",
            "nn.Linear(8, 2) if conf.m else ",
        ),
        "timed": (
            (
                "import time\nx = torch.zeros(8)\nfor i in range(9):\n    t = time.time()\n    x.to('cuda')\n"
                "    torch.cuda.synchronize()\n    print(time.time() - t)"
            ),
            (
                "import time\nx = torch.zeros(8)\nfor i in range(9):\n    t = time.time()\n    x.to('cuda')\n"
                "    torch.cuda.synchronize()\n    print(time.time() - t)"
            ),
            ("x = torch.zeros(8)\nfor i in range(9):\n    x.to('cuda')\n    torch.cuda.synchronize()\n"),
        ),
        "PackedSequence": (
            "x = torch.nn.utils.rnn.pack_padded_sequence(torch.zeros(8, 2), [1])\nx.to('cuda')",
            "torch.nn.utils.rnn.pack_padded_sequence(torch.zeros(8, 2), [1])",
            "torch.zeros(1)",
        ),
        "tensordict": (
            "from tensordict import TensorDict\nx = TensorDict({})\nx.to('cuda')",
            "TensorDict({})",
            "torch.zeros(1)",
        ),
        "with a generator": ("x = torch.Generator()\nx.to('cuda')", "torch.Generator()", "torch.zeros(1)"),
        "samples of a tokenizer": (
            (
                "class D(Dataset):\n    def __init__(self, tokenizer): self.t = tokenizer\n"
                "    def __getitem__(self, i): return self.t('a'), 1\nfor b, c in DataLoader(D(conf.t)):\n"
                "    b.to('cuda')"
            ),
            "tokenizer): self.t = tokenizer",
            "net): self.t = net",
        ),
        "samples of an extractor": (
            (
                "class D(Dataset):\n    def __init__(self, extractor): self.t = extractor\n"
                "    def __getitem__(self, i): return self.t('a'), 1\nfor b, c in DataLoader(D(conf.t)):\n"
                "    b.to('cuda')"
            ),
            "extractor): self.t = extractor",
            "net): self.t = net",
        ),
    },
}

CASES = [pytest.param(code, name, id=f"{code}: {name}") for code, all_ in PAIRS.items() for name in all_]


@pytest.mark.parametrize(("code", "name"), CASES)
def test_silent_for_one_reason(code: str, name: str, tmp_path: Path) -> None:
    source, *change = PAIRS[code][name]
    check_pair(code[:6], Pair(HEADS[code] + source, *change), tmp_path)
