"""Whether an iterable data set shares itself out among workers, as its code shows; those that do not come first."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
import torch.utils.data
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from accel_advisor.tuning.probe.measuring.worker_shares import shares_of


class Whole(IterableDataset[int]):
    def __init__(self, num_workers: int = 3) -> None:
        self.num_workers = num_workers

    def __iter__(self) -> Iterator[int]:
        return iter(range(10))


class Seeded(IterableDataset[int]):
    """Asks for its worker, but only to begin elsewhere."""

    def __iter__(self) -> Iterator[int]:
        info = torch.utils.data.get_worker_info()
        seed = info.id if info else 0
        return iter(range(seed, seed + 10))


class Shuffled(Whole):
    """Asks for its worker's seed alone, and knows how many there are for another purpose."""

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        first = (info.seed if info else 0) % (self.num_workers or 1)
        return iter(range(first, first + 10))


class Unused(Whole):
    """Could share itself out, but its iteration does not."""

    def share(self) -> range:
        info = get_worker_info()
        return range(info.id, 10, info.num_workers) if info else range(10)


def split(items: list[int]) -> list[int]:
    info = get_worker_info()
    return items[info.id :: info.num_workers] if info else items


class Shared(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(split(list(range(10))))


class Inherited(Shared):
    def __iter__(self) -> Iterator[int]:
        yield from super().__iter__()


class Wrapped(IterableDataset[int]):
    def __init__(self, source: Iterable[int]) -> None:
        self.source = source

    def __iter__(self) -> Iterator[int]:
        for value in self.source:
            yield value + 1


class Staged(IterableDataset[int]):
    """A pipeline of functions, as webdataset has it."""

    def __init__(self, *stages: Callable[[list[int]], list[int]]) -> None:
        self.stages = list(stages)

    def __iter__(self) -> Iterator[int]:
        items = list(range(10))
        for stage in self.stages:
            items = stage(items)
        return iter(items)


def share_out(worker: int) -> None:
    info = get_worker_info()
    assert info is not None
    info.dataset.first = worker * 10 // info.num_workers


def loader(dataset: IterableDataset[int], **arguments: Any) -> DataLoader[int]:
    return DataLoader(dataset, **arguments)


@pytest.mark.parametrize(
    "dataset", [Whole(), Seeded(), Shuffled(), Unused(), Wrapped(Whole()), Wrapped([1, 2]), Staged(sorted)]
)
def test_nothing_shows_that_it_is_shared_out(dataset: IterableDataset[int]) -> None:
    assert shares_of(loader(dataset)) == 1


@pytest.mark.parametrize(
    "dataset",
    [Shared(), Inherited(), Wrapped(Shared()), Wrapped(Wrapped(Inherited())), Staged(sorted, functools.partial(split))],
)
def test_it_is_shared_out_among_any_number(dataset: IterableDataset[int]) -> None:
    assert shares_of(loader(dataset)) is None


def test_the_workers_may_share_it_out_when_they_start() -> None:
    assert shares_of(loader(Whole(), worker_init_fn=share_out)) is None


def test_a_map_needs_no_sharing() -> None:
    assert shares_of(DataLoader(range(10))) is None  # type: ignore[arg-type]
