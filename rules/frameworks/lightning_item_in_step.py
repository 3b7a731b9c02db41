"""Values that a `training_step` fetches from the device."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import Method
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule, also_at


class LightningItemInStep(Rule):
    """A `training_step` fetches a value from the device in every step.

    What it does
        Finds `.item()` in the `training_step` of a LightningModule, where no condition decides about it.

    Why it costs time
        The host waits until the device has computed the value, and cannot prepare the next step meanwhile. `self.log`
        takes the tensor itself, detaches it and fetches it when it is due.

    Example
        import lightning as L
        from torch import nn

        class Net(L.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 2)

            def training_step(self, batch, index):
                loss = self.layer(batch).sum()
                self.log("loss", loss.item())
                return loss

    Use instead
        import lightning as L
        from torch import nn

        class Net(L.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 2)

            def training_step(self, batch, index):
                loss = self.layer(batch).sum()
                self.log("loss", loss)
                return loss

    When to ignore it
        Where the program needs the value on the host in each step. The rule is silent under a condition, and where the
        value is known to be on the host.

    References
        - https://lightning.ai/docs/pytorch/stable/extensions/logging.html
    """

    code = "ACC611"
    name = "lightning-item-in-step"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each class once, at the first value, with the others as related places."""
        by_class: dict[str, list[Operation]] = {}
        for operation in facts.operations_of(Method("Tensor", "item"), Method("?", "item")):
            steps = all(context.functions[-1:] == ("training_step",) for context in operation.contexts)
            on_host = any(context.subject.on_host for context in operation.contexts)
            if operation.framework == "lightning" and steps and not operation.guarded and not on_host:
                by_class.setdefault(str(operation.contexts[0].functions), []).append(operation)
        for operations in by_class.values():
            first, *others = operations
            document = facts.document
            claim = f"`{document.code(first.node)}` makes each `training_step` wait for the device"
            remedy = "give `self.log` the tensor, which it detaches and fetches when it is due"
            related = [also_at(document, one.node, "waits as well") for one in others]
            yield self.finding(facts, first.node, claim, remedy, related=related)
