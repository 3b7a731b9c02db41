"""ACC208 host-sync-every-step, where a step waits anyway: what reads beside that has little left to wait for."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.finding import Finding, Severity
from accel_advisor.project.target import Target, Versions
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from ..checks import Pair, check_pair, findings_of
from .programs import BATCH, CLASSIFIER

SCALED = CLASSIFIER + (
    """
optimizer = torch.optim.Adam(model.parameters())
scaler = torch.amp.GradScaler("cuda")
total = 0.0
for i, (x, y) in enumerate(loader):
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    out = model(x)
    loss = criterion(out, y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    total += loss.item()
"""
)
TIMED = (
    CLASSIFIER
    + "def read(value):\n    return value.item()\n"
    + BATCH.replace("    loss.backward()", "    a = loss.item()\n    loss.backward()")
)
ONE_FUNCTION = CLASSIFIER + (
    """
optimizer = torch.optim.Adam(model.parameters())
scaler = torch.amp.GradScaler("cuda")
def learn(x, y):
    loss = criterion(model(x.to(device, non_blocking=True)), y.to(device, non_blocking=True))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return loss.item()
for x, y in loader:
    learn(x, y)
"""
)
WRAPPED = CLASSIFIER + (
    """
optimizer = torch.optim.Adam(model.parameters())
class Scaler:
    def __init__(self):
        self._scaler = torch.amp.GradScaler("cuda")
    def __call__(self, loss, optimizer):
        self._scaler.scale(loss).backward()
        self._scaler.step(optimizer)
        self._scaler.update()
scaler = Scaler()
for x, y in loader:
    loss = criterion(model(x.to(device, non_blocking=True)), y.to(device, non_blocking=True))
    scaler(loss, optimizer)
    a = loss.item()
"""
)
STEPS = "    torch.cuda.synchronize()\n"


def of(source: str, folder: Path) -> Finding:
    """The only finding of the rule about a program."""
    (found,) = findings_of("ACC208", source, folder)
    return found


LITTLE_IS_LEFT = {
    "after the step of a scaler": (SCALED, "    scaler.step(optimizer)\n", "    optimizer.step()\n"),
    "right before it": (
        SCALED.replace("    scaler.step", "    total += loss.item()\n    scaler.step"),
        "    scaler.step(optimizer)\n",
        "    optimizer.step()\n",
    ),
    "an optimizer that is not fused": (SCALED, "model.parameters())", "model.parameters(), fused=True)"),
    "a scaler that is on": (SCALED, '"cuda")\ntotal', '"cuda", enabled=conf.amp)\ntotal'),
    "no option": (SCALED, "    scaler.step", "    if conf.amp: scaler.step"),
    "every step": (SCALED, "    scaler.step", "    if i % 4 == 0: scaler.step"),
    "no more to compute": (SCALED, "    total += loss", "    total += model(x).sum()"),
    "in a function": (
        SCALED.replace("    total += loss.item()", "    total += read(loss)").replace(
            "total = 0.0", "def read(value):\n    return value.item()"
        ),
        "    scaler.step(optimizer)\n",
        "    optimizer.step()\n",
    ),
    "in one function": (ONE_FUNCTION, "    scaler.step(optimizer)\n", "    optimizer.step()\n"),
    "before the backward pass": (ONE_FUNCTION, "    scaler.scale", "    print(loss.max().item())\n    scaler.scale"),
    "in a wrapper": (WRAPPED, "self._scaler.step(optimizer)", "optimizer.step()"),
    "once a step": (
        SCALED,
        "    total += loss.item()",
        "    for p in model.parameters(): total += p.grad.sum().item()",
    ),
    "a clock": (TIMED + STEPS, STEPS, ""),
    "a clock for all": (TIMED + STEPS, "    torch", "    if conf.timed: torch"),
    "a clock, and what stands in the loop": (
        TIMED + STEPS,
        "    a = loss.item()\n",
        "    a = read(loss)\n",
    ),
    "a clock at every step": (TIMED + STEPS, "    torch", "    if i % 100 == 0: torch"),
}


@pytest.mark.parametrize("case", LITTLE_IS_LEFT)
def test_minor_beside_what_waits_in_any_case(case: str, tmp_path: Path) -> None:
    source, condition, instead = LITTLE_IS_LEFT[case]
    assert condition in source
    found = of(source, tmp_path)
    assert found.minor
    assert found.severity is Severity.INFO
    assert found.wait is None
    assert "in any case" in found.message
    assert [one.message for one in found.related].count("the step waits here in any case") == 1
    without = of(source.replace(condition, instead), tmp_path)
    assert not without.minor
    assert "in any case" not in without.message


@pytest.mark.parametrize(("below", "minor"), [((1, 7), True), ((1, 8), False)])
def test_clipping_asked_the_gpu_until_torch_1_7(below: tuple[int, int], minor: bool, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"{CLASSIFIER}{BATCH}    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    a = loss.item()\n")
    facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
    facts.target = Target(torch=Versions((1, 2), below))
    (found,) = registry()["ACC208"].check(facts)
    assert found.minor is minor


HUNGARIAN = CLASSIFIER + (
    """
from scipy.optimize import linear_sum_assignment
def matched(a, b):
    i, j = linear_sum_assignment(torch.cdist(a, b).detach().cpu())
    return a[torch.as_tensor(i)]
for x, y in loader:
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    out = model(x)
    largest = out.max().item()
    loss = criterion(matched(out, y), y)
    loss.backward()
"""
)


def test_a_read_beside_what_the_host_computes_with_is_not_named_first(tmp_path: Path) -> None:
    """Before the backward pass the host waits for the costs anyway; behind it, it waits once more."""
    found = of(HUNGARIAN, tmp_path)
    assert "first at `torch.cdist(a, b).detach().cpu()`" in found.message
    later = HUNGARIAN.replace("    largest = out.max().item()\n", "") + "    largest = out.max().item()\n"
    assert "first at `out.max().item()`" in of(later, tmp_path).message


SKIPS = CLASSIFIER + BATCH.replace("    loss.backward()", "    if loss.item() < conf.limit:\n        loss.backward()")


SKIPPED = SKIPS + "    else:\n        print(9)\n"


@pytest.mark.parametrize(
    ("source", "condition", "instead"),
    [
        (SKIPPED, "loss.backward()\n    else", "pass\n    loss.backward()\n    if x"),
        (
            SKIPPED.replace("    if loss.item() <", "    a = loss.item()\n    if a <"),
            "    if a <",
            "    if conf.other <",
        ),
    ],
)
def test_what_decides_about_the_gradients_has_to_be_read(
    source: str, condition: str, instead: str, tmp_path: Path
) -> None:
    """To read the loss once an epoch would train on batches that are to be left out."""
    check_pair("ACC208", Pair(source, condition, instead), tmp_path)


def test_a_read_beside_what_decides_about_the_gradients_is_minor(tmp_path: Path) -> None:
    logged = of(SKIPPED.replace("    if loss", "    largest = out.max().item()\n    if loss"), tmp_path)
    assert logged.minor
    assert "at `out.max().item()`" in logged.message
    after = of(SKIPPED + "    largest = out.max().item()\n", tmp_path)
    assert not after.minor


THREE = "    a = loss.item()\n    b = out.max().item()\n    c = out.mean().item()\n"


def test_reads_that_stand_together_wait_once(tmp_path: Path) -> None:
    together = of(CLASSIFIER + BATCH + THREE, tmp_path)
    assert together.severity is Severity.INFO
    assert "3 times at every step" in together.message
    assert "the reads stand together, so that little is left to wait for after the first" in together.message
    early = BATCH.replace("    out", "    d = x.max().item()\n    out").replace(
        "    loss.b", "    e = out.min().item()\n    loss.b"
    )
    apart = of(CLASSIFIER + early + THREE, tmp_path)
    assert apart.severity is Severity.WARNING
    assert "stand together" not in apart.message
    copied = (
        THREE.replace("loss.item()", "out.cpu()")
        .replace("out.max().item()", "y.cpu()")
        .replace("out.mean().item", "x.cpu")
    )
    assert of(CLASSIFIER + BATCH + copied, tmp_path).severity is Severity.WARNING


PICKED = CLASSIFIER + (
    """
for x, y in loader:
    x = x.to(device, non_blocking=True)
    n, c = x.shape
    seen = x[x > 0].reshape(n, -1, c)
    criterion(model(seen), y.to(device, non_blocking=True)).backward()
"""
)


def test_a_mask_that_picks_as_many_of_each_row_is_numbers(tmp_path: Path) -> None:
    assert "of each row it picks as many: index with their numbers" in of(PICKED, tmp_path).message
    assert "picks as many" not in of(PICKED.replace(".reshape(n, -1, c)", ".reshape(-1, c)"), tmp_path).message


def test_a_synchronization_names_what_waits_without_it(tmp_path: Path) -> None:
    (found,) = findings_of("ACC215", TIMED + STEPS, tmp_path)
    assert [one.message for one in found.related] == ["without it, it waits here"]
    assert found.fix is not None
    (alone,) = findings_of("ACC215", TIMED.replace("    a = loss.item()\n", "") + STEPS, tmp_path)
    assert alone.related == ()
