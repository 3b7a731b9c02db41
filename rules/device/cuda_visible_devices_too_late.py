"""`CUDA_VISIBLE_DEVICES` set after CUDA has started."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.actions import SetsItem, calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule, also_at

STARTS = calls(
    *("torch.cuda.is_available", "torch.cuda.device_count", "torch.cuda.current_device", "torch.cuda.get_device_name"),
    *("torch.cuda.get_device_properties", "torch.cuda.get_device_capability", "torch.cuda.init"),
    *("torch.cuda.set_device", "torch.cuda.mem_get_info", "torch.cuda.synchronize"),
)
_CHILDREN = calls(
    *("subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_call", "subprocess.check_output"),
    *("os.system", "os.fork", "multiprocessing.Process", "multiprocessing.Pool", "torch.multiprocessing.Process"),
    *("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes", "joblib.Parallel", "ray.remote"),
)
"""What starts processes, for which the variable may be meant."""
SETS = SetsItem("os.environ", "CUDA_VISIBLE_DEVICES")


class CudaVisibleDevicesTooLate(Rule):
    """The visible GPUs are chosen after CUDA has looked at them.

    What it does
        Finds `os.environ["CUDA_VISIBLE_DEVICES"] = ...` after a call that starts CUDA, such as
        `torch.cuda.is_available()` or `.cuda()`.

    Why it costs time
        The variable is read once, when CUDA starts. Set later it does nothing: the program runs on the first GPU, where
        others may be running already.

    Example
        import os
        import torch

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        os.environ["CUDA_VISIBLE_DEVICES"] = "1"
        print(device)

    Use instead
        import os
        import torch

        os.environ["CUDA_VISIBLE_DEVICES"] = "1"
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        print(device)

    When to ignore it
        The rule is silent where the program starts processes, for which the variable may be meant. Importing torch does
        not start CUDA, so that it is silent, too, where only imports stand before it.

    References
        - https://docs.pytorch.org/docs/stable/cuda.html
    """

    code = "ACC311"
    name = "cuda-visible-devices-too-late"
    severity = Severity.WARNING
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each assignment once."""
        if facts.does(*_CHILDREN):
            return
        moves = {one.node for one in facts.transfers if one.kinds == {"cuda"}}
        started: Operation | None = None
        for operation in facts.operations:
            if operation.what in STARTS or operation.node in moves:
                started = started or operation
            elif operation.what is SETS and started is not None and self._after(started, operation):
                document = facts.document
                first = document.code(started.node)
                claim = f"`CUDA_VISIBLE_DEVICES` is set after `{first}` has started CUDA, which reads it once"
                remedy = "set it before, or in the shell"
                related = [also_at(document, started.node, "CUDA starts here")]
                yield self.finding(facts, operation.node, claim, remedy, related=related)

    def _after(self, started: Operation, operation: Operation) -> bool:
        """Whether the order in which they were met is that of the program: in one function, or at the top before."""
        first = [context.functions for context in started.contexts]
        return all(
            not context.guarded and (not functions or functions == context.functions)
            for context in operation.contexts
            for functions in first
        ) and not any(context.guarded for context in started.contexts)
