"""Where copies go, as far as an expert reader would say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel_advisor.records.loaders import loader_of
from accel_advisor.tables.torch_functions import DEVICE_KINDS
from accel_advisor.values.evidence import PROVEN, Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.transfers import TransferContext


def reaches_gpu(facts: Facts, context: TransferContext) -> Evidence | None:
    """What speaks for a copy to a CUDA device, on some machine; None where nothing does.

    A device that nothing is known of is a GPU where the program names one, or pins what is copied: nobody moves what
    stays. So is the device of a model or of a tensor of which that is not known.
    """
    kinds, loader = context.kinds, loader_of(context.loader)
    basis = context.basis | (loader.basis if loader is not None else PROVEN)
    if "cuda" in kinds and ("unknown" not in kinds or Ground.DEFAULT in basis.grounds):
        return basis
    named = facts.names_gpu_anywhere or (loader is not None and loader.pins)
    return basis | Evidence.of(Ground.GPU, Ground.MOVE) if named and not kinds <= DEVICE_KINDS else None
