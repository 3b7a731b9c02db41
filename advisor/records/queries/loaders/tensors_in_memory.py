"""Loaders over tensors in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, LoaderCall

_LARGE_BATCH = 64
"""Samples that take about a millisecond to be indexed one by one and stacked again."""
_MANY_ROWS = 10_000
"""Rows of a data set, all of which take a fraction of a second an epoch."""
_OWN = ("sampler", "batch_sampler", "collate_fn")
"""Arguments with which a program decides by itself what a batch is."""


def row_by_row_loaders(facts: Facts) -> Iterator[tuple[LoaderCall, int]]:
    """The loaders of a document that take long tensors apart into rows to stack them to large batches for a training,
    each with the rows of a batch."""
    for loader in facts.loaders:
        plain = loader.of_torch and not loader.moved_by and all(loader.gives(name, None) for name in _OWN)
        size = loader.given("batch_size").literal
        if not plain or not loader.trains or not loader.feeds_gpu or not _is_long(loader):
            continue
        if type(size) is int and size >= _LARGE_BATCH:
            yield loader, size


def _is_long(loader: LoaderCall) -> bool:
    """Whether it goes over tensors that are not known to be short."""
    if loader.dataset is None or loader.dataset.given.made_by != "torch.utils.data.TensorDataset":
        return False
    births = [one.born for one in loader.dataset.given.positional]
    return not any(born and born.length is not None and born.length < _MANY_ROWS for born in births)
