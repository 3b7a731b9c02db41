"""What a step does with the values that it reads, as its text shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall
from accel_advisor.records.queries.waits.later_moves import is_moved_later
from accel_advisor.records.queries.waits.unmoved_parts import is_in_an_unmoved_dict
from accel_advisor.syntax.model_names import calls_of_backward
from accel_advisor.syntax.shapes import dotted, last_name, named_parameters, names_read_in, self_attribute
from accel_advisor.syntax.variation import bindings
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.loops import Loop
    from accel_advisor.records.operations import Operation

WRITES = AnyCall("add_scalar")
"""The method of a writer of TensorBoard that reads its second argument."""
_TO_HOST = frozenset({"cpu", "numpy", "item", "tolist"})
_SAME_VALUES = frozenset({"detach", "cpu", "float", "clone"})
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
_PARAMETERS = re.compile(r"(^|_)(params|parameters|param_groups)$")
_TAKES_IN = frozenset("append extend add update setdefault".split())
"""Methods with which a container takes in what it is given."""
_STEPPED = re.compile(r"opt|scaler", re.IGNORECASE)
"""What is in the names of those whose ``step`` uses gradients."""
_FINITE = frozenset({"isfinite", "isnan", "isinf"})
_ANSWERS = frozenset({"all", "any", "item", "cpu"})
_DRAWS = frozenset({"multinomial", "bernoulli", "bernoulli_", "rand", "randint", "randperm", "uniform_", "random_"})
_REDUCES = frozenset({"all_reduce", "reduce", "broadcast"})


def read_by(loop: Loop, operation: Operation) -> tuple[str, int]:
    """The code of what an operation reads, and how often its name was bound before in the text of the loop: what is
    read twice is waited for once."""
    node, document = operation.node, operation.document
    if operation.does(WRITES):
        node = _what_is_read(operation)
    elif isinstance(node, cst.Call):
        called = node.func
        if isinstance(called, cst.Attribute) and operation.what.name != "FORMATS":
            node = called.value
        elif len(node.args) == 1:
            node = node.args[0].value
    while True:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _SAME_VALUES:
            node = node.func.value
        elif isinstance(node, cst.Attribute) and node.attr.value == "data":
            node = node.value
        else:
            break
    name, bound = dotted(node), 0
    if name and loop.holds(document, node):
        here = document.span(node).start.offset
        targets = [one.target for one in descendants(loop.node, cst.AssignTarget)]
        targets += [one.target for one in descendants(loop.node, cst.AugAssign)]
        bound = sum(document.span(one).start.offset < here for one in targets if dotted(one) == name)
    return document.code(node) + _gone_over(operation, name), bound


def _gone_over(operation: Operation, name: str) -> str:
    """What a comprehension goes over that binds a name, which stands for other values in another one."""
    loop = operation.contexts[0].inner
    part = getattr(loop.node, "for_in", None) if loop is not None else None
    if loop is None or not isinstance(part, cst.CompFor) or name.partition(".")[0] not in names_read_in(part.target):
        return ""
    return f" of {loop.document.code(part.iter)}"


def _words_in(node: cst.CSTNode) -> list[str]:
    words = descendants(node, cst.Name, cst.SimpleString)
    return [one.value for one in words if isinstance(one, (cst.Name, cst.SimpleString))]


def happens_for_each(loop: Loop, operation: Operation) -> str:
    """What an operation happens for one by one in each pass of a loop, as the loops within it say: ``parameter`` or
    ``sample``; empty for none."""
    for context in operation.contexts:
        inside = context.loops[: context.loops.index(loop)] if loop in context.loops else ()
        for one in inside:
            part = one.node.for_in if isinstance(one.node, _COMPREHENSIONS) else one.node
            if not isinstance(part, (cst.CompFor, cst.For)):
                continue
            words = {each.strip("'\"") for each in _words_in(part.iter)}
            if any(map(_PARAMETERS.search, words)):
                return "parameter"
            made = one.rows_of is None or one.rows_of.born is not None  # of settings, perhaps
            if not made or "batch_size" in words:
                return "sample"
    return ""


def is_on_host(facts: Facts, loop: Loop, operation: Operation) -> bool:
    """Whether the text of the loop says that what is read is no tensor on the GPU: it was copied to the host, is a part
    of a batch that was not moved yet, or never is, is moved behind the read, or is called as a model is."""
    node = _what_is_read(operation)
    name = dotted(node)
    if name and any(dotted(one.func) == name for one in descendants(operation.function or loop.node, cst.Call)):
        return True
    if is_in_an_unmoved_dict(operation, node) or is_moved_later(operation, node):
        return True
    inside = loop.document is facts.document and loop.holds(facts.document, operation.node)
    return _is_host(node, loop if inside else None, bool(facts.frameworks), set())


def _what_is_read(operation: Operation) -> cst.BaseExpression:
    """The expression whose values an operation needs: ``out`` in ``out.item()``, ``int(out)`` and ``if out > 0``."""
    node = operation.node
    if isinstance(node, cst.Subscript) and isinstance(node.slice[0].slice, cst.Index):
        node = node.slice[0].slice.value
    if operation.does(WRITES) and isinstance(node, cst.Call) and len(node.args) > 1:
        return node.args[1].value
    while True:
        if isinstance(node, cst.Call) and node.args and _is_function(node.func):
            node = node.args[0].value
        elif isinstance(node, cst.Comparison):
            node = node.left
        elif isinstance(node, cst.UnaryOperation):
            node = node.expression
        elif node is operation.node and isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.value
        else:
            assert isinstance(node, cst.BaseExpression)
            return node


def reads_own_state(operation: Operation) -> bool:
    """Whether an operation reads a buffer of the module that it is a part of, such as a flag that is set once."""
    name = self_attribute(_without_copies(_what_is_read(operation)))
    return name is not None and name in operation.document.once(_buffers)


def _without_copies(node: cst.CSTNode) -> cst.CSTNode:
    """What an expression takes a part of, or copies."""
    while True:
        if isinstance(node, cst.Subscript) or (isinstance(node, cst.Attribute) and node.attr.value == "data"):
            node = node.value
        elif (
            isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _SAME_VALUES
        ):
            node = node.func.value
        else:
            return node


def reads_one_of_many(operation: Operation) -> bool:
    """Whether an operation reads what the comprehension or loop around it goes over, one by one."""
    name, loop = dotted(_subject(operation.node)), operation.contexts[0].inner
    part = getattr(loop.node, "for_in", loop.node) if loop is not None else None
    while isinstance(part, (cst.For, cst.CompFor)):
        if name and name in names_read_in(part.target):
            return True
        part = getattr(part, "inner_for_in", None)
    return False


def reads_parameter(operation: Operation) -> bool:
    """Whether an operation reads what the function around it was given, as a part of a batch is, or a part of that."""
    node: cst.CSTNode = _what_is_read(operation)
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    function = operation.function
    if not isinstance(node, cst.Name) or not isinstance(function, cst.FunctionDef) or node.value == "self":
        return False
    given = {one.name.value for one in named_parameters(function.params)}
    return node.value in given and node.value not in bindings(function.body)


def is_drawn(operation: Operation) -> bool:
    """Whether an operation reads what was drawn at random right before, and no more was done with."""
    calls = (one for one in _given(operation) if isinstance(one, cst.Call))
    return any(isinstance(one.func, cst.Attribute) and one.func.attr.value in _DRAWS for one in calls)


def is_reduced(operation: Operation) -> bool:
    """Whether an operation reads something that the function around it adds up over all processes first."""
    read = names_read_in(_what_is_read(operation))
    calls = descendants(operation.function, cst.Call) if operation.function is not None else ()
    reduced = (one.args[0].value for one in calls if one.args and dotted(one.func).rpartition(".")[2] in _REDUCES)
    return any(dotted(one) in read for one in reduced)


def _subject(node: cst.CSTNode) -> cst.CSTNode:
    if not isinstance(node, cst.Call):
        return node
    return node.func.value if isinstance(node.func, cst.Attribute) else node.args[0].value if node.args else node


def _given(operation: Operation) -> Iterator[cst.CSTNode]:
    """What an operation reads, and what the names of it are bound to in the function around it."""
    bound, seen = bindings(getattr(operation.function, "body", operation.document.tree)), set[str]()
    pending: list[cst.CSTNode] = [_subject(operation.node)]
    while pending:
        node = _without_copies(pending.pop())
        yield node
        name = dotted(node)
        if name not in seen:
            seen.add(name)
            pending += [one for one in bound.get(name, ()) if one is not None]


def _buffers(tree: cst.Module) -> frozenset[str]:
    """The names under which classes of a document register buffers."""
    calls = [one for one in descendants(tree, cst.Call) if self_attribute(one.func) == "register_buffer" and one.args]
    names = [one.args[0].value for one in calls]
    return frozenset(str(one.raw_value) for one in names if isinstance(one, cst.SimpleString))


def _is_function(callee: cst.BaseExpression) -> bool:
    return isinstance(callee, cst.Name) or dotted(callee).startswith(("torch.", "math."))


def _is_host(node: cst.BaseExpression, loop: Loop | None, prepared: bool, seen: set[str]) -> bool:
    while not isinstance(node, cst.Name):
        if isinstance(node, cst.Call):
            if dotted(node.func).startswith(("np.", "numpy.")):
                return True
            if not isinstance(node.func, cst.Attribute):
                return False
            if node.func.attr.value in _TO_HOST:
                return True
            if node.func.attr.value in ("to", "cuda"):
                return False
            node = node.func.value
        elif isinstance(node, (cst.Attribute, cst.Subscript)):
            node = node.value
        else:
            return False
    if loop is None or node.value in seen:
        return False
    seen.add(node.value)
    values = [one for one in bindings(loop.node).get(node.value, ()) if one is not None]
    if values:
        return all(_is_host(one, loop, prepared, seen) for one in values)
    taken = isinstance(loop.node, cst.For) and node.value in names_read_in(loop.node.target)
    return taken and not prepared


def _holder(operation: Operation) -> str:
    """The name or attribute that takes the value, or that it is added to or stored in; or empty."""
    statement = operation.statement
    target: cst.BaseExpression | None = None
    if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        target = statement.targets[0].target
    elif isinstance(statement, cst.AugAssign):
        target = statement.target
    while isinstance(target, cst.Subscript):
        target = target.value
    return dotted(target)


def used_now_and_then(loop: Loop, operation: Operation) -> bool:
    """Whether a step keeps the value that an operation reads, and only one in so many steps uses what is kept."""
    holder = _holder(operation)
    if not holder or not loop.holds(operation.document, operation.node):
        return False
    counted: set[int] = set()
    stored: set[int] = set()
    for one in descendants(loop.node, cst.If, cst.Assign, cst.AugAssign):
        if isinstance(one, cst.If):
            if any(isinstance(each.operator, cst.Modulo) for each in descendants(one.test, cst.BinaryOperation)):
                counted |= {id(each) for each in descendants(one.body)}
        elif isinstance(one, cst.Assign):
            stored |= {id(each) for target in one.targets for each in descendants(target)}
        elif isinstance(one, cst.AugAssign):
            stored |= {id(each) for each in descendants(one.target)}
    uses = [one for one in descendants(loop.node, cst.Name, cst.Attribute) if dotted(one) == holder]
    uses = [one for one in uses if id(one) not in stored]
    return bool(uses) and all(id(one) in counted for one in uses)


def _is_answer(node: cst.CSTNode) -> bool:
    """Whether what is read is the answer to whether values are finite: ``torch.isfinite(loss).all().item()``."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _ANSWERS:
        node = node.func.value
    return isinstance(node, cst.Call) and dotted(node.func).rpartition(".")[2] in _FINITE


