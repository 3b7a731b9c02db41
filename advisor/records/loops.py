"""The records of loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import libcst as cst

from accel_advisor.records.given import Given
from accel_advisor.syntax.imports import full_name
from accel_advisor.syntax.shapes import dotted, names_read_in, renewed_in, takes_out
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.python_functions import FEEDS, PASS_THROUGH
from accel_advisor.values.tensors import BatchSource
from accel_advisor.values.values import ABSENT, Tensor

if TYPE_CHECKING:
    from accel_advisor.source.document import Document

_HANDS_ON = frozenset(one.rpartition(".")[2] for one in PASS_THROUGH | FEEDS)
"""Last names of callables that yield what they are given; a loader is none, and what cuts its data cuts no batches."""


class LoopCondition(Protocol):
    """A condition, as far as a loop asks for it."""

    @property
    def node(self) -> cst.CSTNode: ...
    @property
    def branch(self) -> int | None: ...
    @property
    def varies(self) -> Loop | None: ...
    @property
    def excludes(self) -> Callable[..., bool]: ...


@dataclass(eq=False, slots=True)
class Loop:
    """A loop that the interpreter went through.

    Attributes:
        node: the ``for`` or ``while`` statement, or the comprehension.
        loaders: the loaders whose batches it takes, by their identity;
            :func:`~accel_advisor.records.loaders.loaders_in` gives the records of them.
        from_host: whether batches come to it that no wrapper of their loader has moved.
        backward: whether ``backward()`` or an optimizer's ``step()`` happens in it.
        computes: whether that happens in its own passes, and not only in those of a loop within it.
        trains_within: whether something takes a step in the passes of a loop within it that computes gradients, too.
        forgets: whether gradients are set to zero in its own passes, steps: whether something takes a step in them,
            and learns_within: whether a model learns in a loop within it.
        calls_model: whether a module, or something that may be one, is called on its batches.
        graphs: whether a model is called on its batches while autograd records, and graph_free: while it may not.
        rows_of: the tensor whose rows it counts, if it is known to do so.
        function: the innermost function that it stands in; None at the top of a module.
        functions: names of the functions that it was reached through, outermost first.
        guarded: whether some passes of the loop around it skip it, as a condition says that varies there.
        periodic: whether that condition takes one of so many passes.
        counts: whether it goes over numbers (``while``, ``range``), as a loop over epochs does, more than once, or
            calls what it goes over an epoch.
        updates: whether something takes a step in it, as an optimizer does.
        repeats: whether a second pass may follow the first: its body does not end in ``break`` whatever happens.
        begun: the loaders of which it takes one batch at a time, as far as it was seen, each with the functions around.
        learning: the conditions under which something learns in it, for each way that leads there.
    """

    document: Document
    node: cst.CSTNode
    functions: tuple[str, ...]
    parent: Loop | None = None
    counts: bool = False
    loaders: list[BatchSource] = field(default_factory=list)
    from_host: bool = False
    backward: bool = False
    computes: bool = False
    forgets: bool = False
    steps: bool = False
    learns_within: bool = False
    trains_within: bool = False
    updates: bool = False
    calls_model: bool = False
    graphs: bool = False
    graph_free: bool = False
    rows_of: Tensor | None = None
    function: cst.CSTNode | None = None
    guarded: bool = False
    periodic: bool = False
    repeats: bool = False
    begun: dict[BatchSource, tuple[str, ...]] = field(default_factory=dict, repr=False)
    learning: dict[tuple[tuple[int, int | None], ...], tuple[LoopCondition, ...]] = field(
        default_factory=dict, repr=False
    )
    _inside: frozenset[int] | None = field(default=None, init=False, repr=False)

    @property
    def rows(self) -> Given:
        """The tensor whose rows it counts; absent where it is not known to do so."""
        return Given(ABSENT if self.rows_of is None else self.rows_of)

    @property
    def learns(self) -> bool:
        """Whether a model learns in its own passes: who forgets old gradients computes new ones, perhaps in a call
        that is not followed, unless it only does so before a loop within it, which learns by itself."""
        return self.computes or (self.forgets and (self.steps or not self.learns_within))

    @property
    def body(self) -> cst.BaseSuite | None:
        """The statements that it repeats; None where it is no statement."""
        return self.node.body if isinstance(self.node, (cst.For, cst.While)) else None

    @property
    def target(self) -> cst.BaseExpression | None:
        """What a ``for`` statement binds in each pass; None for any other loop."""
        return self.node.target if isinstance(self.node, cst.For) else None

    @property
    def keeps_each(self) -> bool:
        """Whether it is a comprehension that keeps what each pass makes, or a generator that yields it; a set may keep
        less."""
        return isinstance(self.node, (cst.ListComp, cst.DictComp, cst.GeneratorExp))

    @property
    def definition(self) -> cst.FunctionDef | None:
        """The ``def`` that it stands in; None where the innermost function is a lambda, or there is none."""
        return self.function if isinstance(self.function, cst.FunctionDef) else None

    @property
    def goes_over_epochs(self) -> bool:
        """Whether each of its passes is an epoch, as it calls what it counts; one that takes batches is none."""
        if self.loaders:
            return False
        counted = self.node.test if isinstance(self.node, cst.While) else self.target
        return counted is not None and any("epoch" in name.lower() for name in names_read_in(counted))

    @property
    def treats_alike(self) -> bool:
        """Whether every pass does the same with rows of the same length: it holds no branch, no early end, no slice."""
        decides = (cst.If, cst.IfExp, cst.Match, cst.Try, cst.Continue, cst.Break, cst.Slice)
        return next(descendants(self.node, *decides), None) is None

    @property
    def outer(self) -> tuple[Loop, ...]:
        """The loops around it, innermost first."""
        found: list[Loop] = []  # a function that calls itself in a loop stands in its own loop
        loop = self.parent
        while loop is not None and loop not in found:
            found.append(loop)
            loop = loop.parent
        return tuple(found)

    def renews(self, holder: str, besides: cst.CSTNode) -> bool:
        """Whether a pass rebinds a name, attribute or item, or takes something out of it, in another statement."""
        for one in renewed_in(self.node, besides):
            code = self.document.code(one)
            if (
                code == holder
                or code.startswith((f"{holder}[", f"{holder}."))
                or holder.startswith((f"{code}[", f"{code}."))
            ):
                return True
        return False

    def empties(self) -> bool:
        """Whether a pass calls a method, of whatever it may be, that takes things out or resets it."""
        return any(map(takes_out, descendants(self.node, cst.Call)))

    def reads(self, holder: str, besides: cst.CSTNode) -> bool:
        """Whether a pass mentions a name or attribute in another statement."""
        kinds = (cst.Name, cst.Attribute)
        inside = {id(one) for one in descendants(besides)}
        mentions = (one for one in descendants(self.node) if isinstance(one, kinds) and id(one) not in inside)
        return any(self.document.code(one) == holder for one in mentions)

    @property
    def may_be_short(self) -> bool:
        """Whether it may take the first few batches only: it holds a ``break``, or counts them where it begins."""
        counted = names_read_in(self.node.iter) if isinstance(self.node, cst.For) else frozenset()
        counts = self.takes_some or not counted.isdisjoint(("range", "xrange"))
        return counts or next(descendants(self.node, cst.Break), None) is not None

    @property
    def takes_first_few(self) -> bool:
        """Whether a literal number says, where it begins, how many batches it takes at most."""
        return isinstance(self.node, cst.For) and _is_cut(self.node.iter, self.document.imported)

    @property
    def takes_some(self) -> bool:
        """Whether a number, be it computed, says where it begins how many batches it takes at most: ``islice``."""
        counted = names_read_in(self.node.iter) if isinstance(self.node, cst.For) else frozenset()
        return not counted.isdisjoint(("islice", "itertools.islice"))

    def carries(self, holder: str) -> bool:
        """Whether a pass reads a name or attribute before it binds it: what the pass before has left there."""
        order = {id(one): at for at, one in enumerate(descendants(self.node))}
        binding = [(target.target, one.value) for one in descendants(self.node, cst.Assign) for target in one.targets]
        binding += [(one.target, one.iter) for one in descendants(self.node, cst.For)]
        bound: dict[int, float] = {}
        for target, value in binding:
            done = max(order[id(part)] for part in descendants(value))
            bound |= {id(part): done + 0.5 for part in descendants(target)}
        kinds = (cst.Name, cst.Attribute)
        mentions = [one for one in descendants(self.node, *kinds) if self.document.code(one) == holder]
        first = min(mentions, key=lambda one: bound.get(id(one), order[id(one)]), default=None)
        return first is not None and id(first) not in bound

    def evaluates_under(self, conditions: tuple[LoopCondition, ...]) -> bool:
        """Whether nothing learns in passes that meet these conditions: what functions are told there leads to no
        backward pass and to no step of an optimizer, as ``if not train:`` does beside ``if train: loss.backward()``."""
        told = [one for one in conditions if self._is_settled(one)]
        return bool(told and self.learning) and all(
            any(one.excludes(other) for one in told for other in ways) for ways in self.learning.values()
        )

    def _is_settled(self, condition: LoopCondition) -> bool:
        """Whether a condition is the same for a whole run of the loop."""
        varies = condition.varies
        return varies is None or (varies is not self and not varies.is_within(self))

    def is_within(self, outer: Loop) -> bool:
        """Whether it runs in the turns of another loop, at any depth."""
        return outer in self.outer

    def holds(self, document: Document, node: cst.CSTNode) -> bool:
        """Whether a node stands in the loop's own text."""
        if document is not self.document:
            return False
        if self._inside is None:
            self._inside = frozenset(map(id, descendants(self.node)))
        return id(node) in self._inside


