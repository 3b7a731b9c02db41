"""The device interpreter: follows values forward through a program, joining at branches and loops.

One run visits each module of the project once, functions in the contexts in which they are called, and functions that
nothing calls with unknown arguments at the end. Nothing of the user's program is executed or imported.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.abstract_machine import Allowance, Left, Machine, Statements
from accel_advisor.interpreter.arguments import Arguments, Joined, is_of_training
from accel_advisor.interpreter.assignment import assign
from accel_advisor.interpreter.calls import attribute, call_function, call_value, instantiate
from accel_advisor.interpreter.expressions import EVALUATE
from accel_advisor.interpreter.frames import Frame, Modules, Run
from accel_advisor.interpreter.resolution import brought_before, from_stars, module_attribute
from accel_advisor.interpreter.statements import EXECUTE
from accel_advisor.interpreter.unread_cells import forget, stretches
from accel_advisor.records.around import NOTHING, Surroundings
from accel_advisor.tables.canonical_names import canonical
from accel_advisor.tables.torch_functions import SETS_DEFAULT_DEVICE
from accel_advisor.values.places import HOST, SOMEWHERE
from accel_advisor.values.scope import Scope
from accel_advisor.values.store import Layer
from accel_advisor.values.values import (
    UNKNOWN,
    Choice,
    Class,
    Constant,
    Function,
    Iterated,
    Pending,
    Qualified,
    SourceModule,
    Unknown,
    Value,
    join,
    join_all,
)

if TYPE_CHECKING:
    from accel_advisor.records.conditions import Condition
    from accel_advisor.records.dataset_facts import DatasetFacts
    from accel_advisor.records.facts import CallSite, LoaderCall
    from accel_advisor.source.document import Document

DEPTH = 12
"""Calls within calls that are followed one by one; below that the calls of each function are joined."""
DEEPEST = 40
"""Calls within calls that are followed at all; below that a result is Unknown."""
FEW_CONTEXTS, CONTEXTS = 8, 64
"""Ways of calling one function that are followed one by one: so many in any case, and as many while there are steps to
spare. Beyond that its calls are joined."""
WIDENINGS, WIDENINGS_BESIDE = 3, 1
"""How often a function is followed with the joined arguments of all calls so far, and one that is only imported."""
STEPS_PER_LINE, SPARE_STEPS_PER_LINE = 8, 2
"""Statements that may be interpreted inside of calls for each line that was read, so that no program takes more than
linear time, and how many of them in further ways of calling a function. Beyond it, the calls of each are joined."""
STEPS, STEPS_BESIDE, MOST_STEPS_BESIDE = 4_000, 1_000, 8_000
"""Statements that may be interpreted inside of calls whatever was read, and all of those in functions of files that
nothing is reported in, since they are only imported, for the sake of one file of the program and of all: what such a
function gives for the sake of one call is seldom more than what it gives for all of them, and a program that calls a
large package would be interpreted for that alone."""


BUILTINS = {name: Qualified(canonical(name)) for name in {*dir(builtins), "xrange"} - {"True", "False", "None"}}


class Interpreter(Machine):
    """Interprets the modules of one project.

    Args:
        modules: finds and loads the modules that are imported.
        describe: what the value of a data set says about its samples.

    Attributes:
        called: the functions whose bodies were interpreted, by the identity of their nodes.
        truncated: those that were not interpreted in every call.
        scopes: the globals of the modules that were met, by filename.
        allowed_beside: what is left for functions of files that are only imported.
    """

    def __init__(self, modules: Modules, describe: Callable[[Machine, Value], DatasetFacts]) -> None:
        super().__init__(modules)
        self.called: set[int] = set()
        self.truncated: set[int] = set()
        self.scopes: dict[str, Scope] = {}
        self._runs: dict[Scope, Run] = {}
        self._place_of_uncalled = HOST
        self._memo: dict[tuple[object, ...], Value] = {}
        self._contexts: dict[int, int] = {}
        self._joined: dict[int, Joined] = {}
        self._settling_again: set[Pending] = set()
        self._settling: set[Pending] = set()
        self._allowed = Allowance(STEPS, STEPS)
        self._spare_beside = MOST_STEPS_BESIDE
        self.allowed_beside = Allowance(STEPS_BESIDE, STEPS_BESIDE)
        self._joined_beside: dict[int, Joined] = {}
        self._allowance = self._allowed
        self._describe = describe
        self._datasets: dict[LoaderCall, DatasetFacts] = {}

    # -- modules

    def module(self, filename: str) -> Scope | None:
        """The globals of a project's module."""
        known = self.scopes.get(filename)
        if known is not None:
            return known
        document = self.modules.load(filename)
        if document is None:
            return None
        scope = self.scopes[filename] = Scope(document, None, "module")
        self.recorder.begin(document)
        if any(name.rpartition(".")[2] in document.text for name in SETS_DEFAULT_DEVICE):
            self._place_of_uncalled = SOMEWHERE
        lines = document.lines
        self._allowed.steps += STEPS_PER_LINE * lines
        self._allowed.spare += SPARE_STEPS_PER_LINE * lines
        run = self._runs[scope] = Run()
        # the code of a module that is only imported is no call, and is interpreted once
        asked = filename in self.modules.program
        before, self._allowance = self._allowance, self._allowed if asked else Allowance(0, 0)
        with (
            self._calling_others() if asked else self.allowed_beside.loosely(),
            self.at_bottom(),
            self.entered(Frame(scope, self.store.level, run)),
        ):
            for names, statements in stretches(document):
                forget(self, scope, names)
                self.execute(statements)
        if not asked:
            self.allowed_beside.read -= self._allowance.steps
        self._allowance = before
        return scope

    @contextmanager
    def _calling_others(self) -> Iterator[None]:
        """What one file of the program gives to functions of files that are only imported is joined with nothing that
        another file gives them, as long as there are steps to spare."""
        before = self.allowed_beside, self._joined_beside
        steps = min(STEPS_BESIDE, self._spare_beside)
        if steps > 0:
            self.allowed_beside, self._joined_beside = Allowance(steps, steps), {}
        try:
            yield
        finally:
            if steps > 0:
                self._spare_beside -= steps - self.allowed_beside.steps
            self.allowed_beside, self._joined_beside = before

    def _allowance_of(self, document: Document) -> Allowance:
        return self._allowed if document.path in self.modules.program else self.allowed_beside

    @contextmanager
    def at_bottom(self) -> Iterator[None]:
        """Writes go to the bottom of the store: what a module defines holds on every path."""
        layers = self.store.lift()
        try:
            yield
        finally:
            self.store.drop(layers)

    @contextmanager
    def at_home(self, scope: Scope, within: Surroundings = NOTHING) -> Iterator[Frame]:
        """Interprets in a scope of the project by itself, as if nothing were under way but what is around it. Where
        code of the program sets the default device, nobody knows whether that was done before."""
        run = Run(default_place=self._place_of_uncalled, basis=within.basis)
        frame = Frame(scope, self.store.level, run, loops=within.loops, conditions=within.conditions)
        frame.every, frame.outside = within.every, within.around
        with self.entered(frame):
            yield frame

    # -- names

    def lookup(self, name: str) -> Value:
        """The value of a name here: local, enclosing, global, star-imported or builtin."""
        scope: Scope | None = self.scope
        if scope is not None and name in scope.global_names:
            scope = scope.globals
        while scope is not None:
            value = self.store.get(scope, name)
            if value is not None:
                return self.settle(value)
            scope = scope.enclosing()
        found = from_stars(self, self.scope.globals, name, set())
        if name in BUILTINS and (found is None or isinstance(found, Unknown)):
            return BUILTINS[name]
        return UNKNOWN if found is None else found

    def member(self, scope: Scope, name: str) -> Value | None:
        """What a module's globals hold under a name; None where nothing defines it, Unknown where a star import may."""
        value = self.store.get(scope, name)
        return self.settle(value) if value is not None else from_stars(self, scope, name, set())

    def settle(self, value: Value) -> Value:
        """A value whose import, if it is one, or one of several, has been followed."""
        if isinstance(value, Choice) and any(isinstance(one, Pending) for one in value.options):
            return join_all(self.settle(one) for one in value.options)
        if not isinstance(value, Pending):
            return value
        again = value in self._settling
        if again and (value in self._settling_again or value.name is None):
            return UNKNOWN  # modules that import a name from each other: nobody defines it
        settling = self._settling_again if again else self._settling
        settling.add(value)
        try:
            return brought_before(self, value) if again else self._follow(value)
        finally:
            settling.discard(value)

    def _follow(self, value: Pending) -> Value:
        scope = self.module(value.filename)
        if scope is None:
            return UNKNOWN
        if self.frames and self._runs[scope].default_place != HOST:
            self.frame.run.default_place = self._runs[scope].default_place
        if value.name is None:
            return SourceModule(scope)
        return module_attribute(self, scope, value.name)

    # -- running

    def evaluate(self, node: cst.BaseExpression) -> Value:
        """The value of an expression; its effects take place."""
        run = EVALUATE.get(type(node))
        return run(self, node) if run is not None else UNKNOWN

    def assign(self, target: cst.CSTNode, value: Value) -> None:
        """Binds an assignment's target."""
        assign(self, target, value)

    def attribute(self, owner: Value, name: str) -> Value:
        """The value of ``owner.name``."""
        return attribute(self, owner, name)

    def call_value(self, callee: Value, arguments: Arguments, node: cst.Call) -> Value:
        """What calling a value returns."""
        return call_value(self, callee, arguments, node)

    def call_function(
        self, function: Function, arguments: Arguments, site: CallSite | None, receiver: Value | None
    ) -> Value:
        """What a function of the project returns for these arguments."""
        return call_function(self, function, arguments, site, receiver)

    def instantiate(self, cls: Class, arguments: Arguments, node: cst.Call) -> Value:
        """An object of a class of the project."""
        return instantiate(self, cls, arguments, node)

    def execute(self, statements: Statements) -> bool:
        """Interprets statements in order.

        Returns:
            Whether control never comes out at the end (return, raise, break, continue).
        """
        allowance = self._allowance
        for statement in statements:
            allowance.steps -= 1
            self.frame.statement = statement
            run = EXECUTE.get(type(statement))
            if run is not None and run(self, statement):
                return True
        return False

    def branches(self, bodies: list[Statements | None], condition: Condition | None = None) -> Left:
        """Interprets alternative bodies, each from here and on a condition, if one is given, and joins them; None is a
        body that does nothing."""
        ends: list[Layer] = []
        for at, body in enumerate(bodies):
            if body is None:
                ends.append({})
                continue
            self.store.push()
            with nullcontext() if condition is None else self.under(condition.of_branch(at)):
                ended = self.execute(body)
            layer = self.store.pop()
            if not ended:
                ends.append(layer)
        if not ends:
            return Left.ALWAYS
        self.store.merge(ends)
        return Left.SOMETIMES if len(ends) < len(bodies) else Left.NEVER

    def inline(self, function: Function, bound: dict[str, Value], site: CallSite | None) -> Value:
        """Interprets a function's body with its parameters bound, and returns what it returns."""
        node, here = function.node, self.frame
        if site is not None:
            self.recorder.call_graph.add(here.function, site, node)
        way = (here.loops, any(one.varies is not None or one.for_debugging for one in here.conditions))
        key = (id(node), function.owner, site and id(site.node), way, tuple(sorted(bound.items(), key=lambda i: i[0])))
        if key in self._memo:
            return self._memo[key]
        if any(one.node is node for one in here.functions):
            return UNKNOWN
        count = self._contexts.get(id(node), 0)
        if site is not None and here.depth > DEEPEST:
            return self._leave_out(node, UNKNOWN)
        allowance = self._allowance_of(function.document)
        most = CONTEXTS if allowance.spare > 0 else FEW_CONTEXTS
        if site is not None and (here.depth > DEPTH or count >= most or allowance.steps < 0):
            return self._inline_joined(function, bound, site)
        self._contexts[id(node)] = count + 1
        self._memo[key] = UNKNOWN
        before = self._allowed.steps + self.allowed_beside.steps
        result = self._memo[key] = self._enter(function, bound, site)
        if count >= FEW_CONTEXTS:
            allowance.spare -= before - self._allowed.steps - self.allowed_beside.steps
        return result

    def _inline_joined(self, function: Function, bound: dict[str, Value], site: CallSite) -> Value:
        """Follows a function with what it is given here joined with what it was given before, unless it was already
        followed so: its result is a join, too. What a single time gave is no proof of what other calls give."""
        beside = function.document.path not in self.modules.program
        known = self._joined_beside if beside else self._joined
        joined = known.get(id(function.node))
        if joined is None:
            beyond = beside and self.allowed_beside.steps < 0
            if beyond and (self.allowed_beside.strict or not any(map(is_of_training, bound.values()))):
                return self._leave_out(function.node, UNKNOWN)
            joined = known[id(function.node)] = Joined(bound, WIDENINGS_BESIDE if beside else WIDENINGS)
        else:
            wider = {name: join(joined.bound.get(name, value), value) for name, value in bound.items()}
            if wider == joined.bound and joined.result is not None:
                return joined.result
            if joined.left == 0:
                result = joined.result or UNKNOWN
                return self._leave_out(function.node, join(result, UNKNOWN) if beside else result)
            joined.bound = wider
        joined.left -= 1
        result = self._enter(function, joined.bound, site)
        joined.result = result if joined.result is None else join(joined.result, result)
        return joined.result

    def _leave_out(self, node: cst.CSTNode, result: Value) -> Value:
        """A call is not followed: the function is read with unknown arguments too, at the end."""
        self.truncated.add(id(node))
        self.frame.run.clock.wait(known=False)
        return result

    def _enter(self, function: Function, bound: dict[str, Value], site: CallSite | None) -> Value:
        self.called.add(id(function.node))
        scope = Scope(function.document, function.scope, "function")
        return self._run(self.frame.of_call(function, scope, self.store.level, site), function, bound)

    def _run(self, frame: Frame, function: Function, bound: dict[str, Value]) -> Value:
        scope = frame.scope
        self.store.push()
        before, self._allowance = self._allowance, self._allowance_of(function.document)
        with self.entered(frame):
            for name, value in bound.items():
                self.store.set(scope, name, value)
            ended = False
            if isinstance(function.node, cst.Lambda):
                frame.returned.append(self.evaluate(function.node.body))
            else:
                body = function.node.body
                ended = self.execute(body.body)
        self._allowance = before
        last = self.store.pop()
        ends = [*frame.exits, last] if not ended else frame.exits or [last]
        if not scope.captured:
            for end in ends:
                end.pop(scope, None)
        self.store.merge(ends)
        if frame.yielded:
            return Iterated(join_all(frame.yielded))
        return join_all(frame.returned) if frame.returned else Constant(None)

    def repeat(self, body: Statements, bind: Value | None, target: cst.CSTNode | None) -> None:
        """Interprets a loop's body until what it knows stands still: twice at the most."""
        frame, body = self.frame, list(body)
        conditions = frame.conditions
        for _ in range(2):
            frame.conditions = conditions  # an exit in one pass puts no condition on the start of the next
            exits: list[Layer] = []
            frame.loop_exits.append((self.store.level, exits))
            self.store.push()
            if target is not None and bind is not None:
                assign(self, target, bind)
            ended = self.execute(body)
            frame.loops[-1].repeats |= not ended
            frame.loop_exits.pop()
            last = self.store.pop()
            if not self.store.merge([*exits, last] if not ended else exits or [last], compare=True):
                break

    def dataset(self, loader: LoaderCall) -> DatasetFacts:
        """What a loader's data set costs and contains, as far as the program was read."""
        value = loader.get("dataset")
        known = self._datasets.get(loader)
        if known is None or known.value != value:
            known = self._datasets[loader] = self._describe(self, value)
        return known
