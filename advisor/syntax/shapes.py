"""Questions about a piece of syntax that need no interpretation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from accel_advisor.syntax.walking import descendants

_DEVICE_METHODS = frozenset({"to", "cuda", "cpu", "type_as", "pin_memory", "to_empty"})


_MOVES = frozenset({"to", "cuda", "cpu", "xpu"})
_READS = frozenset({"item", "tolist", "cpu", "numpy", "nonzero"})
"""Methods that wait for a tensor on a GPU."""


_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_EPOCH = re.compile(r"(?:\w*_)?epochs?(?:_?(?:i|id|idx|index|n|num|number|no))?|i_?epochs?")
_BINDS_ANEW = (cst.AnnAssign, cst.For, cst.CompFor, cst.NamedExpr, cst.Del)
_WITH_TARGET = (cst.AssignTarget, cst.AugAssign, *_BINDS_ANEW)


@lru_cache(maxsize=2048)
def touches_devices(code: cst.CSTNode) -> bool:
    """Whether the code of a class or function calls a method that moves something, or reads a ``device``."""
    for node in descendants(code, cst.Attribute, cst.Call):
        if type(node) is cst.Attribute and node.attr.value == "device":
            return True
        if type(node) is cst.Call and type(node.func) is cst.Attribute:
            name = node.func.attr.value
            if name in _DEVICE_METHODS or name.startswith("new_"):
                return True
    return False


@lru_cache(maxsize=512)
def moves_itself(cls: cst.ClassDef) -> bool:
    """Whether a module's class moves itself, or a part of itself, outside of ``forward``."""
    methods = [one for name, one in methods_of(cls).items() if name != "forward"]
    for node in (node for method in methods for node in descendants(method, cst.Call)):
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in _MOVES:
            root = node.func.value
            while isinstance(root, (cst.Attribute, cst.Subscript)):
                root = root.value
            if isinstance(root, cst.Name) and root.value == "self":
                return True
    return False


@lru_cache(maxsize=2048)
def devices_asked_for(test: cst.BaseExpression) -> tuple[cst.SimpleString, ...]:
    """The names of kinds of device that a test spells out."""
    texts = descendants(test, cst.SimpleString)
    return tuple(one for one in texts if one.value.strip("\"'") in ("cuda", "mps", "cpu"))


@lru_cache(maxsize=2048)
def modulus_in(test: cst.BaseExpression) -> cst.BaseExpression | None:
    """The right side of the first ``%`` in a test, which is true once in so many passes of a loop."""
    operations = descendants(test, cst.BinaryOperation)
    return next((one.right for one in operations if isinstance(one.operator, cst.Modulo)), None)


@lru_cache(maxsize=512)
def names_epoch(target: cst.BaseExpression) -> bool:
    """Whether the target of a loop, or a part of it, is called an epoch."""
    return any(_EPOCH.fullmatch(name.lower()) for name in names_read_in(target))


def makes_parts(cls: cst.ClassDef) -> bool:
    """Whether the constructor of a module's class gives the module anything that a call has made: layers, weights."""
    begin = methods_of(cls).get("__init__")
    if begin is None:
        return False
    bound = (
        one for one in descendants(begin, cst.Assign, cst.AnnAssign) if isinstance(one, (cst.Assign, cst.AnnAssign))
    )
    values = (one.value for one in bound if one.value is not None)
    return any(next(descendants(one, cst.Call), None) is not None for one in values)


def methods_of(cls: cst.ClassDef) -> dict[str, cst.FunctionDef]:
    """The functions that a class body defines, by name."""
    body = cls.body.body
    return {one.name.value: one for one in body if type(one) is cst.FunctionDef}


def owners(module: cst.Module) -> dict[int, cst.ClassDef]:
    """The class of each method of a module, by the identity of the method."""
    classes = descendants(module, cst.ClassDef)
    return {id(method): one for one in classes for method in methods_of(one).values()}


def fields_of(cls: cst.ClassDef) -> list[str]:
    """The annotated names of a class body, in order: the fields of a dataclass."""
    lines = [one for one in cls.body.body if type(one) is cst.SimpleStatementLine]
    small = [one for line in lines for one in line.body]
    return [one.target.value for one in small if isinstance(one, cst.AnnAssign) and isinstance(one.target, cst.Name)]


