"""What statements do to the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from .catalog import FRAMEWORK_CLASSES
from .iteration import element_at, element_of, loaders_of
from .methods import mutates_in_place
from .scope import ANY, OPEN, Scope
from .values import (
    ABSENT,
    SOMEWHERE,
    UNKNOWN,
    Cell,
    Choice,
    Class,
    Constant,
    Device,
    Function,
    Instance,
    Iterated,
    Loader,
    Mapping,
    Module,
    Namespace,
    Opaque,
    Pending,
    Qualified,
    Sequence,
    SourceModule,
    Tensor,
    Value,
    device_kinds,
    join,
    options_of,
)

if TYPE_CHECKING:
    from .interpreter import Interpreter


def assign(machine: Interpreter, target: cst.CSTNode, value: Value) -> None:
    """Binds an assignment's target, taking the value apart where the target is a tuple."""
    if isinstance(target, cst.Name):
        if isinstance(value, Constant):
            kind = "class attribute" if machine.scope.kind == "class" else "constant"
            value = value if value.origin and value.origin.kind != "argument" else value.at(kind, target.value)  # type: ignore[arg-type]
        machine.bind(target.value, value)
        for loader in loaders_of(value) if isinstance(value, (Loader, Choice)) else ():
            loader.name = loader.name or target.value
        _note_device(machine, target, value)
    elif isinstance(target, (cst.Tuple, cst.List)):
        for index, element in enumerate(target.elements):
            if isinstance(element, cst.StarredElement):
                assign(machine, element.value, Iterated(element_of(machine, value)))
            else:
                assign(machine, element.value, element_at(machine, value, index, len(target.elements)))
    elif isinstance(target, cst.Attribute):
        _assign_attribute(machine, target, value)
    elif isinstance(target, cst.Subscript):
        _assign_item(machine, target, value)
    elif isinstance(target, cst.StarredElement):
        assign(machine, target.value, Iterated(value))


def _note_device(machine: Interpreter, target: cst.Name, value: Value) -> None:
    if isinstance(value, Device) or (
        isinstance(value, (Constant, Choice))
        and all(isinstance(one, Constant) and isinstance(one.value, str) for one in options_of(value))
    ):
        kinds = device_kinds(value)
        if "cuda" in kinds and "unknown" not in kinds:
            machine.recorder.device_name(machine.document, target, kinds, machine.scope)


def _assign_attribute(machine: Interpreter, target: cst.Attribute, value: Value) -> None:
    owner = machine.evaluate(target.value)
    name = target.attr.value
    for one in options_of(owner):
        if isinstance(one, (Instance, Module, Namespace, Class)):
            if isinstance(one, Module):
                adopt(machine, value)
            if isinstance(value, Constant):
                value = value.at("class attribute", name)
            before = machine.store.get(one, name)
            certain = not isinstance(owner, Choice)
            machine.store.set(one, name, value if certain or before is None else join(before, value))
            if isinstance(one, Instance) and not _inside(machine, one.cls):
                machine.recorder.written.setdefault(one.cls, set()).add(name)
        elif isinstance(one, SourceModule):
            machine.store.set(one.scope, name, value)
    for loader in loaders_of(value) if isinstance(value, Loader) else ():
        loader.name = loader.name or name


def adopt(machine: Interpreter, value: Value) -> None:
    """A module becomes part of another: from now on it lives where that one lives."""
    for one in options_of(value):
        if isinstance(one, Module):
            machine.move(one, SOMEWHERE)
        elif isinstance(one, Sequence):
            for item in one.items:
                adopt(machine, item)
        elif isinstance(one, Iterated):
            adopt(machine, one.element)


def _inside(machine: Interpreter, cls: Class) -> bool:
    return any(frame.function is not None and frame.function.owner in cls.lineage() for frame in machine.frames)


def _assign_item(machine: Interpreter, target: cst.Subscript, value: Value) -> None:
    owner = machine.evaluate(target.value)
    key = None
    if len(target.slice) == 1 and isinstance(target.slice[0].slice, cst.Index):
        key = machine.evaluate(target.slice[0].slice.value)
    for one in options_of(owner):
        if isinstance(one, Mapping):
            if isinstance(key, Constant) and isinstance(key.value, (str, int)):
                stored = value.at("dict entry", str(key.value)) if isinstance(value, Constant) else value
                if isinstance(owner, Choice):
                    stored = join(machine.store.get(one, key.value) or ABSENT, stored)
                machine.store.set(one, key.value, stored)
            else:
                before = machine.store.get(one, ANY)
                machine.store.set(one, ANY, value if before is None else join(before, value))
                machine.store.set(one, OPEN, Constant(True))
        elif isinstance(one, Tensor):
            mutates_in_place(machine, one)


