"""What a program does with libraries: calls, methods, and attributes that it sets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.editing.edits import add_keyword, replace_node
from accel_advisor.records.actions import Action, Asked, Call, calls
from accel_advisor.records.given import Given
from accel_advisor.syntax.imports import full_name
from accel_advisor.syntax.shapes import assigned_value, receiver_of
from accel_advisor.tables.canonical_names import canonical
from accel_advisor.tables.torch_functions import TENSOR_FACTORIES
from accel_advisor.values.evidence import PROVEN, Evidence
from accel_advisor.values.immutable import immutable
from accel_advisor.values.values import ABSENT, Opaque, Qualified, Unknown, Value, join_all, options_of

if TYPE_CHECKING:
    from accel_advisor.finding import Edit
    from accel_advisor.records.call_graph import CallSite
    from accel_advisor.records.conditions import Condition
    from accel_advisor.records.loops import Loop
    from accel_advisor.source.document import Document
    from accel_advisor.values.values import Mapping

_MANY, _MOST_WAYS = 8, 32
"""Contexts that are too many to be compared with one more, each time that it happens; and ways that are kept."""
_FACTORIES = calls(*TENSOR_FACTORIES)


@immutable
class Argument:
    """One argument of a call, with its value.

    Attributes:
        value: what is known of it; a Choice with :data:`ABSENT` where it is given on some paths only.
        node: the argument in the call; None where it came out of a dict.
        mapping: the dict that a ``**`` took it from, if any.
    """

    value: Value
    node: cst.Arg | None = None
    mapping: Mapping | None = None

    @property
    def given(self) -> Given:
        """What rules may know of its value."""
        return Given(self.value)

    @property
    def expression(self) -> cst.BaseExpression | None:
        """What the call gives for it; None where it came out of a dict."""
        return self.node.value if self.node is not None else None

    @property
    def is_spelled(self) -> bool:
        """Whether the call itself spells the number or the text that it is."""
        return isinstance(self.expression, (cst.Integer, cst.SimpleString))


@immutable
class OperationContext:
    """An operation as it happens when reached in one particular way.

    Attributes:
        receiver: what the method is called on, or what an attribute or name held before; None for a function.
        arguments: by keyword, and by position.
        open: whether there may be other arguments.
        loop: the innermost loop over a loader that it happens in.
        loops: the loops of any kind around it, innermost first.
        conditions: the conditions around it, and the exits before it, outermost first.
        every: the number of passes of the loop in which it happens once: the modulus in that condition, if it has one.
        around: the context managers and decorators around it, outermost first.
        functions: names of the project's functions around it, outermost first.
        basis: what shows that it happens there.
    """

    receiver: Value | None
    arguments: tuple[tuple[str | int, Argument], ...]
    open: bool
    loop: Loop | None
    loops: tuple[Loop, ...]
    conditions: tuple[Condition, ...]
    around: tuple[Value, ...]
    functions: tuple[str, ...]
    every: Value | None = None
    basis: Evidence = PROVEN

    @property
    def subject(self) -> Given:
        """What the method is called on, or what is read, added to or set; absent for a function."""
        return Given(ABSENT if self.receiver is None else self.receiver)

    def given(self, name: str, position: int | None = None) -> Given:
        """An argument; absent where it is not given, unknown where it may be given unseen."""
        return Given(self.get(name, position))

    @property
    def values(self) -> tuple[Given, ...]:
        """All arguments that are seen."""
        return tuple(Given(argument.value) for _, argument in self.arguments)

    @property
    def positional(self) -> tuple[Given, ...]:
        """The positional arguments that are seen."""
        return tuple(argument.given for key, argument in self.arguments if isinstance(key, int))

    @property
    def value(self) -> Given:
        """What is set or added, for an assignment or an :class:`~.actions.Act`."""
        return self.given("value", 0)

    @property
    def regions(self) -> tuple[Given, ...]:
        """The context managers and decorators around it, outermost first."""
        return tuple(Given(one) for one in self.around)

    @property
    def period(self) -> Given:
        """The number of passes of the loop in which it happens once, where a condition says so; absent otherwise."""
        return Given(ABSENT if self.every is None else self.every)

    @property
    def managers(self) -> tuple[str, ...]:
        """Full names of the library's context managers and decorators around it, outermost first."""
        options = (option for value in self.around for option in options_of(value))
        return tuple(one.name for one in options if isinstance(one, (Opaque, Qualified)))

    @property
    def inner(self) -> Loop | None:
        """The innermost loop around it; None outside of loops."""
        return self.loops[0] if self.loops else None

    @property
    def guarded(self) -> bool:
        """Whether a condition in the innermost loop decides whether it happens, the same for all passes or not."""
        return any(one.within is self.inner for one in self.conditions)

    def is_skipped_in(self, loop: Loop, besides: Collection[cst.CSTNode] = ()) -> bool:
        """Whether some passes of a loop around it, or of one in between, skip it, as a condition says that varies
        there or that is seldom true, or all do, unless somebody looks for a fault or by what a function is given;
        conditions besides these."""
        if any(one.never for one in self.conditions):
            return True
        inside = self.loops[: self.loops.index(loop) + 1]
        conditions = [one for one in self.conditions if one.within in inside or one.varies in inside]
        conditions = [one for one in conditions if one.node not in besides]
        return any((one.varies in inside and not one.ordinary) or one.for_debugging or one.rare for one in conditions)

    def spares_passes_of(self, loop: Loop, besides: Collection[cst.CSTNode] = ()) -> bool:
        """Whether whole passes of a loop around it go without it, where :meth:`is_skipped_in` also counts passes of
        loops in between: what an inner loop skips for some of what it goes over, it does for the rest."""
        inside = self.loops[: self.loops.index(loop)]
        some = [one.node for one in self.conditions if one.varies in inside and not one.rare]
        return self.is_skipped_in(loop, (*besides, *some))

    def alternative_in(self, loop: Loop) -> Condition | None:
        """The branch that it stands in, where that is all that makes some passes of a loop skip it, and one of the
        branches is taken in each."""
        inside = self.loops[: self.loops.index(loop) + 1]
        varying = [one for one in self.conditions if one.varies in inside or (one.within in inside and one.rare)]
        return varying[0] if len(varying) == 1 and varying[0].branches else None

    @property
    def at_every_step(self) -> bool:
        """Whether it happens for each batch of a loader: in no loop within that over the batches, under no condition
        that varies from batch to batch, and not where that loop always ends after its first pass."""
        loop = self.loop
        return loop is not None and self.inner is loop and loop.repeats and not self.is_skipped_in(loop)

    @property
    def run(self) -> Loop | tuple[str, ...]:
        """What it is a part of as a whole: the outermost loop around it, or else the functions that it is in."""
        return self.loops[-1] if self.inner is not None else self.functions

    def get(self, name: str, position: int | None = None) -> Value:
        """An argument's value; :data:`ABSENT` where it is not given, Unknown where it may be given unseen."""
        found = self.argument(name, position)
        return found.value if found is not None else Unknown() if self.open else ABSENT

    def argument(self, name: str, position: int | None = None) -> Argument | None:
        """An argument as it was given; None where it was not."""
        for key, argument in self.arguments:
            if key == name or (position is not None and key == position):
                return argument
        return None


