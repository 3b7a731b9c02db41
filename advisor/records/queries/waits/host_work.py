"""What the host computes with the values that a step reads, and whether the step goes on with the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import libcst as cst

from accel_advisor.records.actions import Asked, Call, Method
from accel_advisor.records.queries.gradients.fates import parameter_of
from accel_advisor.records.queries.gradients.flows import flow_around, flow_of
from accel_advisor.syntax.model_names import calls_of_backward
from accel_advisor.syntax.shapes import dotted, names_bound_in, root_of
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop, Program
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.queries.gradients.data_flow import Binding, DataFlow

_SHAPE = frozenset({"shape", "size", "dtype", "device", "ndim", "dim"})
_SAME = frozenset(
    (
        "array asarray ascontiguousarray float int bool round abs min max sum list tuple set sorted reversed zip "
        "enumerate map dict item tolist cpu numpy detach clone copy astype to reshape view flatten split chunk "
        "append extend get items values mean ravel transpose permute swapaxes squeeze unsqueeze contiguous"
    ).split()
)
"""Functions and methods that give what they are given, or a number that any tensor gives of itself."""
_TELLS = frozenset("print isinstance type range len".split())
_TABLES = (cst.List, cst.Dict, cst.ListComp, cst.DictComp)
_SIZED_BY = frozenset("reshape view expand repeat narrow split unfold zeros ones empty full arange".split())
"""Functions and methods of torch that take sizes, as Python's own numbers."""
_TAKES_PART = (cst.Index, cst.Slice, cst.SubscriptElement)
_ENDS = (cst.Expr, cst.If, cst.While, cst.Comparison, cst.ComparisonTarget, cst.FormattedStringExpression, cst.Assert)
_STATEMENTS = (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Expr, cst.For, cst.If, cst.While)
_MOST_CALLS, _MOST_PLACES = 5, 400
_NONE = frozenset[int]()


def is_worked_on(facts: Facts, loop: Loop, operation: Operation) -> bool:
    """Whether the host computes something with the value that an operation reads, be it an item of a table of its own,
    and what comes of it goes into a function of torch, selects a part of a tensor, or is differentiated, or whether the
    value is a size, in the passes of the same loop: the step cannot do without."""
    flow = flow_of(facts, operation.function or operation.document.tree)
    if flow is None or not flow.holds(operation.node):
        return False
    ways = frozenset(name for one in operation.contexts if loop in one.loops for name in one.functions)
    work = _Work(facts, loop, ways=ways, sizes=_is_computed(facts, flow, operation))
    work.follow(flow, operation.node, worked=False)
    return work.returns


def _is_computed(facts: Facts, flow: DataFlow, operation: Operation) -> bool:
    """Whether a call in the same function gave what an operation reads, and not the batch, whose sizes the host has."""
    if any(one.subject.source or facts.inputs.are_all_of(one.subject.place) for one in operation.contexts):
        return False
    root = root_of(operation.node.func) if isinstance(operation.node, cst.Call) else operation.node
    bound = flow.reaching(root) if flow.holds(root) else ()
    return bool(bound) and all(any(isinstance(value, cst.Call) for value in one.values) for one in bound)


def comes_into(facts: Facts, loop: Loop, calls: frozenset[int]) -> bool:
    """Whether one of these calls, named by identity, is given what the models that a loop calls return."""
    work = _Work(facts, loop, calls)
    flow = flow_of(facts, loop.function or loop.document.tree) if calls else None
    for called, _ in facts.program.calls_in.get(loop, ()):
        if flow is not None and flow.holds(called.node):
            work.follow(flow, called.node, worked=True)
    return work.returns


def is_given_to_a_model(facts: Facts, operation: Operation) -> bool:
    """Whether what an operation gives goes, as it is, into a model, or into a function that trains one by itself: with
    other samples, or more of them, that would compute something else."""
    flow = flow_of(facts, operation.function or operation.document.tree)
    if flow is None or not flow.holds(operation.node):
        return False
    places, above = [operation.node], flow.parent(operation.node)
    if isinstance(above, cst.Assign) and isinstance(above.targets[0].target, cst.Name):
        places = [reading for one in flow.bound_by(above) for reading in flow.read(one)]
    calls = [flow.parent(one) for place in places if isinstance(one := flow.parent(place), cst.Arg)]
    return not facts.program.once(_learners).isdisjoint(map(id, calls))


