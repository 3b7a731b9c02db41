"""Options of a ``forward`` that every call in a training leaves as they are, be they handed on from an attribute that a
constructor's parameter sets."""

from __future__ import annotations

import builtins
from collections import Counter
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.models.unasked_options import calls_by_name
from accel_advisor.syntax.imports import bound_by
from accel_advisor.syntax.shapes import (
    dotted,
    last_name,
    methods_of,
    named_parameters,
    names_read_in,
    owners,
    positional_parameters,
    self_attribute,
)
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.tensor_methods import OF_TENSORS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from accel_advisor.records.conditions import Condition
    from accel_advisor.records.facts import Facts, Program
    from accel_advisor.records.operations import Operation

_BY_NAME = frozenset({"setattr", "delattr", "__setattr__", "self.__dict__"})
"""What sets attributes whose names are computed."""
_LIBRARIES = frozenset({"torch", "nn", "F", "np", "numpy", "math", "os"})
"""What a star may have brought in."""
_OF_VALUES = OF_TENSORS | {"repeat", "expand"} | {name for kind in (str, list, dict, set) for name in dir(kind)}
_TRAINS = frozenset({"backward", "train", "step", "fit"})


def is_left_as_it_is(program: Program, condition: Condition) -> bool:
    """Whether a branch of a ``forward`` is for an option alone, and is not taken while that keeps its default, which no
    call of the program that may be one of this ``forward`` changes, but for models that are only evaluated."""
    function = condition.function
    if not condition.off_unless_asked or not isinstance(function, cst.FunctionDef) or function.name.value != "forward":
        return False
    (name,) = names_read_in(condition.test) if condition.test is not None else ("",)
    return program.once(_Options).keeps_default(function, name)


def is_unasked_in_trainings(facts: Facts, operation: Operation) -> bool:
    """Whether an operation happens in the steps of trainings alone, and in each of its ways behind such an option."""
    ways = [(context.loops, context.conditions) for context in operation.contexts]
    return bool(ways) and all(
        any(loop.learns for loop in loops) and any(is_left_as_it_is(facts.program, one) for one in conditions)
        for loops, conditions in ways
    )


