"""ACC201 in evaluations whose every pass waits for the GPU anyway."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Frequency, Severity

from ..checks import findings_of
from ..programs import MODEL, PHOTOS

LOADER = "loader = DataLoader(photos, num_workers=2, pin_memory=True)\nright = 0\n"
READS = "for x, y in loader:\n    x = x.cuda()\n    right += model(x).argmax(1).sum().item()"
EVALUATION = PHOTOS + MODEL + LOADER + READS
WRAPPED = (
    (EVALUATION + "\n")
    .replace("    x = x.cuda()\n", "")
    .replace(LOADER, LOADER + "model = nn.parallel.DistributedDataParallel(model, device_ids=[0])\n")
)
NOT_ASIDE = {
    "a training": EVALUATION + "\n    model(x).sum().backward()",
    "nothing is read": EVALUATION.replace(".item()", ""),
    "read now and then": EVALUATION.replace("    right +=", "    if len(x) % 100 == 0: right +="),
    "read when it is done": EVALUATION.replace(".item()", "") + "\nprint(right.item())",
}


@pytest.mark.parametrize("pins", [True, False], ids=["pinned", "pageable"])
@pytest.mark.parametrize("source", [EVALUATION, WRAPPED], ids=["a copy", "a wrapper's copy"])
def test_worth_less_where_each_pass_waits(source: str, pins: bool, tmp_path: Path) -> None:
    found = findings_of("ACC201", source if pins else source.replace(", pin_memory=True", ""), tmp_path)
    assert found or not pins
    for one in found:
        assert (one.severity, one.aside, one.minor) == (Severity.INFO, True, True)


@pytest.mark.parametrize("case", NOT_ASIDE)
def test_worth_as_much_as_ever(case: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC201", NOT_ASIDE[case], tmp_path)
    assert (found.severity, found.aside, found.minor) == (Severity.WARNING, False, False)


def test_a_pageable_copy_is_reported_where_nothing_is_trained_and_nothing_is_read(tmp_path: Path) -> None:
    pageable = EVALUATION.replace(", pin_memory=True", "")
    (found,) = findings_of("ACC201", pageable.replace(".item()", ""), tmp_path)
    assert (found.severity, found.aside, found.minor) == (Severity.INFO, False, False)


def test_parts_of_a_batch_are_copied_in_its_pass(tmp_path: Path) -> None:
    parts = EVALUATION.replace("x = x.cuda()", "x, y = [t.cuda() for t in (x, y)]")
    (found,) = findings_of("ACC201", parts, tmp_path)
    assert found.aside
    (found,) = findings_of("ACC201", parts + "\n    model(x).sum().backward()", tmp_path)
    assert not found.aside


FEW = (
    EVALUATION.replace("right += model(x).argmax(1).sum().item()", "model(x)")
    .replace("in loader:", "in itertools.islice(loader, few):")
    .replace("loader = ", "import itertools\nfew = len(photos) // 8\nloader = ")
    .replace("right = 0\n", "right = 0\nfor x, y in DataLoader(photos):\n    model(x).sum().backward()\n")
)


def test_a_pass_over_a_few_batches_that_trains_nothing_is_no_step(tmp_path: Path) -> None:
    (found,) = findings_of("ACC201", FEW, tmp_path)
    assert (found.severity, found.frequency) == (Severity.INFO, Frequency.EPOCH)
    whole = FEW.replace("itertools.islice(loader, few)", "loader")
    for source in (FEW + "\n    model(x).sum().backward()", whole):
        (found,) = findings_of("ACC201", source, tmp_path)
        assert (found.severity, found.frequency) == (Severity.WARNING, Frequency.STEP)
