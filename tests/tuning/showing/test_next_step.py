"""What a person is told to do next: silent cases with their speaking twin."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from accel_advisor.tuning.record.outcome_record import recorded
from accel_advisor.tuning.record.schema import Explanation, Parts, Record
from accel_advisor.tuning.record.turns_schema import TurnsRecord
from accel_advisor.tuning.search.stops import Verdict
from accel_advisor.tuning.showing.next_step import next_step

from ..outcomes import outcome, printed


@pytest.fixture
def computing(tmp_path: Path) -> Record:
    """Nothing to gain by other settings of the loader, and nearly all of a step is computing."""
    record = recorded(outcome(tmp_path, won=False))
    shares = Parts(0.007, 0.0, 0.968, 0.025)
    return replace(record, script="train.py", shares=shares, verdict=Verdict.NOTHING, device="cuda")


def test_where_computing_is_all_knobs_of_the_training_are_named(computing: Record) -> None:
    words = next_step(computing)
    assert words.startswith("97 % of each step is computing, which no loader makes shorter: ")
    assert "`accel-advisor tune train.py --knobs all`" in words
    assert "tf32" in words
    assert "batch_size" not in words
    assert "activation_checkpointing" not in words
    on_cpu = next_step(replace(computing, device="cpu"))
    assert "tf32" not in on_cpu
    assert "threads" in on_cpu


def test_the_command_has_the_arguments_of_the_script(computing: Record) -> None:
    words = next_step(replace(computing, script="-m pack.train", args=("--lr", "0.1")))
    assert "`accel-advisor tune -m pack.train --knobs all -- --lr 0.1`" in words


def test_silent_where_something_else_comes_first(computing: Record) -> None:
    assert next_step(computing)
    assert not next_step(replace(computing, shares=Parts(0.5, 0.0, 0.45, 0.05)))
    assert not next_step(replace(computing, shares=Parts(None, None, None, None)))
    assert not next_step(replace(computing, verdict=Verdict.UNDECIDED))
    assert not next_step(replace(computing, verdict=Verdict.CHANGE))
    assert not next_step(replace(computing, script="torchrun --nproc-per-node 2 train.py"))


def test_silent_where_knobs_were_tried(computing: Record) -> None:
    assert next_step(computing)
    assert not next_step(replace(computing, turns=TurnsRecord((), "", (), False, None)))


def test_what_costs_most_of_the_waiting_comes_before_it(computing: Record) -> None:
    found = Explanation(computing.trained.baseline.settings, 9, 0.5, (), (), (), "halve it")
    assert next_step(replace(computing, explained=(found,))) == "halve it"
    assert next_step(replace(computing, explained=(replace(found, next=""),))).startswith("97 %")


def test_it_stands_at_the_end_of_the_answer(tmp_path: Path) -> None:
    found = outcome(tmp_path, won=False)
    assert "Next:" not in printed(found)
    assert found.diagnosis is not None
    shares = replace(found.diagnosis.shares, wait=0.0, compute=0.98)
    found.diagnosis = replace(found.diagnosis, shares=shares)
    assert "Next: 98 % of each step is computing" in printed(found)
