"""Activations and layer norms that are computed step by step."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.written_out.activations import (
    Activation,
    name_of_functional,
    written_out_activations,
)
from accel_advisor.records.queries.written_out.normalizations import LayerNorm, written_out_layer_norms
from accel_advisor.rule import Rule, replace_node

_COST = "writes the result of each step to memory, and keeps it for the backward pass"


class WrittenOutActivation(Rule):
    """An activation or a layer norm is computed step by step.

    What it does
        Finds what `torch.nn.functional` has one function for: `x * torch.sigmoid(x)` (SiLU, Swish),
        `x * torch.tanh(F.softplus(x))` (Mish), `x * F.relu6(x + 3) / 6` (Hardswish, and Hardsigmoid), GELU by `erf` or
        `tanh`, in one expression or several, in functions, modules and `autograd.Function`s; and layer norms in the
        `forward` of a module, by the mean and the biased variance over the last or the second dimension.

    Why it costs time
        Each step reads and writes a whole activation, and autograd keeps what it needs of it. One kernel computes the
        same, and keeps its input. On an H200, forward and backward, SiLU took 2.7 times as long when written out, Mish
        3.0 times, a layer norm 4.7 times (docs/costs.md).

    Example
        import torch
        from torch import nn
        from torch.nn import functional as F

        class Mish(nn.Module):
            def forward(self, x):
                return x * torch.tanh(F.softplus(x))

        net = nn.Sequential(nn.Conv2d(3, 8, 3), Mish())
        print(net(torch.zeros(2, 3, 8, 8)).shape)

    Use instead
        import torch
        from torch import nn
        from torch.nn import functional as F

        class Mish(nn.Module):
            def forward(self, x):
                return F.mish(x)

        net = nn.Sequential(nn.Conv2d(3, 8, 3), Mish())
        print(net(torch.zeros(2, 3, 8, 8)).shape)

    When to ignore it
        Where the results must stay the same to the last digit. The rule is silent in programs that call
        `torch.compile`, which fuses these steps, about functions under `torch.jit.script`, about what stands under
        `hasattr` or in a `try`, or is named there alone, which is for a torch that lacks the function, about code that
        mentions an export, and about what nothing uses. It is silent about the sigmoid of a scaled input
        (`torch.sigmoid(1.702 * x)`) and about norms by the unbiased variance or with the epsilon beside the root: torch
        computes something else.

    Fix safety
        Unsafe: the results may differ in their last digits.

    References
        - https://docs.pytorch.org/docs/stable/nn.functional.html#non-linear-activation-functions
    """

    code = "ACC438"
    name = "written-out-activation"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports those that one function computes once a file."""
        yield from (self._activation(facts, one) for one in written_out_activations(facts))
        yield from (self._norm(facts, one) for one in written_out_layer_norms(facts))

    def _activation(self, facts: Facts, found: Activation) -> Finding:
        document = facts.document
        instead = f"torch.nn.functional.{found.name}({document.code(found.tensor)}{found.also})"
        fix = None
        if found.definition.differentiates and found.definition.owner is not None:
            claim = f"`{found.definition.owner.name.value}` takes several kernels for each pass"
            remedy = f"`{instead}` takes one, and keeps no more for the backward pass"
        else:
            claim = f"`{document.code(found.node)}` {_COST}"
            remedy = f"`{instead}` is one kernel that keeps its input alone"
            functional = name_of_functional(facts)
            if found.whole and functional is not None:
                also = found.also.replace('"', document.quote)
                text = f"{functional}.{found.name}({document.code(found.tensor)}{also})"
                edits = (replace_node(document, found.node, text),)
                fix = Fix(f"Write `{text}`", edits, Applicability.UNSAFE)
        small = found.name == "hardsigmoid"  # the gate of whole channels, most often: one value each
        return self.finding(
            facts, found.node, claim, remedy, fix=fix, since=found.since, group=found.name, minor=small, aside=small
        )

    def _norm(self, facts: Facts, found: LayerNorm) -> Finding:
        code = facts.document.code(found.node)
        inside = "" if found.last else " of the permuted tensor, which `channels_last` makes a view,"
        claim = f"`{code}` {_COST}"
        remedy = f"`F.layer_norm`{inside} computes the mean, the variance and this in one kernel"
        return self.finding(facts, found.node, claim, remedy, group="layer_norm")
