"""ACC208 host-sync-every-step: what steps ask so that they do not go wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair, findings_of
from .programs import BATCH, CLASSIFIER


@pytest.mark.parametrize(
    "body", ["if math.isnan(loss.item()): continue", "if torch.isnan(loss):\n        print(9)\n        continue"]
)
def test_what_keeps_a_step_from_going_wrong_has_to_be_asked(body: str, tmp_path: Path) -> None:
    guarded = f"{CLASSIFIER}{BATCH}    {body}\n"
    check_pair("ACC208", Pair(guarded, "continue", "break"), tmp_path)
    (found,) = findings_of("ACC208", guarded + "    a = loss.item()\n", tmp_path)
    assert "at `loss.item()`" in found.message
    assert "keep the value as a tensor" in found.message


def test_what_is_shown_of_values_that_are_not_finite_is_rare(tmp_path: Path) -> None:
    body = "if torch.isnan(loss): print(out.sum().item(), loss.item())"
    (found,) = findings_of("ACC208", f"{CLASSIFIER}{BATCH}    {body}\n", tmp_path)
    assert found.related == ()
    (found,) = findings_of(
        "ACC208", f"{CLASSIFIER}{BATCH}    {body.replace('torch.isnan(loss)', 'conf.shows')}\n", tmp_path
    )
    assert "out.sum().item()" in found.message
