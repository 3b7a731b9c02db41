"""Evaluations that every process of a distributed training goes through as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from accel_advisor.records.loaders import loaders_in

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.loaders import LoaderCall

_FEW = 1000
"""Samples that one process evaluates in no time worth a remark."""
_SAMPLERS = ("sampler", "batch_sampler", "use_ddp")
"""How samples are divided; `use_ddp` is how dgl's loader is set to make a DistributedSampler by itself."""


def unshared_evaluations(facts: Facts) -> Iterator[LoaderCall]:
    """The loaders of a document whose batches a model is evaluated on epoch after epoch, and that give each process the
    whole data set, in a program that divides that of its training."""
    if not facts.trains_in_parallel:
        return
    if any(one.trains and _is_divided(one) for each in facts.program for one in each.loaders):
        yield from (one for one in facts.loaders if _evaluates_again(one) and reads_everything(one))


def reads_everything(loader: LoaderCall) -> bool:
    """Whether each process takes all samples of a data set that is no stream and knows no rank."""
    dataset = loader.dataset
    if dataset is None or dataset.iterable or dataset.ranked or loader.constructor.shards:
        return False
    if not all(one.is_object or one.made_by for one in dataset.given.alternatives):
        return False
    given = [one for name in _SAMPLERS for one in loader.given(name).alternatives]
    return all(one.absent or (one.written and not one.literal) for one in given)


def trains_beside_divided(loader: LoaderCall) -> bool:
    """Whether a loader shares all loops in which a model learns from its batches with others whose samples are divided,
    so that it is not what makes an epoch as long as it is."""
    learning = [loop for loop in loader.loops if loop.backward]
    return all(any(one is not loader and _is_divided(one) for one in loaders_in(loop)) for loop in learning)


def _is_divided(loader: LoaderCall) -> bool:
    given = (one for name in _SAMPLERS for one in loader.given(name).alternatives)
    return any(one.made_by.endswith("DistributedSampler") for one in given)


def _evaluates_again(loader: LoaderCall) -> bool:
    if loader.trains or not loader.constructor.advises or not (loader.epoch_loops or loader.periodic_loops):
        return False
    size, batches = loader.default_count("batch_size"), loader.batches_of_a_pass
    few = size is not None and batches is not None and size * batches <= _FEW
    return not few and any(loop.calls_model and not loop.learns for loop in loader.loops)
