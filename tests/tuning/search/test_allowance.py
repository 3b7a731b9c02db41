"""How the time of a trial is shared out."""

from __future__ import annotations

from accel_advisor.tuning.probe.channel.wire import BASELINE, Settings
from accel_advisor.tuning.search.allowance import Allowance, runs_seconds, whole


def test_the_time_of_a_whole_run_follows_the_budget() -> None:
    assert whole(60.0) == 90.0
    assert whole(6.0) == 36.0
    assert whole(200.0) == 300.0


def test_a_search_leaves_as_much_as_the_verification_takes_but_keeps_half_its_budget() -> None:
    alone = Allowance(60.0, 2, Settings())
    assert (alone.limit, alone.end) == (66.0, 60.0)
    for start in (1.0, 3.0, 6.0):
        found = Allowance(60.0, 2, Settings(), start)
        found.spend(BASELINE, 2.0, None)
        fewest = min(runs_seconds(4, 2, start, 2.0), runs_seconds(2, 3, start, 2.0))
        assert 30.0 <= found.end <= found.limit <= whole(60.0) - fewest
    assert Allowance(60.0, 2, Settings(), 100.0).end == 30.0
    assert Allowance(6.0, 2, Settings(), 100.0).end == 6.0
