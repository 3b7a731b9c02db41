"""A worker for every core in each of several processes."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import calls
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule

_COUNTS = ("os.cpu_count", "multiprocessing.cpu_count", "torch.multiprocessing.cpu_count", "psutil.cpu_count")


class NumWorkersAllCores(Rule):
    """Each of several training processes starts as many workers as the machine has cores.

    What it does
        Finds `num_workers=os.cpu_count()` in a program that trains in several processes.

    Why it costs time
        With eight GPUs on a machine there are eight times as many workers as cores. They take the cores from each other
        and from the training processes, and each of them takes memory.

    Example
        import os
        import torch
        from torch.utils.data import DataLoader

        torch.distributed.init_process_group("gloo")
        loader = DataLoader([1, 2, 3], num_workers=os.cpu_count())

    Use instead
        import os
        import torch
        from torch.utils.data import DataLoader

        torch.distributed.init_process_group("gloo")
        cores = len(os.sched_getaffinity(0)) // int(os.environ["LOCAL_WORLD_SIZE"])
        loader = DataLoader([1, 2, 3], num_workers=cores)

    When to ignore it
        Where each machine runs one process only. The rule is silent where anything is taken off or divided, and where a
        framework starts the processes.

    References
        - https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    code = "ACC119"
    name = "num-workers-all-cores"
    severity = Severity.INFO
    knob = "num_workers"

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        launches = calls("torch.distributed.init_process_group", "torch.multiprocessing.spawn")
        if facts.frameworks or not facts.does(*launches):
            return
        for loader in facts.loaders:
            if loader.constructor.advises and loader.given("num_workers").made_by in _COUNTS:
                claim = f"`{loader.label}` starts a worker for every core, in each of the training processes"
                remedy = "divide the cores by the number of processes on the machine"
                yield self.finding(facts, loader.node, claim, remedy)
