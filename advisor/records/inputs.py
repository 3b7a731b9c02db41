"""Which arguments of a module's call must be where the module is: those that reach the weights of a layer unmoved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.values.places import WITH_MODEL, Place, input_at, place_of_input, union_of
from accel_advisor.values.values import Function, Module, Sequence, Tensor

if TYPE_CHECKING:
    from accel_advisor.interpreter.interpreter import Interpreter
    from accel_advisor.records.transfers import ArgumentPlace

WEIGHTS = "weights"
"""What an argument becomes that a layer of a library combines with its weights."""

_OWN_CALL = ("__call__", "to", "cuda", "_apply")


class Inputs:
    """What becomes of the inputs of each ``forward``, as its own code shows; nothing where that does not say."""

    def __init__(self) -> None:
        self._next: dict[str, set[str]] = {}
        self._tensors: set[str] = set()

    def follow(self, machine: Interpreter, module: Module, arguments: tuple[ArgumentPlace, ...]) -> None:
        """A module is called on these arguments: inputs of the ``forward`` around it among them go on into it."""
        if machine.frame.guards or machine.place_of(module) != WITH_MODEL:
            return
        for argument in arguments:
            value = argument.value
            source = input_at(value.place) if isinstance(value, Tensor) else None
            if source is not None and argument.becomes:
                self._next.setdefault(source, set()).add(argument.becomes)

    def used_as_tensor(self, place: Place) -> None:
        """Something is done to what lives here that only a tensor can do."""
        source = input_at(place)
        if source is not None:
            self._tensors.add(source)

    def is_tensor(self, place: Place) -> bool:
        """Whether what lives here is no input of a ``forward``, or one that is certainly a tensor."""
        source = input_at(place)
        return source is None or source in self._tensors or self.reaches_weights(source)

    def reaches_weights(self, becomes: str) -> bool:
        """Whether what becomes this input certainly meets weights of the module, and must be where they are."""
        seen: set[str] = set()
        pending = [becomes]
        while pending:
            one = pending.pop()
            if one == WEIGHTS:
                return True
            if one not in seen:
                seen.add(one)
                pending += self._next.get(one, ())
        return False


def becomes(machine: Interpreter, module: Module, position: int, keyword: str | None) -> str:
    """What an argument of a module's call becomes: :data:`WEIGHTS` where it meets them at once, or an input of its
    ``forward``; empty where that is not known."""
    from accel_advisor.interpreter.calls import class_member

    if module.kind == "torch.nn.parallel.DistributedDataParallel":
        inner = machine.store.get(module, "\0children")
        wrapped = inner.items[0] if isinstance(inner, Sequence) else None
        return becomes(machine, wrapped, position, keyword) if isinstance(wrapped, Module) else ""
    if module.cls is None:
        return _met_by_library(machine, module) if position == 0 and keyword is None else ""
    if any(class_member(machine, module.cls, name) is not None for name in _OWN_CALL):
        return ""
    forward = class_member(machine, module.cls, "forward")
    if not isinstance(forward, Function) or isinstance(forward.node, cst.Lambda):
        return ""
    names = [one.name.value for one in forward.node.params.params[1:]]
    name = keyword if keyword is not None else next(iter(names[position : position + 1]), "")
    return "".join(union_of(place_of_input(forward.node, name))) if name in names else ""


def _met_by_library(machine: Interpreter, module: Module) -> str:
    if module.kind != "torch.nn.Sequential":
        layer = module.kind.startswith(("torch.nn.", "torchvision.models.")) and module.has_state
        return WEIGHTS if layer and not module.kind.endswith("Loss") else ""
    children = machine.store.get(module, "\0children")
    for child in children.items if isinstance(children, Sequence) else ():
        if not isinstance(child, Module):
            return ""
        if child.cls is not None or child.has_state:
            return becomes(machine, child, 0, None)
    return ""