def is_checked(loop: Loop, operation: Operation) -> bool:
    """Whether what an operation reads decides whether a value is finite."""
    if not loop.holds(operation.document, operation.node):
        return False
    if _is_answer(operation.node):
        return True
    holder = _holder(operation)
    for call in descendants(loop.node, cst.Call):
        if dotted(call.func).rpartition(".")[2] in _FINITE:
            parts = list(descendants(call))
            if any(one is operation.node or (holder and dotted(one) == holder) for one in parts):
                return True
    return False


def guards_step(loop: Loop, operation: Operation) -> bool:
    """Whether what an operation reads decides whether the rest of a step is skipped (``if isnan(loss): continue``), or
    whether gradients are computed or used at all (``if norm < limit: optimizer.step()``): the training would go wrong
    without it. A function that reads may return what decides where it is called."""
    scope: cst.CSTNode | None = loop.node if loop.holds(operation.document, operation.node) else operation.function
    if scope is None:
        return False
    checked = is_checked(loop, operation)
    if _decides(scope, operation.node, _holder(operation), checked=checked):
        return True
    own = operation.function
    if scope is not own or not isinstance(own, cst.FunctionDef):
        return False
    calls = loop.document.once(_calls_bound).get(own.name.value, ())
    return any(_decides(around, call, name, checked=False) for around, call, name in calls if around is not own)


