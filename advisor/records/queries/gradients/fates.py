"""What becomes of the result of a call: whether a backward pass may still reach it, or only its values are used."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.gradients.flows import flow_of
from accel_advisor.syntax.shapes import dotted, last_name
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.queries.gradients.data_flow import Binding, DataFlow

_STOPS = frozenset({"no_grad", "inference_mode"})
_DETACHES = frozenset({"detach", "detach_", "data"})
_SHAPE = frozenset({"shape", "device", "dtype", "ndim", "requires_grad", "is_cuda", "grad", "grad_fn", "is_leaf"})
_BUILT_IN = frozenset("len float int bool str repr print format range isinstance type".split())
_WITHOUT_GRAPH = frozenset(
    (
        "item tolist numpy argmax argmin size dim numel eq ne gt ge lt le isnan isinf isfinite nonzero argsort "
        "bincount multinomial "
        "zeros_like ones_like full_like rand_like randn_like empty_like new_zeros new_ones new_full new_tensor"
    ).split()
)
_LOGS = re.compile(r"log|print|^add_|write|save|plot|show|draw|display", re.IGNORECASE)
_NEEDS_GRAPH = frozenset({"backward", "requires_grad_", "register_hook", "retain_grad"})
_MOST_CALLS = 3
"""How many calls of the program's functions are followed, one within another."""
_ASKS = (cst.Comparison, cst.ComparisonTarget, cst.Assert, cst.FormattedStringExpression, cst.Expr)
_TAKES_PART = (cst.Index, cst.Slice, cst.SubscriptElement)
_PASSES_ON = (
    cst.BinaryOperation,
    cst.BooleanOperation,
    cst.IfExp,
    cst.Tuple,
    cst.List,
    cst.Set,
    cst.Dict,
    cst.Element,
    cst.StarredElement,
    cst.DictElement,
    cst.ListComp,
    cst.SetComp,
    cst.GeneratorExp,
    cst.DictComp,
    cst.UnaryOperation,
)


class Fate(Enum):
    """What may become of a result."""

    KEPT = "a backward pass may reach it, or something that is not known has it"
    RETURNED = "the function returns it, or something that is computed from it"
    DETACHED = "it is detached, or used where autograd does not record"
    ASKED = "only its values, or its shape, are asked for"


_KEPT, _ASKED, _DETACHED = (frozenset({one}) for one in (Fate.KEPT, Fate.ASKED, Fate.DETACHED))
_Fates = frozenset[Fate]


