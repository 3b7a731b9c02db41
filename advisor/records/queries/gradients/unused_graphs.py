"""Networks that a training step runs while autograd records, although nothing but values is used of what comes out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import methods
from accel_advisor.records.queries.copies.read_results import read_at_once
from accel_advisor.records.queries.evaluation import SETS_RECORDING, evaluates_by_name, evaluations_with_graphs
from accel_advisor.records.queries.gradients.fates import Fate, Followed, gives_values, is_unrecorded
from accel_advisor.records.queries.gradients.flows import flows_in
from accel_advisor.records.queries.gradients.naming import network_name
from accel_advisor.records.queries.gradients.networks import Networks, networks_in
from accel_advisor.records.queries.gradients.training_code import is_called_unrecorded, runs_in_steps
from accel_advisor.syntax.shapes import dotted, modulus_in
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.torch_modules import READS_MODULE
from accel_advisor.values.evidence import Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Program
    from accel_advisor.records.queries.gradients.data_flow import DataFlow

_DETACHES = re.compile(r"detach|no_grad|inference_mode|\.data\b(?!\.(?:data|distributed|sampler))")
_SETTLED = frozenset({"module", "training", "device", "dtype", "config"})
"""Attributes of networks that no call changes."""
_OF_CONTAINERS = frozenset("get items keys values append extend pop setdefault update format join".split())
"""Methods of what is no layer, if they are called on what an object holds."""
_NEEDED = frozenset({Fate.KEPT, Fate.RETURNED})


@dataclass(frozen=True, slots=True)
class UnusedGraph:
    """A call of a network whose graph nothing needs.

    Attributes:
        call: the call.
        function: where it stands; the module, where that is no function.
        detached: whether its result is detached; else nothing but values is read from it.
        basis: what shows that it runs in the steps of a training.
    """

    call: cst.Call
    function: cst.CSTNode
    detached: bool
    basis: Evidence


def unused_graphs(facts: Facts) -> Iterator[UnusedGraph]:
    """The calls of a document, in the order of the source, whose graphs nothing needs."""
    if not facts.trains or not _DETACHES.search(facts.document.text):
        return
    if any(one.alone for one in facts.program.operations_of(*SETS_RECORDING)):
        return  # for all that follows
    networks = facts.program.once(networks_in)
    known = networks.trained | networks.copies
    if not known:
        return
    others = list(evaluations_with_graphs(facts))
    told = {one.call for one in (*others, *read_at_once(facts, others)) if one.call is not None}
    evaluating = {one.node for one in facts.module_calls if any(context.evaluating for context in one.contexts)}
    recorded = {one.node: all(context.graphs for context in one.contexts) for one in facts.module_calls}
    flows = facts.document.once(flows_in)
    for root in flows.roots:
        if isinstance(root, cst.FunctionDef) and evaluates_by_name(root.name.value):
            continue
        if not networks.may_be_called(root, flows.calls_in(root), known):
            continue
        flow = flows.of(root)
        if any(not graphs and flow.holds(node) and not is_unrecorded(flow, node) for node, graphs in recorded.items()):
            continue  # who calls it stops autograd
        for call in flow.calls:
            name = networks.called_by(flow, call, known)
            if not name or not recorded.get(call, True) or is_unrecorded(flow, call):
                continue
            if call in evaluating and name in networks.trained:
                continue  # an evaluation within the step
            if not _computes(facts, flow, call) or _is_rare(flow, call):
                continue
            fates = Followed(facts).fates(flow, call)
            if not fates or not fates.isdisjoint(_NEEDED) or not _is_forward(facts, call, name, fates):
                continue
            if _leaves_something(flow, call) or _is_frozen(facts, flow, networks, name, call):
                continue
            if runs_in_steps(facts, flow, call) and not is_called_unrecorded(facts, flow) and call not in told:
                yield UnusedGraph(call, flow.root, Fate.DETACHED in fates, Evidence.of(Ground.STEP))


def _computes(facts: Facts, flow: DataFlow, call: cst.Call) -> bool:
    """Whether a call runs layers, and gives a result: methods of which nothing else is known do."""
    if isinstance(flow.parent(call), cst.Expr):
        return False
    functions = facts.call_graph.called_from(call)
    called = [each for one in functions for each in descendants(one, cst.Call)]
    asks = facts.program.once(_asks_modules)
    names = [dotted(each.func) for each in called if not gives_values(each) and id(each) not in asks]
    held = [one for one in names if one.count(".") < 2 or one.rpartition(".")[2] not in _OF_CONTAINERS]
    return not functions or any(one.startswith(("self.", "super")) for one in held)


def _asks_modules(program: Program) -> frozenset[int]:
    """The calls, by identity, of what torch gives all modules to look into them: ``parameters()`` runs no layer."""
    return frozenset(id(one.node) for one in program.operations_of(*methods("Module", *READS_MODULE)))


def _is_forward(facts: Facts, call: cst.Call, network: str, fates: frozenset[Fate]) -> bool:
    """Whether a call is a forward pass: that of the network itself, or of a method that takes something and is known
    to run layers, or whose result is detached."""
    if gives_values(call) or not call.args:
        return False
    itself = network_name(call.func).rpartition(".")[2] == network.rpartition(".")[2]
    return itself or bool(facts.call_graph.called_from(call)) or Fate.DETACHED in fates


def _is_frozen(facts: Facts, flow: DataFlow, networks: Networks, name: str, call: cst.Call) -> bool:
    """Whether the parameters of a network may not ask for gradients where it is called: something switches them off,
    unless the last switch before the call, in the same function, switches them on."""
    switches = networks.toggles_of(name, facts.document)
    if not switches:
        return False
    here = [one for one in switches if flow.holds(one.node) and flow.at(one.node) < flow.at(call)]
    return not here or max(here, key=lambda one: flow.at(one.node)).on is not True


def _leaves_something(flow: DataFlow, call: cst.Call) -> bool:
    """Whether the function reads an attribute of what it calls, which the call may have left there."""
    name = dotted(call.func)
    for one in flow.of(cst.Attribute):
        if isinstance(one, cst.Attribute) and dotted(one.value) == name:
            above = flow.parent(one)
            method = isinstance(above, cst.Call) and above.func is one
            if not method and not isinstance(above, cst.Attribute) and one.attr.value not in _SETTLED:
                return True
    return False


def _is_rare(flow: DataFlow, call: cst.Call) -> bool:
    """Whether one pass of so many calls it."""
    tests = (one.test for one in flow.around(call) if isinstance(one, cst.If))
    return any(modulus_in(one) is not None for one in tests)
