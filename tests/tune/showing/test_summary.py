"""What is printed and what is recorded, from outcomes as they may come, and the exit status that follows."""

import io
import json
import math
from dataclasses import replace
from pathlib import Path

import click
import pytest
from rich.console import Console

from accel_advisor.commands.output_files import Outputs
from accel_advisor.commands.tune_command import _finish
from accel_advisor.finding import Edit, Location, Span
from accel_advisor.machine.gpus import Sample
from accel_advisor.tune.applying.rewrite import Recommendation, Rewrite
from accel_advisor.tune.knobs.turned_knobs import Turn, Turns
from accel_advisor.tune.page.loads import busy_over_time
from accel_advisor.tune.page.page import trial_page
from accel_advisor.tune.probe.channel.wire import BASELINE, NO_WAIT, Block, Frame, LoaderInfo, Settings
from accel_advisor.tune.record.outcome import Outcome, Row
from accel_advisor.tune.record.record import record
from accel_advisor.tune.record.stored import record_of
from accel_advisor.tune.search.diagnosis import Diagnosis, Shares
from accel_advisor.tune.search.purposes import Purpose
from accel_advisor.tune.search.statistics import Interval
from accel_advisor.tune.search.verification import Verification
from accel_advisor.tune.showing.summary import print_report
from accel_advisor.tune.showing.trace import trace
from accel_advisor.tune.trial.timeline import START, Served
from accel_advisor.tune.wording.figures import interval_text

GAIN = Interval(2.65, 2.58, 2.72, 5)


def outcome(root: Path, *, won: bool, verification: Verification | None = None) -> Outcome:
    script = root / "train.py"
    script.write_text("loader = DataLoader(data)\n")
    frame = Frame(str(script), "<module>", 1, 10, 1, 26)
    edit = Edit("train.py", Span(Location(24, 1, 25), Location(24, 1, 25)), ", num_workers=4")
    recommendation = Recommendation(
        Settings(4),
        Settings(),
        GAIN,
        {"num_workers": 4},
        (edit,),
        Rewrite({script: b"old"}, {script: b"new"}, "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-old\n+new\n"),
        "the call of `loader` (train.py:1)",
    )
    info = LoaderInfo(0, "train", (frame,), Settings(), 16, 100, 4096, "__main__.Data", "fork")
    other = LoaderInfo(1, "other", (frame,), Settings(2), 16, 10, 4096, "__main__.Data", "fork")
    return Outcome(
        root,
        (info, other),
        "cpu",
        "2.13.0",
        Diagnosis(Shares(0.63, 0.0, 0.35, 0.02), {NO_WAIT: Interval(2.7, 2.6, 2.8, 3)}, 0.0, 0.0),
        (
            Row(Settings(), 412.0, None, 9),
            Row(Settings(4), 1093.0, GAIN, 7),
            Row(Settings(8), 900.0, Interval(2.2, 0.0, math.inf, 1), 1),
            Row(Settings(16), None, None, 0, "a worker was killed"),
        ),
        412.0,
        1093.0,
        recommendation if won else None,
        "" if won else "no other settings are faster than those in the source",
        verification=verification,
    )


