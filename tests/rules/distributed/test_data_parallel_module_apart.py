"""ACC501 where a program that trains wraps a model only to evaluate it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import IMPORTS

TRAINING = (
    IMPORTS
    + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 8)
def test(loader):
    model = Net().cuda()
    model = nn.DataParallel(model)
    model.eval()
    for x, y in loader:
        model(x.cuda())
def train(loader):
    model, head = Net().cuda(), nn.Linear(8, 2).cuda()
    model.encoder = nn.DataParallel(model.encoder)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for x, y in loader:
        with torch.no_grad():
            features = model.encoder(x.cuda())
        head(features).sum().backward()
        optimizer.step()
train(DataLoader([(1, 2)]))
test(DataLoader([(1, 2)]))
"""
)


def _minor(source: str, folder: Path) -> list[bool]:
    return [one.minor for one in findings_of("ACC501", source, folder)]


def test_minor_in_a_function_that_evaluates_and_around_what_is_frozen(tmp_path: Path) -> None:
    assert _minor(TRAINING, tmp_path) == [True, True]


def test_worth_a_warning_where_the_model_learns(tmp_path: Path) -> None:
    assert _minor(TRAINING.replace("with torch.no_grad():", "if True:"), tmp_path) == [True, False]
    trains = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
    both = TRAINING.replace("model.eval()", trains).replace("model(x.cuda())", "model(x.cuda()).sum().backward()")
    assert _minor(both, tmp_path) == [False, True]


SCRIPT = """
import torch
from torch import nn
def predict(model, images):
    model.eval()
    return [model(one.cuda()) for one in images]
def main(images):
    model = nn.DataParallel(nn.Linear(8, 2).cuda())
    print(predict(model, images))
"""


def test_minor_in_a_script_that_only_predicts(tmp_path: Path) -> None:
    assert _minor(SCRIPT, tmp_path) == [True]
    assert _minor(SCRIPT.replace("model.eval()", "model.train()"), tmp_path) == [False]
    assert _minor(SCRIPT.replace("def main(images):", "def main(names):\n    images = DataSet(names)"), tmp_path) == [
        True
    ]


def test_minor_where_what_is_wrapped_is_in_evaluation_mode_or_only_called_outside_of_trainings(tmp_path: Path) -> None:
    wrapped = TRAINING.replace(
        "model = nn.DataParallel(model)\n    model.eval()", "model = nn.DataParallel(model.eval())"
    )
    assert _minor(wrapped, tmp_path) == [True, True]
    assert _minor(TRAINING.replace("    model.eval()\n", ""), tmp_path) == [True, True]
    handed_on = TRAINING.replace("    model.eval()\n", "").replace("model(x.cuda())", "conf.step(model, x)")
    assert _minor(handed_on.replace("import torch\n", "import torch, conf\n", 1), tmp_path) == [False, True]


BOTH = """
import torch
from torch import nn
def main(args, loader):
    model = nn.Linear(8, 2).cuda()
    if args.distributed:
        model = nn.parallel.DistributedDataParallel(model, device_ids=[args.rank])
    else:
        model = nn.DataParallel(model)
    for x, y in loader:
        model(x.cuda()).sum().backward()
"""


def test_minor_where_the_program_has_the_other_way_too(tmp_path: Path) -> None:
    assert _minor(BOTH, tmp_path) == [True]
    only = BOTH.replace("nn.parallel.DistributedDataParallel(model, device_ids=[args.rank])", "model.float()")
    assert _minor(only, tmp_path) == [False]


UNUSED = (
    IMPORTS
    + """
def score(net, x):
    net.eval()
    return net(x)
class Average:
    def __init__(self, net):
        self.net = net.module
class Losses(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList()
        self.parts = nn.DataParallel(self.parts)
    def forward(self, x):
        return x.sum()
    def all(self):
        return self.parts
    def step(self):
        for one in self.all():
            one.step()
def train(loader):
    model, losses = nn.Linear(8, 2).cuda(), Losses()
    learner = nn.DataParallel(model)
    copy = nn.DataParallel(nn.Linear(8, 2).cuda())
    copy = copy.cuda()
    average = Average(copy)
    optimizer = torch.optim.SGD(learner.parameters(), lr=0.1)
    for x, y in loader:
        losses(learner(x.cuda())).backward()
        optimizer.step()
        copy.load_state_dict(learner.state_dict())
        losses.step()
train(DataLoader([(1, 2)]))
"""
)
USED = {
    "called": ("losses.step()", "copy(x.cuda())"),
    "called as another": ("losses.step()", "other = copy.cuda()\n        other(x)"),
    "kept": ("self.net = net.module", "self.net = net"),
    "in a list": ("losses.step()", "print([copy])"),
    "given to what is not known": ("losses.step()", "optimizer.see(copy)"),
    "named by its text": ("losses.step()", "eval('copy')(x)"),
}


def test_minor_where_nothing_calls_the_wrapper(tmp_path: Path) -> None:
    assert _minor(UNUSED, tmp_path) == [True, False, True]


@pytest.mark.parametrize("case", USED)
def test_worth_a_warning_where_something_may_call_it(case: str, tmp_path: Path) -> None:
    assert _minor(UNUSED.replace(*USED[case]), tmp_path)[2] is False


@pytest.mark.parametrize("use", ["return self.parts(x).sum()", "return self.watch(self.parts, x)"])
def test_worth_a_warning_where_an_attribute_may_be_called(use: str, tmp_path: Path) -> None:
    assert _minor(UNUSED.replace("return x.sum()", use), tmp_path)[0] is False


