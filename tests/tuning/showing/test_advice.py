"""What is advised of the work that makes the loop wait."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accel_advisor.tuning.probe.channel.wire import DATA_SET, Frame, Passage, Settings, Stack
from accel_advisor.tuning.showing.advice import at_most, is_augmentation, is_decoding
from accel_advisor.tuning.showing.explain import explain

from .test_explain import ROOT, block

LOADING = "torch.utils.data._utils.fetch._MapDatasetFetcher.fetch"
COMPOSE = "torchvision.transforms.transforms.Compose.__call__"
JITTER = "torchvision.transforms.transforms.ColorJitter.forward"
RESIZE = "torchvision.transforms.transforms.Resize.forward"
LOAD = "PIL.ImageFile.ImageFile.load"


def stack(*functions: str, seconds: float = 1.0) -> Stack:
    """The fetching thread, found in the last of these."""
    return Stack(DATA_SET, tuple(Frame("/x.py", one, 1, 1, 1, 5) for one in functions), seconds, seconds / 500)


@pytest.mark.parametrize(
    ("functions", "kind"),
    [
        ((), ""),
        (("__main__.Photos.__getitem__",), ""),
        (("__main__.Photos.__getitem__", COMPOSE), ""),
        (("__main__.Photos.__getitem__", COMPOSE, "__main__.mine"), ""),
        (("__main__.Photos.__getitem__", COMPOSE, RESIZE), ""),
        ((COMPOSE, "torchvision.transforms.transforms.RandomResizedCrop.forward"), ""),
        ((COMPOSE, "torchvision.transforms.transforms.ToTensor.__call__"), ""),
        ((COMPOSE, JITTER), "augmentation"),
        (("albumentations.core.composition.Compose.__call__", "albumentations.pytorch.Affine.apply"), "augmentation"),
        ((COMPOSE, RESIZE, LOAD), "decoding"),
        ((COMPOSE, JITTER, LOAD), "decoding"),
    ],
)
def test_what_a_thread_was_found_at(functions: tuple[str, ...], kind: str) -> None:
    found = stack(*functions)
    assert is_decoding(found) == (kind == "decoding")
    assert is_augmentation(found) == (kind == "augmentation")


def advice(passage: Passage, *stacks: Stack, device: str = "cpu", batch: int = 4) -> str:
    """What is advised for a loop that waits for half of its time, in steps of a tenth of a second."""
    watched = replace(block(0.5, (passage,), stacks), samples=10 * batch)
    found = explain(Settings(0), watched, ROOT, device)
    assert found is not None
    return "\n".join(found.advice)


def test_nothing_is_advised_that_could_bring_next_to_nothing() -> None:
    """The collate function takes all of the fetching, and a fiftieth of the step."""
    assert advice(Passage(0.0, 0.002, 0.0, 0.0, 0.0), batch=1) == ""
    assert "at most 1.05 times as fast" in advice(Passage(0.0, 0.005, 0.0, 0.0, 0.0), batch=1)


def test_augmentation_is_moved_only_to_a_device() -> None:
    stacks = stack(LOADING, COMPOSE, JITTER, seconds=3.0), stack(LOADING, LOAD)
    assert "augmentation" not in advice(Passage(0.04, 0.0, 0.0, 0.0, 0.0), *stacks)
    said = advice(Passage(0.04, 0.0, 0.0, 0.0, 0.0), *stacks, device="cuda")
    assert "75 % of the fetching is augmentation that the device could do to whole batches" in said
    assert "at most 1.4 times as fast" in said
    few = stack(LOADING, COMPOSE, JITTER, seconds=0.1), stack(LOADING, LOAD)
    assert "augmentation" not in advice(Passage(0.04, 0.0, 0.0, 0.0, 0.0), *few, device="cuda")


def test_a_whole_batch_at_once_is_advised_where_samples_are_cheap_and_taken_one_by_one() -> None:
    cheap, own = Passage(0.01, 0.01, 0.0, 0.0, 0.0), stack(LOADING, "__main__.Rows.__getitem__")
    said = advice(cheap, own, batch=1000)
    assert "taking 1000 samples one by one, at 20 µs each: `__getitems__`" in said
    assert "collate function" not in said
    assert "one by one" not in advice(cheap, own, batch=100)
    assert "collate function" in advice(cheap, own, batch=100)
    assert "one by one" not in advice(cheap, stack(LOADING, "__main__.Rows.__getitems__"), batch=1000)
    stream = stack("torch.utils.data._utils.fetch._IterableDatasetFetcher.fetch", "__main__.Rows.__iter__")
    assert "one by one" not in advice(cheap, stream, batch=1000)


def test_what_serves_whole_batches_already_gets_no_such_advice() -> None:
    waits = Passage(0.05, 0.0, 0.04, 0.0, 0.0)
    assert "or `__getitems__`" in advice(waits, stack(LOADING, "__main__.Rows.__getitem__"))
    for own in ("__main__.Rows.__getitems__", "torch.utils.data._utils.fetch._IterableDatasetFetcher.fetch"):
        said = advice(waits, stack(LOADING, own))
        assert "read in sequence" in said
        assert "`__getitems__`" not in said


def test_without_a_part_the_loop_gains_no_more_than_it_waits() -> None:
    assert at_most(block(0.5), 0, 0.02) == pytest.approx(0.1 / 0.08)
    assert at_most(block(0.5), 2, 0.02) == pytest.approx(0.1 / 0.09)
    assert at_most(block(0.5), 0, 9.0) == pytest.approx(2)