@dataclass(eq=False, slots=True)
class Operation:
    """Something that the program does with a library: calls a function or a method, or sets an attribute.

    Attributes:
        node: the call, the assignment or the augmented assignment.
        what: what it does.
        alone: whether a call is a statement by itself.
        framework: the framework whose class it stands in, if any.
        statement: the statement that it stands in.
        function: the innermost function that it stands in; None at the top of a module.
        varies: whether what a call calls may be something else, so that it is never rewritten.
        ways: the calls through which it is reached, outermost first, once for each way that is known.
    """

    document: Document
    node: cst.CSTNode
    what: Action
    alone: bool
    framework: str | None
    statement: cst.CSTNode
    function: cst.CSTNode | None = None
    contexts: list[OperationContext] = field(default_factory=list)
    varies: bool = False
    ways: dict[tuple[CallSite, ...], None] = field(default_factory=dict)
    _seen: set[OperationContext] = field(default_factory=set, init=False, repr=False)

    def happens(self, context: OperationContext, way: tuple[CallSite, ...] = ()) -> None:
        """It happens once more: as is known already, or in another way."""
        if way and len(self.ways) < _MOST_WAYS:
            self.ways[way] = None
        if len(self.contexts) < _MANY:  # to compare a few takes less time than to hash one
            known = context in self.contexts
        else:
            self._seen = self._seen or set(self.contexts)
            known = context in self._seen
            self._seen.add(context)
        if not known:
            self.contexts.append(context)

    def does(self, *asked: Asked) -> bool:
        """Whether it is one of these actions, or one of these patterns covers it."""
        return not self.what.answers.isdisjoint(asked)

    @property
    def makes_tensor(self) -> bool:
        """Whether it calls a factory of torch, such as ``torch.zeros``."""
        return self.what in _FACTORIES

    @property
    def builds_optimizer(self) -> bool:
        """Whether it builds an optimizer of torch."""
        return isinstance(self.what, Call) and self.what.owner == "torch.optim" and self.what.name[:1].isupper()

    @property
    def assigned(self) -> cst.BaseExpression | None:
        """The value that the statement it stands in assigns, where that is an assignment."""
        return assigned_value(self.statement)

    @property
    def targets(self) -> tuple[cst.BaseExpression, ...]:
        """What its result is assigned to as it is; none where the statement does anything else with it."""
        statement = self.statement
        if isinstance(statement, cst.Assign) and statement.value is self.node:
            return tuple(one.target for one in statement.targets)
        return ()

    @property
    def callee(self) -> cst.CSTNode:
        """What a call calls; what decorates, is set or is read where it is no call."""
        return self.node.func if isinstance(self.node, cst.Call) else self.node

    @property
    def receiver(self) -> cst.BaseExpression | None:
        """What a method is called on, or an attribute is set of, or the module of a function; None for a bare name."""
        return receiver_of(self.node)

    @property
    def arguments(self) -> Sequence[cst.Arg]:
        """The arguments as the call writes them; none where it is no call."""
        return self.node.args if isinstance(self.node, cst.Call) else ()

    def given(self, name: str, position: int | None = None) -> Given:
        """What is known of an argument over all contexts; absent where none gives it, unknown where one may give it
        unseen."""
        return Given(self.get(name, position))

    def get(self, name: str, position: int | None = None) -> Value:
        """What is known of an argument over all contexts; :data:`ABSENT` where none gives it, Unknown where one may
        give it unseen."""
        return join_all(context.get(name, position) for context in self.contexts)

    def gives(self, name: str, value: object, position: int | None = None) -> bool:
        """Whether every context gives an argument this literal value."""
        return Given(self.get(name, position)).is_literal(value)

    def lacks(self, name: str, position: int | None = None) -> bool:
        """Whether no context gives an argument."""
        return self.get(name, position) == ABSENT

    def meets(self, other: Operation) -> bool:
        """Whether both happen in one run: in the same functions, or one in a function that the other's calls."""
        return any(
            first.functions[: len(second.functions)] == second.functions[: len(first.functions)]
            for first in self.contexts
            for second in other.contexts
        )

    @property
    def discarded(self) -> bool:
        """Whether nothing is done with the result, not even shown below a notebook's cell."""
        return self.alone and not self.document.displays(self.node)

    @property
    def guarded(self) -> bool:
        """Whether a condition decides, in some context, whether it happens, be it the same for all passes."""
        return any(context.guarded for context in self.contexts)

    @property
    def chosen(self) -> bool:
        """Whether an option asks for it, in some context, in the innermost loop around it."""
        conditions = ((one, context) for context in self.contexts for one in context.conditions)
        return any(one.is_choice and one.within is context.inner for one, context in conditions)

    @property
    def at_every_step(self) -> bool:
        """Whether it happens, in all contexts, for each batch of a loader."""
        return bool(self.contexts) and all(context.at_every_step for context in self.contexts)

    def runs_with(self, other: Operation) -> bool:
        """Whether both happen in one outermost loop, or in the same functions outside of loops."""
        runs = [context.run for context in other.contexts]
        return any(context.run in runs for context in self.contexts)

    @property
    def names_it(self) -> bool:
        """Whether a call or decorator spells the library's own name, as an import binds it, and no variable."""
        full = full_name(self.document.imported, self.callee)
        return bool(full) and canonical(full) == f"{self.what.owner}.{self.what.name}"

    def keyword_edits(self, name: str, expression: str) -> tuple[Edit, ...] | None:
        """The edits that give a call one more keyword; None where it splats arguments, is no call, or may call
        something else."""
        if self.varies or not isinstance(self.node, cst.Call):
            return None
        return add_keyword(self.document, self.node, name, expression)

    def callee_edit(self, name: str) -> Edit | None:
        """The edit that calls another function, or decorates with it; None where a variable is called, which may hold
        something else."""
        return replace_node(self.document, self.callee, name) if self.names_it else None
