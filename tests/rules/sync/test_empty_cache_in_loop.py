"""ACC214 empty-cache-in-loop, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Confidence

from ..checks import Pair, check, check_one, check_pair, findings_of, fixed
from ..programs import REGRESSION, REGRESSION_STEP

SILENT = {
    "once an epoch": "for epoch in range(9):\n    for x, y in loader:\n        model(x.cuda(non_blocking=True))\n    torch.cuda.empty_cache()",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC214", REGRESSION + "import conf\n" + source + "\n", tmp_path)


LOADED = REGRESSION + "import conf\n"
PAIRS: dict[str, tuple[str, ...]] = {
    "condition": (
        REGRESSION_STEP + "    if conf.low:\n        torch.cuda.empty_cache()",
        "if conf.low",
        "with torch.enable_grad()",
    ),
    "as an option says": (
        REGRESSION_STEP + "    if conf.low:\n        torch.cuda.empty_cache()",
        "if conf.low",
        "if torch.cuda.is_available()",
    ),
    "now and then": (
        (
            "for i, (x, y) in enumerate(loader):\n    out = model(x.cuda(non_blocking=True))\n"
            "    loss = criterion(out, y.cuda(non_blocking=True))\n    loss.backward()\n    if i % 100 == 0:\n"
            "        torch.cuda.empty_cache()"
        ),
        "if i % 100 == 0",
        "with torch.enable_grad()",
    ),
    "now and then, gc": (
        (
            "for i, (x, y) in enumerate(loader):\n    out = model(x.cuda(non_blocking=True))\n"
            "    loss = criterion(out, y.cuda(non_blocking=True))\n    loss.backward()\n    import gc\n"
            "    if i % 100 == 0:\n        gc.collect()"
        ),
        "if i % 100 == 0",
        "with torch.enable_grad()",
    ),
    "when memory is short": (
        (
            "for x, y in loader:\n    try:\n        model(x.cuda(non_blocking=True))\n"
            "    except RuntimeError:\n        torch.cuda.empty_cache()"
        ),
        "torch.cuda.empty_cache",
        "pass\n    torch.cuda.empty_cache",
    ),
    "between phases": (
        (
            "for e in range(3):\n    for x, y in loader:\n        model(x.cuda()).sum().backward()\n"
            "    torch.cuda.empty_cache()\n    for x, y in loader:\n        model(x.cuda())"
        ),
        (
            "e in range(3):\n    for x, y in loader:\n        model(x.cuda()).sum().backward()\n"
            "    torch.cuda.empty_cache()\n    for x, y in loader:\n        model(x.cuda()"
        ),
        (
            "x, y in loader:\n    out = model(x.cuda(non_blocking=True))\n"
            "    loss = criterion(out, y.cuda(non_blocking=True))\n    loss.backward()\n"
            "    torch.cuda.empty_cache("
        ),
    ),
    "measures memory": (
        REGRESSION_STEP + "    torch.cuda.empty_cache()\n    print(torch.cuda.max_memory_allocated())",
        "print(torch.cuda.max_memory_allocated())",
        "pass",
    ),
    "measures what is reserved": (
        REGRESSION_STEP + "    torch.cuda.empty_cache()\n    print(torch.cuda.memory_reserved())",
        "print(torch.cuda.memory_reserved())",
        "pass",
    ),
    "measures through a module that is looked up": (
        REGRESSION_STEP + "    torch.cuda.empty_cache()\n    print(getattr(torch, conf.kind).memory_allocated())",
        "print(getattr(torch, conf.kind).memory_allocated())",
        "pass",
    ),
    "asks for free memory": (
        REGRESSION_STEP + "    torch.cuda.empty_cache()\n    print(torch.cuda.mem_get_info())",
        "print(torch.cuda.mem_get_info())",
        "pass",
    ),
    "prints a summary": (
        REGRESSION_STEP + "    torch.cuda.empty_cache()\n    print(torch.cuda.memory_summary())",
        "print(torch.cuda.memory_summary())",
        "pass",
    ),
    "reads statistics": (
        REGRESSION_STEP + "    torch.cuda.empty_cache()\n    print(torch.cuda.memory_stats())",
        "print(torch.cuda.memory_stats())",
        "pass",
    ),
    "no batches": (
        "for i in range(9):\n    torch.cuda.empty_cache()",
        "i in range(9):",
        (
            "x, y in loader:\n    out = model(x.cuda(non_blocking=True))\n"
            "    loss = criterion(out, y.cuda(non_blocking=True))\n    loss.backward()"
        ),
    ),
    "no model": (
        "for x, y in loader:\n    torch.cuda.empty_cache()",
        "torch.cuda.empty_cache",
        (
            "out = model(x.cuda(non_blocking=True))\n    loss = criterion(out, y.cuda(non_blocking=True))\n"
            "    loss.backward()\n    torch.cuda.empty_cache"
        ),
    ),
    "another function": (REGRESSION_STEP + "    conf.empty_cache()", "conf.", "torch.cuda."),
    "after memory was short": (
        (
            "for x, y in loader:\n    oom = False\n    try:\n        model(x.cuda())\n"
            "    except torch.cuda.OutOfMemoryError:\n        oom = True\n    if oom:\n"
            "        torch.cuda.empty_cache()"
        ),
        (
            "oom = False\n    try:\n        model(x.cuda())\n    except torch.cuda.OutOfMemoryError:\n"
            "        oom = True\n    if oom:\n        "
        ),
        (
            "out = model(x.cuda(non_blocking=True))\n    loss = criterion(out, y.cuda(non_blocking=True))\n"
            "    loss.backward()\n    "
        ),
    ),
    "gc, once an epoch": ("import gc\n" + REGRESSION_STEP + "gc.collect()", "\ngc.collect", "\n    gc.collect"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC214", Pair(LOADED + source, *change), tmp_path)


def test_an_early_end_of_the_loop_is_no_condition_and_passes_that_are_counted_off_are(tmp_path: Path) -> None:
    exit_ = "    steps += 1\n    if steps == 9:\n        break\n"
    cleaned = "    torch.cuda.empty_cache()\n"
    head, step = REGRESSION + "steps = 0\n", REGRESSION_STEP.split("\n", 1)
    loop = f"{step[0]}\n"
    assert len(findings_of("ACC214", head + loop + cleaned + step[1] + exit_, tmp_path)) == 1
    assert len(findings_of("ACC214", head + loop + step[1] + exit_ + cleaned, tmp_path)) == 1
    counted = exit_.replace("== 9", "% 9").replace("break", "continue")
    assert len(findings_of("ACC214", head + loop + cleaned + step[1] + counted, tmp_path)) == 1
    check_one("ACC214", head + loop + step[1] + counted + cleaned, tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
import gc
for x, y in loader:
    x = model(x.cuda(non_blocking=True))
    gc.collect()  # -> ACC214 warning unsafe
    torch.cuda.empty_cache()  # -> ACC214 warning unsafe
"""
    check(REGRESSION + source, tmp_path)
    assert "gc.collect()" not in fixed("ACC214", REGRESSION + source, tmp_path)


