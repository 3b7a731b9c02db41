"""What is printed and what is recorded, from outcomes as they may come, and the exit status that follows."""

from pathlib import Path

import pytest

from accel_advisor.tuning.applying.rewrite import Rewrite
from accel_advisor.tuning.knobs.tried_knobs import TriedKnob, TriedKnobs
from accel_advisor.tuning.page.page import trial_page
from accel_advisor.tuning.probe.knobs.compile_knob import Compile
from accel_advisor.tuning.probe.knobs.fused_optimizer_knob import FusedOptimizer
from accel_advisor.tuning.probe.knobs.thread_binding_knob import ThreadBinding
from accel_advisor.tuning.record.outcome_record import recorded
from accel_advisor.tuning.record.record_file import plain, record_of
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.search.verification import Verification

from ..outcomes import GAIN, outcome, printed


def test_the_sentence_comes_first_and_the_change_last(tmp_path: Path) -> None:
    text = printed(outcome(tmp_path, won=True))
    places = [text.index(part) for part in ("63 % of each step", "Ceiling", "Tried", "Recommended", "+new", "--apply")]
    assert places == sorted(places)
    assert "2.65x (2.58-2.72)" in text
    assert "built at train.py:1; decided by the call of `loader` (train.py:1)" in text
    assert "a worker was killed" in text


def test_the_table_says_which_of_its_figures_is_the_more_exact(tmp_path: Path) -> None:
    found = outcome(tmp_path, won=True)
    assert "is measured in turns with the settings in the source: it is more exact" in printed(found)
    found.rows = found.rows[:1]
    assert "more exact" not in printed(found)


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
    assert "Nothing to gain: no other settings are faster than those in the source." in none


@pytest.mark.parametrize(
    ("written", "verification", "words"),
    [
        (False, None, "This changes the training. Run again with --apply --unsafe-fixes to write it and verify it."),
        (False, Verification(True, GAIN), "Together they run 2.65x (2.58-2.72) as fast. This changes the training."),
        (True, Verification(True, GAIN), "Applied and verified: the new source runs 2.65x (2.58-2.72) as fast."),
        (False, Verification(False, None, "the gain did not show"), "Left as it was, byte for byte: train.py."),
    ],
)
def test_knobs_of_the_training_are_reported_everywhere(
    tmp_path: Path, written: bool, verification: Verification | None, words: str
) -> None:
    found = outcome(tmp_path, won=False)
    assert found.recommendation is None
    rewrite = Rewrite({tmp_path / "train.py": b"old"}, {tmp_path / "train.py": b"new"}, "--- a\n+++ b\n-old\n+fused\n")
    slower = Interval(1 / 2.65, 1 / 2.72, 1 / 2.58, 5)
    tried = (
        TriedKnob(FusedOptimizer(), "fused=True", GAIN, 0.0001, 0.3, diff=rewrite.diff),
        TriedKnob(Compile(), "model.compile()", slower, 0.0, 12.5, refused="it is slower"),
        TriedKnob(
            ThreadBinding(), "os.sched_setaffinity(0, {0})", GAIN, 0.0, 0.0, remedy="write it by hand", caution="mind"
        ),
    )
    found.turns = TriedKnobs(tried, rewrite, verification, written)
    assert found.left_on_the_table is not written
    text, page = printed(found), trial_page(record_of(plain(recorded(found))))
    for said in (words, "fused_optimizer", "+0.01 %", "it is slower", "+fused"):
        assert said in text
        assert said in page
    assert "By hand: write it by hand." in text
    assert "By hand: write it by hand" in page
    assert "+12.5 s" in text
