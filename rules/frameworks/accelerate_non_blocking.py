"""Accelerators that wait for the copy of every batch."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import Call
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule, pass_argument

_SINCE = (0, 30)


class AccelerateNonBlocking(Rule):
    """An Accelerator waits for the copy of every batch although the loader pins them.

    What it does
        Finds `Accelerator(...)` without `dataloader_config` in a program that gives it a DataLoader with pinned memory.

    Why it costs time
        Prepared loaders move batches to the device with `non_blocking=False`: the program waits for each copy, where
        pinned memory would let it go on.

    Example
        import accelerate
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        accelerator = accelerate.Accelerator()
        loader = DataLoader(TensorDataset(torch.zeros(64, 8)), pin_memory=True)
        loader = accelerator.prepare(loader)

    Use instead
        import accelerate
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        accelerator = accelerate.Accelerator(dataloader_config=accelerate.DataLoaderConfiguration(non_blocking=True))
        loader = DataLoader(TensorDataset(torch.zeros(64, 8)), pin_memory=True)
        loader = accelerator.prepare(loader)

    When to ignore it
        On MPS and TPU, and with accelerate before 0.30. The rule is silent where the project supports that, where the
        program names the device `mps` or knows torch_xla, with `cpu=True`, and where `device_placement` or unknown
        arguments are given.

    Fix safety
        Unsafe: on MPS an asynchronous copy may be read before it is done. A fix is made only where the program says
        `accelerate.Accelerator`, so that no import has to be added.

    References
        - https://huggingface.co/docs/accelerate/package_reference/utilities#accelerate.DataLoaderConfiguration
    """

    code = "ACC608"
    name = "accelerate-non-blocking"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each Accelerator once."""
        on_tpu = any("torch_xla" in one.packages for one in facts.program)
        if not facts.target.has_cuda or on_tpu or facts.names_device("mps") or not facts.supports(_SINCE, "accelerate"):
            return
        loaders = [loader for one in facts.program for loader in one.loaders]
        if not any(loader.moved_by == "accelerate" and loader.pins for loader in loaders):
            return
        for operation in facts.operations_of(Call("accelerate.Accelerator")):
            if not operation.lacks("dataloader_config") or not operation.lacks("device_placement", 0):
                continue
            if not operation.lacks("cpu") and not operation.gives("cpu", False):
                continue
            claim = (
                "the loaders that this Accelerator prepares wait for the copy of every batch although their memory is "
                "pinned"
            )
            remedy = "pass `dataloader_config=DataLoaderConfiguration(non_blocking=True)`"
            fix = None
            if facts.document.code(operation.node).startswith("accelerate.Accelerator("):
                config = "accelerate.DataLoaderConfiguration(non_blocking=True)"
                fix = pass_argument(operation, "dataloader_config", config, title="Copy without waiting")
            yield self.finding(facts, operation.node, claim, remedy, fix=fix, since=_SINCE, package="accelerate")
