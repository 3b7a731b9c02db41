"""What the parts of the interpreter know of the whole.

To evaluate a call is to evaluate expressions, to execute the statements of a function, and so to evaluate calls:
statements, expressions, calls, assignments and the knowledge of libraries need each other without end. Each of these
modules names :class:`Machine` alone and reaches the others through it; the one module that names them all is
:mod:`~accel_advisor.interpreter.interpreter`, which implements it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.frames import Frame, Modules
from accel_advisor.interpreter.recorder import Recorder
from accel_advisor.records.around import NOTHING, Surroundings
from accel_advisor.records.conditions import Condition
from accel_advisor.syntax.model_names import losses_named_in
from accel_advisor.values.places import SOMEWHERE, Place
from accel_advisor.values.scope import Scope
from accel_advisor.values.store import Store
from accel_advisor.values.values import Class, Constant, Function, Module, Origin, Tensor, Value

if TYPE_CHECKING:
    from accel_advisor.interpreter.arguments import Arguments
    from accel_advisor.records.call_graph import CallSite
    from accel_advisor.records.dataset_facts import DatasetFacts
    from accel_advisor.records.loaders import LoaderCall
    from accel_advisor.records.loops import Loop
    from accel_advisor.source.document import Document

Statements = Iterable[cst.BaseStatement | cst.BaseSmallStatement]


class Left(Enum):
    """Whether control left alternative bodies early: by return, raise, break or continue."""

    NEVER = 0
    SOMETIMES = 1
    ALWAYS = 2


@dataclass(slots=True)
class Allowance:
    """Statements that may still be interpreted inside of calls.

    Attributes:
        steps: how many.
        spare: how many of them in further ways of calling a function.
        strict: whether no call is followed beyond them; else each function is, once more.
        read: how many were interpreted in no call, of modules that are only imported.
    """

    steps: int
    spare: int
    strict: bool = False
    read: int = 0

    @contextmanager
    def strictly(self) -> Iterator[bool]:
        """For what is interpreted for its own sake: it ends with the steps, and the modules that it reads count.
        Whether there are any left."""
        strict, read, self.strict = self.strict, self.read, True
        try:
            yield self.steps > 0
        finally:
            self.strict = strict
            self.steps -= self.read - read

    @contextmanager
    def loosely(self) -> Iterator[None]:
        """For the code of a module, which is the same whoever imports it."""
        strict, self.strict = self.strict, False
        try:
            yield
        finally:
            self.strict = strict


class Machine(ABC):
    """What is known at the point that the interpretation has reached, and how it goes on from there.

    Attributes:
        modules: finds and loads the modules that are imported.
        store: the value of every name and object.
        recorder: what was seen.
        frames: the calls and modules that are being interpreted, outermost first.
        frame: the last of them.
        functions, classes: those of the project, in the order in which their definitions were met.
        instantiated: the classes of which objects were built, by the identity of their nodes.
        folders: the full names of folders with modules of the project that have no ``__init__.py``.
        part_of: what the modules of a class have as a part under a name, once their ``__init__`` was followed; None
            where that is not known.
    """

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self.store = Store()
        self.recorder = Recorder()
        self.frames: list[Frame] = []
        self.frame: Frame
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self.instantiated: set[int] = set()
        self.folders: set[str] = set()
        self.part_of: Callable[[Class, str], Value | None] = lambda cls, name: None
        self._literals: dict[cst.BaseExpression, Constant] = {}
        self._losses: dict[int, frozenset[str]] = {}

    def losses_in(self, code: cst.CSTNode) -> frozenset[str]:
        """The names, with dots, from which gradients flow back in a function, or in a module."""
        known = self._losses.get(id(code))
        if known is None:
            known = self._losses[id(code)] = losses_named_in(code)
        return known

    def literal(self, node: cst.BaseExpression, value: object) -> Constant:
        """What a literal is: one value, however often it is met."""
        known = self._literals.get(node)
        if known is None:
            known = self._literals[node] = Constant(value, Origin(self.document, node))
        return known

    # -- where we are

    @property
    def scope(self) -> Scope:
        """Where names are looked up now."""
        return self.frame.scope

    @property
    def document(self) -> Document:
        """The document whose code is being interpreted."""
        return self.frame.scope.document

    @contextmanager
    def entered(self, frame: Frame) -> Iterator[Frame]:
        """Interprets in a frame."""
        self.frames.append(frame)
        self.frame = frame
        try:
            yield frame
        finally:
            self.frames.pop()
            if self.frames:
                self.frame = self.frames[-1]

    @abstractmethod
    def at_home(self, scope: Scope, within: Surroundings = NOTHING) -> AbstractContextManager[Frame]:
        """Interprets in a scope of the project by itself, as if nothing were under way but what is around it."""

    @contextmanager
    def looping(self, node: cst.CSTNode) -> Iterator[Loop]:
        """A loop that is being interpreted."""
        frame = self.frame
        loops, conditions, every = frame.loops, frame.conditions, frame.every
        loop = self.recorder.loop(frame, node)
        frame.loops, frame.every = (*loops, loop), None
        try:
            yield loop
        finally:
            frame.loops, frame.conditions, frame.every = loops, conditions, every

    @contextmanager
    def under(self, condition: Condition) -> Iterator[None]:
        """Interprets what happens on a condition; the exits in it are conditions of what follows, too."""
        frame, before = self.frame, self.frame.conditions
        frame.conditions = (*before, condition)
        try:
            yield
        finally:
            added = frame.conditions[len(before) + 1 :]
            frame.conditions = (*before, *[one for one in added if one.exits]) if added else before

    # -- names

    @abstractmethod
    def lookup(self, name: str) -> Value:
        """The value of a name here: local, enclosing, global, star-imported or builtin."""

    @abstractmethod
    def member(self, scope: Scope, name: str) -> Value | None:
        """What a module's globals hold under a name; None where nothing defines it, Unknown where a star import may."""

    @abstractmethod
    def module(self, filename: str) -> Scope | None:
        """The globals of a project's module, interpreting it first where that was not done yet; None where it cannot
        be read or parsed."""

    @abstractmethod
    def settle(self, value: Value) -> Value:
        """A value whose import, if it is one, has been followed."""

    def bind(self, name: str, value: Value) -> None:
        """Binds a name in the scope that an assignment here reaches."""
        scope = self.scope.globals if name in self.scope.global_names else self.scope
        self.store.set(scope, name, value)

    # -- statements, expressions and calls

    @abstractmethod
    def execute(self, statements: Statements) -> bool:
        """Interprets statements in order.

        Returns:
            Whether control never comes out at the end (return, raise, break, continue).
        """

    @abstractmethod
    def branches(self, bodies: list[Statements | None], condition: Condition | None = None) -> Left:
        """Interprets alternative bodies, each from here and on a condition, if one is given, and joins them; None is a
        body that does nothing."""

    @abstractmethod
    def repeat(self, body: Statements, bind: Value | None, target: cst.CSTNode | None) -> None:
        """Interprets a loop's body until what it knows stands still: twice at the most.

        Args:
            bind, target: what is bound at the start of each pass, and to what; None for a ``while`` loop.
        """

    @abstractmethod
    def evaluate(self, node: cst.BaseExpression) -> Value:
        """The value of an expression; its effects take place."""

    @abstractmethod
    def assign(self, target: cst.CSTNode, value: Value) -> None:
        """Binds an assignment's target."""

    @abstractmethod
    def attribute(self, owner: Value, name: str) -> Value:
        """The value of ``owner.name``."""

    @abstractmethod
    def call_value(self, callee: Value, arguments: Arguments, node: cst.Call) -> Value:
        """What calling a value returns."""

    @abstractmethod
    def call_function(
        self, function: Function, arguments: Arguments, site: CallSite | None, receiver: Value | None
    ) -> Value:
        """What a function of the project returns for these arguments."""

    @abstractmethod
    def instantiate(self, cls: Class, arguments: Arguments, node: cst.Call) -> Value:
        """An object of a class of the project."""

    @abstractmethod
    def inline(self, function: Function, bound: dict[str, Value], site: CallSite | None) -> Value:
        """Interprets a function's body with its parameters bound, and returns what it returns."""

    # -- what torch makes

    @abstractmethod
    def dataset(self, loader: LoaderCall) -> DatasetFacts:
        """What a loader's data set costs and contains, as far as the program was read."""

    def grown(self, node: cst.CSTNode) -> frozenset[cst.CSTNode]:
        """The autograd graph that a call's result carries: none where autograd may not record it."""
        return frozenset({node}) if self.frame.graphs else frozenset()

    def place_of(self, module: Module) -> Place:
        """Where a module lives."""
        value = self.store.get(module, "place")
        return value.place if isinstance(value, Tensor) else SOMEWHERE

    def move(self, module: Module, place: Place) -> None:
        """A module moves, in place, with everything in it."""
        self.store.set(module, "place", Tensor(place))
