"""Processes that all use the first GPU."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.actions import Call, Method, SetsItem, calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.first_devices import moved_to_the_first
from accel_advisor.rule import Rule, also_at

_CHOOSERS = (
    *calls("torch.cuda.set_device", "torch.cuda.device"),
    *calls("torch.accelerator.set_device_index", "torch.accelerator.set_device_idx"),
    SetsItem("os.environ", "CUDA_VISIBLE_DEVICES"),
)
_CHANGES = (
    *calls("os.environ.update", "os.environ.setdefault", "os.putenv"),
    *(Method("os.environ", "update"), Method("os.environ", "setdefault")),
)


class DdpMissingSetDevice(Rule):
    """Every process of a distributed program puts its model on the same GPU.

    What it does
        Finds a program that begins an NCCL process group, moves its model to "cuda" without a number, and never says
        which GPU a process has.

    Why it costs time
        Without a number "cuda" is GPU 0 in every process. All of them share one GPU while the others idle, until memory
        runs out or NCCL stops with "Duplicate GPU detected".

    Example
        import torch
        from torch import nn

        torch.distributed.init_process_group("nccl")
        model = nn.Linear(8, 2).cuda()

    Use instead
        import os
        import torch
        from torch import nn

        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        torch.distributed.init_process_group("nccl")
        model = nn.Linear(8, 2).cuda()

    When to ignore it
        Where the launcher shows each process one GPU only, through CUDA_VISIBLE_DEVICES. The rule is silent where a
        framework places the model.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
    """

    code = "ACC502"
    name = "ddp-missing-set-device"
    severity = Severity.WARNING
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports the first process group that is begun."""
        if facts.frameworks or facts.does(*_CHOOSERS) or self._shows_one_device(facts):
            return
        for operation in facts.operations_of(Call("torch.distributed.init_process_group")):
            move = next(moved_to_the_first(facts, operation), None)
            if move is None or not operation.gives("backend", "nccl", 0):
                continue
            code = move.document.code(move.node)
            claim = f"every process runs `{code}`, which means GPU 0 in all of them"
            remedy = "call `torch.cuda.set_device` with the local rank first"
            related = [also_at(move.document, move.node, "the model is moved here")]
            yield self.finding(facts, operation.node, claim, remedy, related=related)
            return

    def _shows_one_device(self, facts: Facts) -> bool:
        """Whether something is done to the environment that may show each process one device only."""
        changes = facts.program.operations_of(*_CHANGES)
        return any("CUDA_VISIBLE_DEVICES" in one.document.code(one.node) for one in changes)
