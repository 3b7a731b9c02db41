"""Layers in a plain list, where torch does not see them."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.models.unregistered_modules import UnregisteredModules, unregistered_modules
from accel_advisor.rule import Rule, replace_node


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
        `add_module`, attributes of their own), also part by part (`add_module` for each of their `children()`), where
        they are moved or frozen by hand, where a comment beside or above the list says that they are kept out, and
        about a list of one, which is how a helper is kept out on purpose. Of parameters in a list it reports nothing.

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
        for layers in unregistered_modules(facts):
            yield self._report(facts, layers)

    def _report(self, facts: Facts, layers: UnregisteredModules) -> Finding:
        document, listed = facts.document, layers.listed
        name, kind = document.code(layers.assignment.node), "dict" if layers.in_dict else "list"
        claim = (
            f"`{name}` is a plain Python {kind}, so its layers are neither moved nor trained nor saved with the module"
        )
        remedy = f"wrap it in `nn.Module{kind.capitalize()}(...)`"
        fix = None
        if facts.torch_name is not None and listed is not None:
            text = f"{layers.namespace(facts) or f'{facts.torch_name}.nn'}.ModuleList({document.code(listed)})"
            fix = Fix("Wrap it in `ModuleList`", (replace_node(document, listed, text),), Applicability.UNSAFE)
        return self.finding(facts, layers.assignment.statement, claim, remedy, fix=fix)
