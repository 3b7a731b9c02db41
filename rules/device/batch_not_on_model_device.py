"""ACC302."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Related, Severity
from accel_advisor.rule import Rule
from accel_advisor.semantics.facts import ArgumentPlace, Facts, LoaderCall, ModuleCall
from accel_advisor.semantics.places import is_cuda_capable, is_host
from accel_advisor.semantics.values import Module, Tensor


class BatchNotOnModelDevice(Rule):
    """A batch that is on the host is given to a model that is on the GPU.

    What it does
        Finds the call of a model, or of a loss on a model's output, whose argument is a loader's batch that nothing
        moved, where the model is proven to have been moved to a device that can be a GPU.

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
        The rule speaks only where both places are proven. It is silent about a module that moves its own inputs, about
        DataParallel, DistributedDataParallel and FSDP (which move the inputs of `forward`, though not the targets), and
        where a framework delivers the batches.

    References
        - https://docs.pytorch.org/docs/stable/notes/cuda.html
    """

    code = "ACC302"
    name = "batch-not-on-model-device"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loop once."""
        seen: set[int] = set()
        for call in facts.module_calls:
            found = self._mismatch(facts, call)
            if found is None:
                continue
            argument, loader = found
            loop = call.contexts[0].loop
            if loop is not None and id(loop) in seen:
                continue
            seen.add(id(loop))
            yield self._report(facts, call, argument, loader)

    def _mismatch(self, facts: Facts, call: ModuleCall) -> tuple[ArgumentPlace, LoaderCall] | None:
        if call.framework or facts.frameworks or not call.contexts:
            return None
        for context in call.contexts:
            if context.escaped or (context.wrapper is not None and not call.loss):
                return None
            if not context.place or not is_cuda_capable(context.place):
                return None
        first = call.contexts[0]
        for index, argument in enumerate(first.arguments):
            if call.loss and index == 0:
                continue
            if all(
                index < len(context.arguments) and self._on_host(context.arguments[index]) for context in call.contexts
            ):
                value = argument.value
                assert isinstance(value, Tensor)
                assert value.loader is not None
                return argument, value.loader
        return None

    def _on_host(self, argument: ArgumentPlace) -> bool:
        value = argument.value
        if not isinstance(value, Tensor) or value.loader is None or value.scalar:
            return False
        dataset = value.loader.dataset
        clean = dataset is not None and dataset.plain and not dataset.on_device
        return value.proven and clean and is_host(value.place) and not value.loader.moved_by

    def _report(self, facts: Facts, call: ModuleCall, argument: ArgumentPlace, loader: LoaderCall) -> Finding:
        document = facts.document
        what = document.code(argument.node)
        module = call.contexts[0].module
        owner = "the model's output" if call.loss else f"`{document.code(call.node.func)}`"
        message = (
            f"`{what}`, from `{loader.label}`, is still on the host, but {owner} is on the GPU: this raises on every "
            f"machine that has one; move `{what}` to the same device first"
        )
        related = []
        if isinstance(module, Module) and module.document is document and not call.loss:
            related.append(Related(document.filename, document.span(module.node), "the model is built here"))
        return self.finding(facts, argument.node, message, related=related)
