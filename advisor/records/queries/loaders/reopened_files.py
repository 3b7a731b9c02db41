"""Files with many samples that are opened again for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import calls
from accel_advisor.syntax.shapes import dotted, last_name, names_read_in, self_attribute
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.conditions import Condition
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation, OperationContext

_TABLES = "reads its tables again, and loses the chunks that it had cached"
OPENS = {
    "h5py.File": _TABLES,
    "netCDF4.Dataset": _TABLES,
    "tables.open_file": _TABLES,
    "zarr.open": "reads its metadata again",
    "zipfile.ZipFile": "reads the list of all that the archive holds again",
    "tarfile.open": "reads through the archive again to find what it holds",
    "lmdb.open": "maps it into memory again",
    "sqlite3.connect": "reads its schema again, and loses the pages that it had cached",
}
"""What opens a file that holds many samples, and what that does."""
_WITHOUT_MODE = frozenset({"lmdb.open", "sqlite3.connect"})
_PATHS = frozenset({"", "name", "filename", "file", "path", "store", "database"})
"""The names of the argument that says which file."""
_KEEPERS = frozenset({"append", "setdefault", "add", "put", "update", "setattr", "register"})
_INSIDE: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})
_ASKS = (cst.Is, cst.IsNot, cst.In, cst.NotIn)
_DEEPEST = 2


@dataclass(frozen=True, slots=True)
class ReopenedFile:
    """A call that opens one and the same file for each sample.

    Attributes:
        node: the call.
        cost: what opening it does, as a clause.
    """

    node: cst.Call
    cost: str


def reopened_files(facts: Facts) -> Iterator[ReopenedFile]:
    """The calls of a document that a data set's ``__getitem__`` comes to each time, and whose file stays the same, in
    the order in which they were met."""
    opened = facts.operations_of(*calls(*OPENS))
    if not opened or not (facts.trains or facts.frameworks or any(one.loaders for one in facts.program)):
        return
    for operation in opened:
        node, function = operation.node, operation.function
        if not isinstance(node, cst.Call) or not isinstance(function, cst.FunctionDef) or not _reads(operation):
            continue
        if not any(map(_is_for_a_sample, operation.contexts)) or _is_kept(node, function):
            continue
        path = next((arg.value for arg in node.args if (arg.keyword.value if arg.keyword else "") in _PATHS), None)
        if path is not None and _stays(facts, path, function):
            yield ReopenedFile(node, OPENS[operation.what.full])


def _reads(operation: Operation) -> bool:
    """Whether a file is only read."""
    if operation.what.full in _WITHOUT_MODE:
        return True
    mode = operation.given("mode", 1)
    return mode.absent or (isinstance(mode.literal, str) and mode.literal[:1] == "r" and "+" not in mode.literal)


def _is_for_a_sample(context: OperationContext) -> bool:
    """Whether it happens in each call of ``__getitem__``, and not where something is asked for that was opened."""
    if "__getitem__" not in context.functions or "__init__" in context.functions:
        return False
    return not any(one.never or _asks_what_is_kept(one) for one in context.conditions)


def _asks_what_is_kept(condition: Condition) -> bool:
    """Whether a condition asks what an object keeps: ``self.file is None``, ``index not in self.cache``; behind a flag
    (``if self.in_memory and index in self.samples:``), the other branch is for those who keep nothing."""
    test = condition.test
    if test is None:
        return False
    joined = isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And)
    if isinstance(test, cst.BooleanOperation) and joined and condition.branch and self_attribute(test.left) is not None:
        return False
    if any("cache" in name.lower() or name == "hasattr" for name in names_read_in(test)):
        return True
    compared = [one.operator for each in descendants(test, cst.Comparison) for one in each.comparisons]
    negated = isinstance(test, cst.UnaryOperation) and self_attribute(test.expression) is not None
    asked = any(self_attribute(one) is not None for one in descendants(test, cst.Attribute))
    return asked and (any(isinstance(one, _ASKS) for one in compared) or (negated and not condition.exits))


def _is_kept(call: cst.Call, function: cst.FunctionDef) -> bool:
    """Whether a decorator keeps what a function returns, or the function keeps the open file."""
    cached = any("cache" in name.lower() for one in function.decorators for name in names_read_in(one.decorator))
    return cached or not _is_dropped(call, function)


def _is_dropped(call: cst.Call, function: cst.FunctionDef) -> bool:
    """Whether nothing keeps the open file when the function returns."""
    for with_ in descendants(function.body, cst.With, but=_INSIDE):
        if any(item.item is call for item in with_.items):
            return True
    names: set[str] = set()
    for returned in descendants(function.body, cst.Return, but=_INSIDE):
        if returned.value is not None and _holds(returned.value, call):
            return _is_read_from(returned.value, call)
    for one in descendants(function.body, cst.Assign, but=_INSIDE):
        if _holds(one.value, call):
            if not all(isinstance(each.target, cst.Name) for each in one.targets):
                return False
            names |= {dotted(each.target) for each in one.targets} if one.value is call else set()
            return not any(_keeps(each, names) for each in descendants(function.body, *_KEEPING, but=_INSIDE))
    return False


def _holds(value: cst.BaseExpression, call: cst.Call) -> bool:
    return any(one is call for one in descendants(value, cst.Call))


_KEEPING: tuple[type[cst.CSTNode], ...] = (cst.Return, cst.Assign, cst.Call, cst.Global, cst.Yield)


def _is_read_from(value: cst.BaseExpression, call: cst.Call) -> bool:
    """Whether an expression takes something out of what a call opens, and does not hold the file itself."""
    items = any(one.value is call for one in descendants(value, cst.Subscript))
    return items or any(one.value is call for one in descendants(value, cst.Attribute))


def _keeps(node: cst.CSTNode, names: set[str]) -> bool:
    """Whether something keeps what one of the names stands for."""
    if isinstance(node, cst.Global):
        return any(one.name.value in names for one in node.names)
    if isinstance(node, cst.Call):
        given = {one.value.value for one in node.args if isinstance(one.value, cst.Name)}
        return last_name(node.func) in _KEEPERS and not given.isdisjoint(names)
    value = getattr(node, "value", None)
    held = {one.value for one in descendants(value, cst.Name)} if isinstance(value, (cst.Tuple, cst.List)) else set()
    held |= {value.value} if isinstance(value, cst.Name) else set()
    local = isinstance(node, cst.Assign) and all(isinstance(one.target, cst.Name) for one in node.targets)
    return not local and not held.isdisjoint(names)


def _stays(facts: Facts, path: cst.BaseExpression, function: cst.FunctionDef, depth: int = _DEEPEST) -> bool:
    """Whether an expression in a function is the same for all samples: of names outside of functions, attributes of
    ``self`` that it does not assign, and what it makes of these, without an index."""
    if next(descendants(path, cst.Subscript, cst.Lambda), None) is not None or "BytesIO" in names_read_in(path):
        return False
    bound = _bound_in(function)
    parameters = [one.name.value for one in function.params.params]
    attributes = {self_attribute(one) for one in descendants(path, cst.Attribute)} - {None}
    if any(f"self.{one}" in bound for one in attributes):
        return False
    for name in names_read_in(path) - {"self", "cls"} - attributes:
        if name in bound:
            value = bound[name]
            if value is None or not depth or not _stays(facts, value, function, depth - 1):
                return False
        elif name in parameters and not _is_given_alike(facts, function, parameters.index(name), name, depth):
            return False
    return True


def _is_given_alike(facts: Facts, function: cst.FunctionDef, position: int, name: str, depth: int) -> bool:
    """Whether every call of a function but for those of an ``__init__`` gives a parameter what stays the same for all
    samples."""
    sites = facts.call_graph.calls_of(function) if depth else ()
    for site, caller in sites:
        if isinstance(caller, cst.FunctionDef) and caller.name.value == "__init__":
            continue
        first = function.params.params[0].name.value
        at = position - (first in ("self", "cls") and isinstance(site.func, cst.Attribute))
        given = next((one.value for one in site.args if one.keyword is not None and one.keyword.value == name), None)
        if given is None and 0 <= at < len(site.args) and site.args[at].keyword is None:
            given = site.args[at].value
        if given is None or not isinstance(caller, cst.FunctionDef) or not _stays(facts, given, caller, depth - 1):
            return False
    return bool(sites)


def _bound_in(function: cst.FunctionDef) -> dict[str, cst.BaseExpression | None]:
    """The names and attributes that a function binds, with the value of those that it binds once, by itself."""
    found: dict[str, cst.BaseExpression | None] = {}
    for one in descendants(function.body, cst.Assign, cst.For, cst.CompFor, cst.AugAssign, cst.With, but=_INSIDE):
        targets: list[cst.CSTNode]
        if isinstance(one, cst.With):
            targets = [item.asname.name for item in one.items if item.asname is not None]
        elif isinstance(one, cst.Assign):
            targets = [each.target for each in one.targets]
        elif isinstance(one, (cst.For, cst.CompFor, cst.AugAssign)):
            targets = [one.target]
        for target in targets:
            single = isinstance(one, cst.Assign) and not isinstance(target, (cst.Tuple, cst.List))
            for each in descendants(target, cst.Name, cst.Attribute):
                name = dotted(each)
                found[name] = one.value if single and isinstance(one, cst.Assign) and name not in found else None
    return found
