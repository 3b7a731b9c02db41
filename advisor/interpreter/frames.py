"""The calls that are being interpreted, and the modules that they stand in."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import libcst as cst

from accel_advisor.records.around import Surroundings
from accel_advisor.records.clock import Clock
from accel_advisor.records.conditions import Condition
from accel_advisor.records.loops import Loop
from accel_advisor.syntax.variation import Passes
from accel_advisor.tables.frameworks import FRAMEWORK_CLASSES, TRAINING_STEPS
from accel_advisor.tables.library_methods import LIBRARY_METHODS
from accel_advisor.values.autograd_state import decorators_around, may_stop_autograd
from accel_advisor.values.evidence import PROVEN, Evidence
from accel_advisor.values.places import HOST, Place
from accel_advisor.values.scope import Scope
from accel_advisor.values.store import Layer
from accel_advisor.values.values import (
    Class,
    Function,
    Module,
    Qualified,
    Value,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.arguments import Arguments
    from accel_advisor.records.facts import CallSite
    from accel_advisor.source.document import Document


class Modules(Protocol):
    """What the interpreter asks of the project: the module behind an import.

    Attributes:
        program: the paths of the files that are read for their own sake, and not because others import them.
    """

    @property
    def program(self) -> frozenset[str]: ...

    def resolve(self, name: str, level: int, importer: Document) -> str | None:
        """The file that ``name`` names, seen from ``importer``; None where it is not part of the project."""

    def members(self, package: str, level: int, importer: Document, beginning: str, end: str) -> list[str]:
        """The files of the modules of a package whose names begin and end so, by name."""

    def load(self, filename: str) -> Document | None:
        """The document of a file; None where it cannot be read or parsed."""


@dataclass(slots=True)
class Run:
    """What the code of one module shares with everything that it calls.

    Attributes:
        clock: what the GPU was given and what was waited for, in order.
        default_place: where tensors and modules are made that are given no device.
        basis: what shows that it runs where it is interpreted.
    """

    clock: Clock = field(default_factory=Clock)
    default_place: Place = HOST
    basis: Evidence = PROVEN


@dataclass(slots=True)
class Frame:
    """One call that is being interpreted, or the code of a module: all that holds for the statement that is at hand.

    A function's frame begins with what holds where it is called (:meth:`of_call`). That of a module begins with
    nothing: who needs the module first, and under which conditions, says nothing about the module.

    Attributes:
        scope: where names are looked up.
        level: how many layers the store had when it began.
        functions: the function and those around it, outermost first; none at the top of a module.
        depth: how many calls it is within.
        chain: the calls that led here, outermost first.
        loops: the loops around the statement, outermost first, those of the callers among them.
        conditions: the conditions around it, and the exits before it, outermost first, those of the callers among them.
        every: the modulus in these conditions, where the statement happens once in so many passes of the loop.
        place: where a context manager has tensors made that are given no device; None under no such manager.
        outside: the context managers of the callers, and the decorators of the functions, outermost first.
        managers: the context managers of this frame, outermost first.
        statement: the statement that is being interpreted.
        discarded: the expression that is a statement by itself, until it was looked at.
        discarding: whether the result of the call that is being looked at is thrown away.
        returned, yielded: what came out so far.
        exits: what was written on the paths that have returned.
        loop_exits: for each loop of this frame, the level of its body and what was written on the paths that left it.
        caller: the frame that the function is called in, and site: the call, where the source spells it out.
    """

    scope: Scope
    level: int
    run: Run
    functions: tuple[Function, ...] = ()
    depth: int = 1
    chain: tuple[CallSite, ...] = ()
    loops: tuple[Loop, ...] = ()
    conditions: tuple[Condition, ...] = ()
    every: Value | None = None
    place: Place | None = None
    outside: tuple[Value, ...] = ()
    managers: list[Value] = field(default_factory=list)
    statement: cst.BaseStatement | cst.BaseSmallStatement | None = None
    discarded: cst.BaseExpression | None = None
    discarding: bool = False
    returned: list[Value] = field(default_factory=list)
    yielded: list[Value] = field(default_factory=list)
    exits: list[Layer] = field(default_factory=list)
    loop_exits: list[tuple[int, list[Layer]]] = field(default_factory=list)
    caller: Frame | None = None
    site: CallSite | None = None
    _passes: tuple[tuple[Loop, ...], Passes] | None = field(default=None, init=False, repr=False)
    _names: tuple[str, ...] | None = field(default=None, init=False, repr=False)

    def of_call(self, function: Function, scope: Scope, level: int, site: CallSite | None) -> Frame:
        """The frame of a function that is called here; no site for a call that the source does not spell out."""
        return Frame(
            scope,
            level,
            self.run,
            functions=(*self.functions, function),
            depth=self.depth + 1,
            chain=self.chain if site is None else (*self.chain, site),
            loops=self.loops,
            conditions=self.conditions,
            every=self.every,
            place=self.place,
            outside=(*self.around, *decorators_around(function)),
            statement=self.statement,
            caller=self,
            site=site,
        )

    def of_block(self, scope: Scope) -> Frame:
        """The frame of a class body or a comprehension: a part of this one, with names of its own."""
        return replace(self, scope=scope)

    @property
    def surroundings(self) -> Surroundings:
        """What is around the statement that is at hand."""
        return Surroundings(self.loops, self.conditions, self.every, self.around, self.run.basis)

    @property
    def document(self) -> Document:
        """The document whose code is being interpreted."""
        return self.scope.document

    @property
    def function(self) -> Function | None:
        """The function whose call it is; None at the top of a module."""
        return self.functions[-1] if self.functions else None

    @property
    def function_names(self) -> tuple[str, ...]:
        """Names of the project's functions around the statement, outermost first."""
        if self._names is None:
            self._names = tuple([one.name for one in self.functions])
        return self._names

    @property
    def around(self) -> tuple[Value, ...]:
        """The context managers and decorators around the statement, outermost first."""
        return (*self.outside, *self.managers)

    @property
    def graphs(self) -> bool:
        """Whether autograd certainly records what is computed here."""
        return not any(may_stop_autograd(value) for value in self.around)

    @property
    def training_step(self) -> Function | None:
        """The method around the statement that a framework calls for each step of a training; None in a loop."""
        if self.loops:
            return None
        return next((one for one in reversed(self.functions) if is_training_step(one)), None)

    @property
    def loop(self) -> Loop | None:
        """The innermost loop of any kind around the statement."""
        return self.loops[-1] if self.loops else None

    @property
    def batch_loop(self) -> Loop | None:
        """The innermost loop over a loader around the statement."""
        return next((loop for loop in reversed(self.loops) if loop.loaders), None)

    @property
    def guarded(self) -> bool:
        """Whether a condition, inside of the innermost loop, decides whether the statement happens."""
        loop = self.loop
        return any(one.within is loop for one in self.conditions)

    @property
    def seldom(self) -> bool:
        """Whether a condition, inside of the innermost loop over a loader, is seldom met, by what it asks for."""
        loop = self.batch_loop
        inside = self.loops[self.loops.index(loop) :] if loop is not None else ()
        return any(one.within in inside and one.rare for one in self.conditions)

    @property
    def happens_once(self) -> bool:
        """Whether the statement is in no loop, and stands at the top of a module or in a function that is called: one
        that nothing in sight calls may be called again and again."""
        return not self.loops and (bool(self.chain) or not self.functions)

    @property
    def passes(self) -> Passes:
        """The loops around the statement, as the text shows them."""
        if self._passes is None or self._passes[0] is not self.loops:
            self._passes = (self.loops, self._text_of_passes())
        return self._passes[1]

    def _text_of_passes(self) -> Passes:
        function, caller, site = self.function, self.caller, self.site
        inherited = len(caller.loops) if caller is not None else 0
        owner = function.owner if function is not None else None
        static = function is not None and Qualified("staticmethod") in function.decorators
        return (caller.passes.of_call if caller is not None else Passes)(
            tuple([one.node for one in self.loops[inherited:]]),
            function.node if function is not None else None,
            owner.node if owner is not None else None,
            site.node if site is not None and isinstance(site.node, cst.Call) else None,
            bound=owner is not None and not static,
            nested=function is not None and function.scope.kind == "function",
        )

    def condition(
        self,
        node: cst.CSTNode,
        test: cst.BaseExpression | None,
        decided: cst.CSTNode | None = None,
        branches: int = 0,
    ) -> Condition:
        """The condition that a test is here; without a test, one that no two passes share."""
        function = self.function.node if self.function is not None else None
        if not self.loops:
            return Condition(node, None, None, branches=branches, function=function)
        level = self.passes.level(test, decided) if test is not None else len(self.loops)
        varies = self.loops[level - 1] if level else None
        return Condition(node, self.loops[-1], varies, branches=branches, function=function)

    @property
    def default_place(self) -> Place:
        """Where tensors and modules are made here that are given no device."""
        return self.place if self.place is not None else self.run.default_place


