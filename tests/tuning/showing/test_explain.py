"""Where a loader spends its time: known splits through real loaders, and the arithmetic behind the words."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, Subset, default_collate

from accel_advisor.tuning.probe.channel.wire import COLLATE, DATA_SET, Block, Frame, Passage, Settings, Stack, Watched
from accel_advisor.tuning.probe.measuring.worker_pools import IndexStream, Pool
from accel_advisor.tuning.record.schema import Explanation
from accel_advisor.tuning.showing.explain import explain, wilson

HERE = Path(__file__)
ROOT = HERE.parent
SAMPLES = 60
"""Of each stage, so that the order of its functions is no matter of luck."""


def decode() -> torch.Tensor:
    time.sleep(0.008)
    return torch.ones(4)


def augment(sample: torch.Tensor) -> torch.Tensor:
    time.sleep(0.002)
    return sample


def join(samples: Any, seconds: float = 0.02) -> Any:
    time.sleep(seconds)
    return default_collate(samples)


class Join:
    def __call__(self, samples: Any) -> Any:
        return join(samples)


class Samples(Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 400

    def __getitem__(self, index: int) -> torch.Tensor:
        return augment(decode())


class Batched(Samples):
    def __getitems__(self, indices: list[int]) -> list[torch.Tensor]:
        return [self[index] for index in indices]


class Stream(IterableDataset[torch.Tensor]):
    def __iter__(self) -> Iterator[torch.Tensor]:
        for _ in range(400):
            yield augment(decode())


def block(wait: float, passages: tuple[Passage, ...] = (), stacks: tuple[Stack, ...] = ()) -> Block:
    return Block("baseline", 10, 40, 1.0, wait, 0.0, 1.0 - wait, 0.0, 0.0, watched=Watched(passages, stacks))


def samples(watched: Watched | None) -> float:
    """How many samples of each stage there are: those that stand for a long time, as on a busy machine, say less."""
    assert watched is not None
    found = []
    for task in (DATA_SET, COLLATE):
        stacks = [one for one in watched.stacks if one.task == task]
        squares = sum(one.squares for one in stacks)
        found.append(sum(one.seconds for one in stacks) ** 2 / squares if squares else 0.0)
    return min(found)


def watch(dataset: Any, workers: int, collate: Any = join, batches: int = 16) -> Explanation:
    """What is said of batches of four: 32 ms of decoding, 8 of augmentation, 20 of the collate function."""
    loader = DataLoader(dataset, batch_size=4, collate_fn=collate)
    stream = None if isinstance(dataset, IterableDataset) else IndexStream(loader.batch_sampler, None)
    settings = Settings(workers)
    pool = Pool(loader, settings, stream, watch=True)
    try:
        for _ in range(2 * workers + 1):
            pool.next()
        assert pool.profile is not None
        pool.profile.begin()
        for number in range(1, 20 * batches):
            pool.next()
            if number % batches == 0 and samples(pool.watched()) >= SAMPLES:
                break
        watched = pool.watched()
        assert watched is not None
        found = explain(settings, block(0.9, watched.passages, watched.stacks), ROOT)
        assert found is not None
        return found
    finally:
        pool.close()


def test_a_pool_that_nobody_watches_is_left_alone() -> None:
    threads = set(threading.enumerate())
    pool = Pool(DataLoader(Samples(), batch_size=2), Settings(0), None)
    pool.next()
    assert pool.watched() is None
    assert set(threading.enumerate()) <= threads
    assert "fetch" not in vars(pool._iterator._dataset_fetcher)
    pool.close()


def test_nothing_is_said_where_nothing_was_seen() -> None:
    assert explain(Settings(), block(0.5), ROOT) is None


@pytest.mark.parametrize(("waits", "said"), [(0.3, False), (0.6, True)])
def test_a_loop_that_waits_a_lot_is_told_what_to_do_next(waits: float, said: bool) -> None:
    """A batch takes 0.1 s, 60 ms of which it waits for a fetch of 60 ms: in half of that it would take 70 ms."""
    stack = Stack(DATA_SET, (Frame(str(HERE), "__main__.Samples.__getitem__", 12, 1, 12, 9),), 1.0, 0.01)
    found = explain(Settings(), block(waits, (Passage(0.06, 0.0, 0.0, 0.0, 0.0),), (stack,)), ROOT)
    assert found is not None
    assert found.next == (
        "with num_workers=0 60 % of each step waits for data: Samples.__getitem__ (test_explain.py:12) takes 100 % of "
        "the fetching; in half of its time the loop would run at most 1.4 times as fast"
        if said
        else ""
    )


def test_nothing_is_advised_where_the_loop_does_not_wait() -> None:
    found = explain(Settings(), block(0.0, (Passage(0.1, 0.1, 0.2, 0.1, 0.0),)), ROOT)
    assert found is not None
    assert found.advice == ()


@pytest.mark.parametrize(
    ("dataset", "workers", "collate"),
    [
        (Samples(), 0, join),
        (Samples(), 2, lambda samples: join(samples)),
        (Subset(Batched(), range(300)), 2, functools.partial(join, seconds=0.02)),
        (ConcatDataset([Samples(), Samples()]), 0, Join()),
        (Stream(), 1, join),
    ],
    ids=["plain", "workers, lambda", "getitems, partial", "concatenated, class", "iterable"],
)
def test_the_costly_functions_are_named(dataset: Any, workers: int, collate: Any) -> None:
    found = watch(dataset, workers, collate)
    first = found.functions[0]
    assert (first.function.rpartition(".")[2], Path(first.filename).name) == ("decode", HERE.name)
    assert first.calls == "time.sleep(0.008)"
    assert first.low <= first.share <= first.high
    names = {one.function.rpartition(".")[2]: one for one in reversed(found.functions)}
    assert {"decode", "augment", "join"} <= set(names)
    assert names["join"].stage == COLLATE
    # Sleeps last as long as they should, and on a busy machine each a little longer: 32, 20 and 8 milliseconds.
    assert first.seconds > names["join"].seconds
    assert first.seconds > names["augment"].seconds
    stages = {one.name: one.seconds for one in found.stages}
    assert stages[DATA_SET] >= 0.040
    assert stages[COLLATE] >= 0.020
    assert (stages["hand-over"] > 0) == (workers > 0)
    assert sum(one.share for one in found.stages) == pytest.approx(1)
    assert found.idle * (stages[DATA_SET] + stages[COLLATE]) >= 0.055
    assert any("waits for storage" in one for one in found.advice)


def test_time_below_a_library_is_charged_to_the_users_line_that_called_it() -> None:
    own = Frame(str(HERE), "__main__.Samples.__getitem__", 60, 9, 60, 20)
    library = Frame("/x/site-packages/PIL/Image.py", "PIL.Image.Image.convert", 10, 1, 10, 5)
    deep = Frame("/x/site-packages/PIL/ImageFile.py", "PIL.ImageFile.ImageFile.load", 20, 1, 20, 5)
    stacks = (Stack(DATA_SET, (own, library, deep), 0.9, 0.9 / 500), Stack(DATA_SET, (own,), 0.1, 0.1 / 500))
    found = explain(Settings(2), block(0.5, (Passage(0.04, 0.0, 0.0, 0.01, 0.0),), stacks), ROOT)
    assert found is not None
    first = found.functions[0]
    assert (first.function, first.row, first.calls) == ("Samples.__getitem__", 60, "PIL.ImageFile.ImageFile.load")
    assert (first.share, first.seconds) == pytest.approx((0.9, 0.036))
    assert any("decoding" in one for one in found.advice)


@pytest.mark.parametrize(
    ("filename", "shown"),
    [
        ("/x/lib/python3.12/site-packages/torch/storage.py", "torch/storage.py"),
        ("/usr/lib/python3/dist-packages/PIL/Image.py", "PIL/Image.py"),
        ("/usr/lib/python3.12/json/decoder.py", "json/decoder.py"),
        ("/x/packages/mine.py", "/x/packages/mine.py"),
    ],
)
def test_the_file_of_a_library_is_named_as_the_library_does(filename: str, shown: str) -> None:
    stacks = (Stack(COLLATE, (Frame(filename, "json.decoder.decode", 7, 1, 7, 5),), 1.0, 1.0 / 500),)
    found = explain(Settings(), block(0.5, (Passage(0.0, 0.04, 0.0, 0.0, 0.0),), stacks), ROOT)
    assert found is not None
    assert [(one.filename, one.row) for one in found.functions] == [(shown, 7)]


def test_the_interval_of_a_share() -> None:
    low, high = wilson(0.5, 100)
    assert (low, high) == pytest.approx((0.404, 0.596), abs=1e-3)
    assert wilson(0.3, 0) == (0.0, 1.0)
    assert 0 <= wilson(0.0, 10)[0] < wilson(0.0, 10)[1] < 0.5
