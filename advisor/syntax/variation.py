"""Which conditions may turn out otherwise from one pass of a loop to the next, as far as the text shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import libcst as cst

from accel_advisor.syntax.shapes import dotted, last_name, named_parameters, positional_parameters
from accel_advisor.syntax.walking import children, descendants

_STRUCTURE = frozenset({"shape", "ndim", "dtype", "device", "training", "requires_grad", "is_cuda"})
"""Attributes of tensors and modules that are the same for every batch."""
_SETTLED = frozenset(
    {"len", "isinstance", "issubclass", "hasattr", "callable", "type", "size", "dim", "numel", "is_tensor"}
    | {"get_rank", "get_world_size", "get_local_rank", "is_initialized", "is_available", "is_enabled"}
    | {
        "is_main_process",
        "is_local_main_process",
        "is_main",
        "is_master",
        "is_rank_zero",
        "is_dist_avail_and_initialized",
    }
    | {"is_floating_point", "device_count"}
)
"""Functions and methods whose results belong to the run, or to the form of a batch, not to the step."""
_COUNTING = {cst.Name: frozenset({"len", "int", "float"}), cst.Attribute: frozenset({"size", "dim", "numel", "item"})}
"""Functions, and methods, that give numbers of Python, or tuples of them: ``x.float()`` gives a tensor."""
_PASSED_ON = frozenset(
    {"bool", "int", "float", "str", "abs", "max", "min", "sum", "any", "all", "getattr", "get", "keys", "values"}
    | {"items", "lower", "upper", "strip", "startswith", "endswith", "split"}
)
"""Functions and methods whose results change only where what they are given does."""
_SCOPES: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})

_LITERALS: frozenset[type[cst.CSTNode]] = frozenset({cst.Integer, cst.Float, cst.SimpleString})
MOST_KEPT = 512
"""Pieces of code of which is kept what was found in them: those of some files."""

Bindings = dict[str, list[cst.BaseExpression | None]]


@lru_cache(maxsize=MOST_KEPT)
def bindings(node: cst.CSTNode) -> Bindings:
    """What each name, and each attribute of one, is bound to in a piece of code; None where it is changed, or where
    it takes a value of an iterable."""
    found: Bindings = {}
    kinds = (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.For, cst.CompFor, cst.AsName)
    for one in descendants(node, *kinds, but=_SCOPES):
        if isinstance(one, cst.Assign):
            for target in one.targets:
                _bind(found, target.target, one.value)
        elif isinstance(one, (cst.AnnAssign, cst.NamedExpr)):
            _bind(found, one.target, one.value)
        elif isinstance(one, cst.AsName):
            _bind(found, one.name, None)
        elif isinstance(one, (cst.AugAssign, cst.For, cst.CompFor)):
            _bind(found, one.target, None)
    return found


def _bind(found: Bindings, target: cst.BaseExpression, value: cst.BaseExpression | None) -> None:
    if type(target) is cst.Tuple or type(target) is cst.List:
        for one in target.elements:
            _bind(found, one.value, value)
        return
    while type(target) is cst.Subscript:
        target = target.value
    name = dotted(target)
    if name:
        found.setdefault(name, []).append(value)


@lru_cache(maxsize=MOST_KEPT)
def numbers_returned(function: cst.FunctionDef) -> tuple[bool, ...]:
    """Of each part of the tuples that a function returns whether it is a number of Python, such as a size, as far as
    the text shows: ``return x, x.shape[2]``; empty where it does not always return as many."""
    returned = [one.value for one in descendants(function.body, cst.Return, but=_SCOPES)]
    rows = [[one.value for one in value.elements] for value in returned if isinstance(value, cst.Tuple)]
    starred = any(
        isinstance(one, cst.Tuple) and any(type(part) is cst.StarredElement for part in one.elements)
        for one in returned
    )
    if starred or not rows or len(rows) < len(returned) or len({len(row) for row in rows}) > 1:
        return ()
    return tuple(all(_is_number(one, function, frozenset()) for one in column) for column in zip(*rows, strict=True))


def _is_number(node: cst.BaseExpression, function: cst.FunctionDef, asked: frozenset[str]) -> bool:
    if isinstance(node, cst.Name):
        bound = bindings(function.body).get(node.value, [])
        given = any(one.name.value == node.value for one in named_parameters(function.params))
        within = asked | {node.value}
        numbers = (one is not None and _is_number(one, function, within) for one in bound)
        return node.value in asked or (bool(bound) and not given and all(numbers))
    if isinstance(node, cst.Call):
        return last_name(node.func) in _COUNTING.get(type(node.func), ())
    if isinstance(node, cst.Attribute):
        return node.attr.value in ("shape", "ndim")
    if isinstance(node, cst.Tuple):
        return all(_is_number(one.value, function, asked) for one in node.elements)
    if isinstance(node, cst.BinaryOperation):
        return _is_number(node.left, function, asked) and _is_number(node.right, function, asked)
    return isinstance(node, (cst.Integer, cst.Float)) or (
        isinstance(node, cst.Subscript) and _is_number(node.value, function, asked)
    )


@lru_cache(maxsize=MOST_KEPT)
def counted_attributes(cls: cst.ClassDef) -> frozenset[str]:
    """The attributes of ``self`` that a method of a class, other than ``__init__``, adds to: counters of steps."""
    methods = [one for one in descendants(cls, cst.FunctionDef) if one.name.value != "__init__"]
    targets = (dotted(one.target) for method in methods for one in descendants(method, cst.AugAssign))
    return frozenset(name for name in targets if name.startswith("self."))


@dataclass
class Passes:
    """The loops that a piece of code runs in: its own, and those around the call of its function.

    A level is the number of loops, counted from the outermost, down to the innermost one whose passes are told apart;
    0 where nothing changes.

    Attributes:
        loops: the loops of the function, or of the module, around the code, outermost first.
        function: the function; None at the top of a module.
        owner: the class that it is a method of, if any.
        call: the call that led here; None where the text does not spell it out.
        caller: what that call runs in; None at the top of a module, and in a function that is read by itself.
        bound: whether the first parameter is what the method is called on.
        nested: whether the function stands in another one.
    """

    loops: tuple[cst.CSTNode, ...]
    function: cst.FunctionDef | cst.Lambda | None = None
    owner: cst.ClassDef | None = None
    call: cst.Call | None = None
    caller: Passes | None = None
    bound: bool = False
    nested: bool = False
    _inner: dict[tuple[object, ...], Passes] = field(default_factory=dict, init=False, repr=False)
    _levels: dict[tuple[cst.CSTNode, cst.CSTNode | None], int] = field(default_factory=dict, init=False, repr=False)
    _known: dict[str, int] = field(default_factory=dict, init=False, repr=False)
    _asked: dict[str, int | None] = field(default_factory=dict, init=False, repr=False)
    """Names that the one that is asked for depends on; None while a level is being found."""
    _circular: bool = field(default=False, init=False, repr=False)
    """Whether one of these depends on itself: only the level of the one that is asked for is then complete."""

    def of_call(
        self,
        loops: tuple[cst.CSTNode, ...],
        function: cst.FunctionDef | cst.Lambda | None,
        owner: cst.ClassDef | None,
        call: cst.Call | None,
        *,
        bound: bool,
        nested: bool,
    ) -> Passes:
        """What code of a function runs in that is called here: the same passes for the same code in the same call, so
        that what was found of them is found once."""
        key = (*map(id, loops), id(function), id(owner), id(call), bound, nested)
        known = self._inner.get(key)
        if known is None:
            known = self._inner[key] = Passes(loops, function, owner, call, self, bound, nested)
        return known

    @cached_property
    def outer(self) -> int:
        """How many loops there are around the call of the function."""
        return self.caller.depth if self.caller is not None else 0

    @cached_property
    def depth(self) -> int:
        """How many loops there are in all."""
        return self.outer + len(self.loops)

    def level(self, test: cst.BaseExpression, decided: cst.CSTNode | None = None) -> int:
        """The level of a condition; ``decided`` is the code that it decides about."""
        key = test, decided
        if key not in self._levels:
            self._levels[key] = self._level(test, self.depth, decided)
        return self._levels[key]

    def _level(self, node: cst.CSTNode, top: int, decided: cst.CSTNode | None) -> int:
        kind = type(node)
        if kind in _LITERALS:
            return 0
        if kind is cst.Name and isinstance(node, cst.Name):
            return self._of_name(node.value)
        if kind is cst.Attribute and isinstance(node, cst.Attribute):
            return self._of_attribute(node, top, decided)
        if kind is cst.Comparison and isinstance(node, cst.Comparison) and _asks_for_structure(node):
            name = dotted(node.left)
            kept = decided is not None and name in bindings(decided) and not self._is_new_in_each_call(name)
            return top if kept else 0
        if kind is cst.BinaryOperation and isinstance(node, cst.BinaryOperation) and type(node.operator) is cst.Modulo:
            level = self._level(node.left, top, decided)
            return level if level or _is_form(node.left) else top  # a counter, wherever it counts
        if kind is cst.Call and isinstance(node, cst.Call):
            name = last_name(node.func)
            if name in _SETTLED:
                return 0
            if name not in _PASSED_ON:
                return top
            parts: list[cst.CSTNode] = [one.value for one in node.args]
            if isinstance(node.func, cst.Attribute):
                parts.insert(0, node.func.value)
            elif not isinstance(node.func, cst.Name):
                parts = list(children(node))
        else:
            parts = list(children(node))
        level = 0
        for one in parts:
            level = max(level, self._level(one, top, decided))
        return level

    def _is_new_in_each_call(self, name: str) -> bool:
        """Whether a name is a parameter that the function, in no loop of its own, gives another value."""
        if self.function is None or self.loops:
            return False
        given = self.function.params
        return any(one.name.value == name for one in named_parameters(given))

    def _of_attribute(self, node: cst.Attribute, top: int, decided: cst.CSTNode | None) -> int:
        name = dotted(node)
        if node.attr.value in _STRUCTURE:
            return 0
        if name and self._binding(name) is not None:
            return self._of_name(name)
        if self.owner is not None and name in counted_attributes(self.owner):
            return self.depth
        return self._level(node.value, top, decided)

    def _of_name(self, name: str) -> int:
        known = self._known.get(name)
        if known is not None:
            return known
        if name in self._asked:
            known = self._asked[name]
            self._circular |= known is None
            return known or 0
        outermost = not self._asked
        self._asked[name] = None
        level = self._asked[name] = self._found(name)
        if outermost:
            for one, found in self._asked.items():
                if found is not None and (one == name or not self._circular):
                    self._known[one] = found
            self._asked, self._circular = {}, False
        return level

    def _found(self, name: str) -> int:
        found, given = self._binding(name), self._given(name)
        if found is None and given is None and self.nested and self.caller is not None:
            return self.caller._of_name(name)
        bound = self._of_values(name, *found) if found is not None else 0
        return max(bound, given or 0)

    def _binding(self, name: str) -> tuple[list[cst.BaseExpression | None], int] | None:
        """What a name is bound to in the innermost loop that binds it, and that loop's level."""
        for at in reversed(range(len(self.loops))):
            values = bindings(self.loops[at]).get(name)
            if values is not None:
                return values, self.outer + at + 1
        if self.function is None or not self.outer:
            return None
        values = bindings(self.function.body).get(name)
        return (values, self.outer) if values is not None else None

    def _of_values(self, name: str, values: list[cst.BaseExpression | None], level: int) -> int:
        only = values[0] if len(values) == 1 else None
        if only is None or _mentions(only, name) or _is_literal(only):
            return level  # what is set to a literal was something else before
        return self._level(only, level, None)

    def _given(self, name: str) -> int | None:
        """The level of what a parameter was given; None where no parameter has this name."""
        if self.function is None:
            return None
        given = self.function.params
        names = [one.name.value for one in positional_parameters(given)]
        if self.bound and names[:1] == [name]:
            return 0
        names = names[1:] if self.bound else names
        by_keyword = [one.name.value for one in given.kwonly_params]
        if name not in names and name not in by_keyword:
            return None
        if self.caller is None or not self.outer:
            return 0
        if self.call is None:
            # who calls it is not in sight, but a flag is for a kind of call, and not for a step
            return 0 if _is_flag(given, name) else self.outer
        positional = [one for one in self.call.args if one.keyword is None]
        for one in self.call.args:
            if one.keyword is not None and one.keyword.value == name:
                return self.caller.level(one.value)
        at = names.index(name) if name in names else len(positional)
        if any(one.star for one in self.call.args):
            return self.outer
        return self.caller.level(positional[at].value) if at < len(positional) else 0


