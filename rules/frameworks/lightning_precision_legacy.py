"""Precisions under their names of Lightning 1."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.actions import calls
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule, replace_node

_SINCE = (2, 0)
_INSTEAD = {"16": "16-mixed", "bf16": "bf16-mixed"}


class LightningPrecisionLegacy(Rule):
    """A Lightning Trainer is given its precision under a name of version 1.

    What it does
        Finds `Trainer(precision=16)` and `Trainer(precision="bf16")` of the `lightning` package.

    Why it costs time
        It costs a warning in each run. The names of version 2 say what is meant: `"16-mixed"` keeps the weights in
        float32 under autocast, `"16-true"` makes them float16.

    Example
        import lightning as L

        trainer = L.Trainer(precision=16)

    Use instead
        import lightning as L

        trainer = L.Trainer(precision="16-mixed")

    When to ignore it
        Where Lightning 1 must be supported. The rule is silent where the dependencies of the project say so, in files
        that use `pytorch_lightning`, which may be version 1, and for 32 and 64, which no version warns of.

    Fix safety
        Safe: Lightning 2 translates the old names to these.

    References
        - https://lightning.ai/docs/pytorch/stable/common/precision_basic.html
    """

    code = "ACC609"
    name = "lightning-precision-legacy"
    severity = Severity.INFO
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each Trainer once."""
        if "pytorch_lightning" in facts.packages or not facts.supports(_SINCE, "lightning"):
            return
        for operation in facts.operations_of(*calls("lightning.Trainer", "lightning.Fabric")):
            given = operation.given("precision").literal
            instead = _INSTEAD.get(str(given))
            argument = operation.contexts[0].argument("precision")
            if instead is None or argument is None:
                continue
            fix = None
            node = argument.expression or operation.node
            if argument.is_spelled:
                edit = replace_node(facts.document, node, f'"{instead}"')
                fix = Fix(f'Use `"{instead}"`', (edit,), Applicability.SAFE)
            claim = f"`precision={given!r}` is a name of Lightning 1 and warns"
            remedy = f'say `"{instead}"`'
            yield self.finding(facts, node, claim, remedy, fix=fix, since=_SINCE, package="lightning")
