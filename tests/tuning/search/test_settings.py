"""Knobs that belong together, and candidates that a machine cannot hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.settings import (
    KNOBS,
    TRAINING_KNOB_NAMES,
    Limits,
    UnknownKnobError,
    arguments,
    changed,
    consistent,
    describe,
    fix_rules,
    parse_knobs,
    prefetch,
    simplicity,
)

any_settings = st.builds(
    Settings,
    num_workers=st.integers(0, 8),
    prefetch_factor=st.none() | st.integers(1, 8),
    persistent_workers=st.booleans(),
    pin_memory=st.booleans(),
    non_blocking=st.booleans(),
).map(consistent)


@given(any_settings)
def test_nothing_changes_from_settings_to_themselves(settings: Settings) -> None:
    assert changed(settings, settings) == {}
    assert consistent(settings) == settings


def test_spelling_out_the_default_prefetch_is_no_change() -> None:
    assert changed(Settings(4), Settings(4, 2)) == {}
    assert changed(Settings(4, 2), Settings(4)) == {}


@given(any_settings, any_settings)
def test_the_changes_lead_from_old_to_new(old: Settings, new: Settings) -> None:
    result = Settings(**{**arguments(old), **changed(old, new)})  # type: ignore[arg-type]
    assert consistent(result) == result
    assert prefetch(result) == prefetch(new)
    assert result.num_workers == new.num_workers
    assert result.persistent_workers == new.persistent_workers


def test_no_workers_take_prefetch_and_persistence_with_them() -> None:
    assert changed(Settings(4, 8, True), Settings()) == {
        "num_workers": 0,
        "prefetch_factor": None,
        "persistent_workers": False,
    }


def test_dataloader_takes_every_consistent_assignment() -> None:
    data = pytest.importorskip("torch.utils.data")
    for settings in (Settings(), consistent(Settings(0, 4, True)), Settings(2, 4, True, True)):
        keywords = arguments(settings)
        del keywords["non_blocking"]
        data.DataLoader([1, 2, 3], **keywords)


def test_knobs_are_parsed_and_unknown_ones_named() -> None:
    assert parse_knobs("num-workers, pin_memory") == {"num_workers", "pin_memory"}
    with pytest.raises(UnknownKnobError, match=r"'batch'.*num_workers"):
        parse_knobs("num_workers,batch")
    with pytest.raises(UnknownKnobError, match="no knob"):
        parse_knobs(" , ")


def test_all_knobs_are_all_but_the_one_that_is_another_training() -> None:
    assert parse_knobs("all") == {*KNOBS, *TRAINING_KNOB_NAMES} - {"batch_size"}
    assert parse_knobs("batch-size,all") == {*KNOBS, *TRAINING_KNOB_NAMES}


def test_fixes_are_knobs_only_where_they_are_named() -> None:
    assert fix_rules(parse_knobs("all")) is None
    assert fix_rules(parse_knobs("num_workers,fixes")) == ()
    chosen = parse_knobs("fixes:ACC205,ACC201, num-workers,blocking-copy")
    assert fix_rules(chosen) == ("ACC201", "ACC205", "blocking-copy")
    assert "num_workers" in chosen
    assert fix_rules(parse_knobs("fixes:")) == ()


def test_settings_are_described_as_they_are_written() -> None:
    assert describe(Settings()) == "num_workers=0"
    assert describe(Settings(4, 2)) == "num_workers=4"
    assert describe(Settings(4, 8, True, True, True)) == (
        "num_workers=4, prefetch_factor=8, persistent_workers=True, pin_memory=True, non_blocking=True"
    )
    assert set(arguments(Settings())) == set(KNOBS)


def test_the_simplest_has_the_fewest_workers_then_the_least_memory() -> None:
    listed = [Settings(4, 8), Settings(4, persistent_workers=True), Settings(2, 8), Settings(), Settings(4)]
    assert sorted(listed, key=simplicity) == [
        Settings(),
        Settings(2, 8),
        Settings(4),
        Settings(4, persistent_workers=True),
        Settings(4, 8),
    ]


def test_no_workers_are_never_refused() -> None:
    assert Limits(cores=0.5, memory=0, shared_memory=0, batch=1 << 40).refusal(Settings()) is None


def test_batches_under_way_must_fit_into_shared_memory() -> None:
    docker = Limits(cores=8, memory=32 << 30, shared_memory=64 << 20, batch=20 << 20)
    refusal = docker.refusal(Settings(2))
    assert refusal is not None
    assert "/dev/shm" in refusal
    assert "64 MiB" in refusal
    assert Limits(cores=8, memory=32 << 30, shared_memory=64 << 20, batch=1 << 20).refusal(Settings(2)) is None


def test_measured_workers_must_fit_into_memory() -> None:
    limits = Limits(cores=8, memory=2 << 30, worker=1 << 30)
    assert limits.refusal(Settings(1)) is None
    assert "memory" in (limits.refusal(Settings(2)) or "")


def test_cores_bound_the_workers() -> None:
    assert Limits(cores=2).most_workers == 16
    assert Limits(cores=8).most_workers == 32
    assert Limits(cores=128).most_workers == 64
    assert Limits(cores=2).refusal(Settings(17)) is not None
    assert Limits(cores=2).largest(Settings(1), range(1, 40)) == 16
