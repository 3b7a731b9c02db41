"""ACC308 optimizer-before-move, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

SILENT_PROGRAMS = {
    "adam before cuda": """
model = nn.Linear(8, 2)
opt = torch.optim.Adam(model.parameters())
model.cuda()
""",
    "adagrad after": """
model = nn.Linear(8, 2).cuda()
opt = torch.optim.Adagrad(model.parameters())
""",
    "rebuilt later": """
model = nn.Linear(8, 2)
opt = torch.optim.Adagrad(model.parameters())
model.cuda()
opt = torch.optim.Adagrad(model.parameters())
""",
    "load then state moved by hand": """
model = nn.Linear(8, 2)
opt = torch.optim.Adam(model.parameters())
opt.load_state_dict(torch.load("x", map_location="cpu")["o"])
model.cuda()
for s in opt.state.values():
    for k, v in s.items():
        if torch.is_tensor(v):
            s[k] = v.cuda()
""",
    "to cpu": """
model = nn.Linear(8, 2)
opt = torch.optim.Adagrad(model.parameters())
model.to("cpu")
""",
    "FSDP use_orig_params": """
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
model = nn.Linear(8, 2).cuda()
model = FSDP(model)
opt = torch.optim.AdamW(model.parameters())
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC308", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


HOST = "import os\nimport conf\nnet = nn.Linear(8, 2)\n"
SILENT = {
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
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC308", IMPORTS + source, tmp_path)


PAIR_HOST = IMPORTS + "import os, conf\nmodel = nn.Linear(8, 2)\n"
ADAGRAD = "opt = torch.optim.Adagrad(model.parameters())\n"
LOADED = "opt = torch.optim.Adam(model.parameters())\nopt.load_state_dict(torch.load('x'))\n"
MOVE = "model.cuda()\n"
PAIRS = {
    "no state yet": Pair(PAIR_HOST + ADAGRAD.replace("Adagrad", "Adam") + MOVE, "Adam(", "Adagrad("),
    "SGD": Pair(PAIR_HOST + ADAGRAD.replace("Adagrad", "SGD") + MOVE, "SGD(", "Adagrad("),
    "moved before": Pair(PAIR_HOST + MOVE + ADAGRAD + "# later\n", MOVE + ADAGRAD + "# later\n", ADAGRAD + MOVE),
    "loaded after": Pair(PAIR_HOST + MOVE + LOADED + "# later\n", MOVE + LOADED + "# later\n", LOADED + MOVE),
    "stays on the host": Pair(PAIR_HOST + ADAGRAD + "model.to('cpu')\n", "'cpu'", "'cuda'"),
    "built again": Pair(
        PAIR_HOST + ADAGRAD + MOVE + "opt = torch.optim.Adagrad(model.parameters(), 0.1)\n",
        "opt = torch.optim.Adagrad(model.parameters(), 0.1)\n",
    ),
    "another built later": Pair(
        PAIR_HOST + ADAGRAD + MOVE + "opt = torch.optim.SGD(model.parameters(), 0.1)\n",
        "opt = torch.optim.SGD(model.parameters(), 0.1)\n",
    ),
    "state moved by hand": Pair(
        PAIR_HOST
        + LOADED
        + MOVE
        + "for s in opt.state.values():\n    for k, v in s.items():\n        s[k] = v.cuda()\n",
        "        s[k] = v.cuda()\n",
        "        print(v)\n",
    ),
    "order unknown": Pair(
        PAIR_HOST
        + "def build(m):\n    return torch.optim.Adagrad(m.parameters())\ndef place(m):\n    m.cuda()\nbuild(model)\nplace(model)\n",
        "build(model)\nplace(model)\n",
        ADAGRAD + MOVE,
    ),
    "on some paths": Pair(
        PAIR_HOST + ADAGRAD + "if conf.gpu:\n    model.cuda()\n", "if conf.gpu:\n    model.cuda()\n", MOVE
    ),
    "another model": Pair(
        PAIR_HOST + ADAGRAD + "other = nn.Linear(8, 2)\nother.cuda()\n", "other.cuda()", "model.cuda()"
    ),
    "Accelerate": Pair(
        PAIR_HOST + "import accelerate\na = accelerate.Accelerator()\n" + ADAGRAD + MOVE,
        "a = accelerate.Accelerator()\n",
    ),
    "Lightning": Pair(PAIR_HOST + "import lightning as L\nL.Trainer()\n" + ADAGRAD + MOVE, "L.Trainer()\n"),
    "Fabric": Pair(PAIR_HOST + "import lightning as L\nL.Fabric()\n" + ADAGRAD + MOVE, "L.Fabric()\n"),
    "sharded before": Pair(
        PAIR_HOST
        + "from torch.distributed.fsdp import fully_shard\nfully_shard(model)\nopt = torch.optim.Adam(model.parameters())\n# later\n",
        "fully_shard(model)\nopt = torch.optim.Adam(model.parameters())\n# later\n",
        "opt = torch.optim.Adam(model.parameters())\nfully_shard(model)\n",
    ),
    "built again after sharding": Pair(
        PAIR_HOST
        + "from torch.distributed.fsdp import fully_shard\nopt = torch.optim.Adam(model.parameters())\nfully_shard(model)\nopt = torch.optim.AdamW(model.parameters())\n",
        "opt = torch.optim.AdamW(model.parameters())\n",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC308", PAIRS[case], tmp_path)


REPORTED_PROGRAMS = {
    "load before the move": """
model = nn.Linear(8, 2)
opt = torch.optim.Adam(model.parameters())
ckpt = torch.load("x", map_location="cpu")
model.load_state_dict(ckpt["m"])
opt.load_state_dict(ckpt["o"])  # -> error none
model.to("cuda")
""",
    "adagrad before": """
def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(8, 2))
    opt = torch.optim.Adagrad(model.parameters(), lr=0.1)  # -> error none
    model = model.to(device)
main()
""",
    "fully_shard after the optimizer": """
from torch.distributed.fsdp import fully_shard
model = nn.Linear(8, 2).cuda()
opt = torch.optim.AdamW(model.parameters())  # -> error none
fully_shard(model)
""",
    "FSDP wrap after the optimizer": """
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
model = nn.Linear(8, 2).cuda()
opt = torch.optim.AdamW(model.parameters())  # -> error none
model = FSDP(model)
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC308", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
o = torch.optim.Adagrad(net.parameters())  # -> ACC308 error none
adam = torch.optim.Adam(net.parameters())
adam.load_state_dict(torch.load("o.pt"))  # -> ACC308 error none
net.to("cuda")
"""
    assert len(findings_of("ACC308", IMPORTS + HOST + source.split("adam")[0] + 'net.to("cuda")\n', tmp_path)) == 1
    assert len(findings_of("ACC308", IMPORTS + HOST + source, tmp_path)) == 2
