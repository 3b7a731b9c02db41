"""Where copies go, as far as an expert reader would say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel_advisor.records.loaders import loader_of
from accel_advisor.values.evidence import PROVEN, Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.loaders import LoaderCall
    from accel_advisor.records.transfers import TransferContext


def reaches_gpu(facts: Facts, context: TransferContext) -> Evidence | None:
    """What speaks for a copy to a CUDA device, on some machine; None where nothing does.

    A device that nothing is known of is a GPU where the program names one: nobody moves what stays.
    """
    kinds = context.kinds
    basis = context.basis | _source(context)
    if "cuda" in kinds and "unknown" not in kinds:
        return basis
    if "unknown" in kinds and facts.names_gpu_anywhere:
        return basis | Evidence.of(Ground.GPU, Ground.MOVE)
    return None


def loader_reaches_gpu(facts: Facts, loader: LoaderCall) -> Evidence | None:
    """What speaks for copies of a loader's batches to a CUDA device, on some machine: the best that any of them has;
    None where nothing does."""
    contexts = [context for transfer in loader.transfers for context in transfer.contexts]
    bases = [reaches_gpu(facts, one) for one in contexts if one.loader is loader]
    return min((one for one in bases if one is not None), key=lambda one: len(one.grounds), default=None)


def _source(context: TransferContext) -> Evidence:
    loader = loader_of(context.loader)
    return loader.basis if loader is not None else PROVEN
