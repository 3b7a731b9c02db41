"""Each condition under which ACC202, ACC203 and ACC205 to ACC207 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import IMPORTS, PHOTOS
from .single import check_one

GPU = "import conf\nout = nn.Linear(8, 2).cuda()(torch.randn(4, 8, device='cuda'))\n"
MPS = 'import conf\ndevice = torch.device("cuda" if torch.cuda.is_available() else "mps")\nx = torch.randn(4, 8)\n'
PINNED = "import conf\nloader = DataLoader(photos, num_workers=2, pin_memory=True)\n"
COPY = "y = out.to('cpu', non_blocking=True)\n"
READ = "print(y.mean().item())"
MOVE = "x = x.to(device, non_blocking=True)"
HEADS = {
    "ACC202": IMPORTS + GPU,
    "ACC203": IMPORTS + MPS,
    "ACC205": IMPORTS + "import conf\n",
    "ACC206": IMPORTS + "import conf\n",
    "ACC207": PHOTOS + PINNED,
}
PAIRS: dict[str, dict[str, tuple[str, ...]]] = {
    "ACC202": {
        "synchronized": (COPY + "torch.cuda.synchronize()\n" + READ, "torch.cuda.synchronize()\n"),
        "synchronized by torch.accelerator": (
            COPY + "torch.accelerator.synchronize()\n" + READ,
            "torch.accelerator.synchronize()\n",
        ),
        "a stream is waited for": (
            "s = torch.cuda.Stream()\n" + COPY + "s.synchronize()\n" + READ,
            "s.synchronize()\n",
        ),
        "the current stream is waited for": (
            COPY + "torch.cuda.current_stream().synchronize()\n" + READ,
            "torch.cuda.current_stream().synchronize()\n",
        ),
        "an event is waited for": (
            "e = torch.cuda.Event()\n" + COPY + "e.record()\ne.synchronize()\n" + READ,
            "e.synchronize()\n",
        ),
        "an event waits": ("e = torch.cuda.Event()\n" + COPY + "e.record()\ne.wait()\n" + READ, "e.wait()\n"),
        "sent back": (COPY + "y = y.to('cuda')\n" + READ, "y = y.to('cuda')\n"),
        "sent back by cuda()": (COPY + "y = y.cuda()\n" + READ, "y = y.cuda()\n"),
        "it waits": ("y = out.to('cpu')\n" + READ, "cpu'", "cpu', non_blocking=True"),
        "it is told to wait": ("y = out.to('cpu', non_blocking=False)\n" + READ, "False", "True"),
        "never read": (COPY, "True)\n", "True)\n" + READ),
        "a value was read in between": (COPY + "s = out.sum().item()\n" + READ, ".item()\n", "\n"),
        "only its size": (COPY + "print(y.size())", "y.size", "y.sum"),
        "only its shape": (COPY + "print(y.shape)", "y.shape", "y"),
        "from host": (
            "x = torch.zeros(8)\ny = x.to('cpu', non_blocking=True)\n" + READ,
            "torch.zeros(8)",
            "torch.zeros(8, device='cuda')",
        ),
        "to the device": ("y = out.to('cuda', non_blocking=True)\n" + READ, "cuda',", "cpu',"),
        "decided at run time": ("y = out.to('cpu', non_blocking=conf.fast)\n" + READ, "conf.fast", "True"),
        "returned": ("def f(t):\n    return t.to('cpu', non_blocking=True)\nf(out)", "out)", "out).sum().item()"),
        "copied into a buffer, and waited for": (
            (
                "host = torch.empty(4, 2, pin_memory=True)\nhost.copy_(out, non_blocking=True)\n"
                "torch.cuda.synchronize()\nprint(host.sum())"
            ),
            "torch.cuda.synchronize()\n",
        ),
        "copied to pageable memory": (
            "host = torch.empty(4, 2)\nhost.copy_(out, non_blocking=True)\nprint(host.sum())",
            "(4, 2)",
            "(4, 2, pin_memory=True)",
        ),
        "copied from the host": (
            (
                "host = torch.empty(4, 2, pin_memory=True)\nhost.copy_(torch.zeros(4, 2), non_blocking=True)\n"
                "print(host.sum())"
            ),
            "torch.zeros(4, 2)",
            "out",
        ),
        "copy_ waits": (
            ("host = torch.empty(4, 2, pin_memory=True)\nhost.copy_(out, non_blocking=False)\nprint(host.sum())"),
            "False",
            "True",
        ),
    },
    "ACC203": {
        "no mps": ("d = torch.device('cuda')\nx = x.to(d, non_blocking=True)", "torch.device('cuda')", "device"),
        "cpu only": ("d = torch.device('cpu')\nx = x.to(d, non_blocking=True)", "torch.device('cpu')", "device"),
        "it waits": ("x = x.to(device)", "(device)", "(device, non_blocking=True)"),
        "told to wait": ("x = x.to(device, non_blocking=False)", "False", "True"),
        "asks the device": ("x = x.to(device, non_blocking=device.type == 'cuda')", "device.type == 'cuda'", "True"),
        "asks the device beforehand": ("nb = device.type == 'cuda'\nx = x.to(device, non_blocking=nb)", "=nb", "=True"),
        "asks for CUDA": ("nb = torch.cuda.is_available()\nx = x.to(device, non_blocking=nb)", "=nb", "=True"),
        "behind an early return": (
            (
                "def move(t):\n    if device.type == 'mps':\n        return t.to(device)\n"
                "    return t.to(device, non_blocking=True)\nmove(x)"
            ),
            "return t.to(device)\n",
            "t.to(device)\n",
        ),
        "in a conditional expression": (
            "y = x.to(device, non_blocking=True) if device.type == 'cuda' else x.to(device)",
            " if device.type == 'cuda' else x.to(device)",
        ),
        "behind and": ("y = device.type == 'cuda' and x.to(device, non_blocking=True)", "device.type == 'cuda' and "),
        "behind an assertion": ("assert device.type == 'cuda'\n" + MOVE, "assert device.type == 'cuda'\n"),
        "behind an exit": (
            "if device.type == 'mps':\n    raise SystemExit('no')\n" + MOVE,
            "if device.type == 'mps':\n    raise SystemExit('no')\n",
        ),
        "behind continue": (
            (
                "for i in range(3):\n    if device.type == 'mps':\n        continue\n"
                "    y = x.to(device, non_blocking=True)"
            ),
            "if device.type == 'mps':\n        continue\n    ",
        ),
        "unknown": ("x = x.to(conf.device, non_blocking=True)", "conf.device", "device"),
        "there already": (
            ("m = torch.device('mps')\nx = torch.zeros(3, device='mps')\ny = x.to(m, non_blocking=True)"),
            ", device='mps'",
        ),
        "by cuda()": ("x = x.cuda(non_blocking=True)", "x.cuda(", "x.to('mps', "),
        "mps is left out": (
            (
                "if torch.cuda.is_available():\n    d = torch.device('cuda')\n"
                "elif torch.backends.mps.is_available():\n    d = torch.device('cpu')\nelse:\n"
                "    d = torch.device('cpu')\nx = x.to(d, non_blocking=True)"
            ),
            "mps.is_available():\n    d = torch.device('cpu')",
            "mps.is_available():\n    d = torch.device('mps')",
        ),
        "a string without mps": (
            "d = 'cuda' if torch.cuda.is_available() else 'cpu'\nx = x.to(d, non_blocking=True)",
            "'cpu'",
            "'mps'",
        ),
        "module": (
            "x = nn.Linear(1, 1).to(torch.device('cuda'), non_blocking=True)",
            "nn.Linear(1, 1).to(torch.device('cuda')",
            "x.to(device",
        ),
        "mps to cpu": ("q = x.to('mps')\ny = q.to('cpu', non_blocking=True)", "'cpu'", "device"),
        "under a condition": ("if device.type == 'cuda':\n    " + MOVE, "if device.type == 'cuda':\n    "),
        "unless it is mps": ("if device.type != 'mps':\n    " + MOVE, "if device.type != 'mps':\n    "),
    },
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
    },
}

CASES = [pytest.param(code, name, id=f"{code}: {name}") for code, all_ in PAIRS.items() for name in all_]


@pytest.mark.parametrize(("code", "name"), CASES)
def test_silent_for_one_reason(code: str, name: str, tmp_path: Path) -> None:
    source, *change = PAIRS[code][name]
    check_pair(code[:6], Pair(HEADS[code] + source, *change), tmp_path)


READS = [
    *("y.item()", "y.numpy()", "y.tolist()", "print(y)", "f'{y}'", "if y: pass", "if y > 0: pass", "print(y[0])"),
    *("y[0].item()", "float(y[0])", "z = y + 1", "z = 2 * y", "z = y / y", "z = y == 0", "z = torch.softmax(y, 1)"),
    *("z = numpy.asarray(y)", "z = y.argmax(1)", "z = torch.cat([y, y])", "torch.save(y, 'a')"),
]


@pytest.mark.parametrize("read", READS)
def test_every_way_to_read_on_the_host(read: str, tmp_path: Path) -> None:
    copy = COPY.replace("\n", "  # -> error safe\n")
    check_one("ACC202", IMPORTS + "import numpy\n" + GPU + copy + read + "\n", tmp_path)


def test_an_asynchronous_copy_by_position(tmp_path: Path) -> None:
    source = "y = out.to('cpu', torch.float32, True)  # -> error none\nprint(y.mean())\n"
    check_one("ACC202", IMPORTS + GPU + source, tmp_path)
