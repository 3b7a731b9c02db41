"""ACC117 and ACC501 to ACC508, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import findings_in
from .programs import IMPORTS

HEAD = (
    IMPORTS
    + """
import os, conf
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DistributedSampler, Subset
from torchvision.datasets import FakeData
rank = int(os.environ["LOCAL_RANK"])
data = FakeData()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
    def forward(self, x):
        return self.layer(x)
"""
)
GROUP = 'dist.init_process_group("nccl")\n'
TRAIN = "for x in loader:\n    model(x).sum().backward()\n"
PARALLEL = GROUP + "model = DDP(Net().to(rank), device_ids=[rank])\n"


def severities(source: str, folder: Path, code: str, others: dict[str, str] | None = None) -> list[str]:
    # off-by-default rules run where the program names them
    found = findings_in(f"{HEAD}{source}\n# {code}\n", folder, others)[1]
    return [str(one.severity) for one in found if one.code == code]


SILENT_LOADERS = {
    "one process": "model = Net()\nloader = DataLoader(data)\n" + TRAIN,
    "a sampler": PARALLEL + "loader = DataLoader(data, sampler=DistributedSampler(data))\n" + TRAIN,
    "a sampler on some paths": (
        PARALLEL + "s = DistributedSampler(data) if conf.ddp else None\nloader = DataLoader(data, sampler=s)\n" + TRAIN
    ),
    "a batch sampler": PARALLEL + "loader = DataLoader(data, batch_sampler=conf.sampler(data))\n" + TRAIN,
    "a part for each rank": PARALLEL + "loader = DataLoader(Subset(data, range(rank, 100, 4)))\n" + TRAIN,
    "unknown data": PARALLEL + "loader = DataLoader(conf.data)\n" + TRAIN,
    "evaluation": PARALLEL + "loader = DataLoader(data)\nfor x in loader:\n    model(x)\n",
    "a framework": "import accelerate\na = accelerate.Accelerator()\n"
    + PARALLEL
    + "loader = DataLoader(data)\n"
    + TRAIN,
    "knows its rank": (
        PARALLEL + "class Mine(Dataset):\n    def __init__(self, rank): self.rank = rank\n"
        "    def __getitem__(self, i): return torch.load(str(i))\nloader = DataLoader(Mine(rank))\n" + TRAIN
    ),
    "a stream": (
        PARALLEL
        + "class Mine(IterableDataset):\n    def __iter__(self): return iter([1])\nloader = DataLoader(Mine())\n"
        + TRAIN
    ),
}


@pytest.mark.parametrize("source", SILENT_LOADERS.values(), ids=SILENT_LOADERS.keys())
def test_silent_where_samples_are_or_may_be_divided(source: str, tmp_path: Path) -> None:
    assert severities(source, tmp_path, "ACC117") == []


def test_silent_about_another_script_of_the_folder(tmp_path: Path) -> None:
    other = {"parallel.py": HEAD + PARALLEL}
    assert severities("model = Net()\nloader = DataLoader(data)\n" + TRAIN, tmp_path, "ACC117", other) == []


def test_reports_a_loader_that_nothing_divides(tmp_path: Path) -> None:
    assert severities(PARALLEL + "loader = DataLoader(data, shuffle=True)\n" + TRAIN, tmp_path, "ACC117") == ["warning"]
    held = (
        "class Mine(Dataset):\n    def __getitem__(self, i): return torch.load(str(i))\nloader = DataLoader(Mine())\n"
    )
    assert severities(PARALLEL + held + TRAIN, tmp_path, "ACC117") == ["warning"]


SILENT_DATA_PARALLEL = {
    "one device": "model = nn.DataParallel(Net().cuda(), device_ids=[0])",
    "no device in sight": "model = nn.DataParallel(Net())",
    "a question": "model = Net().cuda()\nprint(isinstance(model, nn.DataParallel))",
    "one way of two": "net = Net().cuda()\nmodel = DDP(net) if conf.ddp else nn.DataParallel(net)",
}


@pytest.mark.parametrize("source", SILENT_DATA_PARALLEL.values(), ids=SILENT_DATA_PARALLEL.keys())
def test_silent_where_data_parallel_costs_nothing(source: str, tmp_path: Path) -> None:
    assert severities(source, tmp_path, "ACC501") == []


def test_reports_data_parallel(tmp_path: Path) -> None:
    model = "model = nn.DataParallel(Net()).cuda()\nloader = DataLoader(data)\n"
    assert severities(model, tmp_path, "ACC501") == ["info"]
    assert severities(model + TRAIN, tmp_path, "ACC501") == ["warning"]


SILENT_DEVICES = {
    "set": "torch.cuda.set_device(rank)\n" + GROUP + "model = Net().cuda()",
    "through the accelerator": "torch.accelerator.set_device_index(rank)\n" + GROUP + "model = Net().cuda()",
    "in a context": GROUP + "with torch.cuda.device(rank):\n    model = Net().cuda()",
    "one visible": "os.environ['CUDA_VISIBLE_DEVICES'] = str(rank)\n" + GROUP + "model = Net().cuda()",
    "numbered": GROUP + "model = Net().to(f'cuda:{rank}')",
    "numbered by an integer": GROUP + "model = Net().cuda(rank)",
    "on the host": 'dist.init_process_group("gloo")\nmodel = Net().cuda()',
    "a framework": "import accelerate\na = accelerate.Accelerator()\n" + GROUP + "model = Net().cuda()",
}


@pytest.mark.parametrize("source", SILENT_DEVICES.values(), ids=SILENT_DEVICES.keys())
def test_silent_where_each_process_has_a_device(source: str, tmp_path: Path) -> None:
    assert severities(source, tmp_path, "ACC502") == []


@pytest.mark.parametrize("move", ["Net().cuda()", "Net().to('cuda')", "Net().to('cuda:0')"])
def test_reports_processes_that_share_the_first_device(move: str, tmp_path: Path) -> None:
    assert severities(GROUP + f"model = {move}", tmp_path, "ACC502") == ["warning"]
    assert severities(GROUP.replace('"nccl"', 'backend="nccl"') + f"model = {move}", tmp_path, "ACC502") == ["warning"]


BRANCHING = """
class Branching(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
    def forward(self, x):
        return self.layer(x) if x.sum() > 0 else x
"""
SILENT_UNUSED = {
    "off": "DDP(Net(), find_unused_parameters=False)",
    "not known": "DDP(Net(), find_unused_parameters=conf.unused)",
    "a graph that stays": "DDP(Net(), find_unused_parameters=True, static_graph=True)",
    "branches": BRANCHING + "DDP(Branching(), find_unused_parameters=True)",
    "unknown model": "DDP(conf.model(), find_unused_parameters=True)",
    "frozen by assignment": (
        "net = Net()\nfor p in net.parameters():\n    p.requires_grad = False\nDDP(net, find_unused_parameters=True)"
    ),
    "frozen": "net = Net()\nnet.layer.requires_grad_(False)\nDDP(net, find_unused_parameters=True)",
}


@pytest.mark.parametrize("source", SILENT_UNUSED.values(), ids=SILENT_UNUSED.keys())
def test_silent_where_parameters_may_be_unused(source: str, tmp_path: Path) -> None:
    assert severities(source, tmp_path, "ACC504") == []


def test_reports_a_search_for_nothing(tmp_path: Path) -> None:
    assert severities("DDP(Net(), find_unused_parameters=True)", tmp_path, "ACC504") == ["info"]


OPTIMIZER = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nloader = DataLoader(conf.data)\nk = 4\n"


def loop(body: str, before: str = "", guard: str = "if (i + 1) % k == 0:") -> str:
    """A training loop that uses its gradients where ``guard`` says so."""
    lines = [
        "for i, x in enumerate(loader):",
        *body.splitlines(),
        guard,
        "    optimizer.step()",
        "    optimizer.zero_grad()",
    ]
    return PARALLEL + OPTIMIZER + before + "\n    ".join(lines) + "\n"


ONE_PASS = "model(x).sum().backward()"
SILENT_ACCUMULATION = {
    "no sync": loop("with model.no_sync():\n    model(x).sum().backward()"),
    "a switch": loop("model.require_backward_grad_sync = (i + 1) % k == 0\n" + ONE_PASS),
    "a switch on what is not known": loop("conf.unwrap(model).require_backward_grad_sync = i % k == 0\n" + ONE_PASS),
    "no sync of what is not known": loop("with conf.wrap(model).no_sync():\n    model(x).sum().backward()"),
    "one process": loop(ONE_PASS).replace(PARALLEL, "model = Net()\n"),
    "a framework": loop(ONE_PASS, "import accelerate\na = accelerate.Accelerator()\n"),
    "every pass": loop(ONE_PASS, guard="if True:"),
    "no step for what is not finite": loop(ONE_PASS, guard="if conf.is_finite(x):"),
    "one by default": loop(ONE_PASS, "k = 1\n"),
    "an option that is 1": loop(
        ONE_PASS,
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('-k', default=1)\nk = p.parse_args().k\n",
    ),
    "backward in some passes too": loop("pass", guard="if i % k == 0:\n        model(x).sum().backward()"),
    "only a schedule": PARALLEL
    + OPTIMIZER
    + "s = torch.optim.lr_scheduler.StepLR(optimizer, 1)\nfor i, x in enumerate(loader):\n    model(x).sum().backward()\n"
    + "    optimizer.step()\n    if i % k == 0:\n        s.step()\n        optimizer.zero_grad()\n",
    "sharded": loop(
        ONE_PASS, "from torch.distributed.fsdp import FullyShardedDataParallel\nFullyShardedDataParallel(model)\n"
    ),
}


@pytest.mark.parametrize("source", SILENT_ACCUMULATION.values(), ids=SILENT_ACCUMULATION.keys())
def test_silent_where_no_gradients_are_exchanged_for_nothing(source: str, tmp_path: Path) -> None:
    assert severities(source, tmp_path, "ACC503") == []


SCALED = "scaler = torch.amp.GradScaler('cuda')\n"


@pytest.mark.parametrize(
    "source",
    [
        loop(ONE_PASS),
        loop(ONE_PASS, guard="if i % conf.k == conf.k - 1:"),
        loop(ONE_PASS, guard="if (i + 1) % k == 0 or i + 1 == len(loader):"),
        loop("scaler.scale(model(x).sum()).backward()", SCALED).replace("optimizer.step()", "scaler.step(optimizer)"),
    ],
)
def test_reports_gradients_that_are_exchanged_for_nothing(source: str, tmp_path: Path) -> None:
    assert severities(source, tmp_path, "ACC503") == ["info"]


def test_reports_deprecated_buffers_where_torch_knows_the_new_name(tmp_path: Path) -> None:
    old = {"requirements.txt": "torch>=2.4\n"}
    assert severities("DDP(Net(), broadcast_buffers=False)", tmp_path, "ACC505", old) == []
    new = {"requirements.txt": "torch>=2.13\n"}
    assert severities("DDP(Net())", tmp_path, "ACC505", new) == []
    assert severities("DDP(Net(), broadcast_buffers=conf.b)", tmp_path, "ACC505", new) == []
    assert severities("DDP(Net(), forward_sync_buffers=False)", tmp_path, "ACC505", new) == []
    assert severities("DDP(Net(), broadcast_buffers=False)", tmp_path, "ACC505", new) == ["info"]
    assert severities("DDP(Net(), broadcast_buffers=True)", tmp_path, "ACC505", new) == ["info"]


def test_opportunities_that_must_be_asked_for(tmp_path: Path) -> None:
    assert severities("DDP(Net(), gradient_as_bucket_view=True)", tmp_path, "ACC506") == []
    assert severities("p = torch.zeros(1)\np.detach_()\nDDP(Net())", tmp_path, "ACC506") == []
    assert severities("DDP(Net())", tmp_path, "ACC506") == ["info"]
    checkpoint = "from torch.utils.checkpoint import checkpoint\ncheckpoint(Net(), 1, use_reentrant=False)\n"
    assert severities("DDP(Net())", tmp_path, "ACC507") == []
    assert severities(checkpoint + "DDP(Net(), static_graph=True)", tmp_path, "ACC507") == []
    assert severities(checkpoint + "DDP(Net())", tmp_path, "ACC507") == ["info"]


def stream(body: str) -> str:
    return f"class Rows(IterableDataset):\n    def __iter__(self):\n        {body}\nloader = DataLoader(Rows())\n"


SILENT_STREAMS = {
    "one process": "model = Net()\n" + stream("yield from range(9)") + TRAIN,
    "by rank": PARALLEL + stream("yield from range(dist.get_rank(), 9, 2)") + TRAIN,
    "unknown": PARALLEL + stream("yield from conf.rows()") + TRAIN,
    "evaluation": PARALLEL + stream("yield from range(9)") + "for x in loader:\n    model(x)\n",
}


@pytest.mark.parametrize("source", SILENT_STREAMS.values(), ids=SILENT_STREAMS.keys())
def test_silent_about_streams_that_are_or_may_be_divided(source: str, tmp_path: Path) -> None:
    assert severities(source, tmp_path, "ACC508") == []


def test_reports_a_stream_that_all_processes_read(tmp_path: Path) -> None:
    assert severities(PARALLEL + stream("yield from range(9)") + TRAIN, tmp_path, "ACC508") == ["error"]
