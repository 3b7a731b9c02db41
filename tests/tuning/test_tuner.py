"""The whole story on real scripts in real processes: what is measured, changed, verified, put back, and left alone."""

import json
import os
import sys
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from accel_advisor.tuning.page.page import trial_page
from accel_advisor.tuning.record.outcome import Outcome
from accel_advisor.tuning.record.outcome_record import recorded
from accel_advisor.tuning.record.record_file import plain, read_record, record_of, write_record
from accel_advisor.tuning.search.search import Search
from accel_advisor.tuning.search.stops import Verdict
from accel_advisor.tuning.showing.summary import print_report
from accel_advisor.tuning.showing.trace import trace
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.tuner import Options, tune

pytest.importorskip("torch")

SCRIPT = """\
import os
import time

import torch
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
WORKERS = 0  # decided here


class Samples(Dataset):
    def __len__(self):
        return 200

    def __getitem__(self, index):
        {fetch}
        return torch.ones(4), torch.zeros(1)


def main():
    model = torch.nn.Linear(4, 1)
    loader = DataLoader(Samples(), batch_size=4, num_workers=WORKERS, pin_memory=True)
    for epoch in range({epochs}):
        for inputs, targets in loader:
            loss = (model(inputs) - targets).square().mean()
            loss.backward()
            with torch.no_grad():  # by hand: with its first optimizer torch imports its compiler, in each run
                for parameter in model.parameters():
                    parameter -= 0.1 * parameter.grad
            model.zero_grad()
            {step}
    open("finished", "w").close()


if __name__ == "__main__":
    main()
"""
SLOW, STEP = "time.sleep(0.01)", "time.sleep(0.02)"
"""Two workers pay threefold, and beside such sleeps it matters little how busy the machine is."""


def write(folder: Path, *, fetch: str = SLOW, step: str = STEP, epochs: int = 1000) -> Command:
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    (folder / "train.py").write_text(SCRIPT.format(fetch=fetch, step=step, epochs=epochs))
    return Command(folder / "train.py", None, (), folder)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def printed(outcome: Outcome) -> str:
    from rich.console import Console

    console = Console(width=160, record=True, file=open(os.devnull, "w"))  # noqa: SIM115 -- closed with the process
    print_report(outcome, console)
    return console.export_text()


@pytest.mark.alone
def test_a_script_with_nothing_to_gain_is_left_alone(tmp_path: Path) -> None:
    """It also ends too early, and has to be started again with longer epochs."""
    command = write(tmp_path, fetch="pass", step="time.sleep(0.03)", epochs=1)
    before = files(tmp_path)
    outcome = tune(command, Options(budget=6, apply=True))
    assert outcome.recommendation is None
    assert outcome.verified is None
    assert files(tmp_path) == before
    assert not outcome.left_on_the_table
    assert outcome.verdict in (Verdict.NOTHING, Verdict.UNDECIDED)
    assert recorded(outcome).verdict == outcome.verdict
    assert ("Nothing to gain" in printed(outcome)) == (outcome.verdict is Verdict.NOTHING)
    (loader,) = plain(recorded(outcome))["loaders"]
    assert loader["recommended"] == loader["baseline"]
    assert loader["gain"] == {"ratio": 1.0, "low": 1.0, "high": 1.0}


def test_a_starved_script_is_changed_where_the_value_is_decided_and_verified(tmp_path: Path) -> None:
    command = write(tmp_path)
    before = files(tmp_path)
    outcome = tune(command, Options(budget=20, knobs=frozenset({"num_workers"}), apply=True))
    found = outcome.recommendation
    assert found is not None, outcome.kept
    workers = found.settings.num_workers
    assert workers > 0
    assert found.gain.low > 1.02
    assert outcome.verification is not None
    assert outcome.verification.holds, outcome.verification
    after = before["train.py"].replace(b"WORKERS = 0", f"WORKERS = {workers}".encode())
    assert files(tmp_path) == {**before, "train.py": after}
    assert not outcome.left_on_the_table

    text = printed(outcome)
    assert text.index("of each step waits for data") < text.index("Tried") < text.index("-WORKERS = 0")
    assert "Applied and verified" in text
    write_record(recorded(outcome), tmp_path / "out.json")
    data = json.loads((tmp_path / "out.json").read_text())
    loader = data["loaders"][0]
    assert loader["site"]["filename"] == "train.py"
    assert loader["role"] == "train"
    assert loader["recommended"]["settings"]["num_workers"] == workers
    assert loader["recommended"]["rate"] > loader["baseline"]["rate"] > 0
    assert loader["edits"] == [
        {
            "filename": "train.py",
            "content": str(workers),
            "location": {"row": 8, "column": 11},
            "end_location": {"row": 8, "column": 12},
            "cell": None,
        }
    ]
    assert sum(data["shares"].values()) == pytest.approx(1, abs=1e-3)
    assert data["ceilings"]["no-wait"]["ratio"] > 1.5
    assert data["verified"] is True
    assert {"settings", "rate", "gain", "blocks", "failed"} <= set(data["tried"][0])
    check_timeline(data, tmp_path / "out.json")


def check_timeline(data: dict[str, Any], path: Path) -> None:
    """The blocks of a run that was applied, in their order; the record that was read again is the same."""
    blocks = data["blocks"]
    assert [block["what"] for block in blocks][:3] == ["start", "baseline", "no-wait"]
    assert {"ceilings", "old against new", "the old source", "the new source"} <= {one["purpose"] for one in blocks}
    assert {one["tried"] for one in blocks if one["purpose"] == "the new source"} == {
        number
        for number, row in enumerate(data["tried"])
        if row["settings"] == data["loaders"][0]["recommended"]["settings"]
    }
    for before, after in pairwise(blocks):
        assert before["began"] + before["seconds"] <= after["began"] + 0.5
    for block in (one for one in blocks if one["rate"]):
        assert 0 < block["measured"] <= block["seconds"]
        assert sum(block["step"].values()) * block["batches"] == pytest.approx(block["measured"], rel=0.01)
    if sys.platform == "linux":
        assert all(row["cores"] is not None for row in data["tried"] if row["rate"])
    stored = read_record(path)
    assert asdict(stored) == asdict(record_of(data))
    assert len(trace(stored)["traceEvents"]) > len(blocks)
    assert stored.sentence is not None
    assert stored.sentence in trial_page(stored)


def test_workers_that_die_cost_their_candidates_and_nothing_else(tmp_path: Path) -> None:
    fetch = f"{SLOW}; torch.utils.data.get_worker_info() and os._exit(3)"
    outcome = tune(write(tmp_path, fetch=fetch), Options(budget=6))
    assert outcome.recommendation is None
    assert outcome.verdict is Verdict.UNDECIDED
    assert "Undecided: no other settings could be measured; num_workers=" in printed(outcome)
    failed = [row for row in outcome.rows if row.failed]
    assert failed
    assert all(row.settings.num_workers for row in failed)
    assert outcome.diagnosis is not None
    assert outcome.diagnosis.shares.wait > 0.5


def test_an_interrupted_run_keeps_what_it_knows(tmp_path: Path) -> None:
    command = write(tmp_path)
    before = files(tmp_path)

    def stop(_purpose: str, search: Search | None) -> None:
        if search is not None and search.readings.tried:
            raise KeyboardInterrupt

    outcome = tune(command, Options(budget=20, apply=True), watch=stop)
    assert outcome.interrupted
    assert outcome.diagnosis is not None
    assert outcome.recommendation is None
    assert files(tmp_path) == before
    assert outcome.verdict is Verdict.UNDECIDED
    assert "Undecided: interrupted before the last comparison" in printed(outcome)
