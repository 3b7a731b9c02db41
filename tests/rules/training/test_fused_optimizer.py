"""ACC415 fused-optimizer, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of, fixed
from ..programs import IMPORTS

NETWORK = "net = nn.Linear(8, 2)\n"
STEP = "\nfor i in range(3):\n    net(torch.zeros(2, 8)).sum().backward()\n    o.step()\n"
SILENT = {
    "on the host": "o = torch.optim.Adam(net.parameters())",
    "on MPS": "net.to('mps')\no = torch.optim.Adam(net.parameters())",
    "on a device that is not known": "import conf\nnet.to(conf.device)\no = torch.optim.Adam(net.parameters())",
    "fused": "net.cuda()\no = torch.optim.Adam(net.parameters(), fused=True)",
    "decided against": "net.cuda()\no = torch.optim.Adam(net.parameters(), fused=False)",
    "foreach": "net.cuda()\no = torch.optim.Adam(net.parameters(), foreach=True)",
    "differentiable": "net.cuda()\no = torch.optim.Adam(net.parameters(), differentiable=True)",
    "other arguments": "import conf\nnet.cuda()\no = torch.optim.Adam(net.parameters(), **conf.kw)",
    "parameters by hand": "net.cuda()\no = torch.optim.Adam([net.weight])",
    "parameters of another device": "net.cuda()\nother = nn.Linear(8, 2)\no = torch.optim.Adam(other.parameters())",
    "nothing to fuse": "net.cuda()\no = torch.optim.SGD(net.parameters(), lr=0.1)",
    "no momentum": "net.cuda()\no = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0)",
    "not for CUDA": "net.cuda()\no = torch.optim.Adagrad(net.parameters())",
    "no such form": "net.cuda()\no = torch.optim.RMSprop(net.parameters())",
    "somebody else's": "import lion\nnet.cuda()\no = lion.AdamW(net.parameters())",
    "sparse gradients": (
        "net = nn.Embedding(8, 2, sparse=True)\nnet.cuda()\no = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)"
    ),
    "a framework": "from accelerate import Accelerator\na = Accelerator()\nnet.cuda()\no = torch.optim.Adam(net.parameters())",
    "sharded": (
        "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\nnet = FSDP(net).cuda()\n"
        "o = torch.optim.Adam(net.parameters())"
    ),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC415", IMPORTS + NETWORK + source + STEP, tmp_path)


def test_silent_where_nothing_trains(tmp_path: Path) -> None:
    check_one("ACC415", IMPORTS + NETWORK + "net.cuda()\no = torch.optim.Adam(net.parameters())\n", tmp_path)


def test_silent_where_an_old_torch_is_pinned(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch>=2.0,<2.4\n")
    check_one("ACC415", IMPORTS + NETWORK + "net.cuda()\no = torch.optim.Adam(net.parameters())" + STEP, tmp_path)


def made(arguments: str, instead: str = "net.parameters()") -> Pair:
    return Pair(adam("", made=f"torch.optim.Adam({arguments})").source, arguments, instead)


def adam(line: str, instead: str = "", *, made: str = "torch.optim.Adam(net.parameters())") -> Pair:
    """A model on CUDA with its optimizer, and one more line."""
    return Pair(f"{IMPORTS}import conf\nnet = nn.Linear(8, 2)\nnet.cuda()\n{line}o = {made}{STEP}", line, instead)


PAIRS = {
    "capturable": made("net.parameters(), capturable=True"),
    "foreach": made("net.parameters(), foreach=False"),
    "a group beside tensors": made("[{'params': net.parameters()}, net.weight]", "[{'params': net.parameters()}]"),
    "tensors that a name stands for": adam(
        "mine = [net.weight]\n", "mine = list(net.parameters())\n", made="torch.optim.Adam(mine)"
    ),
    "a wrapped model beside MPS": Pair(
        f"{IMPORTS}spare = torch.device('mps')\nnet = nn.DataParallel(nn.Linear(8, 2).cuda())\n"
        f"o = torch.optim.Adam(net.parameters()){STEP}",
        "mps",
        "cuda",
    ),
    "MPS": adam("net.to('mps')\n"),
    "the CPU": Pair(adam("").source.replace("net.cuda()", "net.cpu()"), "net.cpu()", "net.cuda()"),
    "perhaps MPS": Pair(
        adam("").source.replace("net.cuda()", "net.to('cuda' if conf.a else 'mps')"),
        "net.to('cuda' if conf.a else 'mps')",
        "net.cuda()",
    ),
    "complex numbers": adam("net.to(torch.complex64)\n"),
    "complex layers": adam("net = nn.Linear(8, 2, dtype=torch.cfloat)\nnet.cuda()\n"),
    "FSDP": adam("from torch.distributed.fsdp import fully_shard\nfully_shard(net)\n"),
    "FSDP under its old name": adam("from torch.distributed._composable.fsdp import fully_shard\nfully_shard(net)\n"),
    "sparse gradients": adam("bag = nn.EmbeddingBag(8, 2, sparse=True)\n"),
    "transformers": adam("from transformers import Trainer\ntrainer = Trainer(net)\n"),
    "DeepSpeed": adam("import deepspeed\nengine, *_ = deepspeed.initialize(model=net)\n"),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC415", pair, tmp_path)


@pytest.mark.parametrize(
    "source",
    [
        "net.cuda()\no = torch.optim.Adam(net.parameters(), lr=1e-3)  # -> info unsafe",
        "o = torch.optim.AdamW(net.parameters())  # -> info unsafe\nnet.to('cuda' if torch.cuda.is_available() else 'cpu')",
        "net.cuda()\no = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)  # -> info unsafe",
        "net = nn.DataParallel(net.cuda())\no = torch.optim.Adam(net.parameters())  # -> info unsafe",
        "import conf\nnet = conf.make().cuda()\n"
        "groups = [{'params': conf.some(net)}, {'params': conf.rest(net), 'lr': 0.1}]\n"
        "o = torch.optim.AdamW(groups, lr=1e-3)  # -> info unsafe",
        "net.cuda()\no = torch.optim.Adam(filter(lambda one: one.requires_grad, net.parameters()))  # -> info unsafe",
        "net.cuda()\nnet = torch.compile(net)\no = torch.optim.Adam(net.parameters())  # -> info unsafe",
    ],
)
def test_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC415", IMPORTS + NETWORK + source + STEP, tmp_path)


def test_reported_once(tmp_path: Path) -> None:
    source = """
one, two = nn.Linear(8, 2).cuda(), nn.Linear(8, 2).cuda()
o = torch.optim.Adam(one.parameters())  # -> info unsafe
p = torch.optim.Adam(two.parameters(), betas=(0.5, 0.9))
"""
    (found,) = check_one("ACC415", IMPORTS + NETWORK + source + STEP, tmp_path)
    assert len(found.related) == 1
    assert fixed("ACC415", IMPORTS + NETWORK + source + STEP + "# ACC415", tmp_path).count("fused=True") == 2


def test_says_what_it_takes_for_granted(tmp_path: Path) -> None:
    wrapped = "net = nn.DataParallel(net.cuda())\no = torch.optim.Adam(net.parameters())"
    (found,) = findings_of("ACC415", IMPORTS + NETWORK + wrapped + STEP, tmp_path)
    assert "assuming that the device is a GPU" in found.message
    (found,) = findings_of(
        "ACC415", IMPORTS + NETWORK + "net.cuda()\no = torch.optim.Adam(net.parameters())" + STEP, tmp_path
    )
    assert "assuming" not in found.message
    assert found.minor
