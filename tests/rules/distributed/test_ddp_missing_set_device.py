"""ACC502 ddp-missing-set-device, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, severities
from ..programs import GROUP, IMPORTS, RANKS
from .programs import RANKS_OF_TWO_LAYERS

SILENT = {
    "set": "torch.cuda.set_device(rank)\n" + GROUP + "model = Net().cuda()",
    "through the accelerator": "torch.accelerator.set_device_index(rank)\n" + GROUP + "model = Net().cuda()",
    "in a context": GROUP + "with torch.cuda.device(rank):\n    model = Net().cuda()",
    "one visible": "os.environ['CUDA_VISIBLE_DEVICES'] = str(rank)\n" + GROUP + "model = Net().cuda()",
    "numbered": GROUP + "model = Net().to(f'cuda:{rank}')",
    "numbered by an integer": GROUP + "model = Net().cuda(rank)",
    "on the host": 'dist.init_process_group("gloo")\nmodel = Net().cuda()',
    "a framework": "import accelerate\na = accelerate.Accelerator()\n" + GROUP + "model = Net().cuda()",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_where_each_process_has_a_device(source: str, tmp_path: Path) -> None:
    check_one("ACC502", RANKS + source, tmp_path)


SILENT_PROGRAMS = {
    "set_device": """
import os, torch.distributed as dist
dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
m = nn.Linear(2, 2).cuda()
""",
    "f-string": """
import os, torch.distributed as dist
dist.init_process_group("nccl")
m = nn.Linear(2, 2).to(f"cuda:{os.environ['LOCAL_RANK']}")
""",
    "env per rank": """
import os, torch.distributed as dist
os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]
dist.init_process_group("nccl")
m = nn.Linear(2, 2).cuda()
""",
    "with device": """
import os, torch.distributed as dist
dist.init_process_group("nccl")
with torch.cuda.device(int(os.environ["LOCAL_RANK"])):
    m = nn.Linear(2, 2).cuda()
""",
    "gloo": """
import torch.distributed as dist
dist.init_process_group("gloo")
m = nn.Linear(2, 2).cuda()
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC502", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


MOVE = "model = Net().cuda()\n"


def pair(source: str, condition: str, instead: str = "", others: dict[str, str] | None = None) -> Pair:
    return Pair(RANKS_OF_TWO_LAYERS + source, condition, instead, others or {})


PAIRS = {
    "set": pair(GROUP + MOVE + "torch.cuda.set_device(rank)\n", "torch.cuda.set_device(rank)\n"),
    "set through the accelerator": pair(
        "torch.accelerator.set_device_index(rank)\n" + GROUP + MOVE, "torch.accelerator.set_device_index(rank)\n"
    ),
    "in a context": pair(
        GROUP + "with torch.cuda.device(rank):\n    model = Net().cuda()\n", "with torch.cuda.device(rank):", "if True:"
    ),
    "one visible": pair(
        "os.environ['CUDA_VISIBLE_DEVICES'] = str(rank)\n" + GROUP + MOVE,
        "os.environ['CUDA_VISIBLE_DEVICES'] = str(rank)\n",
    ),
    "one visible by update": pair(
        "os.environ.update(CUDA_VISIBLE_DEVICES=str(rank))\n" + GROUP + MOVE,
        "os.environ.update(CUDA_VISIBLE_DEVICES=str(rank))\n",
    ),
    "one visible by putenv": pair(
        "os.environ.setdefault('CUDA_VISIBLE_DEVICES', str(rank))\n" + GROUP + MOVE,
        "os.environ.setdefault('CUDA_VISIBLE_DEVICES', str(rank))\n",
    ),
    "set by a launcher": pair(
        "def main():\n    dist.init_process_group('nccl')\n    model = Net().cuda()\n",
        "os.environ['CUDA_VISIBLE_DEVICES'] = str(i)",
        "print(i)",
        {
            "launch.py": "import os, train\nfor i in range(2):\n    os.environ['CUDA_VISIBLE_DEVICES'] = str(i)\n    train.main()\n"
        },
    ),
    "set in another file": pair(
        "import other\nother.setup(rank)\n" + GROUP + MOVE,
        "torch.cuda.set_device(rank)",
        "print(rank)",
        {"other.py": "import torch\ndef setup(rank):\n    torch.cuda.set_device(rank)\n"},
    ),
    "another script moves": pair(
        f"def begin():\n    {GROUP}",
        "__name__",
        "rank_",
        {
            "single.py": "from torch import nn\nfrom train import begin\nrank_ = '__main__'\nif __name__ == '__main__':\n"
            "    model = nn.Linear(2, 2).cuda()\n"
        },
    ),
    "formatted": pair(GROUP + "model = Net().to(f'cuda:{rank}')\n", "f'cuda:{rank}'", "'cuda'"),
    "numbered device": pair(
        GROUP + "device = torch.device('cuda', rank)\nmodel = Net().to(device)\n", "('cuda', rank)", "('cuda')"
    ),
    "formatted device": pair(
        GROUP + "device = torch.device(f'cuda:{rank}')\nmodel = Net().to(device)\n", "f'cuda:{rank}'", "'cuda'"
    ),
    "numbered": pair(GROUP + "model = Net().cuda(rank)\n", "cuda(rank)", "cuda()"),
    "moved by number": pair(GROUP + "model = Net().to(rank)\n", "to(rank)", "to('cuda')"),
    "only a tensor": pair(
        GROUP + "model = Net().to(rank)\nx = torch.zeros(1).cuda()\n", "Net().to(rank)", "Net().cuda()"
    ),
    "another back end": pair("dist.init_process_group('gloo')\n" + MOVE, "'gloo'", "'nccl'"),
    "only without a group": pair(
        f"many = conf.many\nif many:\n    {GROUP}if not many:\n    {MOVE}", "not many", "many"
    ),
    "an unknown back end": pair("dist.init_process_group(conf.backend)\n" + MOVE, "conf.backend", "'nccl'"),
    "Accelerate": pair(
        "import accelerate\na = accelerate.Accelerator()\n" + GROUP + MOVE, "a = accelerate.Accelerator()\n"
    ),
    "Lightning": pair("import lightning as L\nL.Trainer()\n" + GROUP + MOVE, "L.Trainer()\n"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC502", PAIRS[case], tmp_path)


@pytest.mark.parametrize("move", ["Net().cuda()", "Net().to('cuda')", "Net().to('cuda:0')"])
def test_reports_processes_that_share_the_first_device(move: str, tmp_path: Path) -> None:
    assert severities("ACC502", RANKS + GROUP + f"model = {move}", tmp_path) == ["warning"]
    assert severities("ACC502", RANKS + GROUP.replace('"nccl"', 'backend="nccl"') + f"model = {move}", tmp_path) == [
        "warning"
    ]


REPORTED_PROGRAMS = {
    "missing": """
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
def main():
    dist.init_process_group(backend="nccl")  # -> warning none
    m = nn.Linear(2, 2).cuda()
    m = DDP(m)
main()
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC502", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
