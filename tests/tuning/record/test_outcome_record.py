"""What is recorded of an outcome."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from accel_advisor.kernel.trial_report import TrialReport
from accel_advisor.machine.gpus import Sample
from accel_advisor.tuning.page.machine_use import busy_over_time
from accel_advisor.tuning.page.page import trial_page
from accel_advisor.tuning.probe.channel.wire import BASELINE, Block, Settings
from accel_advisor.tuning.record.history import entry_of
from accel_advisor.tuning.record.outcome import Outcome
from accel_advisor.tuning.record.outcome_record import recorded
from accel_advisor.tuning.record.record_file import plain, record_of
from accel_advisor.tuning.search.purposes import Purpose
from accel_advisor.tuning.search.stops import Stop
from accel_advisor.tuning.search.verification import Verification
from accel_advisor.tuning.showing.history_text import recorded_rate
from accel_advisor.tuning.showing.trace import trace
from accel_advisor.tuning.trial.timeline import START, Served

from ..outcomes import GAIN, outcome, printed


def test_the_record_has_the_agreed_shape(tmp_path: Path) -> None:
    data = plain(recorded(outcome(tmp_path, won=True, verification=Verification(True, GAIN))))
    json.dumps(data, allow_nan=False)
    first, second = data["loaders"]
    assert first["site"] == {"filename": "train.py", "row": 1, "cell": None}
    assert first["baseline"]["rate"] == 412.0
    assert first["recommended"]["settings"] == {
        "num_workers": 4,
        "prefetch_factor": None,
        "persistent_workers": False,
        "pin_memory": False,
        "non_blocking": False,
    }
    assert first["gain"] == {"ratio": 2.65, "low": 2.58, "high": 2.72}
    assert first["edits"][0]["location"] == {"row": 1, "column": 25}
    assert (second["role"], second["recommended"], second["gain"], second["edits"]) == ("other", None, None, [])
    assert data["shares"] == {"wait": 0.63, "transfer": 0.0, "compute": 0.35, "host": 0.02}
    assert data["tried"][2]["gain"] == {"ratio": 2.2, "low": None, "high": None}
    assert data["tried"][3]["failed"] == "a worker was killed"
    assert data["verified"] is True
    documented = (Path(__file__).parents[3] / "docs" / "json.md").read_text()
    assert all(f"`{key}`" in documented for key in data)


def test_blocks_of_the_new_source_are_those_of_what_is_recommended(tmp_path: Path) -> None:
    found = outcome(tmp_path, won=True)
    block = Block(BASELINE, 8, 128, 1.0, 0.5, 0.0, 0.5, 0.0, 3.0, worker_bytes=5 << 20)
    found.timeline = (
        Served(START, Purpose.START, 0.0, 2.0),
        Served(BASELINE, Purpose.CEILINGS, 2.0, 1.5, block, cores=1.25),
        Served(Settings(16), Purpose.WORKERS, 3.5, 0.5, None, "a worker was killed"),
        Served(BASELINE, Purpose.OLD_SOURCE, 4.0, 1.5, block),
        Served(BASELINE, Purpose.NEW_SOURCE, 6.0, 1.5, block),
    )
    blocks = plain(recorded(found))["blocks"]
    assert [(one["what"], one["tried"]) for one in blocks] == [
        ("start", None),
        ("baseline", 0),
        ("candidate", 3),
        ("baseline", 0),
        ("candidate", 1),
    ]
    assert blocks[2]["failed"] == "a worker was killed"
    assert (blocks[1]["rate"], blocks[1]["cores"], blocks[1]["worker_bytes"]) == (128.0, 1.25, 5 << 20)
    assert blocks[1]["step"] == {"wait": 0.0625, "transfer": 0.0, "compute": 0.0625, "host": 0.0}


def test_samples_of_a_gpu_reach_every_output(tmp_path: Path) -> None:
    found = outcome(tmp_path, won=True)
    old = Block(BASELINE, 8, 128, 2.0, 1.0, 0.0, 1.0, 0.0, began=1003.0)
    new = Block(Settings(4), 8, 128, 1.0, 0.0, 0.0, 1.0, 0.0, began=1006.0)
    row, best, *others = found.rows
    found.rows = (replace(row, measured=(old,)), replace(best, measured=(new,)), *others)
    found.timeline = (
        Served(BASELINE, Purpose.CEILINGS, 2.0, 3.0, old),
        Served(Settings(4), Purpose.WORKERS, 5.0, 2.0, new),
    )
    data = plain(recorded(found))
    assert data["samples"] == []
    assert {one["device"] for one in (*data["tried"], *data["blocks"])} == {None}
    assert "GPU" not in printed(found)
    assert "GPU" not in trial_page(record_of(data))

    gib, found.clock = 1 << 30, 1000.0
    found.samples = (
        Sample(999.9, 1.0, 9 * gib, 700.0, 2000),  # before the run
        Sample(1003.5, 0.2, 2 * gib, 100.0, 1000),
        Sample(1004.5, 0.4, 3 * gib, 200.0, 2000),
        Sample(1006.5, 0.9, 3 * gib, None, None),
    )
    said = printed(found)
    assert "GPU           30 % busy, 3.0 GiB in use, 150 W, 1,500 MHz\n" in said
    assert "GPU           90 % busy, 3.0 GiB in use\n" in said
    data = plain(recorded(found))
    assert [one["at"] for one in data["samples"]] == [3.5, 4.5, 6.5]
    use = {"busy": pytest.approx(0.3), "memory": 3 * gib, "power": 150.0, "clock": 1500.0, "joules": None}
    assert data["tried"][0]["device"] == data["blocks"][0]["device"] == use
    assert data["tried"][1]["device"]["busy"] == 0.9
    assert data["tried"][2]["device"] is None
    stored = record_of(json.loads(json.dumps(data)))
    page = trial_page(stored)
    assert "3.0 GiB in use, 150 W" in page
    assert [one.height for one in busy_over_time(stored)] == [
        pytest.approx(32 * busy, abs=0.01) for busy in (0.2, 0.4, 0.9)
    ]
    counters = [event for event in trace(stored)["traceEvents"] if event["name"].startswith("GPU")]
    assert [event["args"] for event in counters if event["name"] == "GPU power"] == [{"W": 100.0}, {"W": 200.0}]
    assert [event["ts"] for event in counters if event["name"] == "GPU busy"] == [3.5e6, 4.5e6, 6.5e6]


def metered(root: Path, *, applied: bool) -> Outcome:
    """Three pairs of blocks of a second each, in which a sample takes 4 J now and 3 J with what is recommended."""
    found = outcome(root, won=True, verification=Verification(True, GAIN) if applied else None)
    began = [1000.0 + 2 * number for number in range(3)]
    old = tuple(Block(BASELINE, 10, 100, 1.0, 0.5, 0.0, 0.5, 0.0, began=at) for at in began)
    new = tuple(Block(Settings(4), 10, 100, 1.0, 0.5, 0.0, 0.5, 0.0, began=at + 1) for at in began)
    row, best, *others = found.rows
    found.rows = (replace(row, measured=old), replace(best, measured=new), *others)
    found.timeline = (
        Served(BASELINE, Purpose.OLD_AGAINST_NEW, 0.0, 1.0, old[0]),
        Served(Settings(4), Purpose.OLD_AGAINST_NEW, 1.0, 1.0, new[0]),
    )
    found.pairs, found.clock, counter = tuple(zip(old, new, strict=True)), 1000.0, 0.0
    for number in range(30):
        found.samples += (Sample(1000.05 + 0.2 * number, 0.5, None, None, None, counter),)
        counter += 0.2 * (300 if number // 5 % 2 else 400)
    return found


def test_energy_reaches_every_output(tmp_path: Path) -> None:
    found = metered(tmp_path, applied=False)
    said = "4 J per sample now, 3 J with the recommended settings (25 % less, between 25 and 25), as the driver counts"
    assert f"Energy        {said} it for the whole card\n" in printed(found)
    data = plain(recorded(found))
    assert data["energy"] == {
        "now": pytest.approx(4.0),
        "recommended": pytest.approx(3.0),
        "ratio": {"ratio": pytest.approx(0.75), "low": pytest.approx(0.75), "high": pytest.approx(0.75)},
        "pairs": 3,
        "cards": 1,
    }
    assert [one["device"]["joules"] for one in data["blocks"]] == [pytest.approx(4.0), pytest.approx(3.0)]
    assert [one["device"]["joules"] for one in data["tried"][:2]] == [pytest.approx(4.0), pytest.approx(3.0)]
    assert data["samples"][1]["energy"] == pytest.approx(80.0)
    stored = record_of(json.loads(json.dumps(data)))
    assert plain(stored) == data
    assert said in trial_page(stored)
    assert said in TrialReport(stored, "%accel tune")._repr_html_()


def test_without_a_counter_nothing_is_said_of_energy(tmp_path: Path) -> None:
    found = metered(tmp_path, applied=False)
    found.samples = tuple(replace(one, energy=None) for one in found.samples)
    record = recorded(found)
    assert record.energy is None
    assert [one.device.joules for one in record.tried if one.device is not None] == [None, None]
    assert "Energy" not in printed(found)
    assert "Energy" not in trial_page(record)
    assert "Energy" not in TrialReport(record, "%accel tune")._repr_html_()


def test_where_nothing_is_recommended_energy_is_that_of_the_source(tmp_path: Path) -> None:
    found = metered(tmp_path, applied=False)
    found.recommendation, found.kept = None, Stop.NOTHING_FASTER
    assert "Energy        4 J per sample now, as the driver counts it for the whole card\n" in printed(found)


def test_the_history_keeps_the_energy_of_the_script_as_it_was_left(tmp_path: Path) -> None:
    left, applied = (entry_of(recorded(metered(tmp_path, applied=applied))) for applied in (False, True))
    assert left is not None
    assert applied is not None
    assert (left.joules, applied.joules) == (pytest.approx(4.0), pytest.approx(3.0))
    assert recorded_rate(left) == "412 samples/s, 4 J per sample"
    assert recorded_rate(replace(left, joules=None)) == "412 samples/s"


def test_paths_are_relative_to_the_project(tmp_path: Path) -> None:
    found = outcome(tmp_path, won=False)
    found.contained, found.leaked = (str(tmp_path / "out" / "model.pt"), "/elsewhere/x"), ("notes.txt",)
    data = plain(recorded(found))
    assert data["contained"] == ["out/model.pt", "/elsewhere/x"]
    assert data["leaked"] == ["notes.txt"]