def test_minor_where_only_an_evaluation_calls_it_beside_the_one_that_learns(tmp_path: Path) -> None:
    scored = UNUSED.replace("losses.step()", "score(copy, x)")
    assert _minor(scored, tmp_path) == [True, False, True]
    assert _minor(scored.replace("return net(x)", "return net(x).sum().backward()"), tmp_path)[2] is False
    alone = scored.replace("learner = nn.DataParallel(model)", "learner = model")
    assert _minor(alone, tmp_path) == [True, False]


LOADED = (
    IMPORTS
    + """
net = nn.DataParallel(nn.Linear(8, 2))
net.load_state_dict(torch.load("net.pt"))
net = net.module.cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in DataLoader([(1, 2)]):
    net(x.cuda()).sum().backward()
    optimizer.step()
"""
)
STILL = {
    "not taken off": ("net = net.module.cuda()", "net = net.cuda()"),
    "taken off by another name": ("net = net.module.cuda()", "inner = net.module.cuda()"),
    "taken off now and then": ("net = net.module", "if optimizer:\n    net = net.module"),
    "used before": (
        "net = net.module",
        "for x, y in DataLoader([(3, 4)]):\n    net(x.cuda()).sum().backward()\nnet = net.module",
    ),
    "kept before": ("net = net.module", "kept = [net]\nnet = net.module"),
}


def test_minor_where_it_is_taken_off_before_it_is_used(tmp_path: Path) -> None:
    assert _minor(LOADED, tmp_path) == [True]


@pytest.mark.parametrize("case", STILL)
def test_worth_a_warning_where_it_is_there_when_it_is_used(case: str, tmp_path: Path) -> None:
    assert _minor(LOADED.replace(*STILL[case]), tmp_path) == [False]


LOOKS = "net = nn.DataParallel(nn.Linear(8, 2).cuda())\nnet.load_state_dict(torch.load('net.pt'))\nbest = net.module\n"


def test_minor_in_a_script_that_trains_nothing_only_where_it_checks_gradients(tmp_path: Path) -> None:
    checks = LOOKS.replace("best = net.module", "print(torch.autograd.gradcheck(net, torch.zeros(1, 8).cuda()))")
    assert _minor(IMPORTS + checks, tmp_path) == [True]
    assert _minor(IMPORTS + checks.replace("gradcheck", "watch"), tmp_path) == [False]
    inside = "class Map:\n    def __init__(self):\n" + "".join(f"        {one}\n" for one in LOOKS.splitlines())
    assert _minor(IMPORTS + inside.replace("best =", "self.net ="), tmp_path) == [False]


HOLDERS = (
    IMPORTS
    + """
class Base:
    def __init__(self):
        self.net = self.build().cuda()
    def build(self):
        pass
    def train(self):
        pass
class Learner(Base):
    def build(self):
        return nn.Linear(8, 2)
    def train(self):
        optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        for x, y in DataLoader([(1, 2)]):
            self.net(x.cuda()).sum().backward()
            optimizer.step()
class Guesser(Base):
    def build(self):
        net = conf.nets[0]()
        if conf.several:
            net = nn.DataParallel(net)
        return net
    def test(self):
        self.net.eval()
        return [self.net(x.cuda()) for x, y in DataLoader([(1, 2)])]
def run(kind):
    kind = Learner if conf.learns else Guesser
    one = kind()
    one.train()
"""
)


def test_minor_where_the_classes_of_its_object_only_evaluate(tmp_path: Path) -> None:
    assert _minor(HOLDERS, tmp_path) == [True]
    learns = HOLDERS.replace("return [self.net(x.cuda())", "return [self.net(x.cuda()).sum().backward()")
    assert _minor(learns, tmp_path) == [False]
    assert _minor(HOLDERS.replace("one.train()", "one.net.train()"), tmp_path) == [False]
    assert _minor(HOLDERS.replace("self.net.eval()", "self.net.float()"), tmp_path) == [False]


LISTED = (
    IMPORTS
    + """
def prepared(net, scale=1.0, gpu_ids=[]):
    if len(gpu_ids) > 0:
        net = nn.DataParallel(net, gpu_ids)
    return net
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = prepared(nn.Linear(8, 2))
    def forward(self, x):
        return self.layer(x)
net = Net().cuda()
for x, y in DataLoader([(1, 2)]):
    net(x.cuda()).sum().backward()
"""
)
ASKED = {
    "another test": ("len(gpu_ids) > 0", "len(gpu_ids) >= 0"),
    "given by name": ("nn.Linear(8, 2))", "nn.Linear(8, 2), gpu_ids=[0, 1])"),
    "given by place": ("nn.Linear(8, 2))", "nn.Linear(8, 2), 1.0, conf.gpus)"),
    "another default": ("gpu_ids=[]", "gpu_ids=[0, 1]"),
    "filled": ("    if len(gpu_ids)", "    gpu_ids.append(0)\n    if len(gpu_ids)"),
    "handed on": ("net = Net().cuda()", "net = conf.again(prepared, Net().cuda())"),
}


@pytest.mark.parametrize("test", ["len(gpu_ids) > 0", "gpu_ids", "len(gpu_ids) != 0"])
def test_minor_where_no_call_gives_the_list_of_gpus(tmp_path: Path, test: str) -> None:
    assert _minor(LISTED.replace("len(gpu_ids) > 0", test), tmp_path) == [True]
    same = LISTED.replace("nn.Linear(8, 2))", "nn.Linear(8, 2), scale=2.0, gpu_ids=[])")
    assert _minor(same.replace("len(gpu_ids) > 0", test), tmp_path) == [True]


@pytest.mark.parametrize("case", ASKED)
def test_not_minor_where_one_may_give_it(tmp_path: Path, case: str) -> None:
    assert _minor(LISTED.replace(*ASKED[case]), tmp_path) == [False]
