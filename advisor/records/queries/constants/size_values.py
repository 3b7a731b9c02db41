"""Which values in a function depend on sizes, dtypes, devices and settings alone, as far as the text shows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call
from accel_advisor.records.queries.constants.effects import Effects
from accel_advisor.syntax.imports import full_name
from accel_advisor.syntax.shapes import dotted, keywords_of, last_name, methods_of, owners, self_attribute
from accel_advisor.syntax.variation import bindings
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.canonical_names import canonical
from accel_advisor.tables.sized_values import (
    CHANCES,
    FORM_ATTRIBUTES,
    FORM_METHODS,
    LIKE_FACTORIES,
    OF_CHANCE,
    OF_NUMBERS,
    OWN_FACTORIES,
    PURE_BUILTINS,
)

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.queries.constants.recorded_code import RecordedCode

_SETTINGS = re.compile(r"(?:\w*_)?(?:args?|opts?|options?|cfg|config|conf|hparams?|settings|flags)|C|FLAGS")
"""Names of what holds settings: a name is all that shows it."""
_LEARNED = ("module", "modules")
"""How names of parts of a model end."""
_WRITTEN_OUT: frozenset[type[cst.CSTNode]] = frozenset(
    {cst.Integer, cst.Float, cst.SimpleString, cst.ConcatenatedString}
)
_SCOPES: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})
_DEEPEST = 4


@dataclass(eq=False)
class SizeValues:
    """The values of one function, or of one loop in it.

    Attributes:
        home: the document of the function.
        region: the function, or the loop whose passes are compared: what is bound in front of it is the same in each.
        given: names of parameters that are known to depend on nothing else.
        entered: the project's functions whose results were followed.
    """

    home: RecordedCode
    function: cst.FunctionDef
    region: cst.CSTNode
    given: frozenset[str] = frozenset()
    depth: int = 0
    entered: set[int] = field(default_factory=set)
    _known: dict[int, bool] = field(default_factory=dict)
    _names: frozenset[str] | None = None

    @property
    def facts(self) -> Facts:
        """Those of the document of the function."""
        return self.home.facts

    @property
    def code(self) -> cst.CSTNode:
        """What runs of the region: the body of a function, or a whole loop."""
        return self.region.body if isinstance(self.region, cst.FunctionDef) else self.region

    # -- expressions

    def holds(self, node: cst.CSTNode | None) -> bool:
        """Whether an expression depends on sizes, dtypes, devices and settings alone."""
        if node is None:
            return True
        if id(node) not in self._known:
            self._known[id(node)] = False  # what depends on itself does not
            self._known[id(node)] = self._holds(node)
        return self._known[id(node)]

    def _holds(self, node: cst.CSTNode) -> bool:
        if type(node) in _WRITTEN_OUT:
            return True
        if type(node) is cst.Name:
            return self.holds_name(node.value)
        if type(node) is cst.Attribute:
            return self._holds_attribute(node)
        if type(node) is cst.Call:
            return self._holds_call(node)
        if isinstance(node, cst.Subscript):
            return self.holds(node.value) and all(map(self._holds_slice, node.slice))
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            return self.holds(node.for_in.iter) and self.holds(node.elt)
        parts = (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.BooleanOperation, cst.IfExp)
        if isinstance(node, (*parts, cst.Tuple, cst.List)):
            return all(self.holds(one) for one in _operands(node))
        return False

    def _holds_slice(self, element: cst.SubscriptElement) -> bool:
        index = element.slice
        if isinstance(index, cst.Slice):
            return all(map(self.holds, (index.lower, index.upper, index.step)))
        return isinstance(index, cst.Index) and self.holds(index.value)

    def _holds_attribute(self, node: cst.Attribute) -> bool:
        name = node.attr.value
        if name in FORM_ATTRIBUTES:
            return True
        if isinstance(node.value, cst.Name) and node.value.value == "self":
            return self._holds_own(name)
        if full_name(self.facts.document.imported, node):
            return True
        root = node.value
        while isinstance(root, cst.Attribute):
            if _SETTINGS.fullmatch(root.attr.value):
                return True
            root = root.value
        if isinstance(root, cst.Name) and _SETTINGS.fullmatch(root.value):
            return True
        return self.holds(node.value)

    def _holds_own(self, name: str) -> bool:
        """Whether an attribute of ``self`` is a number, or a list of such, that only the constructor sets."""
        cls = self._class
        if cls is None or name == "training":
            return cls is not None
        if _SETTINGS.fullmatch(name):
            return True
        made = _own_attributes(cls).get(name)
        return bool(made) and all(one is not None and self._is_number(one) for one in made or ())

    def _is_number(self, node: cst.BaseExpression) -> bool:
        """Whether what a constructor gives an attribute is no module and no tensor that may be learned or changed."""
        for call in descendants(node, cst.Call):
            called = dotted(call.func)
            if called in PURE_BUILTINS or called.partition(".")[0] == "math":
                continue
            if called.rpartition(".")[2] not in OF_NUMBERS:
                return False
        named = [dotted(one) for one in descendants(node, cst.Name)]
        full = (full_name(self.facts.document.imported, one) for one in descendants(node, cst.Name, cst.Attribute))
        return not any(one.lower().endswith(_LEARNED) for one in named) and not any(map(_is_of_layers, full))

    # -- names

    def holds_name(self, name: str) -> bool:
        """Whether a name of the function stands for nothing else."""
        if name in ("self", "cls"):
            return False
        if name in self._bound:
            return name in self._steady
        if name in parameters_of(self.function):
            return self._is_given(name)
        if name in bindings(self.function.body):
            made = bindings(self.function.body)[name]
            return all(one is not None and _is_plain(one) for one in made)
        return name in PURE_BUILTINS or name in self.facts.document.imported or name in self._globals

    def _is_given(self, name: str) -> bool:
        return name in self.given or _SETTINGS.fullmatch(name) is not None

    @property
    def _steady(self) -> frozenset[str]:
        """The names that the region binds to nothing else: all, but for those of which that does not hold while it is
        taken to hold of the others."""
        if self._names is not None:
            return self._names  # what is taken to hold, while that is found out
        params = parameters_of(self.function) if self.region is self.function else frozenset()
        kept = frozenset(one for one in self._bound if one not in params or self._is_given(one))
        entered = self.entered
        while kept != self._names:
            self._names = kept
            self._known.clear()
            self.entered = set(entered)  # not what only held while more was taken to hold
            kept = frozenset(one for one in kept if self._is_steady(one))
        return kept

    def _is_steady(self, name: str) -> bool:
        """Whether all that is done to a name in the region leaves it so."""
        return name not in self._effects.unknown and all(map(self.holds, self._effects.of(name)))

    @cached_property
    def _effects(self) -> Effects:
        return Effects(self.code)

    @cached_property
    def _bound(self) -> frozenset[str]:
        found = set[str]()
        for name in bindings(self.code):
            found.add(name.partition(".")[0])
        return frozenset(found)

    @cached_property
    def _globals(self) -> frozenset[str]:
        return _global_names(self.facts.document.tree)

    @cached_property
    def _class(self) -> cst.ClassDef | None:
        return self.facts.document.once(owners).get(id(self.function))

    # -- calls

    def _holds_call(self, node: cst.Call) -> bool:
        func = node.func
        full = self.library(node)
        name = last_name(func)
        if name in FORM_METHODS and (isinstance(func, cst.Attribute) or name == "len"):
            return True
        called = self._own_functions(node)
        if not called and (name in CHANCES or full.startswith(OF_CHANCE)):
            return False
        if full in LIKE_FACTORIES or (isinstance(func, cst.Attribute) and name in OWN_FACTORIES):
            values = node.args[1:] if full in LIKE_FACTORIES else node.args
            return all(self.holds(arg.value) for arg in values)
        if any(arg.star for arg in node.args if not self.holds(arg.value)):
            return False
        if self.is_move(node):
            assert isinstance(func, cst.Attribute)
            return self.holds(func.value)
        if not all(self.holds(arg.value) for arg in node.args if not _says_where(arg)):
            return False
        if full:
            return full.startswith(("torch.", "numpy.", "math.", "itertools.")) and not _is_of_layers(full)
        if isinstance(func, cst.Name) and func.value in PURE_BUILTINS:
            return True
        if called:
            return all(map(self._returns, called))
        return isinstance(func, cst.Attribute) and self_attribute(func) is None and self.holds(func.value)

    def library(self, node: cst.Call) -> str:
        """The full name of the library's function that a call names; empty where it names none."""
        known = self.home.operations.get(id(node))
        if known is not None and isinstance(known.what, Call):
            return known.what.full
        full = full_name(self.facts.document.imported, node.func)
        return canonical(full) if full else ""

    def is_move(self, node: cst.Call) -> bool:
        """Whether a call moves what its method is called on to another device, as what it is given says."""
        name = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
        if name in ("cuda", "type_as"):
            return True
        known = self.home.transfers.get(id(node))
        contexts = known.contexts if known is not None else []
        if name == "type":
            return any(one.to_cuda or one.device.made_by == "Tensor.type" for one in contexts)
        if name != "to" or (contexts and all(one.kinds == {"cpu"} for one in contexts)):
            return False
        first = [arg.value for arg in node.args[:1] if arg.keyword is None]
        named = keywords_of(node).keys() & {"device", "other"}
        return bool(named) or any(not self._is_dtype(one) for one in first)

    def _is_dtype(self, node: cst.BaseExpression) -> bool:
        own = isinstance(node, cst.Attribute) and node.attr.value == "dtype"
        return own or full_name(self.facts.document.imported, node).startswith("torch.")

    def _own_functions(self, node: cst.Call) -> list[cst.FunctionDef]:
        """The functions of this document that a call runs; none where one is defined elsewhere."""
        found = self.facts.call_graph.called_from(node)
        if any(not isinstance(one, cst.FunctionDef) or id(one) not in self.home.functions for one in found):
            return []
        return [one for one in found if isinstance(one, cst.FunctionDef)]

    def _returns(self, function: cst.FunctionDef) -> bool:
        """Whether a function of the project makes what it returns of its arguments' sizes and values alone."""
        if self.depth >= _DEEPEST or function is self.function:
            return False
        key = (id(function), self.depth)
        if key not in self.home.returned:
            self.home.returned[key] = (False, frozenset())  # what returns itself does not
            inner = SizeValues(self.home, function, function, parameters_of(function), self.depth + 1)
            results = [one.value for one in descendants(function.body, cst.Return, but=_SCOPES)]
            good = bool(results) and all(one is not None and inner.holds(one) for one in results)
            own = {id(function)} if good else set()
            self.home.returned[key] = (good, frozenset(inner.entered | own))
        good, entered = self.home.returned[key]
        self.entered |= entered
        return good


