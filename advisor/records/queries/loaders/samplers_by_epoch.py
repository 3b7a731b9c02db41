"""Samplers that draw another order for each epoch that they are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accel_advisor.records.given import Given
    from accel_advisor.records.loaders import LoaderCall


@dataclass(frozen=True, slots=True)
class SamplerByEpoch:
    """A DistributedSampler of a loader that certainly shuffles.

    Attributes:
        path: the attributes of the loader that lead to it: ``sampler``, or ``batch_sampler.sampler``.
        always: whether the loader has it on all paths.
    """

    path: str
    always: bool


def sampler_by_epoch(loader: LoaderCall) -> SamplerByEpoch | None:
    """That of a loader, on some paths at least, or within a BatchSampler; None where it has none."""
    batches = loader.given("batch_sampler").alternatives
    inner = [one for each in batches for one in each.argument("sampler", 0).alternatives if _batches(each)]
    samplers = (*loader.given("sampler").alternatives, *inner)
    if not any(map(_shuffles_by_epoch, samplers)):
        return None
    always = not any(one.unknown for one in batches) and sum(not one.absent for one in samplers) == 1
    return SamplerByEpoch("batch_sampler.sampler" if inner else "sampler", always)


def _batches(sampler: Given) -> bool:
    """Whether it makes batches of what another sampler gives."""
    return sampler.made_by == "torch.utils.data.BatchSampler"


def _shuffles_by_epoch(sampler: Given) -> bool:
    shuffle = sampler.argument("shuffle", 3)
    distributed = sampler.made_by == "torch.utils.data.DistributedSampler"
    return distributed and (shuffle.absent or shuffle.is_literal(True))
