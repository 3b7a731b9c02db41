"""Which factories alone made what a tensor holds."""

from __future__ import annotations

import libcst as cst

from accel_advisor.values.fillings import filled_by, fills_of, may_be_number
from accel_advisor.values.values import UNKNOWN, Constant, Opaque, Sequence, Tensor

ONES, RAND = cst.Call(cst.Name("ones")), cst.Call(cst.Name("rand"))
A, B, DATA = Tensor(fills=frozenset({ONES})), Tensor(fills=frozenset({RAND})), Tensor()


def test_what_is_computed_of_fillings_and_numbers_is_made_by_their_factories() -> None:
    assert fills_of([A, Constant(2), UNKNOWN, Opaque("math.log")]) == {ONES}
    assert fills_of([A, B]) == fills_of([Sequence((A, B))]) == {ONES, RAND}


def test_data_is_made_by_none() -> None:
    for data in (DATA, Opaque("numpy.zeros"), Sequence((B, DATA)), Sequence((B, UNKNOWN))):
        assert fills_of([A, data]) == frozenset()


def test_what_takes_tensors_only_may_be_given_data() -> None:
    assert filled_by("mul", [A, UNKNOWN]) == {ONES}
    assert filled_by("matmul", [A, UNKNOWN]) == filled_by("exp", [UNKNOWN, A]) == frozenset()


def test_another_tensor_may_lend_its_form() -> None:
    assert filled_by("expand_as", [A, DATA]) == {ONES}
    assert filled_by("mul", [A, DATA]) == frozenset()


def test_many_factories_are_not_followed() -> None:
    calls = [cst.Call(cst.Name("ones")) for _ in range(9)]
    assert fills_of([Tensor(fills=frozenset(calls[:8]))]) == frozenset(calls[:8])
    assert fills_of([Tensor(fills=frozenset({one})) for one in calls]) == frozenset()


def test_an_array_is_no_number() -> None:
    assert may_be_number(UNKNOWN)
    assert not may_be_number(Opaque("numpy.zeros"))
