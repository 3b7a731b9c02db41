"""What several ranks say, heard as one voice."""

from __future__ import annotations

import threading
import time
from queue import Empty, Queue
from typing import Any

import pytest

from accel_advisor.tuning.nodes.ranks import RankLost, Ranks, merged, one_block, root_cause, slowest
from accel_advisor.tuning.probe.channel.reasons import Raised, RanksMissing, Unmeasurable
from accel_advisor.tuning.probe.channel.wire import (
    FETCHING,
    SCRIPT,
    Block,
    CandidateFailed,
    Gather,
    Gathered,
    Heartbeat,
    Part,
    Ready,
    Refused,
    ScriptEnded,
    Settings,
    Stopped,
)
from accel_advisor.tuning.search.straggler import Cause, Straggler, straggler
from accel_advisor.tuning.trial.reason_text import candidate_text, loop_text, ranks_text
from accel_advisor.tuning.wording.diagnosis_text import straggler_text

TABLE = """\
train.py FAILED
Failures:
[1]:
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 11)  (SIGTERM)
Root Cause (first observed failure):
[0]:
  time      : 2026-11-21_18:45:46
  host      : somewhere
  rank      : 3 (local_rank: 3)
  exitcode  : -9 (pid: 12)  (SIGKILL)
"""


def block(wait: float = 0.5, compute: float = 0.4, seconds: float = 1.0, ranks: tuple[Part, ...] = ()) -> Block:
    return Block("baseline", 10, 40, seconds, wait, 0.0, compute, seconds - wait - compute, 7.0, ranks=ranks)


class Heard:
    """Two ranks, what they are sent, and what is reported of them."""

    def __init__(self, patience: float = 60.0) -> None:
        self.events: Queue[Any] = Queue()
        self.sent: dict[int, list[Any]] = {0: [], 1: []}
        self.ranks = Ranks(2, self.events.put, patience=patience)
        for rank, sent in self.sent.items():
            self.ranks.join(rank, sent.append)

    def nothing(self) -> bool:
        with pytest.raises(Empty):
            self.events.get_nowait()
        return True

    def next(self) -> Any:
        return self.events.get(timeout=10)


def test_nothing_is_answered_before_every_rank_has_spoken() -> None:
    heard = Heard()
    heard.ranks.hear(1, block())
    assert heard.nothing()
    heard.ranks.hear(0, block())
    assert heard.next().samples == 80


def test_ranks_get_what_all_said_once_all_have_said_it() -> None:
    heard = Heard()
    heard.ranks.hear(1, Gather("b"))
    assert heard.sent == {0: [], 1: []}
    heard.ranks.hear(0, Gather("a"))
    assert heard.sent == {0: [Gathered(("a", "b"))], 1: [Gathered(("a", "b"))]}
    heard.ranks.hear(0, Gather("c"))
    heard.ranks.hear(1, Gather("d"))
    assert heard.sent[1][1] == Gathered(("c", "d"))


def test_a_rank_that_does_not_come_to_the_batch_is_named() -> None:
    heard = Heard(patience=0.05)
    heard.ranks.hear(0, Gather(None))
    refused = heard.next()
    assert isinstance(refused, Refused)
    assert refused.reason == RanksMissing((0,), (1,), 0.05)
    assert loop_text(refused.reason).startswith("rank 0 waited 0 s for rank 1 at the same batch: ")
    assert "DistributedSampler" in loop_text(refused.reason)


def test_a_rank_that_comes_in_time_is_not() -> None:
    others = set(threading.enumerate())
    heard = Heard()
    heard.ranks.hear(0, Gather(None))
    (patience,) = set(threading.enumerate()) - others
    heard.ranks.hear(1, Gather(None))
    patience.join(10)
    assert not patience.is_alive()
    assert heard.nothing()


def test_a_failure_on_one_rank_is_the_candidates() -> None:
    settings = Settings(2, 2)
    bad = CandidateFailed(settings, Raised("OSError: no space", False))
    assert candidate_text(merged([CandidateFailed(settings, None), bad])) == "OSError: no space (on rank 1)"
    assert candidate_text(merged([bad, bad])) == "OSError: no space"


def test_ranks_that_went_different_ways_are_refused() -> None:
    assert merged([block(), Ready((), "cpu", "2.13")]) == Refused(Unmeasurable.RANKS_PARTED)