def _expression(machine: Interpreter, node: cst.Expr) -> bool:
    machine.discarded = node.value
    machine.evaluate(node.value)
    machine.discarded = None
    return False


def _assignment(machine: Interpreter, node: cst.Assign) -> bool:
    value = machine.evaluate(node.value)
    for target in node.targets:
        assign(machine, target.target, value)
    return False


def _annotated(machine: Interpreter, node: cst.AnnAssign) -> bool:
    if node.value is not None:
        assign(machine, node.target, machine.evaluate(node.value))
    return False


def _augmented(machine: Interpreter, node: cst.AugAssign) -> bool:
    before = machine.evaluate(node.target)
    value = machine.evaluate(node.value)
    if isinstance(before, Tensor):
        mutates_in_place(machine, before)
        return False
    if isinstance(before, Mapping) and isinstance(node.operator, cst.BitOrAssign):
        from .mappings import update_mapping

        update_mapping(machine, before, value)
        return False
    if isinstance(before, (Iterated, Sequence)):
        assign(machine, node.target, Iterated(join(element_of(machine, before), element_of(machine, value))))
    elif isinstance(before, Tensor) or not isinstance(before, Cell):
        assign(machine, node.target, UNKNOWN)
    return False


def _return(machine: Interpreter, node: cst.Return) -> bool:
    frame = machine.frame
    frame.returned.append(machine.evaluate(node.value) if node.value is not None else Constant(None))
    frame.exits.append(machine.store.since(frame.level))
    return True


def _raise(machine: Interpreter, node: cst.Raise) -> bool:
    if node.exc is not None:
        machine.evaluate(node.exc)
    return True


def _leave_loop(machine: Interpreter, node: cst.Break | cst.Continue) -> bool:
    if machine.frame.loop_exits:
        level, exits = machine.frame.loop_exits[-1]
        exits.append(machine.store.since(level))
    return True


def _assert(machine: Interpreter, node: cst.Assert) -> bool:
    machine.evaluate(node.test)
    return False


def _delete(machine: Interpreter, node: cst.Del) -> bool:
    if isinstance(node.target, cst.Subscript):
        owner = machine.evaluate(node.target.value)
        if isinstance(owner, Mapping):
            machine.store.set(owner, OPEN, Constant(True))
    return False


def _global(machine: Interpreter, node: cst.Global) -> bool:
    machine.scope.global_names.update(item.name.value for item in node.names)
    return False


