"""ACC101 for loaders of evaluations whose every pass waits for the GPU anyway."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Severity

from ..checks import findings_of
from ..programs import MODEL, PHOTOS

EVALUATION = (
    PHOTOS
    + MODEL
    + """
loader = DataLoader(photos, num_workers=2)
right = 0
for x, y in loader:
    x = x.cuda()
    right += model(x).argmax(1).sum().item()
"""
)
NOT_ASIDE = {
    "asynchronous as far as it can be": EVALUATION.replace("x.cuda()", "x.cuda(non_blocking=True)"),
    "nothing is read": EVALUATION.replace(".item()", ""),
    "trained on, too": EVALUATION + "for x, y in loader:\n    model(x.cuda()).sum().backward()",
}


def test_minor_where_each_pass_waits(tmp_path: Path) -> None:
    (found,) = findings_of("ACC101", EVALUATION, tmp_path)
    assert (found.severity, found.aside, found.minor) == (Severity.INFO, True, True)


@pytest.mark.parametrize("case", NOT_ASIDE)
def test_worth_as_much_as_ever(case: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC101", NOT_ASIDE[case], tmp_path)
    assert (found.severity, found.aside, found.minor) == (Severity.WARNING, False, False)
