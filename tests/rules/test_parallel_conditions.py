"""Each condition under which ACC501 to ACC508 are silent, and that they speak without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from .pairs import Pair, check_pair
from .programs import IMPORTS

HEAD = (
    IMPORTS
    + """
import os, conf
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
rank = int(os.environ["LOCAL_RANK"])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 2)
    def forward(self, x):
        return self.b(self.a(x))
"""
)
GROUP = 'dist.init_process_group("nccl")\n'
MOVE = "model = Net().cuda()\n"
PARALLEL = GROUP + "model = DDP(Net().to(rank), device_ids=[rank])\n"
WRAP = "model = DDP(Net(), find_unused_parameters=True)\n"
TRAIN = "for x in loader:\n    model(x).sum().backward()\n"


def pair(source: str, condition: str, instead: str = "", others: dict[str, str] | None = None) -> Pair:
    return Pair(HEAD + source, condition, instead, others or {})


DATA_PARALLEL = "model = nn.DataParallel(Net().cuda())\n"
PAIRS = {
    "ACC501: one device": pair("model = nn.DataParallel(Net().cuda(), device_ids=[0])\n", ", device_ids=[0]"),
    "ACC501: one device by position": pair("model = nn.DataParallel(Net().cuda(), [0])\n", ", [0]"),
    "ACC501: no CUDA in sight": pair("model = nn.DataParallel(Net())\n", "Net())\n", "Net().cuda())\n"),
    "ACC501: only mps": pair("model = nn.DataParallel(Net().to('mps'))\n", "'mps'", "'cuda'"),
    "ACC501: only a question": pair(
        MOVE + "print(isinstance(model, nn.DataParallel))\n",
        "print(isinstance(model, nn.DataParallel))",
        "model = nn.DataParallel(model)",
    ),
    "ACC501: DDP as well": pair(
        "model = Net().cuda()\nmodel = DDP(model) if conf.ddp else nn.DataParallel(model)\n",
        "DDP(model) if conf.ddp else ",
    ),
    "ACC502: set": pair(GROUP + MOVE + "torch.cuda.set_device(rank)\n", "torch.cuda.set_device(rank)\n"),
    "ACC502: set through the accelerator": pair(
        "torch.accelerator.set_device_index(rank)\n" + GROUP + MOVE, "torch.accelerator.set_device_index(rank)\n"
    ),
    "ACC502: in a context": pair(
        GROUP + "with torch.cuda.device(rank):\n    model = Net().cuda()\n", "with torch.cuda.device(rank):", "if True:"
    ),
    "ACC502: one visible": pair(
        "os.environ['CUDA_VISIBLE_DEVICES'] = str(rank)\n" + GROUP + MOVE,
        "os.environ['CUDA_VISIBLE_DEVICES'] = str(rank)\n",
    ),
    "ACC502: one visible by update": pair(
        "os.environ.update(CUDA_VISIBLE_DEVICES=str(rank))\n" + GROUP + MOVE,
        "os.environ.update(CUDA_VISIBLE_DEVICES=str(rank))\n",
    ),
    "ACC502: one visible by putenv": pair(
        "os.environ.setdefault('CUDA_VISIBLE_DEVICES', str(rank))\n" + GROUP + MOVE,
        "os.environ.setdefault('CUDA_VISIBLE_DEVICES', str(rank))\n",
    ),
    "ACC502: set by a launcher": pair(
        "def main():\n    dist.init_process_group('nccl')\n    model = Net().cuda()\n",
        "os.environ['CUDA_VISIBLE_DEVICES'] = str(i)",
        "print(i)",
        {
            "launch.py": "import os, train\nfor i in range(2):\n    os.environ['CUDA_VISIBLE_DEVICES'] = str(i)\n    train.main()\n"
        },
    ),
    "ACC502: set in another file": pair(
        "import other\nother.setup(rank)\n" + GROUP + MOVE,
        "torch.cuda.set_device(rank)",
        "print(rank)",
        {"other.py": "import torch\ndef setup(rank):\n    torch.cuda.set_device(rank)\n"},
    ),
    "ACC502: formatted": pair(GROUP + "model = Net().to(f'cuda:{rank}')\n", "f'cuda:{rank}'", "'cuda'"),
    "ACC502: numbered device": pair(
        GROUP + "device = torch.device('cuda', rank)\nmodel = Net().to(device)\n", "('cuda', rank)", "('cuda')"
    ),
    "ACC502: formatted device": pair(
        GROUP + "device = torch.device(f'cuda:{rank}')\nmodel = Net().to(device)\n", "f'cuda:{rank}'", "'cuda'"
    ),
    "ACC502: numbered": pair(GROUP + "model = Net().cuda(rank)\n", "cuda(rank)", "cuda()"),
    "ACC502: moved by number": pair(GROUP + "model = Net().to(rank)\n", "to(rank)", "to('cuda')"),
    "ACC502: only a tensor": pair(
        GROUP + "model = Net().to(rank)\nx = torch.zeros(1).cuda()\n", "Net().to(rank)", "Net().cuda()"
    ),
    "ACC502: another back end": pair("dist.init_process_group('gloo')\n" + MOVE, "'gloo'", "'nccl'"),
    "ACC502: an unknown back end": pair("dist.init_process_group(conf.backend)\n" + MOVE, "conf.backend", "'nccl'"),
    "ACC502: Accelerate": pair(
        "import accelerate\na = accelerate.Accelerator()\n" + GROUP + MOVE, "a = accelerate.Accelerator()\n"
    ),
    "ACC502: Lightning": pair("import lightning as L\nL.Trainer()\n" + GROUP + MOVE, "L.Trainer()\n"),
}


def unused(forward: str, condition: str, instead: str, init: str = "", after: str = WRAP) -> Pair:
    """A model in DistributedDataParallel that computes ``forward``."""
    source = HEAD.replace("return self.b(self.a(x))", forward.replace("\n", "\n        "))
    source = source.replace("nn.Linear(8, 2)\n", f"nn.Linear(8, 2)\n{init}", 1)
    return Pair(source + after, condition, instead)


STRAIGHT = "return self.b(self.a(x))"
PAIRS |= {
    "ACC504: a branch": unused(
        "if x.sum() > 0:\n    x = self.a(x)\nelse:\n    x = self.a(x) * 2\nreturn self.b(x)",
        "if x.sum() > 0:\n            x = self.a(x)\n        else:\n            x = self.a(x) * 2\n",
        "x = self.a(x)\n",
    ),
    "ACC504: a conditional expression": unused(
        "return self.b(self.a(x) if x.sum() > 0 else x)", "self.a(x) if x.sum() > 0 else x", "self.a(x)"
    ),
    "ACC504: a mixture of experts": unused(
        "for e in self.experts:\n    x = e(x)\nreturn self.b(self.a(x))",
        "for e in self.experts:\n            x = e(x)\n        ",
        "",
        "",
    ),
    "ACC504: a part of a sequence of layers": unused(
        "return self.b(self.a(self.some[0](x)))",
        "self.some[0](x)",
        "self.some(x)",
        "        self.some = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))\n",
    ),
    "ACC504: two heads": unused("return self.b(x), self.a(x)", "return self.b(x), self.a(x)", STRAIGHT),
    "ACC504: two heads in a dict": unused(
        "return {'a': self.a(x), 'b': self.b(x)}", "return {'a': self.a(x), 'b': self.b(x)}", STRAIGHT
    ),
    "ACC504: a layer that is not used": unused("return self.b(x)", "self.b(x)", "self.b(self.a(x))"),
    "ACC504: a part of a layer": unused("return self.b(x @ self.a.weight)", "x @ self.a.weight", "self.a(x)"),
    "ACC504: a result that is dropped": unused("y = self.a(x)\nreturn self.b(x)", "self.b(x)", "self.b(y)"),
    "ACC504: detached": unused("return self.b(self.a(x).detach())", ".detach()", ""),
    "ACC504: without gradients": unused(
        "with torch.no_grad():\n    x = self.a(x)\nreturn self.b(x)",
        "with torch.no_grad():\n            x = self.a(x)\n",
        "x = self.a(x)\n",
    ),
    "ACC504: frozen": unused(
        STRAIGHT, "self.a.requires_grad_(False)", "print(1)", "        self.a.requires_grad_(False)\n"
    ),
    "ACC504: frozen one by one": unused(
        STRAIGHT,
        "p.requires_grad = False",
        "print(p)",
        "        for p in self.a.parameters():\n            p.requires_grad = False\n",
    ),
    "ACC504: frozen by name": unused(
        STRAIGHT,
        "setattr(p, 'requires_grad', False)",
        "print(p)",
        "        for p in self.a.parameters():\n            setattr(p, 'requires_grad', False)\n",
    ),
    "ACC504: a graph that stays": unused(
        STRAIGHT, ", static_graph=True", "", "", WRAP.replace("True)", "True, static_graph=True)")
    ),
    "ACC504: a graph that may stay": unused(
        STRAIGHT,
        ", static_graph=conf.s",
        ", static_graph=False",
        "",
        WRAP.replace("True)", "True, static_graph=conf.s)"),
    ),
    "ACC504: asked for by a setting": unused(
        STRAIGHT, "conf.unused)", "True)", "", WRAP.replace("True)", "conf.unused)")
    ),
    "ACC504: an unknown model": unused(STRAIGHT, "conf.make()", "Net()", "", WRAP.replace("Net()", "conf.make()")),
    "ACC504: a class of a class": Pair(
        HEAD.replace("class Net(nn.Module)", "class Base(nn.Module):\n    pass\nclass Net(Base)") + WRAP,
        "class Net(Base)",
        "class Net(nn.Module)",
    ),
    "ACC504: an unknown part": unused(
        "return self.b(self.a(self.c(x)))", "conf.part()", "nn.Linear(8, 8)", "        self.c = conf.part()\n"
    ),
    "ACC504: a parameter": unused(
        STRAIGHT, "        self.p = nn.Parameter(torch.ones(8))\n", "", "        self.p = nn.Parameter(torch.ones(8))\n"
    ),
    "ACC504: dropped at random": unused(
        "x = self.a(x) if conf.on() else x\nreturn self.b(x)", "self.a(x) if conf.on() else x", "self.a(x)"
    ),
    "ACC504: another step": unused(
        STRAIGHT,
        "    def encode(self, x):\n        return self.a(x) if x.any() else x\n",
        "",
        "",
        "    def encode(self, x):\n        return self.a(x) if x.any() else x\n" + WRAP,
    ),
}

OLD = {"requirements.txt": "torch>=2.4\n"}
NEW = {"requirements.txt": "torch>=2.13\n"}
CHECKPOINT = "from torch.utils.checkpoint import checkpoint\n"
CHECKED = HEAD.replace("self.b(self.a(x))", "self.b(checkpoint(self.a, x, use_reentrant=False))")
PAIRS |= {
    "ACC505: not known": pair("DDP(Net(), broadcast_buffers=conf.b)\n", "conf.b", "False", NEW),
    "ACC505: the new name": pair(
        "DDP(Net(), forward_sync_buffers=False)\n", "forward_sync_buffers", "broadcast_buffers", NEW
    ),
    "ACC506: detached in place": pair(
        "DDP(Net())\nfor p in conf.parameters():\n    p.grad.detach_()\n", "p.grad.detach_()", "print(p)"
    ),
    "ACC506: given": pair("DDP(Net(), gradient_as_bucket_view=False)\n", ", gradient_as_bucket_view=False"),
    "ACC506: arguments unseen": pair("DDP(Net(), **conf.kw)\n", ", **conf.kw"),
    "ACC507: given": Pair(CHECKPOINT + CHECKED + "DDP(Net(), static_graph=False)\n", ", static_graph=False"),
    "ACC507: a graph that changes": Pair(
        CHECKPOINT
        + CHECKED.replace("return self.b(", "x = x if x.sum() > 0 else self.a(x)\n        return self.b(")
        + "DDP(Net())\n",
        "x = x if x.sum() > 0 else self.a(x)",
        "x = self.a(x)",
    ),
    "ACC507: unused parameters": Pair(
        CHECKPOINT + CHECKED + "DDP(Net(), find_unused_parameters=True)\n", ", find_unused_parameters=True"
    ),
    "ACC507: no checkpoint": Pair(
        CHECKPOINT + HEAD + "DDP(Net())\n", "self.b(self.a(x))", "self.b(checkpoint(self.a, x, use_reentrant=False))"
    ),
}


OPTIMIZER = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nloader = DataLoader(conf.data)\nk = 4\n"


def steps(
    body: str,
    condition: str,
    instead: str,
    before: str = "",
    guard: str = "if (i + 1) % k == 0:",
    start: str = PARALLEL,
) -> Pair:
    """A training loop that uses its gradients where ``guard`` says so."""
    lines = [
        "for i, x in enumerate(loader):",
        *body.splitlines(),
        guard,
        "    optimizer.step()",
        "    optimizer.zero_grad()",
    ]
    return Pair(HEAD + start + OPTIMIZER + before + "\n    ".join(lines) + "\n", condition, instead)


PASS = "model(x).sum().backward()"
PAIRS |= {
    "ACC503: no sync": steps(
        "with model.no_sync():\n    model(x).sum().backward()", "with model.no_sync():", "with open('x'):"
    ),
    "ACC503: no sync at times": steps(
        "with model.no_sync() if (i + 1) % k else open('x'):\n    model(x).sum().backward()",
        "model.no_sync() if (i + 1) % k else ",
        "",
    ),
    "ACC503: a switch": steps(
        "model.require_backward_grad_sync = (i + 1) % k == 0\n" + PASS, "model.require_backward_grad_sync", "y"
    ),
    "ACC503: one pass": steps(PASS, "k = 1\n", "", "k = 1\n"),
    "ACC503: one pass written out": steps(PASS, "% 1 ==", "% k ==", guard="if (i + 1) % 1 == 0:"),
    "ACC503: every pass": steps(PASS, "if True:", "if (i + 1) % k == 0:", guard="if True:"),
    "ACC503: one process": steps(PASS, "model = Net()\n", PARALLEL, start="model = Net()\n"),
    "ACC503: Accelerate": steps(
        PASS, "a = accelerate.Accelerator()\n", "", "import accelerate\na = accelerate.Accelerator()\n"
    ),
    "ACC503: Lightning": steps(
        PASS,
        "L.Trainer(accumulate_grad_batches=4)\n",
        "",
        "import lightning as L\nL.Trainer(accumulate_grad_batches=4)\n",
    ),
    "ACC503: transformers": steps(PASS, "Trainer(model)\n", "", "from transformers import Trainer\nTrainer(model)\n"),
    "ACC503: FSDP": steps(
        PASS, "FSDP(Net())\n", "", "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\nFSDP(Net())\n"
    ),
    "ACC503: fully sharded": steps(
        PASS, "fully_shard(model)\n", "", "from torch.distributed.fsdp import fully_shard\nfully_shard(model)\n"
    ),
}


def stream(
    body: str,
    condition: str,
    instead: str,
    call: str = "DataLoader(Rows())",
    before: str = PARALLEL,
    after: str = TRAIN,
) -> Pair:
    """A training on a stream that yields ``body``."""
    rows = f"class Rows(IterableDataset):\n    def __iter__(self):\n        {body}\n"
    return Pair(HEAD + before + rows + f"loader = {call}\n" + after, condition, instead)


ALL = "yield from range(9)"
PAIRS |= {
    "ACC508: by rank": stream(
        "yield from range(dist.get_rank(), 9, dist.get_world_size())", "dist.get_rank(), 9, dist.get_world_size()", "9"
    ),
    "ACC508: by the environment": stream(
        "yield from range(int(os.environ['RANK']), 9, 2)", "int(os.environ['RANK']), 9, 2", "9"
    ),
    "ACC508: by a global": stream("yield from range(rank, 9, 2)", "rank, 9, 2", "9"),
    "ACC508: split by node": stream(
        ALL,
        "split_dataset_by_node(Rows(), rank, 2)",
        "Rows()",
        "DataLoader(split_dataset_by_node(Rows(), rank, 2))",
        PARALLEL + "from datasets.distributed import split_dataset_by_node\n",
    ),
    "ACC508: webdataset": stream(
        ALL,
        "wds.WebLoader(Rows())",
        "DataLoader(Rows())",
        "wds.WebLoader(Rows())",
        PARALLEL + "import webdataset as wds\n",
    ),
    "ACC508: a node splitter": stream(
        ALL,
        "wds.WebDataset('x', nodesplitter=wds.split_by_node)",
        "Rows()",
        "DataLoader(wds.WebDataset('x', nodesplitter=wds.split_by_node))",
        PARALLEL + "import webdataset as wds\n",
    ),
    "ACC508: dispatched": stream(
        ALL,
        "a = accelerate.Accelerator(dispatch_batches=True)\n",
        "",
        before="import accelerate\na = accelerate.Accelerator(dispatch_batches=True)\n" + PARALLEL,
    ),
    "ACC508: one process": stream(ALL, "model = Net()\n", PARALLEL, before="model = Net()\n"),
    "ACC508: evaluation": stream(
        ALL, "model(x)\n", "model(x).sum().backward()\n", after="for x in loader:\n    model(x)\n"
    ),
    "ACC508: unknown rows": stream("yield from conf.rows()", "conf.rows()", "range(9)"),
    "ACC508: at random": stream(
        "while True:\n            yield torch.rand(8)", "while True:\n            yield torch.rand(8)", ALL
    ),
    "ACC508: given its rank": Pair(
        HEAD
        + PARALLEL
        + "class Rows(IterableDataset):\n    def __init__(self, start):\n        self.start = start\n    def __iter__(self):\n"
        "        yield from range(self.start, 9, 2)\nloader = DataLoader(Rows(rank))\n" + TRAIN,
        "Rows(rank)",
        "Rows(0)",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair(case[:6], PAIRS[case], tmp_path)


def test_data_parallel_in_a_notebook_is_information(tmp_path: Path) -> None:
    source = HEAD + "model = nn.DataParallel(Net()).cuda()\nloader = DataLoader(conf.data)\n" + TRAIN
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": source}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    for name, content, severity in (("train.py", source, "warning"), ("train.ipynb", text, "info")):
        path = tmp_path / name
        path.write_text(content)
        facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
        assert [str(one.severity) for one in registry()["ACC501"].check(facts)] == [severity]