def _calls_bound(tree: cst.Module) -> dict[str, list[tuple[cst.CSTNode, cst.Call, str]]]:
    """The calls whose results statements bind, by the last name of what is called: each with the outermost function
    that it stands in, or the module, and the name that it is bound to."""
    found: dict[str, list[tuple[cst.CSTNode, cst.Call, str]]] = {}
    inside: set[int] = set()
    for around in (*descendants(tree, cst.FunctionDef), tree):
        for one in descendants(around, cst.Assign):
            if isinstance(one, cst.Assign) and isinstance(one.value, cst.Call) and id(one) not in inside:
                inside.add(id(one))
                name = dotted(one.targets[0].target)
                found.setdefault(last_name(one.value.func), []).append((around, one.value, name))
    return found


def _decides(scope: cst.CSTNode, node: cst.CSTNode, holder: str, *, checked: bool) -> bool:
    """Whether a condition in a loop or function that has to do with an expression, or with what comes of the name that
    holds its value, decides about the step.

    Args:
        checked: whether the value says if something is finite.
    """
    tests = [
        one.test
        for one in descendants(scope, cst.If)
        if (checked and _goes_on(one.body)) or _learns_by(one.body) is not _learns_by(one.orelse)
    ]
    known = _grown_from(scope, holder) if holder and tests else set[str]()
    return any(each is node or dotted(each) in known for test in tests for each in descendants(test))