class Followed:
    """A result that is followed through the functions of a program."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._seen: set[int] = set()

    def fates(self, flow: DataFlow, node: cst.CSTNode, depth: int = 0) -> _Fates:
        """All that may become of what an expression of a function evaluates to."""
        above = flow.parent(node)
        if id(node) in self._seen:
            return frozenset()
        self._seen.add(id(node))
        if isinstance(above, cst.Arg):
            call = flow.parent(above)
            return self._argument(flow, above, call, depth) if isinstance(call, cst.Call) else _KEPT
        if isinstance(above, cst.Attribute):
            return self._owner(flow, above, depth)
        if isinstance(above, cst.Subscript) and above.value is node:
            return self.fates(flow, above, depth)
        asks = isinstance(above, (cst.If, cst.While, cst.IfExp)) and above.test is node
        asks |= isinstance(above, cst.UnaryOperation) and isinstance(above.operator, cst.Not)
        if asks or isinstance(above, (*_ASKS, *_TAKES_PART)):
            return _ASKED
        if isinstance(above, (cst.For, cst.CompFor)):
            return self._bound(flow, flow.bound_by(above), depth)
        if isinstance(above, (cst.Assign, cst.AnnAssign, cst.AugAssign)):
            taken = flow.bound_by(above)
            targets = [one.target for one in above.targets] if isinstance(above, cst.Assign) else [above.target]
            held = any(isinstance(part, cst.Attribute) for one in targets for part in descendants(one))
            if held or any(one.adds and flow.bound_at_start(one.name) for one in taken):
                return _KEPT  # whoever has the object may use it
            return self._bound(flow, taken, depth)
        if isinstance(above, cst.Del):
            return frozenset()
        if isinstance(above, cst.Return):
            return frozenset({Fate.RETURNED})
        return self.fates(flow, above, depth) if isinstance(above, _PASSES_ON) else _KEPT

    def _bound(self, flow: DataFlow, bindings: list[Binding], depth: int) -> _Fates:
        found: set[Fate] = set()
        for binding in bindings:
            if binding.name in flow.captured or binding.name in flow.shared:
                return _KEPT
            for reading in flow.read(binding):
                found |= _DETACHED if is_unrecorded(flow, reading) else self.fates(flow, reading, depth)
        return frozenset(found)

    def _owner(self, flow: DataFlow, attribute: cst.Attribute, depth: int) -> _Fates:
        """What becomes of something whose attribute or method is taken."""
        name, call = attribute.attr.value, flow.parent(attribute)
        called = isinstance(call, cst.Call) and call.func is attribute
        if name in _DETACHES:
            return _DETACHED
        if name in _SHAPE or (called and name in _WITHOUT_GRAPH):
            return _ASKED
        if not called or call is None:
            return self.fates(flow, attribute, depth)
        if name in _NEEDS_GRAPH:
            return _KEPT
        # as a statement, it changes its owner or keeps what it is given
        return frozenset() if isinstance(flow.parent(call), cst.Expr) else self.fates(flow, call, depth)

    def _argument(self, flow: DataFlow, argument: cst.Arg, call: cst.Call, depth: int) -> _Fates:
        name = last_name(call.func)
        if gives_values(call):
            return _ASKED
        if name == "backward" or dotted(call.func).endswith("autograd.grad"):
            return _KEPT
        functions = self._facts.call_graph.called_from(call)
        if functions:
            inside = [self._in_function(flow, argument, call, one, depth) for one in functions]
            return frozenset[Fate]().union(*inside)
        statement = flow.parent(call)
        if not isinstance(statement, cst.Expr):
            return self.fates(flow, call, depth)
        if _LOGS.search(name):
            return _ASKED
        taken = flow.bound_by(statement)
        return self._bound(flow, taken, depth) if taken else _KEPT

    def _in_function(
        self, flow: DataFlow, argument: cst.Arg, call: cst.Call, called: cst.CSTNode, depth: int
    ) -> _Fates:
        """What a function of the program does with an argument that it is given."""
        inner, name = flow_of(self._facts, called), parameter_of(called, call, argument)
        if inner is None or not name or depth == _MOST_CALLS:
            return _KEPT
        found = self._bound(inner, inner.bound_at_start(name), depth + 1)
        if Fate.RETURNED in found:
            found = found - {Fate.RETURNED} | self.fates(flow, call, depth)
        return found


def gives_values(call: cst.Call) -> bool:
    """Whether a call gives numbers, or a tensor without a graph, whatever it is called on or given."""
    if isinstance(call.func, cst.Attribute):
        return call.func.attr.value in _WITHOUT_GRAPH
    return isinstance(call.func, cst.Name) and call.func.value in _BUILT_IN | _WITHOUT_GRAPH


def is_unrecorded(flow: DataFlow, node: cst.CSTNode) -> bool:
    """Whether a node stands where the text of its function keeps autograd from recording."""
    root = flow.root
    around: list[cst.CSTNode] = [one.decorator for one in root.decorators] if type(root) is cst.FunctionDef else []
    around += [item.item for one in flow.around(node) if type(one) is cst.With for item in one.items]
    return any(_stops(one) for one in around)


def _stops(manager: cst.CSTNode) -> bool:
    name = last_name(manager.func if isinstance(manager, cst.Call) else manager)
    if name == "set_grad_enabled" and isinstance(manager, cst.Call) and manager.args:
        return dotted(manager.args[0].value) != "True"
    return name in _STOPS or "no_grad" in name  # as one that a program defines for several versions of torch is called


def parameter_of(function: cst.CSTNode, call: cst.Call, argument: cst.Arg) -> str:
    """The parameter of a function that takes an argument of a call; empty where that is not clear."""
    if not isinstance(function, cst.FunctionDef) or argument.star:
        return ""
    params = [one.name.value for one in (*function.params.posonly_params, *function.params.params)]
    if argument.keyword is not None:
        keywords = [*params, *(one.name.value for one in function.params.kwonly_params)]
        return argument.keyword.value if argument.keyword.value in keywords else ""
    if params[:1] == ["self"] or params[:1] == ["cls"]:
        params = params[1:]
    before = call.args[: list(call.args).index(argument)]
    if any(one.star for one in before) or len(before) >= len(params):
        return ""
    return params[len(before)]
