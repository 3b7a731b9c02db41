"""What statements do to the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.abstract_machine import Left
from accel_advisor.interpreter.assignment import assign
from accel_advisor.interpreter.expressions import truth
from accel_advisor.interpreter.import_statements import import_module, import_names
from accel_advisor.interpreter.iteration import element_of, take_from_objects
from accel_advisor.interpreter.library.dicts import update_mapping
from accel_advisor.interpreter.library.evident_loaders import iterated
from accel_advisor.interpreter.library.evident_models import as_loss, rebound
from accel_advisor.interpreter.library.external_settings import command_options
from accel_advisor.interpreter.loader_batches import mutates_in_place
from accel_advisor.interpreter.parameters import (
    answer_by_arguments,
    answer_by_default,
    hands_back,
    parameter_defaults,
    register,
    untaken_branches,
)
from accel_advisor.records.actions import Act, Call, Decorates
from accel_advisor.syntax.shapes import devices_asked_for, modulus_in, names_epoch
from accel_advisor.tables.frameworks import FRAMEWORK_CLASSES
from accel_advisor.tables.python_functions import PASS_THROUGH
from accel_advisor.values.autograd_state import leaves_autograd, may_stop_autograd
from accel_advisor.values.graphs import graph_of, sum_of
from accel_advisor.values.places import SOMEWHERE
from accel_advisor.values.scope import Scope
from accel_advisor.values.store import OPEN
from accel_advisor.values.values import (
    UNKNOWN,
    Cell,
    Choice,
    Class,
    Configured,
    Constant,
    Device,
    Function,
    Instance,
    Iterated,
    Loader,
    Mapping,
    Opaque,
    Qualified,
    Sequence,
    Tensor,
    Value,
    join,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine


def _expression(machine: Machine, node: cst.Expr) -> bool:
    machine.frame.discarded = node.value
    machine.evaluate(node.value)
    machine.frame.discarded = None
    return False


def _assignment(machine: Machine, node: cst.Assign) -> bool:
    value = machine.evaluate(node.value)
    for target in node.targets:
        kept = rebound(machine, target.target, value, node.value) if type(node.value) is cst.Call else value
        assign(machine, target.target, as_loss(machine, kept, target.target, node.value))
    return False


def _annotated(machine: Machine, node: cst.AnnAssign) -> bool:
    if node.value is not None:
        assign(machine, node.target, machine.evaluate(node.value))
    return False


def _augmented(machine: Machine, node: cst.AugAssign) -> bool:
    before = machine.evaluate(node.target)
    value = machine.evaluate(node.value)
    machine.recorder.operation(machine.frame, node, Act.AUGMENTS, before, value=value)
    kept = graph_of(before) | graph_of(value) if machine.frame.graphs else frozenset()
    if kept and isinstance(node.operator, cst.AddAssign) and not isinstance(before, Cell):
        place = value.place if isinstance(value, Tensor) else SOMEWHERE
        if isinstance(before, Tensor):
            mutates_in_place(before, machine.frame.batch_loop)
            assign(machine, node.target, replace(before, grown=sum_of(kept, node)))
        else:
            assign(machine, node.target, Tensor(place, proven=False, grown=sum_of(kept, node)))
        return False
    if isinstance(before, Tensor):
        mutates_in_place(before, machine.frame.batch_loop)
        return False
    if isinstance(before, Mapping) and isinstance(node.operator, cst.BitOrAssign):
        update_mapping(machine, before, value)
        return False
    if isinstance(before, (Iterated, Sequence)):
        assign(machine, node.target, Iterated(join(element_of(machine, before), element_of(machine, value))))
    elif not isinstance(before, Cell):
        assign(machine, node.target, _after_number(before, value))
    return False


def _after_number(before: Value, value: Value) -> Value:
    """What becomes of a number that a tensor is added to: a tensor where that one is."""
    if not isinstance(before, (Constant, Configured)) or not isinstance(value, Tensor):
        return UNKNOWN
    return Tensor(value.place, proven=value.proven, scalar=value.scalar, fills=value.fills, basis=value.basis)


def _return(machine: Machine, node: cst.Return) -> bool:
    frame = machine.frame
    frame.returned.append(machine.evaluate(node.value) if node.value is not None else Constant(None))
    frame.exits.append(machine.store.since(frame.level))
    return True


def _raise(machine: Machine, node: cst.Raise) -> bool:
    if node.exc is not None:
        machine.evaluate(node.exc)
    return True


def _leave_loop(machine: Machine, node: cst.Break | cst.Continue) -> bool:
    if machine.frame.loop_exits:
        level, exits = machine.frame.loop_exits[-1]
        exits.append(machine.store.since(level))
        machine.frame.loops[-1].repeats |= isinstance(node, cst.Continue)
    return True


def _assert(machine: Machine, node: cst.Assert) -> bool:
    truth(machine, node.test)
    _note_exit(machine, node.test)
    return False


def _delete(machine: Machine, node: cst.Del) -> bool:
    if isinstance(node.target, cst.Subscript):
        owner = machine.evaluate(node.target.value)
        if isinstance(owner, Mapping):
            machine.store.set(owner, OPEN, Constant(True))
    return False


def _global(machine: Machine, node: cst.Global) -> bool:
    machine.scope.global_names.update(item.name.value for item in node.names)
    return False


def _if(machine: Machine, node: cst.If) -> bool:
    asked = truth(machine, node.test)
    tests: list[cst.BaseExpression] = [node.test]
    bodies: list[list[cst.BaseStatement | cst.BaseSmallStatement] | None] = [list(node.body.body)]
    orelse = node.orelse
    while type(orelse) is cst.If:
        with machine.under(machine.frame.condition(node, tests[-1])):
            truth(machine, orelse.test)
        tests.append(orelse.test)
        bodies.append(list(orelse.body.body))
        orelse = orelse.orelse
    bodies.append(list(orelse.body.body) if orelse is not None else None)
    if _runs_as_script(node.test):
        return machine.branches(list(bodies)) is Left.ALWAYS
    frame = machine.frame
    conditions = [
        frame.condition(node, test, node, branches=len(bodies) if orelse is not None else 0) for test in tests
    ]
    condition = max(conditions, key=lambda one: frame.loops.index(one.varies) + 1 if one.varies is not None else 0)
    answers = [answer_by_arguments(machine, one) for one in tests]
    if untaken := untaken_branches(answers):
        condition = replace(condition, answer=answers[0] if len(tests) == 1 else None, untaken=untaken)
    by_default = answer_by_default(machine, node.test, asked) if len(tests) == 1 else None
    if by_default is not None:
        condition = replace(condition, option=by_default[0], default=by_default[1])
    every = frame.every
    frame.every = _modulus(machine, node.test) or every
    left = machine.branches(list(bodies), condition)
    if left is Left.SOMETIMES:
        _note_exit(machine, node.test)
        # what follows an exit happens in most passes, but for those that are counted off
        varies = condition.varies if frame.every is not None and frame.every is not every else None
        frame.conditions += (replace(condition, varies=varies, branches=0, exits=True),)
    frame.every = every
    return left is Left.ALWAYS


def _note_exit(machine: Machine, test: cst.BaseExpression) -> None:
    """What follows a test happens with some kinds of device only, if that is what was asked for."""
    for one in devices_asked_for(test):
        machine.recorder.operation(machine.frame, one, Act.EXITS_BY_DEVICE)


def _modulus(machine: Machine, test: cst.BaseExpression) -> Value | None:
    """What a test that is true once in so many passes of a loop counts by."""
    modulus = modulus_in(test) if machine.frame.loops else None
    return machine.evaluate(modulus) if modulus is not None else None


def _runs_as_script(test: cst.BaseExpression) -> bool:
    """Whether a condition is ``__name__ == "__main__"``, which decides nothing while the program runs."""
    return type(test) is cst.Comparison and type(test.left) is cst.Name and test.left.value == "__name__"


def _for(machine: Machine, node: cst.For) -> bool:
    iterable = iterated(machine, node.iter, machine.evaluate(node.iter))
    machine.recorder.operation(machine.frame, node, Act.GOES_OVER, iterable)
    with machine.looping(node) as loop:
        element = element_of(machine, iterable)
        take_from_objects(machine, node.iter)
        loop.counts = _counts(machine, node)
        loop.rows_of = _rows_of(machine, node.iter)
        machine.recorder.go_over(machine.frame, loop, element)
        if not loop.counts:
            machine.frame.run.clock.go_over(data=bool(loop.loaders))
        machine.repeat(node.body.body, element, node.target)
    if node.orelse is not None:
        return machine.execute(node.orelse.body.body)
    return False


def _counts(machine: Machine, loop: cst.For) -> bool:
    """Whether a loop goes over a range of numbers, under a progress bar or not, that is known to be no single one, or
    calls what it goes over an epoch."""
    node = loop.iter
    while isinstance(node, cst.Call) and isinstance(node.func, (cst.Name, cst.Attribute)):
        callee = machine.evaluate(node.func)
        name = callee.name if isinstance(callee, Qualified) else ""
        if name == "itertools.count":
            return True
        if name == "range" or (name.startswith("tqdm.") and name.endswith("trange")):
            limits = [machine.evaluate(arg.value) for arg in node.args if arg.keyword is None and not arg.star]
            only = limits[0] if len(limits) == 1 else None
            return not (isinstance(only, Constant) and only.value in (0, 1))
        if not (name in PASS_THROUGH or name == "enumerate") or not node.args:
            break
        node = node.args[0].value
    return names_epoch(loop.target)


def _rows_of(machine: Machine, node: cst.BaseExpression) -> Tensor | None:
    """The tensor whose rows an iterable counts: ``range(x.size(0))``, ``range(x.shape[0])`` or ``range(len(x))``."""
    if not isinstance(node, cst.Call) or len(node.args) != 1 or machine.evaluate(node.func) != Qualified("range"):
        return None
    limit, counted = node.args[0].value, None
    if isinstance(limit, cst.Subscript) and isinstance(limit.value, cst.Attribute) and len(limit.slice) == 1:
        first = limit.slice[0].slice
        whole = isinstance(first, cst.Index) and isinstance(first.value, cst.Integer) and first.value.value == "0"
        counted = limit.value.value if whole and limit.value.attr.value == "shape" else None
    elif isinstance(limit, cst.Call) and len(limit.args) == 1:
        only = limit.args[0].value
        if isinstance(limit.func, cst.Attribute) and limit.func.attr.value == "size":
            counted = limit.func.value if isinstance(only, cst.Integer) and only.value == "0" else None
        elif machine.evaluate(limit.func) == Qualified("len"):
            counted = only
    value = machine.evaluate(counted) if isinstance(counted, (cst.Name, cst.Attribute)) else None
    return value if isinstance(value, Tensor) else None


def _while(machine: Machine, node: cst.While) -> bool:
    truth(machine, node.test)
    with machine.looping(node) as loop:
        loop.counts = True
        machine.frame.run.clock.go_over()
        machine.repeat(node.body.body, None, None)
    if node.orelse is not None:
        return machine.execute(node.orelse.body.body)
    return False


def _with(machine: Machine, node: cst.With) -> bool:
    frame = machine.frame
    place, entered = frame.place, len(frame.managers)
    for item in node.items:
        value = machine.evaluate(item.item)
        stops = may_stop_autograd(value)
        scope = frame.function.node if frame.function is not None else machine.document.tree
        harmless = stops and leaves_autograd(item.item, value, node.body, scope)
        frame.managers.append(Opaque("open") if harmless else value)
        if stops and not harmless:
            machine.recorder.autograd_stopped(machine.frame.loops)
        if isinstance(value, Device):
            frame.place = frozenset({value.kinds})
        if item.asname is not None:
            kept = value if isinstance(value, (Iterated, Loader, Instance, Opaque, Choice)) else UNKNOWN
            assign(machine, item.asname.name, kept)
    try:
        return machine.execute(node.body.body)
    finally:
        frame.place = place
        del frame.managers[entered:]


def _try(machine: Machine, node: cst.Try | cst.TryStar) -> bool:
    machine.store.push()
    ended = machine.execute(node.body.body)
    if not ended and node.orelse is not None:
        ended = machine.execute(node.orelse.body.body)
    tried = machine.store.pop()
    after = [] if ended else [tried]
    for handler in node.handlers:
        machine.store.push()
        # the body may have been left anywhere
        machine.store.merge([{}, tried])
        if handler.name is not None:
            assign(machine, handler.name.name, UNKNOWN)
        with machine.under(machine.frame.condition(handler, None)):
            ended = machine.execute(handler.body.body)
        caught = machine.store.pop()
        if not ended:
            after.append(caught)
    if after:
        machine.store.merge(after)
    if node.finalbody is not None and machine.execute(node.finalbody.body.body):
        return True
    return not after


def _match(machine: Machine, node: cst.Match) -> bool:
    machine.evaluate(node.subject)
    bodies: list[list[cst.BaseStatement | cst.BaseSmallStatement] | None] = [list(c.body.body) for c in node.cases]
    return machine.branches([*bodies, None], machine.frame.condition(node, node.subject)) is Left.ALWAYS


def _function(machine: Machine, node: cst.FunctionDef) -> bool:
    decorators = tuple(machine.evaluate(one.decorator) for one in node.decorators)
    for one, value in zip(node.decorators, decorators, strict=True):
        if isinstance(value, Qualified) and "." in value.name:
            machine.recorder.operation(machine.frame, one.decorator, Decorates(value.name))
    owner = None
    if machine.scope.kind == "class":
        found = machine.store.get(machine.scope, "\0class")
        owner = found if isinstance(found, Class) else None
    defaults = parameter_defaults(machine, node.params)
    machine.scope.captured = True
    first = node.params.params[0].name.value if node.params.params else None
    options = command_options(decorators, defaults, first)
    wrapped = tuple([one for one in decorators if not hands_back(one)])
    function = Function(machine.document, node, machine.scope, defaults, owner, wrapped, options)
    machine.functions.append(function)
    machine.bind(node.name.value, function)
    register(machine, function, decorators)
    return False


def _class(machine: Machine, node: cst.ClassDef) -> bool:
    bases = tuple(machine.evaluate(one.value) for one in node.bases)
    decorators = tuple(machine.evaluate(one.decorator) for one in node.decorators)
    scope = Scope(machine.document, machine.scope, "class")
    cls = Class(machine.document, node, scope, bases, decorators)
    machine.classes.append(cls)
    for base in cls.library_bases():
        framework = FRAMEWORK_CLASSES.get(base)
        if framework is not None:
            machine.recorder.framework(machine.document, framework)
        if base.startswith("threading."):
            machine.recorder.operation(machine.frame, node, Call(base))
    machine.store.set(scope, "\0class", cls)
    with machine.entered(machine.frame.of_block(scope)):
        machine.execute(node.body.body)
    machine.bind(node.name.value, cls)
    register(machine, cls, decorators)
    return False


def _line(machine: Machine, node: cst.SimpleStatementLine) -> bool:
    return machine.execute(node.body)


EXECUTE: dict[type[cst.CSTNode], Callable[..., bool]] = {
    cst.SimpleStatementLine: _line,
    cst.Expr: _expression,
    cst.Assign: _assignment,
    cst.AnnAssign: _annotated,
    cst.AugAssign: _augmented,
    cst.Return: _return,
    cst.Raise: _raise,
    cst.Break: _leave_loop,
    cst.Continue: _leave_loop,
    cst.Assert: _assert,
    cst.Del: _delete,
    cst.Global: _global,
    cst.Import: import_module,
    cst.ImportFrom: import_names,
    cst.If: _if,
    cst.For: _for,
    cst.While: _while,
    cst.With: _with,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.Match: _match,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
}
