"""What a branch wrote stands in the layer below it once the branch is merged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from accel_advisor.values.scope import Scope
from accel_advisor.values.store import Layer, Store
from accel_advisor.values.values import Choice, Constant, Iterated, Qualified, Sequence, Value

Writes = list[tuple[int, str, Value]]

_PLAIN = st.sampled_from([Constant(1), Constant("cuda"), Constant(None), Qualified("torch.nn.Linear")])
_VALUES = st.one_of(_PLAIN, _PLAIN.map(Iterated), st.lists(_PLAIN, max_size=2).map(lambda one: Sequence(tuple(one))))
_WRITES = st.lists(st.tuples(st.integers(0, 1), st.sampled_from("ab"), _VALUES), max_size=6)
_OWNERS = (Scope(None, None, "module"), Qualified("an object"))  # type: ignore[arg-type]


def _written(store: Store, writes: Writes) -> Layer:
    store.push()
    for owner, name, value in writes:
        store.set(_OWNERS[owner], name, value)
    return store.pop()


def _held(store: Store) -> list[Value | None]:
    return [store.get(owner, name) for owner in _OWNERS for name in "ab"]


@given(before=_WRITES, branch=_WRITES, inner=st.booleans())
def test_one_branch_is_as_if_it_had_been_written_here(before: Writes, branch: Writes, inner: bool) -> None:
    merged, direct = Store(), Store()
    for store in (merged, direct):
        if inner:
            store.push()
        for owner, name, value in before:
            store.set(_OWNERS[owner], name, value)
    merged.merge([_written(merged, branch)])
    for owner, name, value in branch:
        direct.set(_OWNERS[owner], name, value)
    assert _held(merged) == _held(direct)
    if inner:
        assert merged.pop() == direct.pop()


@given(before=_WRITES, branch=_WRITES)
def test_a_branch_that_is_merged_later_is_not_changed_by_what_is_written_then(before: Writes, branch: Writes) -> None:
    store = Store()
    layer = _written(store, branch)
    kept = {owner: dict(held) for owner, held in layer.items()}
    store.merge([layer])
    for owner, name, value in before:
        store.set(_OWNERS[owner], name, value)
    assert layer == kept


@given(one=_WRITES, other=_WRITES)
def test_two_branches_leave_what_either_wrote(one: Writes, other: Writes) -> None:
    store = Store()
    for owner in _OWNERS:
        for name in "ab":
            store.set(owner, name, Constant(0))
    alone = []
    for writes in (one, other):
        store.push()
        for owner, name, value in writes:
            store.set(_OWNERS[owner], name, value)
        alone.append(_held(store))
        store.pop()
    store.merge([_written(store, one), _written(store, other)])
    for left, right, both in zip(*alone, _held(store), strict=True):
        assert left is not None
        assert right is not None
        assert both is not None
        if left == right:
            assert both == left
        elif not any(isinstance(value, (Iterated, Sequence)) for value in (left, right)):
            assert both == Choice((left, right))
