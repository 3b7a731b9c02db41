"""Models on the host given tensors on the GPU."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.models.unmoved_models import UnmovedModel, device_where_built, unmoved_models
from accel_advisor.rule import Rule, also_at, insert_after


class ModelNotMoved(Rule):
    """A batch that was moved to the GPU is given to a model that was not.

    What it does
        Finds the call of a model that was built in sight and never moved, on a tensor that is proven to be on a device
        which can be a GPU, or whose own `forward` certainly moves its input to such a device before a layer meets it.

    Why it costs time
        On a machine with a GPU the call raises "Expected all tensors to be on the same device".

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2)
        data = TensorDataset(torch.zeros(64, 8))
        for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
            x = x.to("cuda", non_blocking=True)
            model(x).sum().backward()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).to("cuda")
        data = TensorDataset(torch.zeros(64, 8))
        for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
            x = x.to("cuda", non_blocking=True)
            model(x).sum().backward()

    When to ignore it
        The rule is silent where the model is handed to anything that it does not know, is wrapped, comes out of a
        factory or a `from_pretrained`, or has code that moves things between devices by itself.

    Fix safety
        Unsafe: it puts the model on the device that its batches are moved to.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.to
    """

    code = "ACC303"
    name = "model-not-moved"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each model once, where it is built if that is in this document."""
        for unmoved in unmoved_models(facts):
            yield self._report(facts, unmoved)

    def _report(self, facts: Facts, unmoved: UnmovedModel) -> Finding:
        document, call, module = facts.document, unmoved.call, unmoved.module
        name = document.code(call.callee)
        here = module.document is document
        given = "gives it a tensor that is on the GPU"
        given = "makes its `forward` move its input to the GPU" if unmoved.moves_inputs else given
        claim = (
            f"`{name}` was never moved, but `{document.code(call.node)}` {given}, which raises on every machine that "
            "has one"
        )
        remedy = "move the model where it is built"
        related = [also_at(document, call.node, "it is called here")] if here else []
        fix = None
        device = device_where_built(facts, module)
        if device is not None:
            edit = insert_after(document, module.node, f".to({device})")
            fix = Fix(f"Move the model with `.to({device})`", (edit,), Applicability.UNSAFE)
        return self.finding(facts, module.node if here else call.node, claim, remedy, related=related, fix=fix)
