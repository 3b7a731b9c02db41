"""Mixed precision under names that torch is taking away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.editing.moved_imports import moved_imports
from accel_advisor.records.actions import Asked, Call, Decorates, Sets, calls
from accel_advisor.syntax.imports import full_name, imported_names
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.finding import Edit
    from accel_advisor.project.target import Version
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation

SINCE = {"autocast": (1, 10), "GradScaler": (2, 3), "custom_fwd": (2, 4), "custom_bwd": (2, 4)}
"""The torch that each new name came with."""
_POSITIONS = ("enabled", "dtype", "cache_enabled")
"""What ``autocast`` was given by position."""
_WARNS = 2, 4
"""The torch that began to warn of the old names."""
_APEX = calls("apex.amp.initialize", "apex.amp.scale_loss", "apex.fp16_utils.FP16_Optimizer")
_PARALLEL = Call("apex.parallel.DistributedDataParallel")
_PATCHES = frozenset({"torch_xla", "torch_npu", "intel_extension_for_pytorch"})
"""Imports that put their own into ``torch.cuda``."""
_NEW: tuple[Asked, ...] = (
    *(Call("torch.autocast"), Call("torch.amp.GradScaler")),
    *(Decorates("torch.amp.custom_fwd"), Decorates("torch.amp.custom_bwd")),
)
_OLD: tuple[Asked, ...] = tuple(
    kind(f"torch.{device}.amp.{name}") for kind in (Call, Decorates) for device in ("cuda", "cpu") for name in SINCE
)


@dataclass(frozen=True, slots=True)
class OldName:
    """A use of ``torch.cuda.amp.autocast`` or a name like it.

    Attributes:
        name: the last part: ``autocast``, ``GradScaler``, ``custom_fwd`` or ``custom_bwd``.
        device: ``cuda`` or ``cpu``.
        since: the torch that the new name came with.
        moved: the edit that imports the name, and all others of the statement, from ``torch.amp``: each of them is used
            only as another :class:`OldName` with the same edit. None where that is not so, or nothing is imported.
        source: the statement that brings the name into the file, where a plain name is called.
    """

    operation: Operation
    name: str
    device: str
    since: Version
    moved: Edit | None = None
    source: cst.CSTNode | None = None

    @property
    def remedy(self) -> str:
        """The call that does the same by its new name."""
        if self.name.startswith("custom"):
            return f'torch.amp.{self.name}(device_type="{self.device}")'
        return f'torch.{"" if self.name == "autocast" else "amp."}{self.name}("{self.device}", ...)'

    @property
    def splats(self) -> bool:
        """Whether it is called with ``*args`` or ``**kw``."""
        node = self.operation.node
        return isinstance(node, cst.Call) and any(arg.star for arg in node.args)

    def argument_edits(self) -> Iterator[Edit]:
        """The edits that give the call the arguments of the new name: the device first, and what was given to
        ``autocast`` by position, by name."""
        document, call = self.operation.document, self.operation.node
        quoted = f"{document.quote}{self.device}{document.quote}"
        first = f"device_type={quoted}" if self.name.startswith("custom") else quoted
        end = document.span(call).end.offset
        if not isinstance(call, cst.Call):
            yield document.edit(end, end, f"({first})")
            return
        if not call.args:
            yield document.edit(end - 1, end, f"{first})")
            return
        positional = [arg for arg in call.args if arg.keyword is None]
        if self.name.startswith("custom"):
            end = document.span(call.args[-1]).end.offset
            yield document.edit(end, end, f", {first}")
            return
        for index, arg in enumerate(call.args):
            keyword = f"{_POSITIONS[index]}=" if self.name == "autocast" and arg in positional else ""
            start = document.span(arg).start.offset
            if index == 0:
                yield document.edit(start, start, f"{first}, {keyword}")
            elif keyword:
                yield document.edit(start, start, keyword)


@dataclass(frozen=True, slots=True)
class ApexNames:
    """The uses of apex in a document for which torch has its own.

    Attributes:
        uses: the calls that ask for mixed precision, and those that wrap a model, in the order of the text.
    """

    uses: tuple[Operation, ...]

    @property
    def remedy(self) -> str:
        """What torch has instead of them."""
        wraps = [one.what is _PARALLEL for one in self.uses]
        asked = [] if all(wraps) else ["`torch.autocast` with `torch.amp.GradScaler`"]
        return ", and ".join(asked + ["`torch.nn.parallel.DistributedDataParallel`"] * any(wraps))

    @property
    def since(self) -> Version | None:
        """The torch that has all of it; None where each has."""
        return None if all(one.what is _PARALLEL for one in self.uses) else SINCE["GradScaler"]


def old_names(facts: Facts) -> list[OldName]:
    """The uses in a document of names that stand for torch's own, where the project's torch has the new ones and the
    program uses those nowhere."""
    found = list(_found(facts))
    edits: dict[str, Edit] = {}
    for device in {one.device for one in found}:
        uses = [one.operation.callee for one in found if one.device == device and one.operation.names_it]
        edits |= moved_imports(facts.document, f"torch.{device}.amp", "torch.amp", uses)
    if not edits:
        return found
    return [replace(one, moved=edits.get(getattr(one.operation.callee, "value", ""))) for one in found]


def names_of_apex(facts: Facts) -> ApexNames | None:
    """What a document takes from apex for mixed precision; None where it takes nothing, where torch may not have it
    yet, and where the program asks torch for mixed precision as well, or the document imports that."""
    imported = facts.document.imported.values()
    if facts.does(*_NEW, *_OLD) or any(map(_is_of_torch, imported)):
        return None
    found = ApexNames(tuple(facts.operations_of(*_APEX, _PARALLEL)))
    return found if found.uses and (found.since is None or facts.supports(found.since)) else None


def _is_of_torch(name: str) -> bool:
    return name.startswith(("torch.amp", "torch.cuda.amp", "torch.cpu.amp", "torch.autocast"))


def minds_older(facts: Facts) -> bool:
    """Whether the project says that it may run with a torch that does not warn of the old names, or the program asks
    for the version of torch, and so has older ones in mind."""
    return facts.allows_before(_WARNS) or any(one.document.once(_reads_version) for one in facts.program)


def _reads_version(tree: cst.Module) -> bool:
    imported = imported_names(tree)
    read = descendants(tree, cst.Attribute, cst.Name)
    return any((full_name(imported, one) or dotted(one)) == "torch.__version__" for one in read)


def _found(facts: Facts) -> Iterator[OldName]:
    new_ones = {one.node for one in facts.operations_of(*_NEW)}
    for operation in facts.operations_of(*_OLD):
        package, name = operation.what.owner, operation.what.name
        if not (facts.supports(SINCE[name]) and facts.supports(_WARNS)) or facts.does(Call(f"torch.amp.{name}")):
            continue
        if operation.node not in new_ones and not _leaves_torch(facts, package, name):
            yield OldName(operation, name, package.split(".")[1], SINCE[name], source=_source(facts, operation))


def _source(facts: Facts, operation: Operation) -> cst.CSTNode | None:
    """The import, or the assignment, of the plain name that is called."""
    callee, what, document = operation.callee, operation.what, facts.document
    if not isinstance(callee, cst.Name):
        return None
    for node in descendants(document.tree, cst.ImportFrom, cst.Assign):
        if isinstance(node, cst.Assign) and full_name(document.imported, node.value) == f"{what.owner}.{what.name}":
            return node
        if isinstance(node, cst.ImportFrom) and node.module is not None and dotted(node.module) == what.owner:
            names = () if isinstance(node.names, cst.ImportStar) else node.names
            if any(dotted(one.name) == what.name for one in names):
                return node
    return None


def _leaves_torch(facts: Facts, package: str, name: str) -> bool:
    """Whether the old name may stand for something else: a library puts its own in its place, or the program does."""
    return facts.does(Sets(package, name)) or any(_PATCHES & one.packages for one in facts.program)