def picks_alike(operation: Operation) -> bool:
    """Whether what an operation picks takes a shape at once in which all lengths are given but one, behind the first:
    ``x[mask].reshape(batch, -1, channels)`` has as many of each row."""
    for call in descendants(operation.statement, cst.Call):
        shaped = isinstance(call.func, cst.Attribute) and call.func.attr.value in ("reshape", "view")
        if shaped and cst.ensure_type(call.func, cst.Attribute).value is operation.node and len(call.args) > 2:
            return any(isinstance(one.value, cst.UnaryOperation) for one in call.args[1:-1])
    return False


def _learners(program: Program) -> frozenset[int]:
    """The calls of a program, by identity, of models with layers, and of methods whose names are those
    of such that run a backward pass."""
    documents, layers = [one.document for one in program], program[0].layers
    functions = (one for document in documents for one in descendants(document.tree, cst.FunctionDef))
    trains = {one.name.value for one in functions if any(calls_of_backward(one))} - {"forward", "__call__"}
    models = (one for facts in program for one in facts.module_calls if not one.loss)
    made = ((one.node, one.contexts[0].models) for one in models)
    deep = [node for node, each in made if each and all(map(_is_deep, map(layers.of, each)))]
    calls = (one for document in documents if trains for one in descendants(document.tree, cst.Call))
    named = [one for one in calls if isinstance(one.func, cst.Attribute) and one.func.attr.value in trains]
    return frozenset(map(id, (*deep, *named)))


def _is_deep(layers: frozenset[str]) -> bool:
    """Whether a module is seen to have layers of torch, and is no loss."""
    return any(one.rpartition(".")[0] == "torch.nn" and not one.endswith("Loss") for one in layers)


def is_answer_for_host_work(facts: Facts, loop: Loop, operation: Operation, reads: tuple[Asked, ...]) -> bool:
    """Whether an operation answers a question on which a branch depends where one of ``reads`` reads, in its text or in
    a function that it calls, what the host works on for the step: a GPU that decides spares nothing there."""
    flow = flow_of(facts, operation.function or operation.document.tree)
    if flow is None or not flow.holds(operation.node):
        return False
    inner, branch = operation.node, None
    for above in flow.around(operation.node):
        if isinstance(above, cst.If):
            branch = above.body if above.test is inner else None
            break
        inner = above
    if branch is None:
        return False
    calls = list(descendants(branch, cst.Call))
    own, called = {id(one) for one in calls}, {id(one) for call in calls for one in facts.call_graph.called_from(call)}
    return any(
        (id(one.node) in own or id(one.function) in called) and is_worked_on(facts, loop, one)
        for one in facts.program.operations_of(*reads)
        if any(loop in context.loops for context in one.contexts)
    )


def is_of_a_copy(facts: Facts, operation: Operation) -> bool:
    """Whether what an operation reads was moved by a call, in its function or in those that hand it over: the host has
    the same values from before."""
    flow = flow_of(facts, operation.function or operation.document.tree)
    node = root_of(operation.node.func) if isinstance(operation.node, cst.Call) else operation.node
    if flow is None or not flow.holds(node):
        return False
    bound = flow.reaching(node)
    values = [value for one in bound for value in one.values]
    for call, caller in facts.call_graph.calls_of(flow.root) if any(one.statement is None for one in bound) else ():
        outer = flow_around(facts, call, caller)
        if outer is None:
            return False
        given = (one for one in call.args if parameter_of(flow.root, call, one) == dotted(node))
        values += [value for arg in given for one in outer.reaching(arg.value) for value in one.values]
    moves = facts.program.once(_moves)
    return bool(values) and all(id(one) in moves for one in values)


