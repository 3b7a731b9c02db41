"""Batches that the main process turns into arrays, works on, and turns into tensors again."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

import libcst as cst

from accel_advisor.records.actions import Method, calls
from accel_advisor.records.loaders import LoaderCall, loader_of
from accel_advisor.syntax.imports import full_name
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import children, descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.transfers import Transfer
    from accel_advisor.values.evidence import Evidence

_TAKES = Method("Tensor", "numpy")
_MAKES = calls(
    *("torch.from_numpy", "torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor", "torch.stack"),
)
_VIEWS = frozenset("transpose reshape squeeze view swapaxes data T real".split())
"""Methods and attributes of arrays that give the same memory in another shape."""
_VIEWING = frozenset("transpose reshape squeeze expand_dims swapaxes moveaxis rollaxis asarray atleast_3d".split())
"""Functions of numpy that do."""
_ASKS = frozenset("shape ndim size dtype".split())
_GOES_OVER = frozenset("enumerate zip list tuple reversed iter range len print type isinstance".split())
"""Functions that hand out what they are given, or look at it, and compute nothing."""
_CHANGES = frozenset("sort fill partition itemset put".split())
"""Methods of arrays that change them."""


@dataclass(frozen=True, slots=True)
class NumpyDetour:
    """A batch that leaves torch, is worked on and comes back, between its loader and the model.

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
    """What makes a tensor of what was computed from the array, in the same pass of a loop. Of the array as it is, or of
    a view of it, a tensor is made at once."""
    made = {id(one.node): one for one in facts.operations_of(*_MAKES)}
    hangs = _Hanging(taken, made)
    for node in descendants(loop.node):
        hangs.meet(node)
        if id(node) in made and isinstance(node, cst.Call) and any(hangs.on_work(arg.value) for arg in node.args):
            return made[id(node)]
    return None


class _Hanging:
    """The names of a loop's body that hang on one array, as far as its statements were met, in order.

    Args:
        makes: the calls that make tensors, by identity.
    """

    def __init__(self, taken: Operation, makes: Container[int]) -> None:
        self._root, self._document, self._makes = taken.node, taken.document, makes
        self._names: set[str] = set()
        self._worked: set[str] = set()

    def on(self, node: cst.CSTNode) -> bool:
        """Whether an expression hangs on the values of the array, and not only on its shape."""
        if isinstance(node, cst.Attribute):
            return dotted(node) in self._names or (node.attr.value not in _ASKS and self.on(node.value))
        if isinstance(node, cst.Call) and dotted(node.func) == "len":
            return False
        return node is self._root or dotted(node) in self._names or any(map(self.on, children(node)))

    def on_work(self, node: cst.CSTNode) -> bool:
        """Whether an expression hangs on what is computed from the array, or from a part of it."""
        for part in descendants(node, cst.CompFor):
            if self.on(part.iter):
                self._add(_bound(part.target), works=self.on_work(part.iter))
        pending = [node]
        while pending:
            one = pending.pop()
            if one is self._root or (isinstance(one, cst.Attribute) and one.attr.value in _ASKS):
                continue
            if dotted(one) in self._worked or self._is_work(one):
                return True
            pending += [one.value] if isinstance(one, cst.Attribute) else children(one)
        return False

    def meet(self, node: cst.CSTNode) -> None:
        """A statement or call follows that may bind, fill or change what a name stands for."""
        if isinstance(node, cst.Assign):
            for target in node.targets:
                self._keep(target.target, node.value)
        elif isinstance(node, cst.For):
            self._keep(node.target, node.iter)
        elif isinstance(node, cst.AugAssign) and self.on(node.target):
            self._worked |= self._names
        elif isinstance(node, cst.AugAssign) and self.on(node.value):
            self._add(_bound(node.target), works=True)
        elif _appends(node) and any(self.on(arg.value) for arg in node.args):
            self._add(
                [dotted(node.func).removesuffix(".append")], works=any(self.on_work(arg.value) for arg in node.args)
            )
        elif isinstance(node, cst.Call) and self._changes(node):
            self._worked |= self._names

    def _keep(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        names = _bound(target)
        if isinstance(target, cst.Subscript):
            if self.on(target.value):  # other names may stand for the same memory
                self._worked |= self._names
            elif self.on(value):
                self._add(names, works=self.on_work(value))
            return
        hangs, works = self.on(value), self.on_work(value)
        self._names.difference_update(names)
        self._worked.difference_update(names)
        if hangs:
            self._add(names, works=works)

    def _add(self, names: list[str], *, works: bool) -> None:
        self._names.update(names)
        if works:
            self._worked.update(names)

    def _is_work(self, node: cst.CSTNode) -> bool:
        """Whether an expression computes something with what hangs on the array: arithmetic, a choice of parts that
        copies them, or a function that is not known to give only a view."""
        if isinstance(node, cst.Comparison):
            asks = all(isinstance(one.operator, (cst.Is, cst.IsNot)) for one in node.comparisons)
            return not asks and any(map(self.on, children(node)))
        if isinstance(node, (cst.BinaryOperation, cst.UnaryOperation)):
            return any(map(self.on, children(node)))
        if isinstance(node, cst.Subscript):
            chosen = (each for one in node.slice for each in descendants(one, cst.List, cst.Call))
            return self.on(node.value) and next(chosen, None) is not None
        if not isinstance(node, cst.Call) or id(node) in self._makes:
            return False
        if isinstance(node.func, cst.Attribute) and self.on(node.func.value):
            return node.func.attr.value not in _VIEWS
        if not any(self.on(arg.value) for arg in node.args):
            return False
        name = full_name(self._document.imported, node.func) or dotted(node.func)
        return name not in _GOES_OVER and name.removeprefix("numpy.") not in _VIEWING

    def _changes(self, call: cst.Call) -> bool:
        """Whether a call changes the array in place."""
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in _CHANGES:
            return self.on(call.func.value)
        outs = [arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == "out"]
        if full_name(self._document.imported, call.func) in ("numpy.random.shuffle", "random.shuffle"):
            outs = [arg.value for arg in call.args[:1]]
        return any(map(self.on, outs))


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
