"""ACC504 ddp-find-unused-parameters, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of, severities
from ..programs import IMPORTS, RANKS
from .programs import RANKS_OF_TWO_LAYERS

BRANCHING = """
class Branching(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
    def forward(self, x):
        return self.layer(x) if x.sum() > 0 else x
"""
SILENT = {
    "off": "DDP(Net(), find_unused_parameters=False)",
    "not known": "DDP(Net(), find_unused_parameters=conf.unused)",
    "a graph that stays": "DDP(Net(), find_unused_parameters=True, static_graph=True)",
    "branches": BRANCHING + "DDP(Branching(), find_unused_parameters=True)",
    "frozen by assignment": (
        "net = Net()\nfor p in net.parameters():\n    p.requires_grad = False\nDDP(net, find_unused_parameters=True)"
    ),
    "frozen": "net = Net()\nnet.layer.requires_grad_(False)\nDDP(net, find_unused_parameters=True)",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_where_parameters_may_be_unused(source: str, tmp_path: Path) -> None:
    check_one("ACC504", RANKS + source, tmp_path)


def test_minor_where_nothing_is_known_of_the_model(tmp_path: Path) -> None:
    (found,) = findings_of("ACC504", RANKS + "DDP(conf.model(), find_unused_parameters=True)", tmp_path)
    assert found.minor
    assert "this model" not in found.message
    (found,) = findings_of("ACC504", RANKS + "DDP(Net(), find_unused_parameters=True)", tmp_path)
    assert not found.minor


SILENT_PROGRAMS = {
    "conditional forward": """
from torch.nn.parallel import DistributedDataParallel as DDP
class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2); self.b = nn.Linear(2, 2)
    def forward(self, x, w):
        return self.a(x) if w else self.b(x)
m = DDP(N().cuda(), find_unused_parameters=True)
""",
    "unused layer": """
from torch.nn.parallel import DistributedDataParallel as DDP
class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2); self.b = nn.Linear(2, 2)
    def forward(self, x):
        return self.a(x)
m = DDP(N().cuda(), find_unused_parameters=True)
""",
    "submodule unknown": """
import timm
from torch.nn.parallel import DistributedDataParallel as DDP
class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = timm.create_model("x")
    def forward(self, x):
        return self.a(x)
m = DDP(N().cuda(), find_unused_parameters=True)
""",
    "only features of a backbone used": """
import torchvision
from torch.nn.parallel import DistributedDataParallel as DDP
class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torchvision.models.resnet18()
    def forward(self, x):
        return self.a.layer1(self.a.conv1(x))
m = DDP(N().cuda(), find_unused_parameters=True)
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC504", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


WRAP = "model = DDP(Net(), find_unused_parameters=True)\n"


def unused(forward: str, condition: str, instead: str, init: str = "", after: str = WRAP) -> Pair:
    """A model in DistributedDataParallel that computes ``forward``."""
    source = RANKS_OF_TWO_LAYERS.replace("return self.b(self.a(x))", forward.replace("\n", "\n        "))
    source = source.replace("nn.Linear(8, 2)\n", f"nn.Linear(8, 2)\n{init}", 1)
    return Pair(source + after, condition, instead)


