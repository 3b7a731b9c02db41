"""Which of the half precisions a program can compute in, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from accel_advisor.records.actions import calls
from accel_advisor.records.queries.models.autocast_hazards import is_in_a_module

if TYPE_CHECKING:
    from accel_advisor.project.target import Version
    from accel_advisor.records.facts import Facts

_OF_HALF_ALONE = "inplace_abn"
"""A package whose kernels take float16 and no bfloat16. Source: `include/dispatch.h` in its repository."""
_RESIZES = calls(*(f"torch.nn.functional.{name}" for name in ("interpolate", "upsample", "upsample_bilinear")))
_LAYERS = calls("torch.nn.Upsample", "torch.nn.UpsamplingBilinear2d", "torch.nn.UpsamplingNearest2d")
_RESIZES_SINCE = (2, 1)
"""The version of torch whose kernels on CUDA resize bfloat16, and autocast casts nothing for them. Source:
pytorch issue 80339."""


@dataclass(frozen=True, slots=True)
class HalfType:
    """A way of half precision.

    Attributes:
        autocast: what the model and the loss are computed under.
        off: what turns that off.
        since: the version of torch that brought it.
        scaler: what the loss is scaled with; empty where it needs none.
        why: why it is not bfloat16, where torch has that; or empty.
    """

    autocast: str
    off: str
    since: Version
    scaler: str = ""
    why: str = ""


_OFF = 'torch.autocast("cuda", enabled=False)'
_BFLOAT16 = HalfType('torch.autocast("cuda", torch.bfloat16)', _OFF, (1, 10))
_RESIZING = HalfType(_BFLOAT16.autocast, _OFF, _RESIZES_SINCE)
_FLOAT16 = HalfType(
    'torch.autocast("cuda", torch.float16)',
    _OFF,
    (2, 3),
    'torch.amp.GradScaler("cuda")',
    f"the kernels of `{_OF_HALF_ALONE}` have no bfloat16",
)
_OLDER = HalfType(
    "torch.cuda.amp.autocast()", "torch.cuda.amp.autocast(enabled=False)", (1, 6), "torch.cuda.amp.GradScaler"
)


def half_type_of(facts: Facts) -> HalfType:
    """bfloat16, which needs no scaler, where torch and all that a program is seen to compute have it; else float16."""
    wanted = _BFLOAT16
    if any(_OF_HALF_ALONE in one.packages for one in facts.program):
        wanted = _FLOAT16
    elif facts.program.operations_of(*_LAYERS) or any(map(is_in_a_module, facts.program.operations_of(*_RESIZES))):
        wanted = _RESIZING
    return wanted if facts.supports(wanted.since) or not facts.supports(_OLDER.since) else _OLDER
