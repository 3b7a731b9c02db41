"""A real script whose gain does not outlive the edit, in a file of its own, so that it runs beside the others."""

import os
from pathlib import Path

import pytest

from accel_advisor.tuning.search.stops import Verdict
from accel_advisor.tuning.tuner import Options, tune

from .test_tuner import files, printed, write

pytestmark = pytest.mark.alone


def test_a_gain_that_vanishes_in_the_new_source_is_taken_back(tmp_path: Path) -> None:
    """The source slows itself down as soon as it says that it has workers: no trial of the old source can know."""
    command = write(tmp_path, step="time.sleep(0.08 if WORKERS else 0.01)")
    os.utime(tmp_path / "train.py", ns=(10**18, 10**18))
    before = files(tmp_path)
    outcome = tune(command, Options(budget=20, knobs=frozenset({"num_workers"}), apply=True))
    assert outcome.recommendation is not None, outcome.kept
    assert outcome.verified is False
    assert files(tmp_path) == before
    assert (tmp_path / "train.py").stat().st_mtime_ns == 10**18
    assert outcome.verdict is Verdict.NOTHING
    assert not outcome.left_on_the_table
    assert "Left as it was, byte for byte: train.py" in printed(outcome)