def test_the_devices_of_all_ranks_are_known() -> None:
    devices = [Ready((), "cuda", "2.13", (uuid,)) for uuid in ("a", "b", "a")]
    assert merged(devices).gpus == ("a", "b", "a")


def test_a_block_takes_as_long_as_its_slowest_rank_and_its_parts_are_those_of_the_rank_that_others_wait_for() -> None:
    found = one_block([block(wait=0.1, compute=0.8, seconds=1.0), block(wait=0.6, compute=0.2, seconds=0.8)])
    assert (found.batches, found.samples, found.seconds) == (10, 80, 1.0)
    assert found.wait == pytest.approx(0.75)
    assert found.wait + found.transfer + found.compute + found.host == pytest.approx(found.seconds)
    assert found.ranks[0] == Part(1.0, 0.1, 0.0, 0.8, pytest.approx(0.1))


def test_the_rank_that_has_got_least_far_and_waits_for_its_loader_is_the_one_that_hangs() -> None:
    behind = Heartbeat(7, FETCHING)
    assert slowest([Heartbeat(8, SCRIPT), behind]) == behind
    assert slowest([Heartbeat(7, SCRIPT), behind]) == behind


def test_the_rank_that_was_lost_first_is_reported_and_no_other() -> None:
    heard = Heard()
    heard.ranks.lose(1)
    heard.ranks.hear(0, ScriptEnded(1, "RuntimeError: connection closed by peer"))
    heard.ranks.lose(0)
    assert heard.next() == RankLost(1)
    time.sleep(0.4)
    assert heard.nothing()


def test_a_rank_that_is_lost_just_behind_the_failure_that_it_caused_is_the_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("accel_advisor.tuning.nodes.ranks.CAUSE_SECONDS", 60.0)
    heard = Heard()
    heard.ranks.hear(0, ScriptEnded(1, "RuntimeError: connection closed by peer"))
    heard.ranks.lose(1)
    assert heard.next() == RankLost(1)


def test_a_failure_names_its_rank_and_the_first_counts() -> None:
    heard = Heard()
    heard.ranks.hear(1, ScriptEnded(1, "ValueError: the loss is NaN"))
    heard.ranks.hear(0, ScriptEnded(1, "RuntimeError: connection closed by peer"))
    assert heard.next() == ScriptEnded(1, "ValueError: the loss is NaN", rank=1)


def test_the_script_has_ended_when_it_has_on_all_ranks() -> None:
    heard = Heard()
    heard.ranks.hear(0, ScriptEnded(0, batches=5))
    heard.ranks.lose(0)
    assert heard.nothing()
    heard.ranks.hear(1, ScriptEnded(0, batches=5, trained=True))
    assert heard.next() == ScriptEnded(0, batches=5, trained=True)


def test_the_child_has_stopped_when_all_ranks_have() -> None:
    heard = Heard()
    heard.ranks.hear(0, Stopped())
    assert heard.nothing()
    heard.ranks.hear(1, Stopped())
    assert heard.next() == Stopped()


def test_no_straggler_is_named_without_one() -> None:
    alike = Part(1.0, 0.5, 0.0, 0.4, 0.1)
    assert straggler([block()]) is None
    assert straggler([block(ranks=(alike, alike))]) is None
    assert straggler([block(ranks=(alike, Part(1.0, 0.53, 0.0, 0.37, 0.1)))]) is None


def test_the_straggler_is_named_with_what_it_does() -> None:
    quick = Part(1.0, 0.1, 0.0, 0.8, 0.1)
    waits = straggler([block(ranks=(quick, Part(1.0, 0.4, 0.0, 0.5, 0.1)))])
    assert waits == Straggler(1, 2, Cause.WAITS, pytest.approx(0.4))
    assert straggler_text(waits) == ("Rank 1 waits for data 40 % of each step; the other waits for it.")
    runs = straggler([block(ranks=(Part(1.0, 0.1, 0.0, 0.4, 0.5), quick, quick))])
    assert runs == Straggler(0, 3, Cause.RUNS_PYTHON, pytest.approx(0.5))
    assert straggler_text(runs) == ("Rank 0 runs Python of its own 50 % of each step; the others wait for it.")


def test_what_torchrun_reports_of_the_first_failure() -> None:
    assert root_cause("") is None
    assert root_cause(TABLE) == (3, -9)


def test_ranks_in_words() -> None:
    assert ranks_text([1]) == "rank 1"
    assert ranks_text([0, 2, 3]) == "ranks 0, 2 and 3"