def printed(found: Outcome, *, width: int = 160) -> str:
    console = Console(width=width, file=io.StringIO(), highlight=False, markup=False)
    print_report(found, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_sentence_comes_first_and_the_change_last(tmp_path: Path) -> None:
    text = printed(outcome(tmp_path, won=True))
    places = [text.index(part) for part in ("63 % of each step", "Ceiling", "Tried", "Recommended", "+new", "--apply")]
    assert places == sorted(places)
    assert "2.65x (2.58-2.72)" in text
    assert "built at train.py:1; decided by the call of `loader` (train.py:1)" in text
    assert "a worker was killed" in text


def test_lines_of_the_diff_stay_whole_on_a_narrow_terminal(tmp_path: Path) -> None:
    found = outcome(tmp_path, won=True)
    assert found.recommendation is not None
    long = "+loader = DataLoader(data, " + "shuffle=True, " * 12 + "num_workers=4)"
    object.__setattr__(found.recommendation.rewrite, "diff", long + "\n")
    assert long in printed(found, width=60)


def test_plain_output_has_no_control_codes(tmp_path: Path) -> None:
    assert "\x1b" not in printed(outcome(tmp_path, won=True))


def test_what_was_done_is_said(tmp_path: Path) -> None:
    held = printed(outcome(tmp_path, won=True, verification=Verification(True, GAIN)))
    assert "Applied and verified: the new source runs 2.65x (2.58-2.72) as fast. Changed: train.py." in held
    back = printed(outcome(tmp_path, won=True, verification=Verification(False, None, "the gain did not show")))
    assert "Left as it was, byte for byte: train.py. The gain did not show." in back
    none = printed(outcome(tmp_path, won=False))
    assert "Nothing to change: no other settings are faster than those in the source." in none


def test_intervals_that_say_nothing_are_left_out() -> None:
    assert interval_text(Interval(2.0, 0.0, math.inf, 1)) == "about 2x"
    assert interval_text(Interval(1.2, 0.1, 14.0, 2)) == "about 1.2x"
    assert interval_text(GAIN) == "2.65x (2.58-2.72)"


def test_the_record_has_the_agreed_shape(tmp_path: Path) -> None:
    data = record(outcome(tmp_path, won=True, verification=Verification(True, GAIN)))
    json.dumps(data, allow_nan=False)
    first, second = data["loaders"]
    assert first["site"] == {"filename": "train.py", "row": 1}
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


@pytest.mark.parametrize(
    ("won", "held", "check", "status"),
    [
        (False, None, True, 0),
        (True, None, False, 0),
        (True, None, True, 1),
        (True, False, True, 1),
        (True, True, True, 0),
    ],
)
def test_check_fails_on_a_gain_left_on_the_table(
    tmp_path: Path, won: bool, held: bool | None, check: bool, status: int
) -> None:
    found = outcome(tmp_path, won=won, verification=None if held is None else Verification(held, None))
    context = click.Context(click.Command("tune"))
    code = 0
    try:
        _finish(context, found, Console(quiet=True), Outputs(tmp_path / "out.json"), check=check)
    except click.exceptions.Exit as end:
        code = end.exit_code
    assert code == status
    assert json.loads((tmp_path / "out.json").read_text())["verified"] is held


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
    blocks = record(found)["blocks"]
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
    plain = record(found)
    assert plain["samples"] == []
    assert {one["device"] for one in (*plain["tried"], *plain["blocks"])} == {None}
    assert "GPU" not in printed(found)
    assert "GPU" not in trial_page(record_of(plain))

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
    data = record(found)
    assert [one["at"] for one in data["samples"]] == [3.5, 4.5, 6.5]
    use = {"busy": pytest.approx(0.3), "memory": 3 * gib, "power": 150.0, "clock": 1500.0}
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


def test_paths_are_told_relative_to_the_project(tmp_path: Path) -> None:
    found = outcome(tmp_path, won=False)
    found.contained, found.leaked = (str(tmp_path / "out" / "model.pt"), "/elsewhere/x"), ("notes.txt",)
    data = record(found)
    assert data["contained"] == ["out/model.pt", "/elsewhere/x"]
    assert data["leaked"] == ["notes.txt"]


@pytest.mark.parametrize(
    ("written", "verification", "words"),
    [
        (False, None, "This changes the training. Run again with --apply --unsafe-fixes to write it and verify it."),
        (False, Verification(True, GAIN), "Together they run 2.65x (2.58-2.72) as fast. This changes the training."),
        (True, Verification(True, GAIN), "Applied and verified: the new source runs 2.65x (2.58-2.72) as fast."),
        (False, Verification(False, None, "the gain did not show"), "Left as it was, byte for byte: train.py."),
    ],
)
def test_knobs_of_the_training_are_told_everywhere(
    tmp_path: Path, written: bool, verification: Verification | None, words: str
) -> None:
    found = outcome(tmp_path, won=False)
    assert found.recommendation is None
    rewrite = Rewrite({tmp_path / "train.py": b"old"}, {tmp_path / "train.py": b"new"}, "--- a\n+++ b\n-old\n+fused\n")
    tried = (
        Turn("fused_optimizer", "fused=True", GAIN, 0.0001, 0.3, diff=rewrite.diff),
        Turn("compile", "model.compile()", GAIN.inverse, 0.0, 12.5, refused="it is slower"),
        Turn(
            "thread_binding", "os.sched_setaffinity(0, {0})", GAIN, 0.0, 0.0, remedy="write it by hand", caution="mind"
        ),
    )
    found.turns = Turns(tried, rewrite, verification, written)
    assert found.left_on_the_table is not written
    text, page = printed(found), trial_page(record_of(record(found)))
    for said in (words, "fused_optimizer", "+0.01 %", "it is slower", "+fused"):
        assert said in text
        assert said in page
    assert "By hand: write it by hand." in text
    assert "By hand: write it by hand" in page
    assert "+12.5 s" in text