def _grown_from(scope: cst.CSTNode, holder: str) -> set[str]:
    """The names of what is computed from what a name holds, or takes it in, that name among them."""
    known, more = {holder}, True
    while more:
        found = set[str]()
        for one in descendants(scope, cst.Assign, cst.Expr):
            value = one.value if isinstance(one, (cst.Assign, cst.Expr)) else one
            if not any(dotted(each) in known for each in descendants(value)):
                continue
            if isinstance(one, cst.Assign):
                found |= {dotted(target.target) for target in one.targets}
            elif isinstance(value, cst.Call) and last_name(value.func) in _TAKES_IN:
                found.add(dotted(value.func.value) if isinstance(value.func, cst.Attribute) else "")
        found -= {"", "self"}  # an object is not what it was once given
        more = not found <= known
        known |= found
    return known


def _learns_by(branch: cst.CSTNode | None) -> bool:
    """Whether a branch computes gradients, or takes the step of an optimizer."""
    if branch is None:
        return False
    steps = (one.func for one in descendants(branch, cst.Call) if last_name(one.func) == "step")
    if any(isinstance(one, cst.Attribute) and _STEPPED.search(dotted(one.value)) for one in steps):
        return True
    return next(calls_of_backward(branch), None) is not None


def _goes_on(body: cst.BaseSuite) -> bool:
    """Whether a branch ends with ``continue``."""
    last: cst.CSTNode | None = next(iter(reversed(body.body)), None)
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, cst.Continue)