def named_parameters(params: cst.Parameters) -> tuple[cst.Param, ...]:
    """The parameters of a function that take one argument each, in their order."""
    return (*positional_parameters(params), *params.kwonly_params)


def positional_parameters(params: cst.Parameters) -> tuple[cst.Param, ...]:
    """Those that an argument may be given to by its position."""
    return (*params.posonly_params, *params.params)


def self_attribute(node: cst.CSTNode) -> str | None:
    """The attribute's name where ``node`` is ``self.name``."""
    if type(node) is cst.Attribute and type(node.value) is cst.Name and node.value.value == "self":
        return node.attr.value
    return None


def receiver_of(node: cst.CSTNode) -> cst.BaseExpression | None:
    """What stands in front of the last dot of what a call calls, or of an attribute; None where nothing does."""
    named = node.func if isinstance(node, cst.Call) else node
    return named.value if isinstance(named, cst.Attribute) else None


def keywords_of(call: cst.Call) -> dict[str, cst.BaseExpression]:
    """The expressions that a call gives by name, by these names."""
    return {one.keyword.value: one.value for one in call.args if one.keyword is not None}


def slices_of(node: cst.CSTNode) -> list[cst.Slice]:
    """The slices among what an expression is subscripted with: ``1:3`` and ``:`` of ``x[1:3, :, 0]``."""
    parts = [one.slice for one in node.slice] if isinstance(node, cst.Subscript) else []
    return [one for one in parts if isinstance(one, cst.Slice)]


def dotted(node: cst.CSTNode | None) -> str:
    """The text of a dotted name: ``self.data``; empty for nothing, and for any other expression."""
    if type(node) is cst.Name:
        return node.value
    if type(node) is cst.Attribute:
        return f"{dotted(node.value)}.{node.attr.value}"
    return ""


def last_name(node: cst.CSTNode | None) -> str:
    """The last name of a name or an attribute: ``item`` of ``losses[0].item``; empty for any other expression."""
    named = node.attr if type(node) is cst.Attribute else node
    return named.value if type(named) is cst.Name else ""


