"""Models trained by DataParallel."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import AnyCall, Call, calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.models.idle_wrappers import is_idle
from accel_advisor.records.queries.models.unasked_options import is_never_asked
from accel_advisor.records.queries.models.unwrapping import never_learns, never_runs
from accel_advisor.rule import Rule

WRAPPERS = (
    *calls("torch.nn.DataParallel", "torch_geometric.nn.DataParallel", "torch_geometric.nn.data_parallel.DataParallel"),
    *(Call("encoding.parallel.DataParallelModel"), AnyCall("DataParallelWithCallback")),
)
"""DataParallel, and what libraries derive from it."""


class DataParallelModule(Rule):
    """A model is trained by DataParallel, which drives all GPUs from one process.

    What it does
        Finds `nn.DataParallel(model)` in a program that uses CUDA, and classes that derive from it, in the program or
        in libraries (`torch_geometric.nn.DataParallel`, `DataParallelWithCallback`).

    Why it costs time
        DataParallel copies the model to every GPU in every step, runs all replicas in threads of one Python process,
        which hold each other up, and gathers all outputs on one GPU. DistributedDataParallel has a process for each GPU
        and exchanges only gradients, while the backward pass still runs. It does so in the first backward pass behind
        a call of the model: the message says so where one keeps the graph (`retain_graph=True`).

    Example
        from torch import nn

        model = nn.DataParallel(nn.Linear(8, 2)).cuda()

    Use instead
        import os
        import torch
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel

        rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(rank)
        torch.distributed.init_process_group("nccl")
        model = DistributedDataParallel(nn.Linear(8, 2).to(rank), device_ids=[rank])

    When to ignore it
        For inference, or a quick look on a machine with two GPUs: in a notebook, and where nothing is trained, it is
        reported as information. The rule is silent where one GPU is named, where no CUDA device is in sight, and where
        the wrapper never runs: the model is taken out of it again, as after loading the weights of a wrapped one, or
        only its state is saved. Where a program only evaluates, or one that trains has a way of
        DistributedDataParallel, too, wraps another model for its evaluation, or one that the training calls under
        `no_grad`, or is seen to do nothing with the wrapper that would call it, or no call gives the option of a
        function for which it would wrap one, it is reported only if this rule is selected by its code or name.

    References
        - https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-nn-ddp-instead
    """

    code = "ACC501"
    name = "data-parallel-module"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports the wrappers of a file as one decision."""
        beside = facts.wraps_in_parallel
        if not facts.names_gpu_anywhere or (beside and not facts.trains):
            return
        wrappings = facts.operations_of(*WRAPPERS)
        backwards = facts.program.operations_of(AnyCall("backward")) if wrappings else ()
        again = next((one for one in backwards if one.gives("retain_graph", True, 1)), None)
        for operation in wrappings:
            if self._has_one_device(facts, operation) or never_runs(facts, operation):
                continue
            code = facts.document.code(operation.node)
            claim = f"`{code}` drives all GPUs from one process and copies the model to them in every step"
            remedy = "use DistributedDataParallel with a process for each GPU"
            if beside:
                remedy = "let several GPUs take the way of DistributedDataParallel that this program has, too"
            elif again is not None:
                kept = again.document.code(again.node)
                remedy += "; it adds up the gradients of one backward pass for each call: "
                remedy += f"join the losses, if `{kept}` keeps the graph for another"
            lasting = facts.trains and facts.document.notebook is None and not beside
            severity = Severity.WARNING if lasting else Severity.INFO
            alone = sum(one.function is operation.function for one in wrappings) == 1
            minor = beside or never_learns(facts, operation) or is_idle(facts, operation, alone=alone)
            minor = minor or is_never_asked(facts, operation)
            yield self.finding(facts, operation.node, claim, remedy, severity=severity, minor=minor, group="wrappers")

    def _has_one_device(self, facts: Facts, operation: Operation) -> bool:
        lists = [one.items for one in operation.given("device_ids", 1).alternatives]
        return all(one is not None and len(one) == 1 and one[0].is_written_in(facts.document) for one in lists)
