"""ACC208 host-sync-every-step, where an expert reader goes by what stands around the values."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.finding import Confidence
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from ..checks import Pair, check_pair, findings_of, severities

HEAD = """
import math, time
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import lib

data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2))
loader = DataLoader(data, batch_size=16, num_workers=2, pin_memory=True)
model = nn.Linear(8, 2).cuda()
criterion = nn.MSELoss()
total = 0.0
"""
STEP = """
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
    total += loss.item()
"""
LOOP = "for x, y in loader:" + STEP
COUNTED = (
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nfor i, (x, y) in enumerate(loader):"
    + STEP.replace("    total += loss.item()\n", "")
    + "    if i % lib.every == 0:\n        optimizer.step()\n    if i % lib.every == 0:\n        total += loss.item()\n"
)

PROVEN = {
    "a single wait": HEAD + LOOP,
    "a model moved on a condition": (
        HEAD.replace("8, 2).cuda()", "8, 2)") + "if lib.gpu:\n    model = model.cuda()\n" + LOOP
    ),
    "behind a raise": HEAD + LOOP.replace("loader:", "loader:\n    if x.size(0) == 0:\n        raise ValueError"),
    "in a helper": HEAD
    + "def step(x, y):\n"
    + STEP.replace("total += loss.item()", "return {'loss': loss.item()}")
    + "for x, y in loader:\n    print(step(x, y))\n",
    "in both branches": HEAD
    + LOOP.replace("    total +", "    if loss > lib.limit(x):\n        total +")
    + "    else:\n        total -= loss.item()\n",
    "in a loop over losses": HEAD
    + LOOP.replace("    total += loss.item()", "    for one in (loss, out.mean()):\n        print(one.item())"),
    "batches taken one by one": HEAD
    + "it = iter(loader)\nfor step in range(1000):\n    try:\n        x, y = next(it)\n    except StopIteration:\n"
    + "        it = iter(loader)\n        x, y = next(it)"
    + STEP,
}


@pytest.mark.parametrize("source", PROVEN.values(), ids=PROVEN.keys())
def test_reported(source: str, tmp_path: Path) -> None:
    assert findings_of("ACC208", source, tmp_path)


EVIDENT = {
    "a model of a registry": HEAD.replace("nn.Linear(8, 2)", "lib.models['net']()") + LOOP,
    "a wrapped model that is unknown": HEAD.replace(
        "nn.Linear(8, 2).cuda()", "nn.parallel.DistributedDataParallel(lib.build().cuda(), device_ids=[0])"
    )
    + LOOP,
    "a loss of a library": HEAD.replace("nn.MSELoss()", "lib.DiceLoss()") + LOOP,
    "a loss divided by a setting": HEAD
    + LOOP.replace("    loss.backward()", "    loss = loss / lib.steps\n    loss.backward()"),
    "a loader that is unknown": HEAD.replace(
        "DataLoader(data, batch_size=16, num_workers=2, pin_memory=True)", "lib.load()"
    )
    + LOOP,
    "everything given": HEAD
    + "def train(model, loader, criterion, total=0):\n"
    + "".join(f"    {line}\n" for line in LOOP.splitlines()),
    "a loss that the model returns": HEAD.replace("nn.Linear(8, 2)", "lib.AutoModel.from_pretrained('a')")
    + LOOP.replace("criterion(out, y.cuda(non_blocking=True))", "out.loss"),
    "a number of an unknown function in the formula": HEAD + LOOP.replace("loss.item()", "float(loss * lib.weight(x))"),
    "a loop that counts": HEAD
    + "step = 0\nwhile step < 1000:\n    x, y = lib.batch()\n    step += 1"
    + STEP.replace("criterion(out", "lib.criterion(out"),
    "a gradient's norm in a string": HEAD
    + LOOP.replace(
        "total += loss.item()",
        "norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    print('{:.3f}'.format(norm))",
    ),
}


@pytest.mark.parametrize("source", EVIDENT.values(), ids=EVIDENT.keys())
def test_reported_with_what_it_rests_on(source: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", source, tmp_path)
    assert found.confidence is Confidence.PROVEN or "assuming that" in found.message


PAIRS = {
    "a number of numpy": Pair(
        "import numpy as np\n" + HEAD + LOOP.replace("loss.item()", "np.mean(lib.count(x)).item()"),
        "np.mean(lib.count(x))",
        "lib.count(x)",
    ),
    "a batch that was not moved": Pair(
        HEAD + LOOP.replace("in loader", "in lib.load()").replace("loss.item()", "y.max().item()"), "y.max()", "loss"
    ),
    "an epoch in each pass": Pair(
        HEAD + "x, y = next(iter(loader))\nfor epoch in range(1000):" + STEP, "for epoch", "for step"
    ),
    "an epoch in each pass, whatever it is called": Pair(
        HEAD + "x, y = next(iter(loader))\nfor epoch_now in range(1000):" + STEP,
        "x, y = next(iter(loader))\nfor epoch_now in range(1000)",
        "for epoch_now, (x, y) in enumerate(loader)",
    ),
    "a count beside that of the optimizer's steps": Pair(
        HEAD + COUNTED, "\n    if i % lib.every == 0:\n        total", "\n        total"
    ),
    "a count of the steps of one optimizer out of two": Pair(
        HEAD
        + COUNTED.replace("\n    if i % lib.every == 0:\n        total", "\n        total")
        + "    other = torch.optim.SGD(criterion.parameters(), lr=0.1)\n    other.step()\n",
        "\n    other.step()",
    ),
    "no GPU anywhere": Pair(
        HEAD.replace("nn.Linear(8, 2).cuda()", "lib.build()")
        + LOOP.replace("x.cuda(non_blocking=True)", "x").replace("y.cuda(non_blocking=True)", "y"),
        "lib.build()",
        "lib.build().cuda()",
    ),
    "a model that goes to the host": Pair(
        HEAD
        + "def run(net, total=0):\n"
        + "".join(
            f"    {line}\n"
            for line in LOOP.replace("total += loss.item()", "lib.send(net.cpu())\n    net(x)").splitlines()
        ),
        "\n        net(x)",
    ),
    "the first step": Pair(
        HEAD + "first = True\n" + LOOP.replace("    total", "    if first:\n        first = False\n        total"),
        "if first:\n        first = False\n        ",
    ),
    "counted by an attribute": Pair(
        HEAD
        + "class Log:\n    def __init__(self):\n        self.n = 0\n    def tick(self):\n        self.n += 1\n"
        + "    def show(self, loss):\n        if self.n > 9:\n            print(loss.item())\nlog = Log()\n"
        + LOOP.replace("total += loss.item()", "log.tick(); log.show(loss)"),
        "self.n += 1",
        "pass",
    ),
    "as the caller counts": Pair(
        HEAD
        + "def show(loss, now):\n    if now:\n        print(loss.item())\n"
        + LOOP.replace("for x, y in loader", "for i, (x, y) in enumerate(loader)").replace(
            "total += loss.item()", "show(loss, i == 9)"
        ),
        "i == 9",
        "lib.verbosity > 1",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC208", PAIRS[case], tmp_path)


def test_more_severe_where_the_value_is_used_now_and_then(tmp_path: Path) -> None:
    source = HEAD + LOOP.replace("for x, y in loader", "for i, (x, y) in enumerate(loader)")
    shown = "    if i % 100 == 0:\n        print(total / 100)\n        total = 0.0\n"
    assert severities("ACC208", source + shown, tmp_path) == ["warning"]
    assert severities("ACC208", source + shown.replace("if i % 100 == 0", "if lib.shows"), tmp_path) == ["info"]


@pytest.mark.parametrize(
    ("line", "checks"),
    [
        ("if not math.isfinite(loss.item()):\n        raise SystemExit", True),
        ("if torch.isfinite(loss).all().item():\n        total += 1", True),
        ("total += loss[torch.isfinite(loss)].mean().item()", False),
        ("if (loss > 3).all().item():\n        total += 1", False),
    ],
)
def test_a_check_is_to_be_made_now_and_then(line: str, checks: bool, tmp_path: Path) -> None:
    found = findings_of("ACC208", HEAD + LOOP.replace("total += loss.item()", line), tmp_path)
    assert ["check that the value is finite" in one.message for one in found] == [checks]


def test_a_synchronization_is_for_a_rule_of_its_own(tmp_path: Path) -> None:
    timed = "    torch.cuda.synchronize()\n    print(time.time())\n"
    for source in (HEAD + LOOP + timed, HEAD + LOOP + timed.replace("    print", "print")):
        (found,) = findings_of("ACC208", source, tmp_path)
        assert [one.message for one in found.related] == ["the step waits here in any case"]
        assert found.minor
        assert findings_of("ACC215", source, tmp_path)


def test_each_file_reports_its_own(tmp_path: Path) -> None:
    other = "def shown(loss):\n    return loss.item()\n"
    main = tmp_path / "train.py"
    (tmp_path / "other.py").write_text(other)
    main.write_text(HEAD + "from other import shown\n" + LOOP.replace("loss.item()", "shown(loss)"))
    documents = [Document.read(main), Document.read(tmp_path / "other.py")]
    facts = analyze(documents, tmp_path).facts
    rule = registry()["ACC208"]
    assert not list(rule.check(facts[str(main)]))
    (found,) = rule.check(facts[str(tmp_path / "other.py")])
    assert (found.span.start.row, found.related[0].filename) == (2, str(main))


def test_branches_that_exclude_each_other_are_counted_once(tmp_path: Path) -> None:
    either = (
        LOOP.replace("    total +", "    if lib.limit(x) > 3:\n        total +")
        + "    else:\n        total -= out.max().item()\n"
    )
    both = LOOP + "    largest = max(largest, out.max().item())\n"
    for source in (either, either.replace("lib.limit(x) > 3", "conf.amp"), either.replace("out.max()", "loss")):
        (finding,) = findings_of("ACC208", HEAD + source, tmp_path)
        assert "waits for the GPU at every step, at" in finding.message
        assert [one.message for one in finding.related] == ["or here, in another branch"]
    (finding,) = findings_of("ACC208", HEAD + both, tmp_path)
    assert "waits for the GPU 2 times at every step, first at" in finding.message
    (finding,) = findings_of("ACC208", HEAD + LOOP + "    shown = loss.item()\n", tmp_path)
    assert "waits for the GPU at every step, at" in finding.message
    assert [one.message for one in finding.related] == ["it reads the same value here once more"]


SCALER = """
import lib
scaler = lib.Scaler()
def train(model: nn.Module, optimizer, criterion):
    for x, y in loader:
        loss = criterion(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        scaler(loss, optimizer)
        print(loss.item())
"""
METER = """
class Meter:
    def update(self, **given):
        for name, value in given.items():
            if isinstance(value, torch.Tensor):
                value = value.item()
            self.last = value
meter = Meter()
"""


def test_who_forgets_gradients_trains(tmp_path: Path) -> None:
    assert len(findings_of("ACC208", HEAD + SCALER, tmp_path)) == 1
    assert not findings_of("ACC208", HEAD + SCALER.replace("optimizer.zero_grad()", "lib.look(optimizer)"), tmp_path)


def test_silent_about_the_one_way_of_a_function_that_takes_many_things(tmp_path: Path) -> None:
    given = "opt.param_groups[0]['lr']"
    step = f"    opt.zero_grad()\n    meter.update(given={given})\n"
    source = (
        HEAD.replace("total = 0.0", "opt = lib.make(model)")
        + METER
        + LOOP.replace("    total += loss.item()\n", "")
        + step
    )
    assert not findings_of("ACC208", source, tmp_path)
    assert findings_of("ACC208", source.replace(given, "loss"), tmp_path)
    assert findings_of("ACC208", source.replace("if isinstance(value, torch.Tensor)", "if True"), tmp_path)


LEARNED = """
import math, torch
def check(loss):
    if math.isnan(loss):
        raise ValueError
def train(model, criterion, optimizer, scaler, loader, cuda):
    for x, y in loader:
        if cuda:
            x, y = x.cuda(), y.cuda()
        loss = criterion(model(x), y)
        check(loss)
        optimizer.zero_grad()
        LEARN
        optimizer.step()
"""


@pytest.mark.parametrize("learn", ["loss.backward()", "scaler.scale(loss).backward()", "scaler.backward(loss)"])
def test_what_gradients_flow_back_from_is_a_tensor_whatever_made_it(learn: str, tmp_path: Path) -> None:
    assert (
        findings_of("ACC208", LEARNED.replace("LEARN", learn.replace("loss", "criterion(model(x), y)")), tmp_path) == []
    )
    (found,) = findings_of("ACC208", LEARNED.replace("LEARN", learn), tmp_path)
    assert "`math.isnan(loss)`" in found.message


MASKED = """
import conf, torch
from torch import nn
model = nn.Linear(8, 2).cuda()
for x, labels in conf.batches():
    loss = model(x.cuda()).log_softmax(-1).sum(-1)
    loss = loss[INDEX].mean()
    loss.backward()
"""


def test_a_comparison_that_a_tensor_is_indexed_with_is_a_mask(tmp_path: Path) -> None:
    index = Pair(MASKED.replace("INDEX", "conf.kept"), "conf.kept", "labels != conf.padding")
    check_pair("ACC208", index, tmp_path)


TOY = (
    HEAD
    + """
def toy(lib):
    net = nn.Linear(8, 2)
    for x in range(100):
        loss = lib.loss(net(lib.draw()))
        loss.backward()
        print(loss.item())
toy(lib)
"""
)


def test_a_gpu_elsewhere_says_nothing_of_a_training_on_the_host(tmp_path: Path) -> None:
    assert severities("ACC208", TOY, tmp_path) == []
    assert severities("ACC208", TOY.replace("net = nn.Linear(8, 2)", "net = nn.Linear(8, 2).to(lib.device)"), tmp_path)
    assert severities("ACC208", TOY.replace("net(lib.draw())", "model(lib.draw())"), tmp_path)
    assert severities("ACC208", TOY.replace("net = nn.Linear(8, 2)", "net = lib.placed(nn.Linear(8, 2))"), tmp_path)