def _moves(program: Program) -> frozenset[int]:
    """The calls of a program, by identity, that move to a device what is not seen to be computed there."""
    return frozenset(
        id(one.node)
        for facts in program
        for one in facts.transfers
        if one.method in ("cuda", "to")
        if not any(each.moved.on_accelerator or each.moved.graph or each.kinds == {"cpu"} for each in one.contexts)
    )


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
    """All that becomes of a value in the functions of a program, until the step of a loop needs it, or, where ``into``
    names calls by identity, until one of them takes it; ``sizes`` says that sizes are needed as well."""

    def __init__(
        self,
        facts: Facts,
        loop: Loop,
        into: frozenset[int] = _NONE,
        *,
        ways: frozenset[str] = frozenset(),
        sizes: bool = False,
    ) -> None:
        self.returns = False
        self._into, self._ways, self._sizes = into, ways, sizes
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
            self.returns |= called and worked and not self._into and above.attr.value == "backward"
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
        elif isinstance(above, cst.Element) and isinstance(returned := flow.parent(above), cst.Tuple):
            if isinstance(flow.parent(returned), cst.Return):
                self._returned(flow, worked=worked, depth=depth, part=list(returned.elements).index(above))
            else:
                self.follow(flow, returned, worked=worked, depth=depth)
        elif not isinstance(above, _ENDS):
            self.follow(flow, above, worked=worked, depth=depth)

    def _argument(self, flow: DataFlow, argument: cst.Arg, call: cst.Call, *, worked: bool, depth: int) -> None:
        name = call.func.attr.value if isinstance(call.func, cst.Attribute) else dotted(call.func)
        operation = self._operations.get(id(call))
        if id(call) in self._into:
            self.returns = True
        elif not self._into and operation is not None and _is_of_torch(operation):
            needed = worked or (self._sizes and operation.what.full.rpartition(".")[2] in _SIZED_BY)
            self.returns |= needed and any(self._loop in one.loops for one in operation.contexts)
            if needed:  # what one is reached by is not kept of functions that many call
                self.follow(flow, call, worked=True, depth=depth)
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
        if whole is None or self._into:
            return
        given = [value for one in flow.reaching(whole.value) for value in one.values]
        made = (self._operations.get(id(one)) for one in given)
        of_torch, target = any(one is not None and _is_of_torch(one) for one in made), flow.parent(whole)
        statement = flow.parent(target) if isinstance(target, cst.AssignTarget) else None
        if isinstance(statement, cst.Assign) and not of_torch:
            # where an array is written depends on the value, and so does what is made of the array
            self._bound(flow, flow.bound_by(statement), worked=True, depth=depth)
        if not (worked or self._is_table(flow, whole.value)):
            return
        self.returns |= of_torch or self._hands_out(flow, whole)
        self.follow(flow, whole, worked=True, depth=depth)

    def _is_table(self, flow: DataFlow, whole: cst.BaseExpression) -> bool:
        """Whether something is a list or dictionary of the program's own, made in this function or in a method beside
        it."""
        name = dotted(whole)
        values = [value for one in flow.reaching(whole) for value in one.values]
        for method in _methods_beside(self._facts.program, flow.root) if name.startswith("self.") else ():
            made = (one for one in descendants(method, cst.Assign) if dotted(one.targets[0].target) == name)
            values += [one.value for one in made]
        return bool(values) and all(isinstance(one, _TABLES) for one in values)

    def _hands_out(self, flow: DataFlow, part: cst.Subscript) -> bool:
        """Whether a function that the step reaches in a way that is not known returns a part of what it is given."""
        root = flow.root
        if not isinstance(root, cst.FunctionDef) or root.name.value not in self._ways:
            return False
        returns = any(isinstance(one, cst.Return) for one in flow.around(part))
        return returns and bool(flow.bound_at_start(dotted(part.value))) and not self._facts.call_graph.calls_of(root)

    def _returned(self, flow: DataFlow, *, worked: bool, depth: int, part: int | None = None) -> None:
        """What a function returns, or the part of a tuple that it returns, goes on where it is called."""
        for call, caller in self._facts.call_graph.calls_of(flow.root) if depth < _MOST_CALLS else ():
            outer = flow_around(self._facts, call, caller)
            above = outer.parent(call) if outer is not None else None
            target = above.targets[0].target if isinstance(above, cst.Assign) else None
            if outer is None:
                continue
            if part is not None and isinstance(target, cst.Tuple) and part < len(target.elements):
                name = dotted(target.elements[part].value)
                bound = [one for one in outer.bound_by(cast("cst.Assign", above)) if one.name == name]
                self._bound(outer, bound, worked=worked, depth=depth + 1)
            else:
                self.follow(outer, call, worked=worked, depth=depth + 1)

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
