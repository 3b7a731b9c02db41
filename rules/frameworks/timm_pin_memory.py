"""Loaders of timm that do not pin."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import Call
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule, pass_argument


class TimmPinMemory(Rule):
    """A loader of timm copies its batches to the GPU from memory that is not pinned.

    What it does
        Finds `timm.data.create_loader(...)` without `pin_memory`, in a program that uses CUDA.

    Why it costs time
        Its prefetcher copies the next batch with `non_blocking=True` while the current one is computed. From pageable
        memory the driver stages that copy, and the overlap is lost. The default is `pin_memory=False`.

    Example
        import torch
        from timm.data import create_dataset, create_loader

        dataset = create_dataset("", root="images")
        loader = create_loader(dataset, (3, 224, 224), 64, device=torch.device("cuda"))

    Use instead
        import torch
        from timm.data import create_dataset, create_loader

        dataset = create_dataset("", root="images")
        loader = create_loader(dataset, (3, 224, 224), 64, device=torch.device("cuda"), pin_memory=True)

    When to ignore it
        Where page-locked memory is scarce. The rule is silent where nothing shows that a GPU is meant,
        and where the loader is given another device.

    Fix safety
        Unsafe: batches take page-locked memory.

    References
        - https://github.com/huggingface/pytorch-image-models/blob/main/timm/data/loader.py
    """

    code = "ACC612"
    name = "timm-pin-memory"
    severity = Severity.INFO
    knob = "pin_memory"

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once."""
        if not facts.target.has_cuda or not facts.names_gpu_anywhere:
            return
        for operation in facts.operations_of(Call("timm.data.create_loader")):
            kinds = operation.given("device").device_kinds
            if operation.lacks("pin_memory") and kinds & {"cuda", "unknown"}:
                claim = (
                    "`create_loader(...)` leaves `pin_memory` off, so that its prefetcher copies batches to the GPU "
                    "from pageable memory"
                )
                remedy = "pass `pin_memory=True`"
                fix = pass_argument(operation, "pin_memory", "True")
                yield self.finding(facts, operation.node, claim, remedy, fix=fix)
