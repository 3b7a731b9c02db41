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


NORM = "    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()\n"
DECIDING = {
    "in the loop": NORM + "    if norm < 9: optimizer.step()\n",
    "for a scaler": NORM + "    if norm < 9: scaler.step(optimizer)\n",
    "through what is computed": NORM + "    large = norm > 9\n    if not large:\n        optimizer.step()\n",
    "through a dict": NORM
    + "    stats = {}\n    stats.update(norm=norm)\n    if stats['norm'] < 9: optimizer.step()\n",
    "in a function that reads": "    norm = measure(model)\n    if norm < 9: optimizer.step()\n",
    "in a function that steps": "    take(model)\n",
}
TAKES = """
def measure(model):
    return torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()
def take(model):
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()
    if norm < 9: optimizer.step()
"""


@pytest.mark.parametrize("case", DECIDING)
def test_silent_about_what_decides_whether_gradients_are_used(case: str, tmp_path: Path) -> None:
    head, loop, rest = CLASSIFIER.partition("for ")
    program = f"{head}{TAKES}{loop}{rest}{BATCH}{DECIDING[case]}"
    assert findings_of("ACC208", program, tmp_path) == []
    later = program.replace("optimizer.step()", "print('small')").replace("scaler.step(optimizer)", "scheduler.step()")
    (found,) = findings_of("ACC208", later, tmp_path)
    assert "clip_grad_norm_" in found.message


def test_an_object_that_is_told_a_value_does_not_decide_by_it(tmp_path: Path) -> None:
    """But a list that takes it in does."""
    told = NORM + "    self.log(norm)\n    if self.every: optimizer.step()\n"
    for program in (told, told.replace("self", "conf")):
        (found,) = findings_of("ACC208", f"{CLASSIFIER}self = conf.trainer\n{BATCH}{program}", tmp_path)
        assert "clip_grad_norm_" in found.message
    taken = told.replace("self.log", "norms.append").replace("self.every", "max(norms) < 9")
    assert findings_of("ACC208", f"{CLASSIFIER}norms = []\n{BATCH}{taken}", tmp_path) == []