class _Options:
    """What the calls of a program leave as it is, each asked once."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[tuple[int, str], bool] = {}
        self._unset: dict[tuple[str, str, str], bool] = {}
        self._set = Counter(name for facts in program for name in _attributes_set(facts.document.tree))
        self._by_name = any(not _BY_NAME.isdisjoint(names_read_in(facts.document.tree)) for facts in program)
        classes = [one for facts in program for one in descendants(facts.document.tree, cst.ClassDef)]
        functions = [one for facts in program for one in descendants(facts.document.tree, cst.FunctionDef)]
        self._classes = Counter(one.name.value for one in classes)
        self._bases = {last_name(base.value) for one in classes for base in one.bases}
        others = {one.name.value for one in functions} | self._classes.keys() | set(dir(builtins))
        self._calls = [(call, cls) for facts in program for call, cls in _calls_of_objects(facts, others)]

    def keeps_default(self, function: cst.FunctionDef, name: str) -> bool:
        """Whether no call that may be one of a ``forward`` gives its option another value than its default."""
        key = (id(function), name)
        if key not in self._known:
            default = next(dotted(one.default) for one in named_parameters(function.params) if one.name.value == name)
            given = (_given(call, function, name) for call, _ in self._calls)
            self._known[key] = all(
                value is None or dotted(value) == default or self._is_unset(cls, value, default)
                for (_, cls), value in zip(self._calls, given, strict=True)
            )
        return self._known[key]

    def _is_unset(self, cls: cst.ClassDef | None, value: cst.BaseExpression, default: str) -> bool:
        """Whether a value is an attribute of ``self`` that the constructor alone sets, from a parameter that has the
        same default and that nothing which builds such an object to train it gives."""
        attribute = self_attribute(value)
        if attribute is None or cls is None:
            return False
        key = (cls.name.value, attribute, default)
        if key not in self._unset:
            self._unset[key] = self._is_unset_in(cls, attribute, default)
        return self._unset[key]

    def _is_unset_in(self, cls: cst.ClassDef, attribute: str, default: str) -> bool:
        name, start = cls.name.value, methods_of(cls).get("__init__")
        _, handed = self._program.once(calls_by_name)
        alone = self._set[attribute] == 1 and self._classes[name] == 1 and name not in self._bases | handed
        if start is None or not alone or self._by_name:
            return False
        source = next((one for one in descendants(start.body, cst.Assign) if _sets(one, attribute)), None)
        param = source.value.value if source is not None and isinstance(source.value, cst.Name) else ""
        own = {one.name.value: dotted(one.default) for one in named_parameters(start.params) if one.default is not None}
        if own.get(param) != default or param in map(dotted, _bound(start.body)):
            return False
        built = [
            (call, function)
            for facts in self._program
            for call, function in _built(facts.document.tree, name)
            if function is None or not _only_evaluates(function, call)
        ]
        given = (_given(call, start, param) for call, _ in built)
        return bool(built) and all(one is None or dotted(one) == default for one in given)


def _calls_of_objects(facts: Facts, others: Collection[str]) -> list[tuple[cst.Call, cst.ClassDef | None]]:
    """The calls that may be one of a module's ``forward``, each with the class around it: not those of what is imported
    or is a function or class of the program by its name."""
    tree, around = facts.document.tree, owners(facts.document.tree)
    imports = (
        one for one in descendants(tree, cst.Import, cst.ImportFrom) if isinstance(one, (cst.Import, cst.ImportFrom))
    )
    imported = {name.partition(".")[0] for one in imports for name, _ in bound_by(one)} | _LIBRARIES
    found: list[tuple[cst.Call, cst.ClassDef | None]] = []
    within = {
        id(call): around[id(function)]
        for function in descendants(tree, cst.FunctionDef)
        if id(function) in around
        for call in descendants(function, cst.Call)
    }
    for call in descendants(tree, cst.Call):
        called = facts.call_graph.called_from(call)
        if called and not any(isinstance(one, cst.FunctionDef) and one.name.value == "forward" for one in called):
            continue
        name = dotted(call.func)
        if (
            isinstance(call.func, cst.Attribute)
            and call.func.attr.value in _OF_VALUES
            and self_attribute(call.func) is None
        ):
            continue
        if name.partition(".")[0] not in imported and name not in others:
            found.append((call, within.get(id(call))))
    return found


def _given(call: cst.Call, function: cst.FunctionDef, name: str) -> cst.BaseExpression | None:
    """What a call gives a parameter of a method; None where it gives nothing, or cannot be one of that method."""
    if not isinstance(function.params.star_arg, cst.Param) and not _fits(call, function):
        return None
    params = [one.name.value for one in positional_parameters(function.params)][1:]
    placed = [one.value for one in call.args if one.keyword is None and not one.star]
    starred = next((one.value for one in call.args if one.star), None)
    named = {one.keyword.value: one.value for one in call.args if one.keyword is not None}
    place = params.index(name) if name in params else len(placed)
    return named.get(name) or (placed[place] if place < len(placed) else starred)


def _fits(call: cst.Call, function: cst.FunctionDef) -> bool:
    """Whether a method takes as many arguments as a call gives, under such names."""
    params = named_parameters(function.params)[1:]
    keywords = {one.keyword.value for one in call.args if one.keyword is not None}
    placed = sum(not one.keyword and not one.star for one in call.args)
    known = function.params.star_kwarg is not None or keywords <= {one.name.value for one in params}
    enough = any(one.star for one in call.args) or len(call.args) >= sum(one.default is None for one in params)
    return known and enough and placed < len(positional_parameters(function.params))


def _attributes_set(tree: cst.Module) -> list[str]:
    """The names of the attributes that a file binds, deletes or changes, once for each time."""
    return [part.attr.value for one in _bound(tree) for part in descendants(one, cst.Attribute)]


def _bound(code: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What a piece of code binds, deletes or changes, the parts of tuples included."""
    targets: list[cst.CSTNode] = [one.target for one in descendants(code, cst.AssignTarget)]
    targets += [one.target for one in descendants(code, cst.AnnAssign)]
    targets += [one.target for one in descendants(code, cst.AugAssign)]
    targets += [one.target for one in descendants(code, cst.NamedExpr)]
    targets += [one.target for one in descendants(code, cst.For)]
    targets += [one.target for one in descendants(code, cst.CompFor)]
    targets += [one.target for one in descendants(code, cst.Del)]
    targets += [one.asname.name for one in descendants(code, cst.WithItem) if one.asname is not None]
    while targets:
        one = targets.pop()
        if isinstance(one, (cst.Tuple, cst.List)):
            targets += [each.value for each in one.elements]
        else:
            yield one


def _sets(statement: cst.Assign, attribute: str) -> bool:
    return any(self_attribute(one.target) == attribute for one in statement.targets)


def _built(tree: cst.Module, name: str) -> list[tuple[cst.Call, cst.FunctionDef | None]]:
    """Where objects of a class are built, and the function around it."""
    calls = [one for one in descendants(tree, cst.Call) if last_name(one.func) == name]
    functions = [*descendants(tree, cst.FunctionDef)] if calls else []
    inside = {id(call): one for one in functions for call in descendants(one.body, cst.Call)}
    return [(one, inside.get(id(one))) for one in calls]


def _only_evaluates(function: cst.FunctionDef, built: cst.Call) -> bool:
    """Whether a function switches what it builds to evaluation, trains nothing, and gives its caller no such object."""
    done = {last_name(one.func) for one in descendants(function.body, cst.Call)}
    if "eval" not in done or not done.isdisjoint(_TRAINS):
        return False
    statements = [one for one in descendants(function.body, cst.Assign) if built in descendants(one.value, cst.Call)]
    names = {dotted(target.target) for one in statements for target in one.targets}
    back = [one.value for one in descendants(function.body, cst.Return) if one.value is not None]
    return bool(names) and all(names.isdisjoint(names_read_in(one)) for one in back)
