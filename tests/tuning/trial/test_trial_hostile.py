"""Scripts that resist: each is measured or refused in words, and leaves nothing behind."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_WAIT, Block, Measure, Settings, Trait
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial
from accel_advisor.tuning.trial.trial_errors import (
    CandidateError,
    NeverTrained,
    NoLoader,
    NotMeasurable,
    ScriptFailed,
    ScriptFinished,
    TrialEnded,
)

REBUILT = ("by_hand", "exit_handlers", "prints_forever")
"""These build their loader anew for every epoch, so that there are no workers to keep."""


def trial(project: Path, name: str, *args: str, stall: float = 20.0, extend: bool = False) -> Trial:
    command = Command(Path(f"{name}.py"), None, args, project)
    return Trial(command, deadline=time.monotonic() + 300, stall_timeout=stall, extend_epochs=extend)


def to_the_end(running: Trial) -> None:
    """Measure until the trial ends by itself."""
    running.start()
    while True:
        running.measure(Measure(BASELINE, min_batches=8, min_seconds=0.0))


def check(block: Block) -> Block:
    assert block.batches >= 8
    assert block.seconds > 0
    assert block.wait + block.transfer + block.compute + block.host == pytest.approx(block.seconds)
    return block


@pytest.mark.parametrize(
    "name",
    [
        "background",
        "by_hand",
        "deaf",
        "exact_epochs",
        "exit_handlers",
        "iter_next",
        "iterable",
        "leaves_processes",
        "prints_forever",
        "saves_everywhere",
        "slows_down",
        "trainer",
        "zip_two",
    ],
)
def test_it_is_measured_and_nothing_is_left(project: Path, name: str) -> None:
    with trial(project, name) as running:
        measured(running, name)
        running.stop()
    assert running.leaked == ()


def test_one_iterator_for_all_epochs_and_a_block_that_takes_too_long(project: Path) -> None:
    with trial(project, "infinite") as running:
        measured(running, "infinite")
        with pytest.raises(CandidateError, match=r"\d+ batches came within 1 s, too few for a block"):
            running.measure(Measure(BASELINE, min_batches=10**9, most_seconds=1.0))
        check(running.measure(Measure(BASELINE, min_batches=8, min_seconds=0.05)))
        running.stop()
    assert running.leaked == ()


def measured(running: Trial, name: str) -> None:
    """Starts a script and measures it with workers, without and with some that are kept; its output stays small."""
    ready = running.start()
    assert ready.loaders[0].role == "train"
    assert ready.loaders[0].stack[-1].filename.endswith(f"{name}.py") or name == "infinite"
    for what in (BASELINE, Settings(2, 2), NO_WAIT, Settings(2, 2, persistent_workers=True), Settings(1, 4)):
        if name in REBUILT and isinstance(what, Settings) and what.persistent_workers:
            with pytest.raises(CandidateError, match=r"no worker outlives one"):
                running.measure(Measure(what))
        else:
            check(running.measure(Measure(what, min_batches=24, min_seconds=0.05)))
    # The script goes on in its own way between the blocks.
    check(running.measure(Measure(BASELINE, min_batches=50, min_seconds=0.2)))
    assert running._run is not None
    sizes = [(running._run.child.scratch / name).stat().st_size for name in ("stdout", "stderr")]
    least = 1 if name == "prints_forever" else 0
    assert all(least <= size < 1 << 20 for size in sizes), sizes


@pytest.mark.parametrize(
    ("name", "error", "reason"),
    [
        ("cycle", NotMeasurable, r"keeps the batches that it has read once"),
        ("moves_on", NotMeasurable, r"has gone on to another"),
        ("preload", NotMeasurable, r"read once before training"),
        ("foreign_iterator", NotMeasurable, r"Foreign has an __iter__ of its own"),
        ("never_trains", NeverTrained, r"no training step"),
        ("no_loader", NoLoader, r"without iterating a DataLoader"),
        ("no_optimizer", NotMeasurable, r"no optimizer of torch.optim steps in it"),
    ],
)
def test_it_is_refused_in_words(project: Path, name: str, error: type[NotMeasurable], reason: str) -> None:
    with trial(project, name) as running, pytest.raises(error, match=reason):
        to_the_end(running)
    assert running.leaked == ()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_training_in_other_processes_is_refused_in_words(project: Path, method: str) -> None:
    with trial(project, "trains_elsewhere", method) as running, pytest.raises(NotMeasurable, match="in processes that"):
        running.start()
    assert running.leaked == ()


def test_what_cycle_keeps_is_reported_while_it_still_reads(project: Path) -> None:
    with trial(project, "cycle", "4000") as running:
        traits = running.start().loaders[0].traits
    assert Trait.CYCLED in traits


def test_a_failing_script_shows_its_own_traceback(project: Path) -> None:
    with trial(project, "fails_early") as running, pytest.raises(ScriptFailed) as caught:
        running.start()
    lines = caught.value.traceback.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert [line.strip() for line in lines if line.startswith("  File")] == [
        f'File "{project}/fails_early.py", line 9, in <module>',
        f'File "{project}/fails_early.py", line 5, in prepare',
    ]
    assert lines[-1] == "FileNotFoundError: [Errno 2] No such file or directory: 'missing.json'"
    assert caught.value.status == 1
    assert "FileNotFoundError" in caught.value.reason


def test_a_script_that_gives_up_is_quoted(project: Path) -> None:
    with trial(project, "gives_up") as running, pytest.raises(NoLoader, match=r"were: No GPU\. Exiting\.$"):
        running.start()


def test_a_long_message_is_shown_by_its_first_line(project: Path) -> None:
    with trial(project, "many_words") as running, pytest.raises(ScriptFailed, match=r"1: ValueError: no colour: red$"):
        running.start()


def test_a_short_script_is_measured_with_longer_epochs(project: Path) -> None:
    with trial(project, "short") as running, pytest.raises(ScriptFinished) as caught:
        to_the_end(running)
    assert "after 15 batches" in caught.value.reason
    assert [Path(path).name for path in running.contained] == ["epoch.txt"]
    with trial(project, "short", extend=True) as running:
        running.start()
        check(running.measure(Measure(Settings(1, 2), min_batches=100, min_seconds=0.0)))


def test_workers_that_come_to_grief_cost_only_their_candidate(project: Path) -> None:
    with trial(project, "starved_workers") as running:
        running.start()
        for workers, reason in (
            (1, r"File too large|shared memory"),
            (2, r"allocate"),
            (3, r"killed by signal: Killed|exited unexpectedly"),
            (4, r"^KeyError: .*another process"),
            (4, r"^KeyError: .*another process"),
            (5, r"exited unexpectedly|killed by signal"),
            (5, r"exited unexpectedly|killed by signal"),
        ):
            with pytest.raises(CandidateError, match=reason):
                running.measure(Measure(Settings(workers, 2), min_batches=40, min_seconds=0.0))
            check(running.measure(Measure(BASELINE, min_batches=8, min_seconds=0.0)))


def test_a_block_that_takes_too_long_costs_the_candidate(project: Path) -> None:
    with trial(project, "plain_loop") as running:
        running.start()
        with pytest.raises(CandidateError, match=r"within 1 s, too few for a block"):
            running.measure(Measure(BASELINE, min_batches=100_000, most_seconds=1.0))
        check(running.measure(Measure(Settings(1, 2), min_batches=8, min_seconds=0.0, most_seconds=60.0)))


def test_a_hanging_candidate_costs_the_trial(project: Path) -> None:
    with trial(project, "hanging_worker", stall=2.0) as running:
        running.start()
        check(running.measure(Measure(BASELINE, min_batches=8, min_seconds=0.0)))
        with pytest.raises(TrialEnded, match=r"no batch came for 8 s with num_workers=2"):
            running.measure(Measure(Settings(2, 2)))


def test_spawned_workers(project: Path) -> None:
    with trial(project, "spawned") as running:
        assert running.start().loaders[0].start_method == "spawn"
        check(running.measure(Measure(Settings(1, 2), min_batches=8, min_seconds=0.0)))
        running.stop()
    assert running.leaked == ()
    with trial(project, "spawned", "lambda") as running:
        running.start()
        with pytest.raises(CandidateError, match=r"[Pp]ickl"):
            running.measure(Measure(Settings(1, 2), min_batches=8, min_seconds=0.0))
        check(running.measure(Measure(BASELINE, min_batches=8, min_seconds=0.0)))


def test_what_goes_past_the_overlay_is_put_back_or_named(project: Path) -> None:
    with trial(project, "behind_python") as running:
        running.start()
    assert sorted(Path(path).name for path in running.restored) == ["config.json", "raw.bin"]
    assert [Path(path).name for path in running.leaked] == ["touched.txt"]