def _is_flag(params: cst.Parameters, name: str) -> bool:
    """Whether a parameter is a word, or true or false, unless something else is given."""
    given = named_parameters(params)
    default = next((one.default for one in given if one.name.value == name), None)
    return isinstance(default, cst.SimpleString) or dotted(default) in ("True", "False", "None")


def _mentions(node: cst.BaseExpression, name: str) -> bool:
    attributes = {id(one.attr) for one in descendants(node, cst.Attribute)}
    read = (one for one in descendants(node, cst.Name, cst.Attribute) if id(one) not in attributes)
    return any(dotted(one) == name for one in read)


def _is_form(node: cst.BaseExpression) -> bool:
    """Whether it is a size of a tensor, which counts nothing: ``x.size(0)``, ``x.shape[0]``, ``x.numel()``."""
    if isinstance(node, cst.Subscript):
        return isinstance(node.value, cst.Attribute) and node.value.attr.value == "shape"
    called = node.func if isinstance(node, cst.Call) else None
    return isinstance(called, cst.Attribute) and called.attr.value in ("size", "numel")


def _is_literal(node: cst.BaseExpression) -> bool:
    literals = (cst.Integer, cst.Float, cst.SimpleString, cst.List, cst.Dict)
    return isinstance(node, literals) or dotted(node) in ("True", "False", "None")


def _asks_for_structure(node: cst.Comparison) -> bool:
    """Whether a comparison asks whether there is something (``x is None``), or whether a key is there."""
    if len(node.comparisons) != 1:
        return False
    only = node.comparisons[0]
    if isinstance(only.operator, (cst.Is, cst.IsNot)):
        return isinstance(only.comparator, cst.Name) and only.comparator.value == "None"
    return isinstance(only.operator, (cst.In, cst.NotIn)) and type(node.left) is cst.SimpleString
