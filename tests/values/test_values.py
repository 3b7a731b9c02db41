"""How values are joined: in any order and grouping, with the same result."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from accel_advisor.values.evidence import PROVEN, Evidence, Ground
from accel_advisor.values.places import HOST, SOMEWHERE
from accel_advisor.values.tensors import BatchSource
from accel_advisor.values.values import UNKNOWN, Choice, Constant, Loader, Tensor, Value, join, join_all

KEPT = Evidence.of(Ground.KEPT)
TRAIN, TEST = Loader(BatchSource()), Loader(BatchSource())
BATCH = Tensor(HOST, TRAIN.call, (0,))
NOTHING = Constant(None)

ONE = st.sampled_from(
    (
        UNKNOWN,
        NOTHING,
        Constant(8),
        TRAIN,
        TEST,
        BATCH,
        replace(BATCH, place=SOMEWHERE),
        Tensor(HOST),
        Tensor(SOMEWHERE),
    )
)


@settings(max_examples=300)
@given(ONE, ONE, ONE)
def test_joins_in_any_order(one: Value, two: Value, three: Value) -> None:
    assert join(one, one) == one
    assert join(one, two) == join(two, one)
    assert join(join(one, two), three) == join(one, join(two, three))
    assert join_all((one, two, three)) == join_all((three, one, two))


def test_keeps_a_loader_that_may_be_anything() -> None:
    assert join(TRAIN, UNKNOWN) == replace(TRAIN, basis=KEPT)
    assert join_all((NOTHING, TRAIN, UNKNOWN)) == replace(TRAIN, basis=KEPT)
    assert join_all((UNKNOWN, TRAIN, TEST)) == Choice((replace(TRAIN, basis=KEPT), replace(TEST, basis=KEPT)))
    assert join(TRAIN, NOTHING) == Choice((TRAIN, NOTHING))


def test_keeps_a_batch_that_may_be_anything() -> None:
    assert join(UNKNOWN, BATCH) == replace(BATCH, proven=False, basis=KEPT)


def test_keeps_nothing_else() -> None:
    assert join(Constant(8), UNKNOWN) == UNKNOWN
    assert join(Tensor(HOST), UNKNOWN) == UNKNOWN
    assert join(TRAIN, TRAIN).basis == PROVEN  # type: ignore[attr-defined]