def dotted(node: cst.BaseExpression | None) -> str:
    """The text of a dotted name."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        return f"{dotted(node.value)}.{node.attr.value}"
    return ""


def _import(machine: Interpreter, node: cst.Import) -> bool:
    for alias in node.names:
        name = dotted(alias.name)
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            filename = machine.modules.resolve(name, 0, machine.document)
            machine.bind(alias.asname.name.value, Pending(filename) if filename else Qualified(name))
        else:
            first = name.split(".")[0]
            filename = machine.modules.resolve(first, 0, machine.document)
            machine.bind(first, Pending(filename) if filename else Qualified(first))
        if name == "torch" and machine.scope.kind == "module":
            bound = alias.asname.name if alias.asname is not None else None
            machine.recorder.torch_imported(machine.document, bound.value if isinstance(bound, cst.Name) else "torch")
    return False


def _import_from(machine: Interpreter, node: cst.ImportFrom) -> bool:
    from .catalog import canonical

    name, level = dotted(node.module), len(node.relative)
    filename = machine.modules.resolve(name, level, machine.document)
    if isinstance(node.names, cst.ImportStar):
        machine.scope.globals.stars.append(Pending(filename) if filename else Qualified(name))
        return False
    for alias in node.names:
        imported = dotted(alias.name)
        bound = alias.asname.name if alias.asname is not None else alias.name
        if not isinstance(bound, cst.Name):
            continue
        if filename is not None:
            machine.bind(bound.value, Pending(filename, imported))
        elif level:
            machine.bind(bound.value, UNKNOWN)
        else:
            machine.bind(bound.value, Qualified(canonical(f"{name}.{imported}")))
            machine.recorder.name_used(machine.document, f"{name}.{imported}")
    return False


def _if(machine: Interpreter, node: cst.If) -> bool:
    machine.evaluate(node.test)
    tests: list[list[cst.BaseStatement | cst.BaseSmallStatement] | None] = [list(node.body.body)]
    orelse = node.orelse
    while isinstance(orelse, cst.If):
        machine.evaluate(orelse.test)
        tests.append(list(orelse.body.body))
        orelse = orelse.orelse
    tests.append(list(orelse.body.body) if orelse is not None else None)
    return machine.branches(list(tests))


def _for(machine: Interpreter, node: cst.For) -> bool:
    iterable = machine.evaluate(node.iter)
    with machine.looping(node) as loop:
        element = element_of(machine, iterable)
        machine.recorder.take(loop, loaders_of(element), machine)
        machine.repeat(node.body.body, element, node.target)
    if node.orelse is not None:
        return machine.execute(node.orelse.body.body)
    return False


def _while(machine: Interpreter, node: cst.While) -> bool:
    machine.evaluate(node.test)
    with machine.looping(node):
        machine.repeat(node.body.body, None, None)
    if node.orelse is not None:
        return machine.execute(node.orelse.body.body)
    return False


def _with(machine: Interpreter, node: cst.With) -> bool:
    places = 0
    for item in node.items:
        value = machine.evaluate(item.item)
        if isinstance(value, Device):
            machine.default_places.append(frozenset({value.kinds}))
            places += 1
        if item.asname is not None:
            kept = value if isinstance(value, (Iterated, Loader, Instance, Opaque, Choice)) else UNKNOWN
            assign(machine, item.asname.name, kept)
    try:
        return machine.execute(node.body.body)
    finally:
        if places:
            del machine.default_places[-places:]


def _try(machine: Interpreter, node: cst.Try | cst.TryStar) -> bool:
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
        if not machine.execute(handler.body.body):
            after.append(machine.store.pop())
        else:
            machine.store.pop()
    if after:
        machine.store.merge(after)
    if node.finalbody is not None and machine.execute(node.finalbody.body.body):
        return True
    return not after


def _match(machine: Interpreter, node: cst.Match) -> bool:
    machine.evaluate(node.subject)
    bodies: list[list[cst.BaseStatement | cst.BaseSmallStatement] | None] = [list(c.body.body) for c in node.cases]
    return machine.branches([*bodies, None])


def _function(machine: Interpreter, node: cst.FunctionDef) -> bool:
    decorators = tuple(machine.evaluate(one.decorator) for one in node.decorators)
    owner = None
    if machine.scope.kind == "class":
        found = machine.store.get(machine.scope, "\0class")
        owner = found if isinstance(found, Class) else None
    defaults: list[tuple[str, Value]] = []
    for param in (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params):
        if param.default is not None:
            value = machine.evaluate(param.default)
            if isinstance(value, Constant):
                value = value.at("parameter default", param.name.value)
            defaults.append((param.name.value, value))
    machine.scope.captured = True
    function = Function(machine.document, node, machine.scope, tuple(defaults), owner, decorators)
    machine.functions.append(function)
    machine.bind(node.name.value, function)
    return False


def _class(machine: Interpreter, node: cst.ClassDef) -> bool:
    bases = tuple(machine.evaluate(one.value) for one in node.bases)
    decorators = tuple(machine.evaluate(one.decorator) for one in node.decorators)
    scope = Scope(machine.document, machine.scope, "class")
    cls = Class(machine.document, node, scope, bases, decorators)
    machine.classes.append(cls)
    for base in cls.library_bases():
        framework = FRAMEWORK_CLASSES.get(base)
        if framework is not None:
            machine.recorder.framework(machine.document, framework)
    machine.store.set(scope, "\0class", cls)
    frame = machine.frame
    outer, frame.scope = frame.scope, scope
    try:
        machine.execute(node.body.body)
    finally:
        frame.scope = outer
    machine.bind(node.name.value, cls)
    return False


def _line(machine: Interpreter, node: cst.SimpleStatementLine) -> bool:
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
    cst.Import: _import,
    cst.ImportFrom: _import_from,
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
