"""Mixed precision under names that torch is taking away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accel_advisor.records.actions import Asked, Call, Decorates, Sets

if TYPE_CHECKING:
    from accel_advisor.project.target import Version
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation

_SINCE = {"autocast": (1, 10), "GradScaler": (2, 3), "custom_fwd": (2, 4), "custom_bwd": (2, 4)}
_PATCHES = frozenset({"torch_xla", "torch_npu", "intel_extension_for_pytorch"})
"""Imports that put their own into ``torch.cuda``."""
_NEW: tuple[Asked, ...] = (
    *(Call("torch.autocast"), Call("torch.amp.GradScaler")),
    *(Decorates("torch.amp.custom_fwd"), Decorates("torch.amp.custom_bwd")),
)
_OLD: tuple[Asked, ...] = tuple(
    kind(f"torch.{device}.amp.{name}") for kind in (Call, Decorates) for device in ("cuda", "cpu") for name in _SINCE
)


@dataclass(frozen=True, slots=True)
class OldName:
    """A use of ``torch.cuda.amp.autocast`` or a name like it.

    Attributes:
        name: the last part: ``autocast``, ``GradScaler``, ``custom_fwd`` or ``custom_bwd``.
        device: ``cuda`` or ``cpu``.
        since: the torch that the new name came with.
    """

    operation: Operation
    name: str
    device: str
    since: Version


def old_names(facts: Facts) -> Iterator[OldName]:
    """The uses in a document of names that stand for torch's own, where the project's torch has the new ones and the
    program uses those nowhere."""
    new_ones = {one.node for one in facts.operations_of(*_NEW)}
    for operation in facts.operations_of(*_OLD):
        package, name = operation.what.owner, operation.what.name
        if not facts.supports(_SINCE[name]) or facts.does(Call(f"torch.amp.{name}")):
            continue
        if operation.node not in new_ones and not _leaves_torch(facts, package, name):
            yield OldName(operation, name, package.split(".")[1], _SINCE[name])


def _leaves_torch(facts: Facts, package: str, name: str) -> bool:
    """Whether the old name may stand for something else: a library puts its own in its place, or the program does."""
    return facts.does(Sets(package, name)) or any(_PATCHES & one.packages for one in facts.program)
