"""What knowledge rests on, and how it is joined and worded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from accel_advisor.finding import Confidence
from accel_advisor.values.evidence import PROVEN, Evidence, Ground

EVIDENCE = st.lists(st.sampled_from(Ground), max_size=4).map(lambda grounds: Evidence.of(*grounds))


@given(EVIDENCE, EVIDENCE, EVIDENCE)
def test_evidence_joins_like_a_set(one: Evidence, two: Evidence, three: Evidence) -> None:
    assert one | one == one
    assert one | two == two | one
    assert (one | two) | three == one | (two | three)
    assert one | PROVEN == one == PROVEN | one


@given(EVIDENCE, EVIDENCE)
def test_what_rests_on_evidence_is_not_proven(one: Evidence, two: Evidence) -> None:
    assert (one | two).proven == (one.proven and two.proven)
    assert one.confidence is (Confidence.PROVEN if one.proven else Confidence.EVIDENT)


def test_grounds_are_worded_for_a_message() -> None:
    assert PROVEN.words == PROVEN.clause == ""
    assert Evidence.of(Ground.NAME).clause == ", assuming that the loop goes over a DataLoader"
    assert Evidence.of(Ground.NAME, Ground.LOOP, Ground.GPU, Ground.MOVE).clause == (
        ", assuming that the device is a GPU and that the loop goes over a DataLoader"
    )
    assert Evidence.of(Ground.NAME, Ground.LOOP, Ground.MOVE, Ground.NAME).words == (
        "the loop over it, the call that moves it and its name"
    )
