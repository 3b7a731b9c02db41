"""ACC501 data-parallel-module, silent cases first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from ..checks import Pair, check_one, check_pair, findings_of, severities
from ..programs import IMPORTS, RANKS
from .programs import RANKS_OF_TWO_LAYERS

SILENT = {
    "one device": "model = nn.DataParallel(Net().cuda(), device_ids=[0])",
    "no device in sight": "model = nn.DataParallel(Net())",
    "a question": "model = Net().cuda()\nprint(isinstance(model, nn.DataParallel))",
    "one way of two": "net = Net().cuda()\nmodel = DDP(net) if conf.ddp else nn.DataParallel(net)",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_where_data_parallel_costs_nothing(source: str, tmp_path: Path) -> None:
    check_one("ACC501", RANKS + source, tmp_path)


SILENT_PROGRAMS = {
    "one device": """
m = nn.DataParallel(nn.Linear(2, 2), device_ids=[0]).cuda()
""",
    "cpu": """
m = nn.DataParallel(nn.Linear(2, 2))
""",
    "isinstance": """
m = nn.Linear(2, 2).cuda()
if isinstance(m, nn.DataParallel):
    m = m.module
""",
    "as the alternative to DDP": """
import torch.distributed as dist
m = nn.Linear(2, 2).cuda()
import argparse
p = argparse.ArgumentParser(); p.add_argument("--distributed", action="store_true"); a = p.parse_args()
if a.distributed:
    m = nn.parallel.DistributedDataParallel(m)
else:
    m = nn.DataParallel(m)
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC501", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


MOVE = "model = Net().cuda()\n"


def pair(source: str, condition: str, instead: str = "", others: dict[str, str] | None = None) -> Pair:
    return Pair(RANKS_OF_TWO_LAYERS + source, condition, instead, others or {})


