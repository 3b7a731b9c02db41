"""Batches that the main process turns into arrays, works on, and turns into tensors again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

import libcst as cst

from accel_advisor.records.actions import Method, calls
from accel_advisor.records.loaders import LoaderCall, loader_of
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.transfers import Transfer
    from accel_advisor.values.evidence import Evidence

_TAKES = Method("Tensor", "numpy")
_MAKES = calls(
    *("torch.from_numpy", "torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor", "torch.stack"),
)


@dataclass(frozen=True, slots=True)
class NumpyDetour:
    """A batch that leaves torch and comes back, between its loader and the model.

    Attributes:
        taken: the call of ``numpy()``, and made: the call that makes a tensor again.
        loader: whose batch it is.
        basis: what shows that it is one.
    """

    taken: Operation
    made: Operation
    loader: LoaderCall
    basis: Evidence


def numpy_detours(facts: Facts) -> Iterator[NumpyDetour]:
    """The detours in the steps of a document: the first of each loop. Where nothing is trained, only those that go on
    to a GPU: others may end in a metric."""
    found: set[Loop] = set()
    moves = {id(one.node): one for one in facts.transfers}
    for taken in facts.operations_of(_TAKES):
        for context in taken.contexts:
            loop, loader = context.loop, loader_of(context.subject.source)
            if loop is None or loader is None or loop in found or not context.subject.on_host:
                continue
            if context.is_skipped_in(loop) or not loop.holds(facts.document, taken.node):
                continue
            made = _made_again(facts, loop, taken) if not _comes_back(taken.node, moves) else None
            if made is not None and (loop.backward or _is_moved(made.node, moves)):
                found.add(loop)
                yield NumpyDetour(taken, made, loader, context.subject.basis | loader.basis)
                break


def _comes_back(taken: cst.CSTNode, moves: dict[int, Transfer]) -> bool:
    """Whether what becomes an array is copied to the host first: it was on the GPU."""
    for one in descendants(taken, cst.Call):
        if isinstance(one.func, cst.Attribute) and one.func.attr.value == "cpu":
            move = moves.get(id(one))
            if move is None or not all(context.stays for context in move.contexts):
                return True
    return False


def _is_moved(made: cst.CSTNode, moves: dict[int, Transfer]) -> bool:
    """Whether what a call makes is moved to a GPU as soon as it is made."""
    receivers = {id(one.node.func.value): one for one in moves.values() if isinstance(one.node.func, cst.Attribute)}
    move = receivers.get(id(made))
    return move is not None and "cuda" in move.kinds


def _made_again(facts: Facts, loop: Loop, taken: Operation) -> Operation | None:
    """What makes a tensor of something that hangs on the array, in the same pass of a loop."""
    hangs = _Hanging(taken.node)
    made = {id(one.node): one for one in facts.operations_of(*_MAKES)}
    for node in descendants(loop.node):
        hangs.meet(node)
        if id(node) in made and isinstance(node, cst.Call) and any(hangs.on(arg.value) for arg in node.args):
            return made[id(node)]
    return None


class _Hanging:
    """The names of a loop's body that hang on one expression, as far as its statements were met, in order."""

    def __init__(self, root: cst.CSTNode) -> None:
        self._root = root
        self._names: set[str] = set()

    def on(self, node: cst.CSTNode) -> bool:
        """Whether an expression hangs on it."""
        return any(one is self._root or dotted(one) in self._names for one in descendants(node))

    def meet(self, node: cst.CSTNode) -> None:
        """A statement or call follows that may bind or fill a name."""
        if isinstance(node, cst.Assign):
            names = [name for target in node.targets for name in _bound(target.target)]
            self._keep(names, self.on(node.value))
        elif isinstance(node, cst.For):
            self._keep(_bound(node.target), self.on(node.iter))
        elif _appends(node) and any(self.on(arg.value) for arg in node.args):
            self._names.add(dotted(node.func).removesuffix(".append"))

    def _keep(self, names: list[str], hang: bool) -> None:
        if hang:
            self._names.update(names)
        else:
            self._names.difference_update(names)


def _appends(node: cst.CSTNode) -> TypeGuard[cst.Call]:
    func = node.func if isinstance(node, cst.Call) else None
    return isinstance(func, cst.Attribute) and func.attr.value == "append"


def _bound(target: cst.CSTNode) -> list[str]:
    """The names that a target binds, or whose items it does."""
    if isinstance(target, (cst.Tuple, cst.List)):
        return [name for one in target.elements for name in _bound(one.value)]
    if isinstance(target, cst.Subscript):
        return _bound(target.value)
    return [name] if (name := dotted(target)) else []
