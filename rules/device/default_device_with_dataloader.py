"""A default device that the workers of a loader inherit."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.actions import Call
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule, also_at


class DefaultDeviceWithDataloader(Rule):
    """The default device is a GPU, and a loader's workers make tensors on it.

    What it does
        Finds `torch.set_default_device("cuda")` in a program whose loaders have worker processes.

    Why it costs time
        Every factory then makes CUDA tensors: those of the collate function and of `__getitem__` too. Forked workers
        cannot use CUDA and raise; with others each has a CUDA context of its own, and batches cannot be pinned.

    Example
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        torch.set_default_device("cuda")
        data = TensorDataset(torch.zeros(64, 8, device="cpu"))
        loader = DataLoader(data, batch_size=16, num_workers=2)

    Use instead
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        data = TensorDataset(torch.zeros(64, 8, device="cpu"))
        loader = DataLoader(data, batch_size=16, num_workers=2)

    When to ignore it
        Where everything that the workers make names its device. To build a model on the GPU,
        `with torch.device("cuda"):` around its construction is enough, and the rule is silent about it.

    References
        - https://github.com/pytorch/pytorch/issues/118084
    """

    code = "ACC310"
    name = "default-device-with-dataloader"
    severity = Severity.WARNING
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        loaders = [
            loader
            for each in facts.program
            for loader in each.loaders
            if (loader.fixed_workers or 0) > 0 and loader.constructor.delivers == "host"
        ]
        for operation in facts.operations_of(Call("torch.set_default_device")) if loaders else ():
            if all("cuda" in context.given("device", 0).device_kinds for context in operation.contexts):
                claim = (
                    f"`{facts.document.code(operation.node)}` makes the workers of `{loaders[0].label}` create CUDA "
                    "tensors"
                )
                remedy = "use `with torch.device(...)` around the model instead"
                related = [also_at(one.document, one.node, "this loader has workers") for one in loaders]
                yield self.finding(facts, operation.node, claim, remedy, related=related)
