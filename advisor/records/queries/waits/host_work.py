"""What the host computes with the values that a step reads, and whether the step goes on with the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call, Method
from accel_advisor.records.queries.gradients.fates import parameter_of
from accel_advisor.records.queries.gradients.flows import flow_of, outside_of_functions
from accel_advisor.syntax.model_names import calls_of_backward
from accel_advisor.syntax.shapes import dotted, names_bound_in
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop, Program
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.queries.gradients.data_flow import Binding, DataFlow

_SHAPE = frozenset({"shape", "size", "dtype", "device", "ndim", "dim"})
_SAME = frozenset(
    (
        "array asarray ascontiguousarray float int bool round abs min max sum len list tuple set sorted reversed zip "
        "enumerate map dict item tolist cpu numpy detach clone copy astype to reshape view flatten split chunk "
        "append extend get items values mean ravel transpose permute swapaxes squeeze unsqueeze contiguous"
    ).split()
)
"""Functions and methods that give what they are given, or a number that any tensor gives of itself."""
_TELLS = frozenset("print str repr format isinstance type range".split())
_TAKES_PART = (cst.Index, cst.Slice, cst.SubscriptElement)
_ENDS = (cst.Expr, cst.If, cst.While, cst.Comparison, cst.ComparisonTarget, cst.FormattedStringExpression, cst.Assert)
_STATEMENTS = (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Expr, cst.For, cst.If, cst.While)
_MOST_CALLS, _MOST_PLACES = 5, 400


def is_worked_on(facts: Facts, loop: Loop, operation: Operation) -> bool:
    """Whether the host calls something with the value that an operation reads, and what comes of it goes into a
    function of torch, or selects a part of a tensor, in the passes of the same loop: the step cannot do without."""
    flow = flow_of(facts, operation.function or operation.document.tree)
    if flow is None or not flow.holds(operation.node):
        return False
    work = _Work(facts, loop, operation)
    work.follow(flow, operation.node, worked=False)
    return work.returns


def sends_back(operation: Operation) -> bool:
    """Whether the function around an operation, which runs no backward pass, makes a tensor of an array that depends on
    what the operation reads, and moves one."""
    function = operation.function
    if not isinstance(function, cst.FunctionDef) or any(calls_of_backward(function)):
        return False
    calls = list(descendants(function, cst.Call))
    called = {one.func.attr.value for one in calls if isinstance(one.func, cst.Attribute)}
    made = [one for one in calls if dotted(one.func).rpartition(".")[2] == "from_numpy"]
    if not made or called.isdisjoint(("to", "cuda", "type_as")):
        return False
    names = _dependents(function.body, operation.node) - operation.document.imported.keys()
    given = (one for call in made for arg in call.args for one in descendants(arg))
    return any(one is operation.node or dotted(one) in names for one in given)


def _dependents(body: cst.BaseSuite, root: cst.CSTNode) -> set[str]:
    """The names that a body binds to what depends on an expression, under a condition or in a loop that does, or that
    it hands to a call together with what does."""
    names: set[str] = set()
    for one in 2 * list(descendants(body, *_STATEMENTS)):
        asked = one.iter if isinstance(one, cst.For) else one.test if isinstance(one, (cst.If, cst.While)) else one
        if any(part is root or dotted(part) in names for part in descendants(asked)):
            names |= names_bound_in(one)
    return names


class _Work:
    """All that becomes of a value in the functions of a program."""

    def __init__(self, facts: Facts, loop: Loop, operation: Operation) -> None:
        self.returns = False
        self._ways = {name for one in operation.contexts if loop in one.loops for name in one.functions}
        self._facts, self._loop = facts, loop
        self._operations = facts.program.once(_operations)
        self._seen: set[tuple[int, bool]] = set()

    def follow(self, flow: DataFlow, node: cst.CSTNode, *, worked: bool, depth: int = 0) -> None:
        """Follows the value of an expression; ``worked`` says that the host has computed it from what was read."""
        key, above = (id(node), worked), flow.parent(node)
        if self.returns or above is None or key in self._seen or len(self._seen) > _MOST_PLACES:
            return
        self._seen.add(key)
        if isinstance(above, cst.Arg):
            call = flow.parent(above)
            if isinstance(call, cst.Call):
                self._argument(flow, above, call, worked=worked, depth=depth)
        elif isinstance(above, cst.Attribute):
            call = flow.parent(above)
            called = isinstance(call, cst.Call) and call.func is above
            if call is not None and above.attr.value not in _SHAPE:
                computes = called and above.attr.value not in _SAME
                self.follow(flow, call if called else above, worked=worked or computes, depth=depth)
        elif isinstance(above, _TAKES_PART):
            self._selects(flow, above, worked=worked, depth=depth)
        elif isinstance(above, (cst.Assign, cst.AnnAssign, cst.AugAssign)):
            self._bound(flow, flow.bound_by(above), worked=worked, depth=depth)
        elif isinstance(above, (cst.For, cst.CompFor)):
            if above.iter is node:
                self._bound(flow, flow.bound_by(above), worked=worked, depth=depth)
        elif isinstance(above, cst.Return):
            self._returned(flow, worked=worked, depth=depth)
        elif not isinstance(above, _ENDS):
            self.follow(flow, above, worked=worked, depth=depth)

    def _argument(self, flow: DataFlow, argument: cst.Arg, call: cst.Call, *, worked: bool, depth: int) -> None:
        name = call.func.attr.value if isinstance(call.func, cst.Attribute) else dotted(call.func)
        operation = self._operations.get(id(call))
        if operation is not None and _is_of_torch(operation):
            self.returns |= worked and any(self._loop in one.loops for one in operation.contexts)
        elif functions := self._facts.call_graph.called_from(call):
            for one in functions:
                inner, taken = flow_of(self._facts, one), parameter_of(one, call, argument)
                if inner is not None and taken and depth < _MOST_CALLS:
                    self._bound(inner, inner.bound_at_start(taken), worked=worked, depth=depth + 1)
        elif name in _TELLS:
            return
        elif isinstance(statement := flow.parent(call), cst.Expr):
            self._bound(flow, flow.bound_by(statement), worked=worked, depth=depth)
        else:
            self.follow(flow, call, worked=worked or name not in _SAME, depth=depth)

    def _selects(self, flow: DataFlow, part: cst.CSTNode, *, worked: bool, depth: int) -> None:
        """What a value selects a part of: a tensor, where a function of torch has given it, or else that part goes
        on."""
        whole = next((one for one in flow.around(part) if isinstance(one, cst.Subscript)), None)
        if whole is None or not worked:
            return
        given = [value for one in flow.reaching(whole.value) for value in one.values]
        made = (self._operations.get(id(one)) for one in given)
        self.returns |= any(one is not None and _is_of_torch(one) for one in made) or self._hands_out(flow, whole)
        self.follow(flow, whole, worked=worked, depth=depth)

    def _hands_out(self, flow: DataFlow, part: cst.Subscript) -> bool:
        """Whether a function that the step reaches in a way that is not known returns a part of what it is given."""
        root = flow.root
        if not isinstance(root, cst.FunctionDef) or root.name.value not in self._ways:
            return False
        returns = any(isinstance(one, cst.Return) for one in flow.around(part))
        return returns and bool(flow.bound_at_start(dotted(part.value))) and not self._facts.call_graph.calls_of(root)

    def _returned(self, flow: DataFlow, *, worked: bool, depth: int) -> None:
        for call, caller in self._facts.call_graph.calls_of(flow.root) if depth < _MOST_CALLS else ():
            outer = self._top_with(call) if caller is None else flow_of(self._facts, caller)
            if outer is not None:
                self.follow(outer, call, worked=worked, depth=depth + 1)

    def _top_with(self, call: cst.Call) -> DataFlow | None:
        tops = (outside_of_functions(one.document) for one in self._facts.program)
        return next((one for one in tops if one.holds(call)), None)

    def _bound(self, flow: DataFlow, bindings: list[Binding], *, worked: bool, depth: int) -> None:
        for binding in bindings:
            for reading in flow.read(binding):
                self.follow(flow, reading, worked=worked, depth=depth)
            beside = binding.name.startswith("self.") and depth < _MOST_CALLS
            for other in _methods_beside(self._facts.program, flow.root) if beside else ():
                inner = flow_of(self._facts, other)
                if inner is not None:
                    for reading in inner.readings_of(binding.name):
                        self.follow(inner, reading, worked=worked, depth=depth + 1)


def _is_of_torch(operation: Operation) -> bool:
    what = operation.what
    if isinstance(what, Method):
        return what.owner == "Tensor"
    return isinstance(what, Call) and what.owner.partition(".")[0] == "torch"


def _operations(program: Program) -> dict[int, Operation]:
    """What each call of a program does, by its identity."""
    return {id(one.node): one for facts in program for one in facts.operations}


def _classes(program: Program) -> dict[int, tuple[cst.CSTNode, ...]]:
    """The methods of the class that each method of a program stands in, by its identity."""
    classes = (cls for facts in program for cls in descendants(facts.document.tree, cst.ClassDef))
    methods = (tuple(one for one in cls.body.body if isinstance(one, cst.FunctionDef)) for cls in classes)
    return {id(one): each for each in methods for one in each}


def _methods_beside(program: Program, method: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    return tuple(one for one in program.once(_classes).get(id(method), ()) if one is not method)
