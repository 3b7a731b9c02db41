"""Accumulated gradients that are exchanged in each step."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.steps.accumulation import needless_exchanges
from accel_advisor.rule import Rule, also_at


class DdpAccumulationWithoutNoSync(Rule):
    """Gradients are accumulated over several steps, and all processes exchange them in each of these.

    What it does
        Finds a training loop over a model in DistributedDataParallel, or one that Accelerate prepares, that calls
        `backward()` in every pass and the optimizer in one of several, or after an inner loop, without `no_sync()`.

    Why it costs time
        Every `backward()` averages the gradients among all processes. Only the average before the optimizer's step is
        needed: the others send the same amount of data for nothing.

    Example
        import os
        import torch
        import torch.distributed as dist
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel
        from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

        rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(rank)
        dist.init_process_group("nccl")
        model = DistributedDataParallel(nn.Linear(8, 2).cuda(rank), device_ids=[rank])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = TensorDataset(torch.zeros(64, 8))
        loader = DataLoader(data, sampler=DistributedSampler(data), pin_memory=True)
        for step, (x,) in enumerate(loader):
            loss = model(x.cuda(rank, non_blocking=True)).sum() / 4
            loss.backward()
            if (step + 1) % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()

    Use instead
        import os
        from contextlib import nullcontext
        import torch
        import torch.distributed as dist
        from torch import nn
        from torch.nn.parallel import DistributedDataParallel
        from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

        rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(rank)
        dist.init_process_group("nccl")
        model = DistributedDataParallel(nn.Linear(8, 2).cuda(rank), device_ids=[rank])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = TensorDataset(torch.zeros(64, 8))
        loader = DataLoader(data, sampler=DistributedSampler(data), pin_memory=True)
        for step, (x,) in enumerate(loader):
            steps = (step + 1) % 4 == 0
            with nullcontext() if steps else model.no_sync():
                loss = model(x.cuda(rank, non_blocking=True)).sum() / 4
                loss.backward()
            if steps:
                optimizer.step()
                optimizer.zero_grad()

    When to ignore it
        Where the network is much faster than the backward pass, which hides the exchange. The rule is silent where a
        framework accumulates, with FSDP, which takes more memory without the exchange, and where the number of steps
        is 1 and no option of the command line.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
    """

    code = "ACC503"
    name = "ddp-accumulation-without-no-sync"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loop once, at its `backward()`."""
        for found in needless_exchanges(facts):
            step = facts.document.code(found.step.node)
            used = (
                f"`{step}` uses them after the loop only" if found.within else f"`{step}` uses them in some passes only"
            )
            if found.option:
                used = f"`{step}` uses them only once in the number of passes that `{found.option}` gives"
            remedy = "put the others under `no_sync()` of the DistributedDataParallel"
            if found.accelerated:
                remedy = "let `accumulate()` of the Accelerator decide, or put the others under its `no_sync(model)`"
            code = facts.document.code(found.backward.node)
            claim = f"`{code}` averages the gradients among all processes in every pass, but {used}"
            related = [also_at(facts.document, found.step.node, "the gradients are used here")]
            yield self.finding(facts, found.backward.node, claim, remedy, related=related)