@dataclass(frozen=True, slots=True)
class Entry:
    """A method of a module that something else calls in a loop.

    Attributes:
        cls: the class of the module.
        method: its name, ``forward`` for a call of the module.
        around: what is around the call.
        followed: the arguments of the call where the method was followed there, on a module whose parts were not known.
    """

    cls: Class
    method: str
    around: Surroundings
    followed: Arguments | None


@dataclass(frozen=True, slots=True)
class NamedCall:
    """A call, in a loop, of something that nothing is known of but its name: ``model.optimize(batch)``."""

    document: Document
    name: str
    arguments: Arguments
    around: Surroundings


@dataclass(frozen=True, slots=True)
class UnknownCalls:
    """The calls, in one loop, of modules of which nothing is known.

    Attributes:
        around: what is around the first.
        given: what each is given; None where that is not known.
    """

    around: Surroundings
    given: list[Arguments | None]


@dataclass(slots=True)
class CalledModules:
    """The modules that were called.

    Attributes:
        classes: their classes, with the bases of these in the project.
        hooks: the functions that are registered as hooks of tensors and modules, and the conditions around that.
        built: what the modules of each class are built with.
        handed_out: the methods that were given to functions which are not known, and the objects that they belong to.
        unknown: the calls of models of which nothing is known, together for each innermost loop, while autograd
            records.
        losses: the same of losses of which nothing is known.
    """

    classes: set[Class] = field(default_factory=set)
    hooks: dict[Function, tuple[Condition, ...]] = field(default_factory=dict)
    built: dict[Class, dict[cst.Call | None, Arguments]] = field(default_factory=dict)
    handed_out: dict[Function, Value] = field(default_factory=dict)
    unknown: list[UnknownCalls] = field(default_factory=list)
    losses: list[UnknownCalls] = field(default_factory=list)
    _named: dict[tuple[str, Loop], NamedCall] = field(default_factory=dict)
    _unfollowed: list[NamedCall] = field(default_factory=list)
    _recorded: deque[Entry] = field(default_factory=deque)
    _unrecorded: deque[Entry] = field(default_factory=deque)
    _seen: set[tuple[Module | Class, str, bool, Loop, bool]] = field(default_factory=set)
    _steps: dict[Function, Loop] = field(default_factory=dict)
    _in_loop: dict[tuple[Loop, bool], UnknownCalls] = field(default_factory=dict)

    def step_around(self, frame: Frame) -> Surroundings:
        """What is around the statement that is at hand; around that of a method which a framework calls at each step
        of a training, the loop of that framework, which the method stands for."""
        method = frame.training_step
        return frame.surroundings if method is None else replace(frame.surroundings, loops=(self.steps_of(method),))

    def steps_of(self, method: Function) -> Loop:
        """The loop of a training that a method stands for which is called at each step, by whomever."""
        if method not in self._steps:
            self._steps[method] = Loop(method.document, method.node, (), backward=True, computes=True, repeats=True)
        return self._steps[method]

    def is_new(self, module: Module, around: Surroundings, arguments: Arguments, *, graphs: bool) -> bool:
        """Whether a module was not called in the innermost of these loops before, with autograd or without, whenever
        that runs or seldom, with as many arguments of the same names."""
        shape = f"{len(arguments.positional)} {' '.join(arguments.keywords)}"
        key = (module, shape, graphs, around.loops[-1], around.plain)
        known = key in self._seen
        self._seen.add(key)
        return not known

    def note(
        self, cls: Class, method: str, around: Surroundings, *, graphs: bool, followed: Arguments | None = None
    ) -> None:
        """A method of a class is called in a loop, the innermost of those around it: once for each."""
        key = (cls, method, graphs, around.loops[-1], around.plain)
        if key not in self._seen:
            self._seen.add(key)
            (self._recorded if graphs else self._unrecorded).append(Entry(cls, method, around, followed))

    def take(self) -> Iterator[Entry]:
        """The calls in loops, each once, in the order in which they were met: first those that autograd records, and
        of these the ones where an optimizer takes steps: gradients alone may be those of a picture that is explained;
        and those that nothing makes rare before the others."""
        while self._recorded or self._unrecorded:
            entries = self._recorded or self._unrecorded
            at = min(range(len(entries)), key=lambda at: (not entries[at].around.updates, not entries[at].around.plain))
            entry = entries[at]
            del entries[at]
            yield entry

    def note_unknown(self, frame: Frame, arguments: Arguments | None = None, *, loss: bool = False) -> None:
        """A model, or a loss, of which nothing is known is called at hand."""
        found = self.losses if loss else self.unknown
        if frame.loop is None or not frame.graphs:
            return
        known = self._in_loop.get((frame.loop, loss))
        if known is None:
            known = self._in_loop[frame.loop, loss] = UnknownCalls(frame.surroundings, [])
            found.append(known)
        known.given.append(arguments)

    def note_named(self, frame: Frame, name: str, arguments: Arguments) -> None:
        """Something is called of which only the name is known, unless what libraries make has such methods; a function
        of that name may hand its own call on."""
        if name in LIBRARY_METHODS or name in frame.function_names:
            return
        around = self.step_around(frame)
        if around.loops and (name, around.loops[-1]) not in self._named:
            self._named[name, around.loops[-1]] = call = NamedCall(frame.document, name, arguments, around)
            self._unfollowed.append(call)

    def take_named(self) -> NamedCall | None:
        """The next of the calls in loops of which only the name is known: first those in a training."""
        calls = self._unfollowed
        at = min(range(len(calls)), key=lambda at: not any(one.learns for one in calls[at].around.loops), default=None)
        return calls.pop(at) if at is not None else None


def is_training_step(function: Function) -> bool:
    """Whether a method is what a framework calls for each step of a training."""
    if function.name not in TRAINING_STEPS or function.owner is None:
        return False
    return not function.owner.library_bases().isdisjoint(FRAMEWORK_CLASSES)
