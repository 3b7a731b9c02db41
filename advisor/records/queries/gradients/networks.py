"""Which networks the optimizers of a program step, and which of its networks are frozen or copies of others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall
from accel_advisor.records.queries.gradients.data_flow import INNER
from accel_advisor.records.queries.gradients.flows import flows_in
from accel_advisor.records.queries.gradients.naming import (
    PARAMETERS,
    network_name,
    network_name_of,
    owner_of_parameters,
)
from accel_advisor.records.queries.gradients.switches import (
    Toggle,
    may_hold_switch,
    may_switch,
    switches,
    switching_functions,
)
from accel_advisor.syntax.model_names import may_be_model
from accel_advisor.syntax.shapes import dotted, last_name
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Program
    from accel_advisor.records.queries.gradients.data_flow import DataFlow
    from accel_advisor.source.document import Document

_BUILDS = re.compile(r"optim", re.IGNORECASE)
_OPTIMIZERS = re.compile(
    r"optim|adam|sgd|rms_?prop|adagrad|adadelta|adafactor|lbfgs|lamb|lars|lion|ranger|opt$", re.IGNORECASE
)
_SCHEDULES = re.compile(r"sched|_lr$|LR$")
_NO_FORWARD = frozenset(
    (
        "parameters named_parameters buffers state_dict load_state_dict train eval to cuda cpu half float zero_grad "
        "requires_grad_ apply modules children named_modules share_memory get_parameters named_buffers step "
        "clip_grad_norm_ backward register_forward_hook num_parameters"
    ).split()
)
"""Methods of networks that compute nothing."""
_COPIES = re.compile(r"load_state_dict|deepcopy|zip\(")
_WRITES = frozenset({"copy_", "mul_", "lerp_", "add_"})
_SETTINGS = frozenset("args opt opts opts cfg config conf hparams hp hps h params options flags".split())
_OF_DICTS = frozenset({"keys", "values", "items", "get", "update", "pop"})


@dataclass(frozen=True)
class Networks:
    """The networks of a program, by the names that its code gives them, without ``self.``.

    Attributes:
        of_optimizer: the networks whose parameters each optimizer is given, by the name of the optimizer.
        copies: networks that are written from others: by a moving average, or as a copy.
        wrapped: the network that another module is built around, by the name of that module.
    """

    program: Program
    of_optimizer: dict[str, frozenset[str]]
    copies: frozenset[str]
    wrapped: Mapping[str, str]

    @cached_property
    def toggles(self) -> tuple[Toggle, ...]:
        """Where gradients of parameters are switched on and off."""
        texts = [each.document for each in self.program if may_hold_switch(each.document.text)]
        switching = frozenset(name for each in texts for name in each.once(switching_functions))
        return tuple(
            Toggle(each.document, *one)
            for each in self.program
            if may_switch(each.document.text, switching)
            for one in switches(each.document.tree, switching)
        )

    @cached_property
    def trained(self) -> frozenset[str]:
        """The networks that an optimizer steps."""
        return frozenset().union(*self.of_optimizer.values())

    def called_by(
        self, flow: DataFlow, call: cst.Call, among: frozenset[str], names: Mapping[str, str] = MappingProxyType({})
    ) -> str:
        """Which of these networks a call calls, or one of its methods; empty for none. ``names`` says what the
        parameters of its function are called where that is called."""
        if type(call.func) is cst.Attribute and call.func.attr.value in _NO_FORWARD:
            return ""
        root, _, rest = dotted(call.func).partition(".")
        spelled = [network_name(call.func)]
        if root in names:
            spelled.append(network_name_of(f"{names[root]}.{rest}".rstrip(".")))
        if type(call.func) is cst.Name and flow.is_reading(call.func):
            for binding in flow.reaching(call.func):
                spelled += (network_name(one) for value in binding.values for one in _alternatives(value))
        spelled += [self.wrapped[one] for one in spelled if one in self.wrapped]
        return next((found for one in spelled if (found := _known(one, among))), "")

    def may_be_called(self, function: cst.CSTNode, calls: Sequence[cst.Call], among: frozenset[str]) -> bool:
        """Whether a function may call one of these networks, of which ``calls`` are the calls: by a name of it, or by
        one that the function binds."""
        bound: frozenset[str] | None = None
        for call in calls:
            name = network_name(call.func)
            if _known(name, among) or _known(self.wrapped.get(name, ""), among):
                return True
            if type(call.func) is cst.Name:
                bound = _names_bound_in(function) if bound is None else bound
                if call.func.value in bound:
                    return True
        return False

    def toggles_of(self, network: str, document: Document) -> list[Toggle]:
        """What may switch the gradients of a network's parameters on or off, for code of a document: what names it as
        its own (``self.net``) counts in its document only."""
        last = network.rpartition(".")[2]
        anywhere = network in self.copies  # the class that keeps a copy freezes it
        return [
            one
            for one in self.toggles
            if last in one.words and (anywhere or "self" not in one.words or one.document is document)
        ]

    def stepped_by(self, call: cst.Call) -> frozenset[str] | None:
        """The networks that the optimizer steps which a call of ``step`` is about; None where they are not known."""
        names = [network_name(call.func.value)] if isinstance(call.func, cst.Attribute) else []
        names = [*(network_name(one.value) for one in call.args), *names]  # a scaler is given its optimizer
        return next((found for name in names if (found := self.given_to(name))), None)

    def given_to_all(self, optimizers: str) -> frozenset[str]:
        """The networks that the optimizers step which a dict holds."""
        return frozenset().union(*(of for name, of in self.of_optimizer.items() if name.startswith(f"{optimizers}.")))

    def given_to(self, optimizer: str) -> frozenset[str]:
        """The networks that an optimizer steps, by a name of it; none where they are not known."""
        return self.of_optimizer.get(_known(optimizer, frozenset(self.of_optimizer)), frozenset())


def networks_in(program: Program) -> Networks:
    """The networks of a program, as its optimizers, its copies and its switches tell."""
    owned: dict[str, frozenset[str]] = {}
    copies: set[str] = set()
    wrapped: dict[str, str] = {}
    stepped = set[str]().union(*(each.once(_stepped_in) for each in program))
    for each in program:
        if stepped and ("parameters" in each.document.text or "optim" in each.document.text):
            for name, networks in each.document.once(_Optimizers).networks_of(stepped):
                if networks - stepped:
                    owned[name] = owned.get(name, frozenset()) | networks - stepped
        if _COPIES.search(each.document.text):
            copies |= each.document.once(_copies)
        wrapped |= each.document.once(_wrappers)
    for optimizers, members in _families(program).items():
        owned |= {f"{optimizers}.{name}": frozenset({network}) for name, network in members.items()}
    return Networks(program, owned, frozenset(copies - stepped), wrapped)


def _names_bound_in(function: cst.CSTNode) -> frozenset[str]:
    """The names that assignments, loops and context managers of a function bind."""
    targets: list[cst.CSTNode] = []
    for one in descendants(function, cst.AssignTarget, cst.AnnAssign, cst.NamedExpr, cst.For, cst.CompFor, cst.AsName):
        if type(one) is cst.AsName:
            targets.append(one.name)
        elif isinstance(one, (cst.AssignTarget, cst.AnnAssign, cst.NamedExpr, cst.For, cst.CompFor)):
            targets.append(one.target)
    return frozenset(name.value for one in targets for name in descendants(one, cst.Name))


def _known(name: str, among: frozenset[str]) -> str:
    """The network, among some, that a dotted name is of, or of whose methods; also an attribute of another object
    than the one that has built it."""
    while name:
        if name in among:
            return name
        owner, _, last = name.rpartition(".")
        if last in among and owner and _SETTINGS.isdisjoint(owner.split(".")):
            return last
        name = name.rpartition(".")[0]
    return ""


def _alternatives(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(node, cst.IfExp):
        yield from _alternatives(node.body)
        yield from _alternatives(node.orelse)
    elif isinstance(node, (cst.Name, cst.Attribute)):
        yield node


def _stepped_in(facts: Facts) -> frozenset[str]:
    """The names of what takes steps in a document."""
    steps = (one.node for one in facts.operations_of(AnyCall("step")))
    return frozenset(name for one in steps if isinstance(one, cst.Call) for name in _stepped(one))


def _stepped(call: cst.Call) -> Iterator[str]:
    owner = [network_name(call.func.value)] if isinstance(call.func, cst.Attribute) else []
    for name in (*owner, *(network_name(one.value) for one in call.args)):
        yield from (name, name.rpartition(".")[2])


class _Optimizers:
    """What is assigned to a name in a text that may build an optimizer."""

    def __init__(self, tree: cst.Module) -> None:
        self._flows, self._called = flows_in(tree), _called_names(tree)
        self._built: dict[str, list[tuple[cst.CSTNode, cst.Call]]] = {}
        self._networks: dict[str, frozenset[str]] = {}
        for root in self._flows.roots:
            if not any(map(_is_of_optimizers, self._flows.calls_in(root))):
                continue
            for one in descendants(root.body if isinstance(root, cst.FunctionDef) else root, cst.Assign, but=INNER):
                if isinstance(one.value, cst.Call) and _may_build_optimizer(one.value):
                    for name in filter(None, (network_name(target.target) for target in one.targets)):
                        self._built.setdefault(name, []).append((root, one.value))

    def networks_of(self, names: set[str]) -> Iterator[tuple[str, frozenset[str]]]:
        """The networks whose parameters go into what is assigned to each of these names."""
        for name in self._built:
            if name in names:
                if name not in self._networks:
                    given = (self._given(root, call) for root, call in self._built[name])
                    self._networks[name] = frozenset().union(*given)
                yield name, self._networks[name]

    def _given(self, root: cst.CSTNode, call: cst.Call) -> set[str]:
        given: set[str] = set()
        for argument in call.args:
            given |= _parameters_in(self._flows.of(root), argument.value)
            named = network_name(argument.value)
            if named and _BUILDS.search(dotted(call.func)) and _is_model(self._called, named):
                given.add(named)
        return given


def _may_build_optimizer(call: cst.Call) -> bool:
    """Whether a call is of a name that says so, or is given what is asked of a network for its parameters."""
    if _SCHEDULES.search(dotted(call.func)):
        return False
    return _is_of_optimizers(call) or any(
        map(_is_of_optimizers, (one for argument in call.args for one in descendants(argument, cst.Call)))
    )


def _is_of_optimizers(call: cst.Call) -> bool:
    """Whether a call builds an optimizer, by its name, or asks a network for its parameters."""
    func = call.func
    if type(func) is cst.Attribute and func.attr.value in PARAMETERS:
        return True
    return _OPTIMIZERS.search(dotted(func)) is not None


def _families(program: Program) -> dict[str, dict[str, str]]:
    """The networks that a dict of networks holds, by their keys, for each dict of optimizers that has one for each."""
    found: dict[str, dict[str, str]] = {}
    held = {optimizers: networks for one in program for optimizers, networks in one.document.once(_parallel_dicts)}
    for optimizers, networks in held.items():
        members = (name for one in program for name in one.document.once(_called_names))
        for name in members:
            first, _, key = name.rpartition(".")
            if first == networks and key not in _OF_DICTS:
                found.setdefault(optimizers, {})[key] = name
    return found


def _called_names(tree: cst.Module) -> frozenset[str]:
    return frozenset(network_name(one.func) for one in descendants(tree, cst.Call))


def _parallel_dicts(tree: cst.Module) -> frozenset[tuple[str, str]]:
    """Dicts of optimizers, each with the dict of networks whose parameters they are given under the same keys."""
    found: set[tuple[str, str]] = set()
    for one in descendants(tree, cst.Assign):
        target = one.targets[0].target
        if type(target) is cst.Subscript and type(one.value) is cst.Call:
            for call in descendants(one.value, cst.Call):
                owner = call.func.value if isinstance(call.func, cst.Attribute) else None
                given = isinstance(call.func, cst.Attribute) and call.func.attr.value in PARAMETERS
                if given and isinstance(owner, cst.Subscript) and _key(owner) == _key(target) != "":
                    found.add((network_name(target.value), network_name(owner.value)))
    return frozenset(found)


def _key(node: cst.Subscript) -> str:
    index = node.slice[0].slice
    return dotted(index.value) if len(node.slice) == 1 and isinstance(index, cst.Index) else ""


def _parameters_in(flow: DataFlow, node: cst.BaseExpression) -> set[str]:
    """The networks whose parameters an expression may hold."""
    found: set[str] = set()
    pending, seen = [node], {id(node)}
    while pending:
        for one in descendants(pending.pop(), cst.Call, cst.Name, cst.Attribute):
            if type(one) is cst.Call:
                if isinstance(one.func, cst.Attribute) and one.func.attr.value in PARAMETERS:
                    found.add(network_name(one.func.value))
            elif flow.is_reading(one):
                values = [value for binding in flow.reaching(one) for value in binding.values if id(value) not in seen]
                pending += values
                seen |= {id(value) for value in values}
    return found - {""}


def _is_model(called: frozenset[str], name: str) -> bool:
    return not called.isdisjoint((name, f"{name}.train", f"{name}.eval", f"{name}.state_dict"))


def _wrappers(tree: cst.Module) -> dict[str, str]:
    """The network that each module is built around: ``augmented = Augment(net)``."""
    found: dict[str, str] = {}
    for one in descendants(tree, cst.Assign):
        made = one.value
        if type(made) is cst.Call and made.args and last_name(made.func)[:1].isupper():
            first, *others = (network_name(each.value) for each in made.args)
            target = network_name(one.targets[0].target)
            if first and target and not any(map(_is_plain_name, others)):
                found[target] = first
    return found


def _is_plain_name(name: str) -> bool:
    return may_be_model(cst.Name(name.rpartition(".")[2])) if name else False


def _copies(tree: cst.Module) -> frozenset[str]:
    """The networks that are written from others."""
    found: set[str] = set()
    for one in descendants(tree, cst.Call, cst.Assign, cst.For):
        if type(one) is cst.Call and type(one.func) is cst.Attribute:
            states = [each.func for arg in one.args for each in descendants(arg, cst.Call)]
            if one.func.attr.value == "load_state_dict" and any(
                isinstance(each, cst.Attribute) and each.attr.value == "state_dict" for each in states
            ):
                found.add(network_name(one.func.value))
        elif type(one) is cst.Assign and type(one.value) is cst.Call:
            if last_name(one.value.func) == "deepcopy":
                sources = [network_name(each.value) for each in one.value.args]
                if any(map(_is_plain_name, sources)):
                    found |= {network_name(each.target) for each in one.targets}
        elif type(one) is cst.For and type(one.iter) is cst.Call and dotted(one.iter.func) == "zip":
            owners = [owner_of_parameters(arg.value) for arg in one.iter.args]
            written = {_written(part) for part in descendants(one.body, cst.Call)}
            written |= {dotted(each.target) for each in descendants(one.body, cst.AssignTarget)}
            written = {name.partition(".")[0] for name in written}
            targets = one.target.elements if isinstance(one.target, cst.Tuple) else ()
            for target, owner in zip(targets, owners, strict=False):
                if dotted(target.value) in written and owner:
                    found.add(owner)
    return frozenset(found - {""})


def _written(call: cst.Call) -> str:
    """What a call writes in place; empty for any other."""
    func = call.func
    return dotted(func.value) if isinstance(func, cst.Attribute) and func.attr.value in _WRITES else ""
