"""ACC306."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from accel_advisor.editing.edits import replace_node
from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import Act, Call, within
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule
from accel_advisor.syntax.shapes import assigned_value, done_to_each
from accel_advisor.values.values import Iterated, Module, Sequence, Value, options_of

_MEANT = re.compile(
    r"purpose|intention|deliberate|regist|frozen|freeze|state.?dict|hide|hidden|kept? out", re.IGNORECASE
)
"""What a comment says where layers are meant to stay out of a module."""
BUILDS = (*within("torch.nn", "Module"), Call("setattr"), Act.SETS_MODULE_ATTRIBUTE)
_BY_HAND = frozenset({"to", "cuda", "requires_grad", "requires_grad_"})


class ModulesInPythonContainer(Rule):
    """A module keeps layers in a Python list, where neither `.to`, an optimizer nor `state_dict` sees them.

    What it does
        Finds `self.layers = [nn.Linear(...), ...]`, or a comprehension of layers, in a module that calls them.

    Why it costs time
        Layers in a list are not registered: they stay on the host when the module moves, are not among its
        parameters, so that they are never trained, and are not saved with it.

    Example
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Linear(8, 8) for _ in range(3)]

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x

    Use instead
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x

    When to ignore it
        The rule is silent where the layers are registered elsewhere too (`nn.Sequential(*self.layers)`,
        `add_module`, attributes of their own), where they are moved or frozen by hand, where a comment beside or above
        the list says that they are kept out, and about a list of one, which is how a helper is kept out on purpose. Of
        parameters in a list it does not speak.

    Fix safety
        Unsafe: the state dict and the parameters grow by those of the layers.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html
    """

    code = "ACC306"
    name = "modules-in-python-container"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each attribute once."""
        called = {each for call in facts.module_calls for one in call.contexts for each in options_of(one.module)}
        suspects: list[tuple[Operation, list[set[Module]]]] = []
        for operation in facts.named(["Module.attribute ="]):
            held = [set(_modules(context.get("value", 0))) for context in operation.contexts]
            if held and all(one & called for one in held):
                suspects.append((operation, held))
        if not suspects:
            return
        registered, splatted = self._registered(facts), self._splatted(facts)
        for operation, held in suspects:
            if any(one & registered for one in held):
                continue
            trained = all(any(facts.layers.have_weights(module) for module in one) for one in held)
            value = assigned_value(operation.statement)
            names = {facts.document.code(one) for one in (operation.node, value) if one is not None}
            if trained and not names & splatted and not self._is_kept_out(facts, operation):
                yield self._report(facts, operation)

    def _is_kept_out(self, facts: Facts, operation: Operation) -> bool:
        """Whether the layers are frozen, or moved by hand, one by one, or a comment says that this is meant."""
        row = facts.document.span(operation.statement).start.row
        above = facts.document.line(row - 1).strip() if row > 1 else ""
        beside = facts.document.line(row).partition("#")[2]
        if _MEANT.search(beside) or (above.startswith("#") and _MEANT.search(above)):
            return True
        name = facts.document.code(operation.node)
        owners = [one.receiver.cls for one in operation.contexts if isinstance(one.receiver, Module)]
        return any(owner is not None and done_to_each(owner.node, name) & _BY_HAND for owner in owners)

    def _splatted(self, facts: Facts) -> set[str]:
        """The text of what is given to calls as ``*layers``, which may register them."""
        calls = [one.node for one in facts.operations if isinstance(one.node, cst.Call)]
        return {facts.document.code(arg.value) for call in calls for arg in call.args if arg.star == "*"}

    def _registered(self, facts: Facts) -> set[Value]:
        found: set[Value] = set()
        for operation in facts.program.operations_of(*BUILDS):
            for context in operation.contexts:
                if operation.name == "Module.attribute =":
                    value = context.get("value", 0)
                    found |= {value} if isinstance(value, Module) else set()
                elif operation.name != "Module.parameters":
                    for _, argument in context.arguments:
                        found |= {*options_of(argument.value), *_modules(argument.value, least=1)}
                    moved = operation.name in ("Module.to", "Module.cuda") and context.receiver is not None
                    found |= {context.receiver} if moved and context.receiver is not None else set()
        return found

    def _report(self, facts: Facts, operation: Operation) -> Finding:
        document = facts.document
        name = document.code(operation.node)
        statement = operation.statement
        value = assigned_value(statement)
        kind = "dict" if isinstance(value, (cst.Dict, cst.DictComp)) else "list"
        message = (
            f"`{name}` is a plain Python {kind}, so its layers are neither moved nor trained nor saved with the "
            f"module; wrap it in `nn.Module{kind.capitalize()}(...)`"
        )
        fix = None
        prefix = f"{facts.torch_name}.nn" if facts.torch_name is not None else None
        if prefix is not None and isinstance(statement, cst.Assign) and kind == "list":
            layer = self._prefix(facts, statement.value) or prefix
            text = f"{layer}.ModuleList({document.code(statement.value)})"
            fix = Fix("Wrap it in `ModuleList`", (replace_node(document, statement.value, text),), Applicability.UNSAFE)
        return self.finding(facts, operation.statement, message, fix=fix)

    def _prefix(self, facts: Facts, value: cst.BaseExpression) -> str | None:
        """What the layers in the list are taken from: ``nn`` where the first is ``nn.Linear(...)``."""
        first = value.elt if isinstance(value, cst.ListComp) else None
        if isinstance(value, cst.List) and value.elements:
            first = value.elements[0].value
        if isinstance(first, cst.Call) and isinstance(first.func, cst.Attribute):
            known = {
                one.node for one in facts.operations if one.name.startswith("torch.nn.") and one.name.count(".") == 2
            }
            return facts.document.code(first.func.value) if first in known else None
        return None


def _modules(value: Value, least: int = 2) -> Iterator[Module]:
    if isinstance(value, Sequence):
        found = [one for one in value.items if isinstance(one, Module)]
        if len(found) == len(value.items) >= least:
            yield from found
    elif isinstance(value, Iterated):
        yield from (one for one in options_of(value.element) if isinstance(one, Module))