STRAIGHT = "return self.b(self.a(x))"
PAIRS = {
    "a branch": unused(
        "if x.sum() > 0:\n    x = self.a(x)\nelse:\n    x = self.a(x) * 2\nreturn self.b(x)",
        "if x.sum() > 0:\n            x = self.a(x)\n        else:\n            x = self.a(x) * 2\n",
        "x = self.a(x)\n",
    ),
    "a conditional expression": unused(
        "return self.b(self.a(x) if x.sum() > 0 else x)", "self.a(x) if x.sum() > 0 else x", "self.a(x)"
    ),
    "a mixture of experts": unused(
        "for e in self.experts:\n    x = e(x)\nreturn self.b(self.a(x))",
        "for e in self.experts:\n            x = e(x)\n        ",
        "",
        "",
    ),
    "a part of a sequence of layers": unused(
        "return self.b(self.a(self.some[0](x)))",
        "self.some[0](x)",
        "self.some(x)",
        "        self.some = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))\n",
    ),
    "two heads": unused("return self.b(x), self.a(x)", "return self.b(x), self.a(x)", STRAIGHT),
    "two heads in a dict": unused(
        "return {'a': self.a(x), 'b': self.b(x)}", "return {'a': self.a(x), 'b': self.b(x)}", STRAIGHT
    ),
    "a layer that is not used": unused("return self.b(x)", "self.b(x)", "self.b(self.a(x))"),
    "a part of a layer": unused("return self.b(x @ self.a.weight)", "x @ self.a.weight", "self.a(x)"),
    "a result that is dropped": unused("y = self.a(x)\nreturn self.b(x)", "self.b(x)", "self.b(y)"),
    "detached": unused("return self.b(self.a(x).detach())", ".detach()", ""),
    "without gradients": unused(
        "with torch.no_grad():\n    x = self.a(x)\nreturn self.b(x)",
        "with torch.no_grad():\n            x = self.a(x)\n",
        "x = self.a(x)\n",
    ),
    "frozen": unused(STRAIGHT, "self.a.requires_grad_(False)", "print(1)", "        self.a.requires_grad_(False)\n"),
    "frozen one by one": unused(
        STRAIGHT,
        "p.requires_grad = False",
        "print(p)",
        "        for p in self.a.parameters():\n            p.requires_grad = False\n",
    ),
    "frozen by name": unused(
        STRAIGHT,
        "setattr(p, 'requires_grad', False)",
        "print(p)",
        "        for p in self.a.parameters():\n            setattr(p, 'requires_grad', False)\n",
    ),
    "frozen by a name that is kept": unused(
        STRAIGHT,
        "flag = 'requires_grad'",
        "flag = 'grad'",
        "        flag = 'requires_grad'\n        for p in self.a.parameters():\n            setattr(p, flag, False)\n",
    ),
    "a graph that stays": unused(
        STRAIGHT, ", static_graph=True", "", "", WRAP.replace("True)", "True, static_graph=True)")
    ),
    "a graph that may stay": unused(
        STRAIGHT,
        ", static_graph=conf.s",
        ", static_graph=False",
        "",
        WRAP.replace("True)", "True, static_graph=conf.s)"),
    ),
    "asked for by a setting": unused(STRAIGHT, "conf.unused)", "True)", "", WRAP.replace("True)", "conf.unused)")),
    "a class of a class": Pair(
        RANKS_OF_TWO_LAYERS.replace("class Net(nn.Module)", "class Base(nn.Module):\n    pass\nclass Net(Base)") + WRAP,
        "class Net(Base)",
        "class Net(nn.Module)",
    ),
    "an unknown part": unused(
        "return self.b(self.a(self.c(x)))", "conf.part()", "nn.Linear(8, 8)", "        self.c = conf.part()\n"
    ),
    "a parameter": unused(
        STRAIGHT, "        self.p = nn.Parameter(torch.ones(8))\n", "", "        self.p = nn.Parameter(torch.ones(8))\n"
    ),
    "dropped at random": unused(
        "x = self.a(x) if conf.on() else x\nreturn self.b(x)", "self.a(x) if conf.on() else x", "self.a(x)"
    ),
    "another step": unused(
        STRAIGHT,
        "    def encode(self, x):\n        return self.a(x) if x.any() else x\n",
        "",
        "",
        "    def encode(self, x):\n        return self.a(x) if x.any() else x\n" + WRAP,
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC504", PAIRS[case], tmp_path)


def test_reports_a_search_for_nothing(tmp_path: Path) -> None:
    assert severities("ACC504", RANKS + "DDP(Net(), find_unused_parameters=True)", tmp_path) == ["info"]


REPORTED_PROGRAMS = {
    "straight": """
from torch.nn.parallel import DistributedDataParallel as DDP
class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2); self.b = nn.Linear(2, 2)
    def forward(self, x):
        return self.b(self.a(x))
m = DDP(N().cuda(), find_unused_parameters=True)  # -> info none
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC504", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


OPTIONAL = """
class Optional(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.norm = None
        if norm:
            self.norm = nn.LayerNorm(8)
    def forward(self, x):
        if self.norm is not None:
            x = self.norm(x)
        return self.layer(x)
DDP(Optional(conf.norm), find_unused_parameters=True)
"""


@pytest.mark.parametrize("test", ["self.norm is not None", "self.norm"])
def test_reports_a_model_that_only_asks_for_its_parts(test: str, tmp_path: Path) -> None:
    source = OPTIONAL.replace("self.norm is not None", test).replace("=True)", "=True)  # -> info none")
    check_one("ACC504", RANKS + source, tmp_path)


@pytest.mark.parametrize(
    ("speaks", "silent"),
    [
        ("if self.norm is not None:", "if self.norm is None:"),
        ("if self.norm is not None:", "if x is not None:"),
        ("x = self.norm(x)\n", "x = self.norm(x)\n        else:\n            x = -x\n"),
        ("x = self.norm(x)\n", "x = self.layer(x)\n"),
        ("x = self.norm(x)\n", "y = self.norm(x)\n"),
    ],
)
def test_silent_where_a_branch_asks_for_something_else(speaks: str, silent: str, tmp_path: Path) -> None:
    assert speaks in OPTIONAL
    check_one("ACC504", RANKS + OPTIONAL.replace(speaks, silent), tmp_path)