def root_of(node: cst.BaseExpression) -> cst.BaseExpression:
    """What parts are taken from, and methods are called on, first of all: ``x`` in ``x[order].long()``."""
    while isinstance(node, (cst.Subscript, cst.Attribute, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node


def names_read_in(node: cst.CSTNode) -> frozenset[str]:
    """Every name that occurs in a piece of syntax, and every attribute of one as ``name.attribute``."""
    found: set[str] = set()
    for one in descendants(node, cst.Name, cst.Attribute):
        if type(one) is cst.Name:
            found.add(one.value)
        elif isinstance(one, cst.Attribute) and isinstance(one.value, cst.Name):
            found.add(f"{one.value.value}.{one.attr.value}")
    return frozenset(found)


def defined_in(node: cst.CSTNode) -> Counter[str]:
    """How many functions and classes of each name a piece of syntax defines, at any depth."""
    functions = Counter(one.name.value for one in descendants(node, cst.FunctionDef))
    return functions + Counter(one.name.value for one in descendants(node, cst.ClassDef))


def mentioned_in(node: cst.CSTNode) -> Counter[str]:
    """How often a piece of syntax mentions each name, as an attribute or by itself, other than to define a function or
    class."""
    return Counter(one.value for one in descendants(node, cst.Name)) - defined_in(node)


def names_bound_in(node: cst.CSTNode) -> frozenset[str]:
    """Names, and attributes of names, that a piece of syntax binds, deletes or stores something in, and those of
    objects whose methods it calls as statements of their own, which may change them."""
    found: set[str] = set()
    for one in descendants(node, *_WITH_TARGET, cst.AsName, cst.Expr):
        targets: list[cst.CSTNode] = []
        if isinstance(one, _WITH_TARGET):
            targets.append(one.target)
        elif isinstance(one, cst.AsName):
            targets.append(one.name)
        elif isinstance(one, cst.Expr) and isinstance(one.value, cst.Call):
            targets += [one.value.func, *(arg.value for arg in one.value.args)]
        for target in targets:
            found |= names_read_in(target)
    return frozenset(found)


_TAKES_OUT = frozenset({"clear", "pop", "popleft", "popitem", "remove", "reset"})


def takes_out(call: cst.Call) -> bool:
    """Whether a call is one of a method that, by its name, takes things out of its receiver."""
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in _TAKES_OUT


def renewed_in(node: cst.CSTNode, besides: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What a piece of syntax rebinds, deletes, or calls a method on that takes things out of it, in other
    statements than ``besides``."""
    for one in descendants(node, cst.Assign, cst.Call, *_BINDS_ANEW):
        if one is besides:
            continue
        if type(one) is cst.Assign:
            targets: list[cst.CSTNode] = [target.target for target in one.targets]
        elif isinstance(one, cst.Call):
            targets = [one.func.value] if isinstance(one.func, cst.Attribute) and takes_out(one) else []
        elif isinstance(one, _BINDS_ANEW):
            targets = [one.target]
        else:
            continue
        for target in targets:
            yield from (part.value for part in target.elements) if isinstance(target, cst.Tuple) else (target,)


def assigned_value(statement: cst.CSTNode) -> cst.BaseExpression | None:
    """What an assignment to a single target assigns; None for any other statement."""
    if type(statement) is cst.Assign and len(statement.targets) == 1:
        return statement.value
    return None


def done_to_each(node: cst.CSTNode, name: str) -> frozenset[str]:
    """Every name that occurs in a loop or comprehension over what has this name, ``self.layers`` say."""
    found: frozenset[str] = frozenset()
    for one in descendants(node, cst.For, cst.ListComp, cst.GeneratorExp):
        loop = one.for_in if isinstance(one, (cst.ListComp, cst.GeneratorExp)) else one
        if isinstance(loop, (cst.For, cst.CompFor)) and name in names_read_in(loop.iter):
            found |= names_read_in(one)
    return found


def called_for_result(function: cst.FunctionDef) -> frozenset[str]:
    """The attributes of ``self`` that are called for what a function returns, and used in no other way; none where it
    returns several values. What stands in a branch, a loop or a ``with`` counts as another use, but for a branch that
    only asks whether the part is there."""
    statements = _always_run(function.body)
    last = statements.pop() if statements else None
    if (
        not isinstance(last, cst.Return)
        or last.value is None
        or isinstance(last.value, (cst.Tuple, cst.List, cst.Dict))
    ):
        return frozenset()
    pieces = [last.value]
    wanted = set(names_read_in(last.value))
    for one in reversed(statements):
        if not isinstance(one, (cst.Assign, cst.AugAssign, cst.AnnAssign)) or one.value is None:
            continue
        targets = [target.target for target in one.targets] if isinstance(one, cst.Assign) else [one.target]
        if any(wanted & names_read_in(target) for target in targets):
            wanted -= {target.value for target in targets if isinstance(target, cst.Name)}
            wanted |= names_read_in(one.value)
            wanted |= names_read_in(one.target) if isinstance(one, cst.AugAssign) else frozenset()
            pieces.append(one.value)
    calls = Counter(self_attribute(call.func) for piece in pieces for call in descendants(piece, cst.Call))
    uses = Counter(self_attribute(one) for one in descendants(function, cst.Attribute))
    uses.subtract(part for one in descendants(function, cst.If) if (part := optional_part(one)) is not None)
    return frozenset(name for name, times in calls.items() if name is not None and times == uses[name])


def main_guards(module: cst.Module) -> list[cst.If]:
    """The statements ``if __name__ == "__main__":`` of a module."""
    statements = [one for one in module.body if type(one) is cst.If]
    return [one for one in statements if "__name__" in names_read_in(one.test)]


def _always_run(body: cst.BaseSuite) -> list[cst.BaseSmallStatement]:
    """The simple statements of a body, and those that run wherever the part is there that they are about."""
    lines = body.body if isinstance(body, cst.IndentedBlock) else [body]
    found: list[cst.BaseSmallStatement] = []
    for line in lines:
        if isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            found += line.body
        elif isinstance(line, cst.If) and optional_part(line) is not None:
            found += _always_run(line.body)
    return found


def optional_part(branch: cst.If) -> str | None:
    """The attribute of ``self`` of which a branch, without an ``else``, only asks whether there is one: it is called in
    it (``if self.norm is not None: x = self.norm(x)``). None for any other branch."""
    test = branch.test
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        target = test.comparisons[0]
        nothing = isinstance(target.comparator, cst.Name) and target.comparator.value == "None"
        if not nothing or not isinstance(target.operator, cst.IsNot):
            return None
        test = test.left
    part = self_attribute(test)
    called = any(self_attribute(call.func) == part for call in descendants(branch.body, cst.Call))
    return part if called and branch.orelse is None else None


def decides(function: cst.FunctionDef) -> bool:
    """Whether a function's code branches or loops, so that different calls may do different things; whether an object
    has a part is the same for all calls."""
    kinds = (cst.If, cst.IfExp, cst.For, cst.While, cst.Try, cst.TryStar, cst.Match, cst.BooleanOperation)
    found = descendants(function.body, *kinds)
    return any(not isinstance(one, cst.If) or optional_part(one) is None for one in found)


def asks_for_something(test: cst.BaseExpression) -> bool | None:
    """Whether a test is true where there is something (``len(x) > 0``), or where there is nothing (``x.numel() == 0``);
    None where it asks for anything else. A remainder is no amount."""
    if type(test) is cst.UnaryOperation and type(test.operator) is cst.Not:
        return False if is_amount(test.expression) else None
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return True if is_amount(test) else None
    only = test.comparisons[0]
    counts = isinstance(test.left, (cst.Name, cst.Attribute)) or is_amount(test.left)
    if not counts or not isinstance(only.comparator, cst.Integer) or only.comparator.value != "0":
        return None
    if isinstance(only.operator, cst.Equal):
        return False
    return True if isinstance(only.operator, (cst.GreaterThan, cst.NotEqual)) else None


def is_amount(node: cst.BaseExpression) -> bool:
    """Whether an expression says how many there are: ``len(x)``, ``x.numel()``, ``x.shape[0]``, ``x.size(0)``."""
    if isinstance(node, cst.Subscript):
        return isinstance(node.value, cst.Attribute) and node.value.attr.value == "shape"
    if not isinstance(node, cst.Call):
        return False
    return last_name(node.func) in ("len", "numel", "size", "nelement")


def is_written(node: cst.BaseExpression) -> bool:
    """Whether a number, or a list or tuple of such, at any depth, is written out."""
    if isinstance(node, cst.UnaryOperation):
        node = node.expression
    if isinstance(node, (cst.List, cst.Tuple)):
        return bool(node.elements) and all(is_written(one.value) for one in node.elements)
    return isinstance(node, (cst.Integer, cst.Float))


def words_of(name: str) -> frozenset[str]:
    """The words that a name consists of, in lower case."""
    return frozenset(word.lower() for word in _WORDS.findall(name))


@lru_cache(maxsize=512)
def methods_reached(
    classes: tuple[cst.ClassDef, ...], *names: str, returned: bool = False
) -> tuple[cst.FunctionDef, ...]:
    """The methods that some methods come to, by name, through calls on ``self``, themselves included.

    Args:
        classes: a class and its bases, nearest first.
        names: of the methods to begin with.
        returned: follow only calls whose result is returned as it is: ``return self.infer(x)``.
    """
    known: dict[str, cst.FunctionDef] = {}
    for one in reversed(classes):
        known |= methods_of(one)
    found: dict[str, cst.FunctionDef] = {}
    pending = [one for one in names if one in known]
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found[name] = known[name]
        calls: Iterator[cst.CSTNode | None] = descendants(known[name], cst.Call)
        if returned:
            calls = (one.value for one in descendants(known[name], cst.Return) if isinstance(one, cst.Return))
        called = (self_attribute(one.func) for one in calls if isinstance(one, cst.Call))
        pending += [one for one in called if one in known]
    return tuple(found.values())


@lru_cache(maxsize=512)
def reads_in_forward(classes: tuple[cst.ClassDef, ...]) -> bool:
    """Whether the text of a ``forward``, or of a method that it comes to, reads a tensor on the host."""
    return any(
        isinstance(one.func, cst.Attribute) and (one.func.attr.value in _READS or _goes_to_host(one))
        for method in methods_reached(classes, "forward")
        for one in descendants(method, cst.Call)
    )


def _goes_to_host(call: cst.Call) -> bool:
    moves = isinstance(call.func, cst.Attribute) and call.func.attr.value == "to"
    given = [one.value for one in call.args] if moves else []
    return any(isinstance(one, cst.SimpleString) and one.evaluated_value == "cpu" for one in given)