HELPER = """
import gc, conf
def flush():
    gc.collect()
    torch.cuda.empty_cache()
def train(net, optimizer):
    for epoch in range(9):
        for i in range(conf.steps):
            net(conf.batch(i)).sum().backward()
            optimizer.step()
            flush()
        flush()
"""
IN_HELPERS = {
    "once an epoch": Pair(
        REGRESSION + HELPER.replace("            flush()\n", ""), "        flush()\n", "            flush()\n"
    ),
    "every hundredth step": Pair(
        REGRESSION + HELPER.replace("            flush()\n", "            if i % 100 == 0:\n                flush()\n"),
        "if i % 100 == 0",
        "with torch.enable_grad()",
    ),
    "nothing learns": Pair(
        REGRESSION + HELPER.replace(".sum().backward()", ""), "batch(i))", "batch(i)).sum().backward()"
    ),
}


@pytest.mark.parametrize("pair", IN_HELPERS.values(), ids=IN_HELPERS.keys())
def test_silent_in_a_function_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    source = pair.source.replace("            optimizer.step()\n", "")
    check_pair("ACC214", Pair(source, pair.condition, pair.instead), tmp_path)


def test_reports_what_a_function_does_that_each_step_calls(tmp_path: Path) -> None:
    collected, emptied = findings_of("ACC214", REGRESSION + HELPER, tmp_path)
    assert (collected.fix, emptied.fix) == (None, None)
    assert "the steps of this loop call it" in emptied.related[0].message


FACTORY = (
    "import torch, conf\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        torch.cuda.empty_cache()\n"
    "        return x * 2\nnet = conf.build().cuda()\nfor x in conf.loader:\n    net(x.cuda()).sum().backward()\n"
)


def test_in_the_forward_of_what_a_factory_may_build_it_is_info(tmp_path: Path) -> None:
    (found,) = findings_of("ACC214", FACTORY, tmp_path)
    assert (str(found.severity), found.confidence) == ("info", Confidence.EVIDENT)
    assert findings_of("ACC214", FACTORY.replace("conf.build()", "torch.nn.Linear(8, 2)"), tmp_path) == []


def test_memory_that_another_function_measures_is_no_matter(tmp_path: Path) -> None:
    report = "def report():\n    print(torch.cuda.memory_reserved())\n"
    source = REGRESSION + report + REGRESSION_STEP + "    torch.cuda.empty_cache()\n"
    assert len(findings_of("ACC214", source, tmp_path)) == 1
    assert findings_of("ACC214", source + "    print(torch.cuda.memory_reserved())\n", tmp_path) == []


SLICED = """import gc
import conf
import torch
from torch import nn

model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
for turn in range(conf.turns):
    model.zero_grad()
    for at in range(conf.batches):
        loss = model(conf.data[at : at + 8].cuda()).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    scheduler.step()
    gc.collect()
"""
TURNS: dict[str, Pair] = {
    "gradients are forgotten once more before the steps of an epoch": Pair(
        SLICED, "        optimizer.step()\n        optimizer.zero_grad()\n", "    optimizer.step()\n"
    ),
    "the same, with a backward pass of its own": Pair(SLICED, "    gc.", "    model.weight.sum().backward()\n    gc."),
    "the same, with the step of another library's optimizer": Pair(
        SLICED.replace(
            "scheduler =", "from apex.optimizers import FusedAdam\nother = FusedAdam(model.parameters())\nscheduler ="
        ),
        "    scheduler.step()",
        "    other.zero_grad()\n    other.step()",
    ),
}


@pytest.mark.parametrize("case", TURNS)
def test_a_turn_of_many_steps(case: str, tmp_path: Path) -> None:
    check_pair("ACC214", TURNS[case], tmp_path)