def _is_of_layers(full: str) -> bool:
    """Whether a full name is that of a module or parameter of torch, or makes one."""
    return full.startswith(("torch.nn.", "torch.jit.")) and not full.startswith("torch.nn.functional.")


def _says_where(arg: cst.Arg) -> bool:
    return arg.keyword is not None and arg.keyword.value in ("device", "dtype", "layout", "out")


def _operands(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The expressions that an operation is made of."""
    if isinstance(node, cst.BinaryOperation | cst.BooleanOperation):
        return [node.left, node.right]
    if isinstance(node, cst.UnaryOperation):
        return [node.expression]
    if isinstance(node, cst.Comparison):
        return [node.left, *(one.comparator for one in node.comparisons)]
    if isinstance(node, cst.IfExp):
        return [node.test, node.body, node.orelse]
    return [one.value for one in node.elements] if isinstance(node, (cst.Tuple, cst.List)) else []


def _is_plain(node: cst.BaseExpression) -> bool:
    """Whether what a name is bound to in front of a loop is a number by its form: no call but of numbers."""
    calls = (last_name(one.func) for one in descendants(node, cst.Call))
    return all(name in PURE_BUILTINS or name in FORM_METHODS for name in calls)


def parameters_of(function: cst.FunctionDef) -> frozenset[str]:
    """The names of all parameters of a function."""
    params = function.params
    found = [one.name.value for one in (*params.posonly_params, *params.params, *params.kwonly_params)]
    found += [one.name.value for one in (params.star_arg, params.star_kwarg) if type(one) is cst.Param]
    return frozenset(found)


@lru_cache(maxsize=256)
def _global_names(tree: cst.Module) -> frozenset[str]:
    """The names that a module binds by assignments and definitions that only its top has."""
    found = set(bindings(tree))
    return frozenset(name for name in found if "." not in name)


@lru_cache(maxsize=256)
def _own_attributes(cls: cst.ClassDef) -> dict[str, tuple[cst.BaseExpression | None, ...]]:
    """What the constructor gives each attribute of ``self``; None among it where anything else sets it, too."""
    found: dict[str, list[cst.BaseExpression | None]] = {}
    for name, method in methods_of(cls).items():
        paired = _paired(method) if name == "__init__" else {}
        for bound, values in bindings(method.body).items():
            owner, _, attribute = bound.partition(".")
            if owner == "self" and attribute:
                made = [paired.get((bound, id(one)), one) for one in values]
                found.setdefault(attribute, []).extend(made if name == "__init__" else [None])
    return {name: tuple(values) for name, values in found.items()}


def _paired(method: cst.FunctionDef) -> dict[tuple[str, int], cst.BaseExpression]:
    """What each name gets where several are assigned at once, by the name and the identity of the whole."""
    found: dict[tuple[str, int], cst.BaseExpression] = {}
    for one in descendants(method.body, cst.Assign):
        for target in (each.target for each in one.targets):
            if isinstance(target, cst.Tuple) and isinstance(one.value, cst.Tuple):
                for name, value in zip(target.elements, one.value.elements, strict=False):
                    found[dotted(name.value), id(one.value)] = value.value
    return found