def _is_cut(node: cst.BaseExpression, imported: dict[str, str]) -> bool:
    """Whether a literal number ends what an expression gives: ``islice(loader, 3)``, ``zip(range(3), loader)``."""
    if isinstance(node, cst.Subscript):
        return any(isinstance(one.slice, cst.Slice) and isinstance(one.slice.upper, cst.Integer) for one in node.slice)
    if not isinstance(node, cst.Call):
        return False
    name, given = full_name(imported, node.func) or dotted(node.func), [one.value for one in node.args]
    if name == "range":
        return all(isinstance(one, cst.Integer) for one in given)
    ends = given[1:2] if len(given) == 2 else given[2:3]
    if name == "itertools.islice" and any(isinstance(one, cst.Integer) for one in ends):
        return True
    fed = given if name == "zip" else given[:1]
    return name.rpartition(".")[2] in _HANDS_ON and any(_is_cut(one, imported) for one in fed)


def note_first(loops: tuple[Loop, ...], loader: BatchSource, functions: tuple[str, ...]) -> list[Loop]:
    """Within these loops and functions, outermost first, one batch of a loader is taken.

    Returns:
        Loops around that took one before, in the function of this one, for this one to begin with: they are no loops
        over batches for that.
    """
    *outer, loop = loops
    within = len(loop.functions)
    begun = [one for one in outer if one.begun.get(loader, ())[:within] == loop.functions and loader in one.begun]
    for one in begun:
        del one.begun[loader]
        one.loaders.remove(loader)
    if loader not in loop.loaders:
        loop.begun[loader] = functions
    return begun


