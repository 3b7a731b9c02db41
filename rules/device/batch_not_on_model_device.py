"""Batches on the host given to a model on the GPU."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import calls
from accel_advisor.records.facts import ArgumentPlace, Facts, ModuleCall
from accel_advisor.records.loaders import loader_of
from accel_advisor.records.queries.steps.misplaced_arguments import misplaced_arguments
from accel_advisor.rule import Rule, also_at

_DEFAULTS = calls("torch.set_default_device", "torch.set_default_tensor_type")


class BatchNotOnModelDevice(Rule):
    """A batch that is on the host is given to a model that is on the GPU.

    What it does
        Finds the call of a model, or of a loss on a model's output, whose argument is a loader's batch that nothing
        moved, or a tensor that was made on the host, where the model is proven to have been moved to a device that can
        be a GPU. The `forward` of a model of your own is read: the argument must reach the weights of a layer unmoved.

    Why it costs time
        On a machine with a GPU the call raises "Expected all tensors to be on the same device". Code like this has only
        ever run on a CPU.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        data = TensorDataset(torch.zeros(64, 8))
        for (x,) in DataLoader(data, batch_size=16):
            model(x).sum().backward()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        data = TensorDataset(torch.zeros(64, 8))
        for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
            model(x.cuda(non_blocking=True)).sum().backward()

    When to ignore it
        The rule reports only where both places are proven. It is silent about a module that moves its own inputs, about
        DataParallel, FSDP and DistributedDataParallel with `device_ids` (which move the inputs of `forward`, though not
        the targets), and where a framework delivers the batches.

    References
        - https://docs.pytorch.org/docs/stable/notes/cuda.html
    """

    code = "ACC302"
    name = "batch-not-on-model-device"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loop once."""
        if facts.frameworks or facts.does(*_DEFAULTS):
            return
        seen: set[int] = set()
        for call, argument in misplaced_arguments(facts):
            loop = call.contexts[0].loop
            place = id(loop) if loop is not None else id(call.node)
            if place not in seen:
                seen.add(place)
                yield self._report(facts, call, argument)

    def _report(self, facts: Facts, call: ModuleCall, argument: ArgumentPlace) -> Finding:
        document = facts.document
        what = document.code(argument.node)
        module, loader = call.contexts[0].model, loader_of(argument.given)
        owner = "the model's output" if call.loss else f"`{document.code(call.callee)}`"
        source = f", from `{loader.label}`," if loader is not None else ""
        claim = (
            f"`{what}`{source} is still on the host, but {owner} is on the GPU: this raises on every machine that has "
            "one"
        )
        remedy = f"move `{what}` to the same device first"
        related = []
        if module is not None and module.document is document and not call.loss:
            related.append(also_at(document, module.node, "the model is built here"))
        return self.finding(facts, argument.node, claim, remedy, related=related)
