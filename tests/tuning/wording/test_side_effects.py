"""What a person must know before taking a change over: silent cases first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accel_advisor.tuning.applying.objections import Objection, Objections
from accel_advisor.tuning.probe.channel.wire import Frame, LoaderInfo, Settings, Trait
from accel_advisor.tuning.wording.side_effects import not_tried, reason_text, short_steps, side_effects

INFO = LoaderInfo(0, "train", (), Settings(), 4, 100, 64, "x.Samples", "fork")
NONE = Objections()


def test_what_stays_as_it_is_has_none() -> None:
    assert side_effects(INFO, Settings(), Settings(), NONE) == []


def test_side_effects_of_workers_are_reported() -> None:
    assert any("augmentations" in note for note in side_effects(INFO, Settings(), Settings(4), NONE))
    kept = side_effects(INFO, Settings(4), Settings(4, None, True), NONE)
    assert any("copy of the data set" in note for note in kept)
    spawned = replace(INFO, start_method="spawn")
    assert any("__main__" in note for note in side_effects(spawned, Settings(), Settings(4), NONE))
    cell = replace(spawned, stack=(Frame("/x/train.ipynb", "<module>", 1, 1, 1, 9),))
    assert not any("__main__" in note for note in side_effects(cell, Settings(), Settings(4), NONE))


def test_batches_that_are_kept_in_memory_are_reported() -> None:
    (note,) = side_effects(replace(INFO, traits=frozenset({Trait.CYCLED})), Settings(), Settings(), NONE)
    assert "itertools.cycle" in note


def test_workers_that_were_not_kept_are_reported_where_the_source_does_not_say_so_itself() -> None:
    rebuilt = Objections(persistence=(Objection.REBUILT,))
    assert not_tried(Settings(2, 2, persistent_workers=True), rebuilt) == []
    (note,) = not_tried(Settings(2, 2), rebuilt)
    assert note.startswith("persistent_workers was not tried: the loader is built again")


@pytest.mark.parametrize("objection", Objection)
def test_every_objection_has_words(objection: Objection) -> None:
    assert reason_text(objection)


@pytest.mark.parametrize(("old", "new"), [(0.02, 0.01), (0.2, 0.003), (0.0012, 0.0010), (0.0003, 0.0003)])
def test_steps_that_the_probe_hardly_lengthens_need_no_word(old: float, new: float) -> None:
    assert short_steps(old, new) == []


@pytest.mark.parametrize(("old", "new"), [(2.2e-3, 2.6e-4), (1e-3, 9e-5), (3e-4, 1e-4)])
def test_a_gain_that_the_probe_hides_a_part_of_is_said_to_be_larger(old: float, new: float) -> None:
    (note,) = short_steps(old, new)
    assert "so short that measuring takes a part of it: the gain is rather larger" in note
