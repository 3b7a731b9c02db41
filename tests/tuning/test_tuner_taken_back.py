"""A real script whose gain does not outlive the edit, in a file of its own, so that it runs beside the others."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from accel_advisor.tuning.search.stops import Verdict
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.tuner import Options, tune

from ..source import notebooks
from .test_tuner import files, printed, write


def as_notebook(command: Command) -> Command:
    """The same script as the cells of a notebook, in its place."""
    assert command.script is not None
    head, _, tail = command.script.read_text().partition("class Samples")
    cells = [notebooks.code(text) for text in (head, f"class Samples{tail}")]
    path = command.script.with_suffix(".ipynb")
    path.write_text(json.dumps(notebooks.notebook(*cells), indent=1))
    command.script.unlink()
    return replace(command, script=path)


@pytest.mark.parametrize("name", ["train.py", "train.ipynb"])
def test_a_gain_that_vanishes_in_the_new_source_is_taken_back(tmp_path: Path, name: str) -> None:
    """The source slows itself down as soon as it says that it has workers: no trial of the old source can know."""
    command = write(tmp_path, step="time.sleep(0.15 if WORKERS else 0.02)")
    if name == "train.ipynb":
        command = as_notebook(command)
    os.utime(tmp_path / name, ns=(10**18, 10**18))
    before = files(tmp_path)
    outcome = tune(command, Options(budget=20, knobs=frozenset({"num_workers"}), apply=True))
    assert outcome.recommendation is not None, outcome.kept
    assert outcome.verified is False
    assert files(tmp_path) == before
    assert (tmp_path / name).stat().st_mtime_ns == 10**18
    assert outcome.verdict is Verdict.NOTHING
    assert not outcome.left_on_the_table
    assert f"Left as it was, byte for byte: {name}" in printed(outcome)
