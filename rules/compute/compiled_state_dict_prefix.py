"""Weights that are saved under the names of a compiled model."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.actions import Act, Method
from accel_advisor.records.facts import Facts
from accel_advisor.records.given import Given
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule


class CompiledStateDictPrefix(Rule):
    """The weights of a compiled model are saved under names that the plain model does not have.

    What it does
        Finds `torch.save` and `save_file` of the `state_dict()` of what `torch.compile(model)` returned, alone or in a
        dict.

    Why it costs time
        `torch.compile` returns a module around the model, so every key begins with `_orig_mod.`. Loading such a file
        into the model itself, for evaluation or in another program, raises: "Missing key(s) in state_dict".

    Example
        import torch
        from torch import nn

        model = torch.compile(nn.Linear(8, 2))
        torch.save(model.state_dict(), "model.pt")

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2)
        model.compile()
        torch.save(model.state_dict(), "model.pt")

    When to ignore it
        Where only compiled models load the file. The rule is silent where the program loads weights into a compiled
        model, and where it mentions `_orig_mod` itself.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.compile
    """

    code = "ACC423"
    name = "compiled-state-dict-prefix"
    severity = Severity.INFO
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call that saves once."""
        found = [one for one in facts.operations_of(Act.SAVES_STATE) if self._saves_compiled(one)]
        if not found or self._knows(facts):
            return
        for operation in found:
            claim = "every key that is saved here begins with `_orig_mod.`, which the model itself does not have"
            remedy = "save the weights of the model that was compiled, or compile it in place with `model.compile()`"
            yield self.finding(facts, operation.node, claim, remedy)

    def _saves_compiled(self, operation: Operation) -> bool:
        return all(_is_compiled(context.subject) for context in operation.contexts)

    def _knows(self, facts: Facts) -> bool:
        """Whether the program loads such keys as they are, or mentions the prefix."""
        loads = facts.program.operations_of(Method("Module", "load_state_dict"))
        into = [context.subject for one in loads for context in one.contexts]
        return any(_is_compiled(one) for one in into) or any(one.reads("_orig_mod") for one in facts.program)


def _is_compiled(value: Given) -> bool:
    return value.module is not None and value.module.compiled is not None
