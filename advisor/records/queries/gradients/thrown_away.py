"""Gradients of a network that a backward pass computes, and that nobody uses: another network's optimizer steps, and
they are zeroed before their own."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, any_calls
from accel_advisor.records.queries.gradients.flows import calls_in, flow_of, flows_in
from accel_advisor.records.queries.gradients.loss_dependencies import Dependencies, Reached
from accel_advisor.records.queries.gradients.naming import network_name
from accel_advisor.records.queries.gradients.networks import Networks, networks_in
from accel_advisor.records.queries.gradients.training_code import differentiated, may_learn
from accel_advisor.values.evidence import Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.queries.gradients.data_flow import DataFlow

_LOOPS = (cst.For, cst.While)


@dataclass(frozen=True, slots=True)
class ThrownAway:
    """A backward pass that computes gradients for nobody.

    Attributes:
        function: where it stands; the module, where that is no function.
        backward: the pass.
        reached: the first call of each network whose gradients nobody uses, for the loss of that pass.
        stepped: the networks that the step after that pass updates.
        basis: what shows that a training does so.
    """

    function: cst.CSTNode
    backward: cst.Call
    reached: tuple[Reached, ...]
    stepped: frozenset[str]
    basis: Evidence

    @property
    def upstream(self) -> bool:
        """Whether these networks only compute what those that are stepped are given."""
        return all(not one.above.isdisjoint(self.stepped) for one in self.reached)


@dataclass(frozen=True, slots=True)
class _Event:
    """A call in a function that steps, or zeroes the gradients of, some networks, or is a backward pass."""

    at: int
    steps: frozenset[str] = frozenset()
    zeroes: frozenset[str] = frozenset()
    backward: bool = False


def thrown_away(facts: Facts) -> Iterator[ThrownAway]:
    """The networks of a document whose gradients are thrown away, each backward pass by itself."""
    text = facts.document.text
    if not facts.trains or "backward(" not in text or "step(" not in text:
        return
    networks = facts.program.once(networks_in)
    if len(networks.of_optimizer) < 2:
        return
    if facts.does(*any_calls("toggle_optimizer", "toggled_optimizer")):
        return  # Lightning freezes what the optimizer does not step
    flows = facts.document.once(flows_in)
    for flow in (flows.of(root) for root in flows.roots if may_learn(facts, root)):
        passes = {one: losses for one in flow.calls if (losses := differentiated(facts, one))}
        events = _events(facts, networks, flow, passes.keys()) if passes else []
        steps = {one: _stepped_after(flow, events, one) for one in passes}
        reaching = {
            one: Dependencies(facts, networks, flow).of(losses) if steps[one] else [] for one, losses in passes.items()
        }
        wanted = {id(each.call) for one in passes for each in reaching[one] if each.network in steps[one]}
        for one, reached in reaching.items():
            stepped = steps[one]
            if any(each.network in stepped for each in reached):
                shared = {each.network for each in reached if flow.holds(each.call) and id(each.call) in wanted}
                here = [each for each in reached if each.network not in shared]
                unused = tuple(_unused(facts, networks, flow, events, one, here))
                if unused:
                    yield ThrownAway(flow.root, one, unused, stepped, Evidence.of(Ground.STEP))


def _unused(
    facts: Facts, networks: Networks, flow: DataFlow, events: list[_Event], backward: cst.Call, reached: list[Reached]
) -> Iterator[Reached]:
    """The first calls of the networks whose gradients are zeroed before their own step, or never used."""
    stepped, seen = _stepped_after(flow, events, backward), set[str]()
    for one in reached:
        if one.network in stepped or one.network in seen or networks.toggles_of(one.network, one.document):
            continue
        if _is_zeroed_first(facts, networks, flow, events, backward, one.network):
            seen.add(one.network)
            yield one


def _events(facts: Facts, networks: Networks, flow: DataFlow, passes: Collection[cst.Call]) -> list[_Event]:
    """What happens in a function, in the order of the source, also in functions that it calls."""
    found: list[_Event] = []
    for call in flow.calls:
        steps, zeroes = _done_by(networks, flow, call)
        for function in facts.call_graph.called_from(call):
            done = [one for one in calls_in(facts, function) if _is_of_optimizer(one)]
            inner = flow_of(facts, function) if done else None
            for one in done if inner is not None else ():
                more, others = _done_by(networks, inner or flow, one)
                steps, zeroes = steps | more, zeroes | others
        if steps or zeroes or call in passes:
            found.append(_Event(flow.at(call), steps, zeroes, call in passes))
    return found


def _is_of_optimizer(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in ("step", "zero_grad")


def _done_by(networks: Networks, flow: DataFlow, call: cst.Call) -> tuple[frozenset[str], frozenset[str]]:
    """The networks that a call steps, and those whose gradients it zeroes."""
    nothing = frozenset[str]()
    if not isinstance(call.func, cst.Attribute):
        return nothing, nothing
    name, owner = call.func.attr.value, call.func.value
    if name == "step":
        return networks.stepped_by(call) or nothing, nothing
    if name != "zero_grad":
        return nothing, nothing
    text = network_name(owner)
    if text in networks.trained:
        return nothing, frozenset({text})
    return nothing, networks.given_to(text) or _zeroed_in_turn(networks, flow, owner)


def _zeroed_in_turn(networks: Networks, flow: DataFlow, owner: cst.BaseExpression) -> frozenset[str]:
    """The networks of the optimizers that a loop goes over."""
    found = frozenset[str]()
    for binding in flow.reaching(owner) if flow.is_reading(owner) else ():
        for value in binding.values:
            if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
                found |= networks.given_to_all(network_name(value.func.value))
            elements = value.elements if isinstance(value, (cst.List, cst.Tuple)) else ()
            for one in elements:
                found |= networks.given_to(network_name(one.value))
    return found


def _stepped_after(flow: DataFlow, events: list[_Event], backward: cst.Call) -> frozenset[str]:
    """The networks that the next steps after a backward pass update with its gradients."""
    found, zeroed = frozenset[str](), frozenset[str]()
    for one in events:
        if one.at > flow.at(backward):
            if found and (one.backward or one.zeroes):
                break
            zeroed |= one.zeroes
            found |= one.steps - zeroed
    return found


def _is_zeroed_first(
    facts: Facts, networks: Networks, flow: DataFlow, events: list[_Event], backward: cst.Call, network: str
) -> bool:
    """Whether the gradients of a network are zeroed after a backward pass before its own optimizer steps."""
    here = flow.at(backward)
    around = [flow.at(one) for one in flow.around(backward) if isinstance(one, _LOOPS)]
    order = [one for one in events if one.at > here]
    for start in (*around, -1):  # what comes in the next pass of the loop, or when the function is called again
        order += [one for one in events if start < one.at < here]
    for one in order:
        if network in one.steps:
            return False
        if network in one.zeroes:
            return True
    return _zeroes_elsewhere(facts, networks, flow, network)


def _zeroes_elsewhere(facts: Facts, networks: Networks, flow: DataFlow, network: str) -> bool:
    """Whether every other function that steps a network zeroes its gradients before."""
    known = False
    steps = facts.program.operations_of(AnyCall("step"))
    for function in {id(one.function): one.function for one in steps if one.function is not None}.values():
        other = flow_of(facts, function) if function is not flow.root else None
        if other is None:
            continue
        events = _events(facts, networks, other, ())
        at = [one.at for one in events if network in one.steps]
        if at:
            known = True
            if not any(network in one.zeroes and one.at < min(at) for one in events):
                return False
    return known