def note_learning(loops: tuple[Loop, ...], conditions: tuple[LoopCondition, ...], *, forgets: bool) -> None:
    """Within these loops, outermost first, and under these conditions, a model learns, or forgets old gradients: every
    one, down to the innermost that takes batches, trains."""
    _note_conditions(loops, conditions)
    for loop in loops[-1:]:
        loop.computes |= not forgets
        loop.forgets |= forgets
    for loop in loops[:-1]:
        loop.learns_within |= not forgets
    for loop in reversed(loops):
        loop.backward = True
        if loop.loaders:
            break


def note_step(loops: tuple[Loop, ...], conditions: tuple[LoopCondition, ...], *, scheduled: bool) -> None:
    """Within these loops, outermost first, and under these conditions, something takes a step: a learning rate, where
    it is ``scheduled``."""
    _note_conditions(loops, conditions)
    for loop in loops:
        loop.updates = True
    for loop in loops[-1:]:
        loop.steps |= not scheduled
    trains = not scheduled and any(loop.computes for loop in loops[-1:])
    for loop in loops[:-1]:
        loop.trains_within |= trains


def _note_conditions(loops: tuple[Loop, ...], conditions: tuple[LoopCondition, ...]) -> None:
    key = tuple((id(one.node), one.branch) for one in conditions)
    for loop in loops:
        loop.learning.setdefault(key, conditions)
