"""The networks that a loss depends on, through the names and the functions of a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.gradients.fates import gives_values, is_unrecorded, parameter_of
from accel_advisor.records.queries.gradients.flows import document_of, flow_of
from accel_advisor.records.queries.gradients.networks import Networks
from accel_advisor.syntax.imports import full_name
from accel_advisor.syntax.shapes import dotted, last_name
from accel_advisor.syntax.walking import children

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.queries.gradients.data_flow import DataFlow
    from accel_advisor.source.document import Document

_MOST_CALLS = 2
"""How many calls of the program's functions are followed, one within another."""
_WITHOUT_GRAPH = (cst.Comparison, cst.Lambda)
_OF_THE_HOST = ("math.", "numpy.")
"""What begins the names of functions that compute no tensors."""
_PLAIN = frozenset({"data", "shape", "grad", "dtype", "device"})


@dataclass(frozen=True, slots=True)
class Reached:
    """A call of a network that a loss depends on.

    Attributes:
        above: the networks through whose results it is reached, from the loss on.
    """

    document: Document
    call: cst.Call
    network: str
    above: frozenset[str]

    @property
    def name(self) -> str:
        """The code of the network that is called, without the method."""
        last = self.network.rpartition(".")[2]
        node = self.call.func
        while isinstance(node, cst.Attribute) and node.attr.value != last:
            node = node.value
        return self.document.code(node if last_name(node) == last else self.call.func)


@dataclass(frozen=True, slots=True)
class _Frame:
    """A function that is followed, with what the call gives its parameters, and the function of that call."""

    flow: DataFlow
    given: Mapping[str, cst.BaseExpression] = field(default_factory=dict)
    outer: _Frame | None = None
    way: tuple[int, ...] = ()
    """The calls that lead to it, by identity."""

    @property
    def names(self) -> dict[str, str]:
        """What the parameters are called where the call stands."""
        above = self.outer.names if self.outer is not None else {}
        return {name: above.get(text, text) for name, one in self.given.items() if (text := dotted(one))}


class Dependencies:
    """Looks for the networks that expressions of a function depend on."""

    def __init__(self, facts: Facts, networks: Networks, flow: DataFlow) -> None:
        self._facts = facts
        self._networks = networks
        self._flow = flow
        self._found: dict[int, Reached] = {}
        self._seen: set[tuple[int, frozenset[str], tuple[int, ...]]] = set()

    def of(self, expressions: list[cst.BaseExpression]) -> list[Reached]:
        """The calls that a backward pass from these goes through, those that are nearest to them first."""
        for one in expressions:
            self._follow(_Frame(self._flow), one, frozenset())
        return list(self._found.values())

    def _follow(self, frame: _Frame, node: cst.CSTNode, above: frozenset[str]) -> None:
        """Goes from an expression to all that it is computed from."""
        flow = frame.flow
        key = (id(node), above, frame.way)
        if key in self._seen or type(node) in _WITHOUT_GRAPH or not flow.holds(node):
            return
        self._seen.add(key)
        if type(node) is cst.Call:
            self._call(frame, node, above)
        elif flow.is_reading(node):
            for binding in () if is_unrecorded(flow, node) else flow.reaching(node):
                given = frame.given.get(binding.name) if binding.statement is None else None
                if given is not None and frame.outer is not None:
                    self._follow(frame.outer, given, above)
                for value in binding.values:
                    self._follow(frame, value, above)
        elif isinstance(node, (cst.Attribute, cst.Subscript)):
            if not isinstance(node, cst.Attribute) or node.attr.value not in _PLAIN:
                self._follow(frame, node.value, above)
        else:
            for child in children(node):
                if not (isinstance(node, cst.IfExp) and child is node.test):
                    self._follow(frame, child, above)

    def _call(self, frame: _Frame, call: cst.Call, above: frozenset[str]) -> None:
        flow = frame.flow
        name = last_name(call.func)
        stops = name == "detach" or gives_values(call) or dotted(call.func).endswith("autograd.grad")
        document = document_of(self._facts, flow)
        if stops or is_unrecorded(flow, call) or full_name(document.imported, call.func).startswith(_OF_THE_HOST):
            return
        network = self._networks.called_by(flow, call, self._networks.trained, frame.names)
        inside: list[DataFlow] = []
        if network:
            self._found.setdefault(id(call), Reached(document, call, network, above))
            above |= {network}
        else:
            if isinstance(call.func, cst.Attribute):
                self._follow(frame, call.func.value, above)
            functions = self._facts.call_graph.called_from(call) if len(frame.way) < _MOST_CALLS else ()
            inside = [one for each in functions if (one := flow_of(self._facts, each)) is not None]
        for inner in inside:
            given = {parameter_of(inner.root, call, one): one.value for one in call.args}
            given = {key: value for key, value in given.items() if key}
            ends = [one.value for one in inner.of(cst.Return) if isinstance(one, cst.Return) and one.value is not None]
            if any(isinstance(one, cst.Call) and gives_values(one) for one in ends):
                continue  # who returns `x.item()` gives back numbers, also where it returns `x`, which was one before
            for end in ends:
                self._follow(_Frame(inner, given, frame, (*frame.way, id(call))), end, above)
        for argument in call.args if not inside else ():
            self._follow(frame, argument.value, above)