PAIRS = {
    "one device": pair("model = nn.DataParallel(Net().cuda(), device_ids=[0])\n", ", device_ids=[0]"),
    "one device by position": pair("model = nn.DataParallel(Net().cuda(), [0])\n", ", [0]"),
    "one device that a file of settings does not change": pair(
        "from conf import cfg\nGPUS = (0,)\nmodel = nn.DataParallel(Net().cuda(), device_ids=GPUS)\n",
        "device_ids=GPUS",
        "device_ids=cfg.GPUS",
        {"conf.py": "from yacs.config import CfgNode\ncfg = CfgNode()\ncfg.GPUS = (0,)\n"},
    ),
    "no CUDA in sight": pair("model = nn.DataParallel(Net())\n", "Net())\n", "Net().cuda())\n"),
    "only mps": pair("model = nn.DataParallel(Net().to('mps'))\n", "'mps'", "'cuda'"),
    "only a question": pair(
        MOVE + "print(isinstance(model, nn.DataParallel))\n",
        "print(isinstance(model, nn.DataParallel))",
        "model = nn.DataParallel(model)",
    ),
    "DDP as well": pair(
        "model = Net().cuda()\nmodel = DDP(model) if conf.ddp else nn.DataParallel(model)\n",
        "DDP(model) if conf.ddp else ",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC501", PAIRS[case], tmp_path)


TRAIN = "for x in loader:\n    model(x).sum().backward()\n"


def test_reports_data_parallel(tmp_path: Path) -> None:
    model = "model = nn.DataParallel(Net()).cuda()\nloader = DataLoader(data)\n"
    assert severities("ACC501", RANKS + model, tmp_path) == ["info"]
    assert severities("ACC501", RANKS + model + TRAIN, tmp_path) == ["warning"]


REPORTED_PROGRAMS = {
    "only when several": """
m = nn.Linear(2, 2)
if torch.cuda.device_count() > 1:
    m = nn.DataParallel(m)  # -> info none
m.to("cuda")
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC501", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


def test_one_backward_pass_for_each_call_is_asked_for_where_another_follows(tmp_path: Path) -> None:
    step = "    loss = model(x).sum()\n    loss.backward(retain_graph=True)\n    optimizer.step()\n"
    source = IMPORTS + (
        "model = nn.DataParallel(nn.Linear(8, 2)).cuda()\noptimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
        "for x in DataLoader(torch.randn(64, 8)):\n" + step
    )
    (found,) = findings_of("ACC501", source, tmp_path)
    assert "join the losses, if `loss.backward(retain_graph=True)` keeps the graph for another" in found.message
    (found,) = findings_of("ACC501", source.replace("retain_graph=True", ""), tmp_path)
    assert "backward" not in found.message


def test_data_parallel_in_a_notebook_is_information(tmp_path: Path) -> None:
    source = RANKS_OF_TWO_LAYERS + "model = nn.DataParallel(Net()).cuda()\nloader = DataLoader(conf.data)\n" + TRAIN
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": source}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    for name, content, severity in (("train.py", source, "warning"), ("train.ipynb", text, "info")):
        path = tmp_path / name
        path.write_text(content)
        facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
        assert [str(one.severity) for one in registry()["ACC501"].check(facts)] == [severity]


LOADED = """
def load(path):
    model = nn.DataParallel(nn.Linear(2, 2))
    model.cuda()
    model.load_state_dict(torch.load(path))
    if isinstance(model, nn.DataParallel):
        model = model.module
    return model(torch.zeros(2, 2).cuda())
load("model.th").sum().backward()
torch.optim.SGD([], 0.1).step()
"""
UNWRAPPED = {
    "rebound": Pair(IMPORTS + LOADED, "        model = model.module\n", "        pass\n"),
    "not called before": Pair(
        IMPORTS + LOADED, "    model.cuda()\n", "    model.cuda()\n    model(torch.zeros(2, 2).cuda())\n"
    ),
    "returned": Pair(
        IMPORTS
        + LOADED.replace(
            "        model = model.module\n    return model(torch.zeros(2, 2).cuda())", "        return model.module"
        ),
        "return model.module",
        "return model",
    ),
    "under another name": Pair(
        IMPORTS
        + LOADED.replace(
            "        model = model.module\n    return model(", "        inner = model.module\n    return inner("
        ),
        "    model.cuda()\n",
        "    model.cuda()\n    train(model)\n",
    ),
}


SAVED = (
    IMPORTS
    + """
def run(x):
    return {runs}(x)
net = nn.Linear(2, 2)
loss = run(torch.zeros(2, 2).cuda()).sum()
loss.backward()
torch.optim.SGD(net.parameters(), 0.1).step()
model = nn.DataParallel(net)
model.eval()
{then}
"""
)
SAVES, OTHERS = (
    'torch.save({"state": model.state_dict()}, "model.pt")',
    {"later.py": "import train\nnet = train.{used}\n"},
)
UNWRAPPED |= {
    "only its state is saved": Pair(SAVED.format(runs="net", then=SAVES), SAVES, "model(torch.zeros(2, 2).cuda())"),
    "only the model in it is handed on": Pair(
        SAVED.format(runs="net", then="import conf\nconf.evaluate(model.module)"), "model.module", "model"
    ),
    "a function above runs another": Pair(SAVED.format(runs="net", then=SAVES), "return net(x)", "return model(x)"),
    "no other file runs it": Pair(
        SAVED.format(runs="net", then=SAVES),
        "train.net",
        "train.model",
        {name: text.format(used="net") for name, text in OTHERS.items()},
    ),
}


@pytest.mark.parametrize("pair", UNWRAPPED.values(), ids=UNWRAPPED.keys())
def test_silent_where_the_wrapper_never_runs(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC501", pair, tmp_path)


DERIVED = """
class Balanced({base}):
    def __init__(self, first, *args, **kwargs):
        self.first = first
        super().__init__(*args, **kwargs)
model = Balanced(4, Net().cuda())
"""


def test_reports_classes_that_derive_from_it(tmp_path: Path) -> None:
    derived, other = RANKS + DERIVED.format(base="nn.DataParallel"), RANKS + DERIVED.format(base="nn.Module")
    assert len(severities("ACC501", derived, tmp_path)) == 1
    check_one("ACC501", other, tmp_path)


@pytest.mark.parametrize(
    "wrapper",
    [
        "torch_geometric.nn.DataParallel",
        "encoding.parallel.DataParallelModel",
        "sync_batchnorm.DataParallelWithCallback",
    ],
)
def test_reports_wrappers_of_libraries(wrapper: str, tmp_path: Path) -> None:
    module, _, name = wrapper.rpartition(".")
    source = f"{RANKS}from {module} import {name}\nmodel = {name}(Net().cuda(), device_ids=[0])\n"
    check_pair("ACC501", Pair(source, "[0]", "[0, 1]"), tmp_path)


TWO_WAYS = """
model = nn.Linear(2, 2).cuda()
if conf.distributed:
    model = nn.parallel.DistributedDataParallel(model)
else:
    model = nn.DataParallel(model)  # -> info none
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for x in DataLoader(conf.data):
    model(x.cuda()).sum().backward()
    optimizer.step()
"""


def test_reports_the_other_way_of_a_training_as_information(tmp_path: Path) -> None:
    (found,) = check_one("ACC501", IMPORTS + TWO_WAYS, tmp_path)
    assert "that this program has, too" in found.message
    evaluation = (
        TWO_WAYS.replace(".backward()", "").replace("    optimizer.step()\n", "").replace("  # -> info none", "")
    )
    check_one("ACC501", IMPORTS + evaluation, tmp_path)


OPTION = (
    RANKS_OF_TWO_LAYERS
    + """
def build(net, name, spread=False):
    net = net.cuda()
    if spread:
        net = nn.DataParallel(net)
    return net
model = build(Net(), "a")
other = build(Net(), name="b", spread=False)
loader = DataLoader(data)
for x in loader:
    (model(x) + other(x)).sum().backward()
"""
)
ASKING = {
    "by its name": ('"a")', '"a", spread=conf.spread)'),
    "by its place": ('"a")', '"a", conf.spread)'),
    "by a dict": ('"a")', '"a", **conf.options)'),
    "by a list": ('"a")', "*conf.options)"),
    "by whoever is given the function": ("loader =", "conf.register(build)\nloader ="),
    "by whoever finds it by its name": ("loader =", "conf.register('build')\nloader ="),
    "by a decorator": ("def build", "@conf.command\ndef build"),
    "by another name": ("loader =", "from train import build as make\nloader ="),
    "unless told not to": ("spread=False):", "spread=True):"),
}


@pytest.mark.parametrize("case", ASKING)
def test_minor_behind_an_option_that_no_call_gives(case: str, tmp_path: Path) -> None:
    (silent,) = findings_of("ACC501", OPTION, tmp_path)
    (found,) = findings_of("ACC501", OPTION.replace(*ASKING[case]), tmp_path)
    assert (silent.minor, found.minor) == (True, False)
