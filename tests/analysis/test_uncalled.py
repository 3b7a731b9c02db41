"""Functions of a program that nothing in sight calls, and where an expert takes them to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from ..rules.checks import Pair, check_pair, findings_of

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader
"""
TRAINING = (
    HEAD
    + """
def train(args, data, registry, net):
    loader = DataLoader(data, pin_memory=True, num_workers=4, persistent_workers=True)
    net = nn.Linear(3, 3).cuda()
    chosen = registry[args.loss]
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x, y in loader:
        loss = chosen.total_of(net(x.cuda(non_blocking=True)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
)
LOSS = """
class Loss{at}:
    def total_of(self, out, y):
        return (out * torch.zeros(len(out)).cuda()).sum()
"""


def test_a_name_that_is_called_on_something_unknown_means_the_methods_of_that_name(tmp_path: Path) -> None:
    (found,) = findings_of("ACC205", TRAINING + LOSS.format(at=""), tmp_path)
    assert "at every step" in found.message
    assert "the program chooses among its own" in found.message
    assert (str(found.severity), found.minor) == ("info", False)


def test_another_name_means_nothing(tmp_path: Path) -> None:
    (found,) = findings_of("ACC205", TRAINING + LOSS.format(at="").replace("total_of", "sum_of"), tmp_path)
    assert found.minor


def test_a_name_that_libraries_use_means_nothing(tmp_path: Path) -> None:
    (found,) = findings_of("ACC205", (TRAINING + LOSS.format(at="")).replace("total_of", "update"), tmp_path)
    assert found.minor


def test_a_method_that_takes_other_arguments_is_not_meant(tmp_path: Path) -> None:
    (found,) = findings_of("ACC205", TRAINING + LOSS.format(at="").replace("out, y", "out"), tmp_path)
    assert found.minor


def test_a_name_of_many_methods_means_none_of_them(tmp_path: Path) -> None:
    many = "".join(LOSS.format(at=at) for at in range(8))
    assert not any(one.minor for one in findings_of("ACC205", TRAINING + many, tmp_path))
    assert all(one.minor for one in findings_of("ACC205", TRAINING + many + LOSS.format(at=8), tmp_path))


def test_a_name_of_many_methods_of_one_base_means_all_of_them(tmp_path: Path) -> None:
    many = "class Base:\n    pass\n" + "".join(LOSS.format(at=f"{at}(Base)") for at in range(9))
    assert not any(one.minor for one in findings_of("ACC205", TRAINING + many, tmp_path))
    assert all(one.minor for one in findings_of("ACC205", TRAINING + many.replace("8(Base)", "8"), tmp_path))


def test_a_method_of_a_model_of_which_only_its_use_is_known_is_meant(tmp_path: Path) -> None:
    source = TRAINING.replace(
        "chosen = registry", "chosen = registry.pick(args).cuda()\n    chosen.train()\n    other = registry"
    )
    assert not any(one.minor for one in findings_of("ACC205", source + LOSS.format(at=""), tmp_path))
    known = source.replace("registry.pick(args)", "nn.Linear(3, 3)")
    assert all(one.minor for one in findings_of("ACC205", known + LOSS.format(at=""), tmp_path))


MODULES = (
    HEAD
    + """
class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
    def forward(self, x):
        return self.layer(x[x > 0])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.flows = nn.ModuleList()
        for _ in range(4):
            self.flows.append(Flow())
    def forward(self, x, reverse=False):
        if not reverse:
            for flow in self.flows:
                x = flow(x)
        return x
def train(data):
    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in DataLoader(data, pin_memory=True, num_workers=4):
        loss = net(x.cuda(non_blocking=True)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
)


def test_what_only_some_steps_call_is_said_as_evident_and_not_where_it_is_rare(tmp_path: Path) -> None:
    source = MODULES.replace("reverse=False", "reverse")
    (sometimes,) = findings_of("ACC208", source, tmp_path)
    (always,) = findings_of("ACC208", MODULES, tmp_path)
    assert "the program chooses" in sometimes.message
    assert "the program chooses" not in always.message
    seldom = source.replace("self, x, reverse", "self, x, step").replace("not reverse", "step % 100 == 0")
    assert findings_of("ACC208", seldom, tmp_path) == []


LIGHTNING = """
import torch
from torch import nn
import lightning

class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
    def forward(self, x, lengths):
        return self.layer(x), lengths.tolist()
    def training_step(self, batch, index):
        x, lengths = batch
        return self(x, lengths)[0].sum()
"""


def test_the_forward_that_a_step_of_a_framework_calls_is_a_part_of_it(tmp_path: Path) -> None:
    assert findings_of("ACC208", LIGHTNING, tmp_path)
    assert findings_of("ACC208", LIGHTNING.replace("training_step", "predict_step"), tmp_path) == []


WITH_LABELS = """
import sys
import torch
from torch import nn
from transformers import BertModel, BertPreTrainedModel

class Tagger(BertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config)
    def forward(self, x, mask=None, labels=None):
        out = self.bert(x)[0]
        if mask is not None:
            active = mask.view(-1) == 1
            out = out.view(-1, 8)[active]
        return (out - labels).sum()

class Reader(BertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config)
    def forward(self, x):
        return self.bert(x)[0].sum()

KINDS = {"tagger": Tagger, "reader": Reader}

def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for batch in batches:
        loss = model(**{name: one.cuda() for name, one in batch.items()})
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

train(KINDS[sys.argv[1]].from_pretrained(sys.argv[2]).cuda(), torch.load("batches.pt"))
"""


def test_what_a_forward_may_be_given_is_a_tensor_where_it_is_used_as_one(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", WITH_LABELS, tmp_path)
    assert "[active]" in found.message
    assert findings_of("ACC208", WITH_LABELS.replace("mask.view(-1)", "mask"), tmp_path) == []


GRAPH = (
    HEAD
    + """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3, 3))
    def forward(self, x, edges):
        assert not torch.isnan(x).any()
        return x @ self.weight + edges.nonzero().sum() + (x > 0).nonzero().sum()
net = Layer().cuda()
x, edges = load().cuda(), load().cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(100):
    loss = net(x, edges).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
)


def test_an_epoch_is_a_step_where_no_loader_is_there(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", GRAPH, tmp_path)
    assert "3 times at every step" in found.message
    fed = GRAPH.replace(
        "    loss = net", "    for batch in DataLoader(data):\n        net(batch.cuda(), edges)\n    loss = net"
    )
    assert findings_of("ACC208", fed, tmp_path) == []


STEP = """
import torch
import lightning
class Experiment(lightning.LightningModule):
    def __init__(self, model):
        super().__init__()
        self.chosen = model
    def training_step(self, batch, index):
        return self.chosen.total_of(self.chosen(batch), batch)
"""


def test_a_name_that_is_called_in_a_step_of_a_framework_means_a_part_of_it(tmp_path: Path) -> None:
    (found,) = findings_of("ACC205", STEP + LOSS.format(at=""), tmp_path)
    assert not found.minor
    (found,) = findings_of("ACC205", STEP.replace("training_step", "predict_step") + LOSS.format(at=""), tmp_path)
    assert found.minor


INHERITS = (
    HEAD
    + """
class Base(nn.Module):
    def forward(self, *args, **kwargs):
        return CALL(*args)
class Net(Base):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
    def _forward(self, x):
        h = self.layer(x)
        return h[h > 0]
class Other(Base):
    def _forward(self, x):
        return x
def train(data, mode):
    loader = DataLoader(data, pin_memory=True, num_workers=4, persistent_workers=True)
    net = nn.Sequential(Other(), Net()).cuda()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x, y in loader:
        optimizer.zero_grad()
        net(x.cuda(non_blocking=True)).sum().backward()
        optimizer.step()
"""
)


@pytest.mark.parametrize(
    ("call", "silent"),
    [
        ("self._forward", "self._backward"),
        ("getattr(self, '_' + kwargs.get('mode', 'forward'))", "getattr(self, 'x_' + kwargs.get('mode', 'forward'))"),
    ],
)
def test_a_forward_of_a_base_calls_what_each_class_overrides(call: str, silent: str, tmp_path: Path) -> None:
    check_pair("ACC208", Pair(INHERITS.replace("CALL", silent), silent, call), tmp_path)


def test_a_model_that_is_named_for_evaluation_is_none_that_trains(tmp_path: Path) -> None:
    assert findings_of("ACC208", WITH_LABELS.replace("Tagger", "EvaluatedTagger"), tmp_path)
    assert findings_of("ACC208", WITH_LABELS.replace("Tagger", "TaggerForInference"), tmp_path) == []
    assert findings_of("ACC208", WITH_LABELS.replace("Tagger", "TaggerEvaluator"), tmp_path) == []


MASKING = """
import torch
from torch import nn
import lib
class Masking(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
    def forward(self, x, mask):
        return self.layer(x[mask.bool()])
"""
LOOPS = """
import torch, lib, net
def tune(loader, optimizer):
    model = lib.build("masking")
    for x, y in loader:
        model(x.cuda()).sum().backward()
        optimizer.step()
def train(loader, optimizer):
    model = lib.build("masking")
    for x, mask in loader:
        model(x.cuda(), mask.cuda()).sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("forward", "line"), [("x, mask)", 10), ("x, mask=None)", 5)])
def test_a_forward_runs_in_the_loop_that_gives_what_it_takes(forward: str, line: int, tmp_path: Path) -> None:
    files = {"net.py": MASKING.replace("x, mask)", forward), "train.py": LOOPS}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    facts = analyze([Document.read(tmp_path / name) for name in files], tmp_path).facts
    (wait,) = registry()["ACC208"].check(facts[str(tmp_path / "net.py")])
    (loop,) = [one for one in wait.related if one.message == "the loop of the training"]
    assert loop.span.start.row == line
