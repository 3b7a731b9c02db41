"""Tools for debugging that stay on for the whole training."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.debug_tools import Tool, debug_tools
from accel_advisor.rule import Rule, replace_node

_ANOMALY = "makes every backward pass keep stack traces and look for NaN"
_IN_IT = "makes every backward pass in it keep stack traces and look for NaN"
_COSTS = {
    Tool.ANOMALY: ("", _ANOMALY, "switch it off when the search is over"),
    Tool.ANOMALY_REGION: ("", _IN_IT, "take it away when the search is over"),
    Tool.TRAINER_ANOMALY: ("detect_anomaly=True", _ANOMALY, "drop it when the search is over"),
    Tool.BLOCKING_LAUNCHES: (
        "CUDA_LAUNCH_BLOCKING=1",
        "makes the host wait for every kernel that it launches",
        "take it away when the search is over",
    ),
    Tool.GRADCHECK: ("", "compares gradients numerically in each pass of the training", "do it once, before"),
    Tool.PROFILER: ("", "records every operation of the whole training", "give it a `schedule`, or a few steps"),
}
"""What to call a tool, if not by the code that switches it on, what it costs, and what to do."""


class DebugToolsLeftOn(Rule):
    """A tool for debugging is switched on for the whole training.

    What it does
        Finds, in programs that train: `torch.autograd.set_detect_anomaly(True)`, `detect_anomaly()`,
        `CUDA_LAUNCH_BLOCKING=1`, `gradcheck` in a training loop, a profiler without a schedule around the training, and
        `Trainer(detect_anomaly=True)`, where no condition decides about it.

    Why it costs time
        Anomaly detection keeps a stack trace for every operation and looks through every gradient for NaN (three times
        slower in a small test). With blocking launches the host waits for every single kernel. A profiler without
        a schedule keeps every event of the run in memory.

    Example
        import torch
        from torch import nn

        torch.autograd.set_detect_anomaly(True)
        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(10):
            model(torch.zeros(4, 8)).sum().backward()
            optimizer.step()

    Use instead
        import torch
        from torch import nn

        torch.autograd.set_detect_anomaly(False)
        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(10):
            model(torch.zeros(4, 8)).sum().backward()
            optimizer.step()

    When to ignore it
        While you are debugging. The rule is silent under any condition, where the value comes from an option, and in
        functions and files whose names mention debugging, profiling, benchmarks or tests.

    Fix safety
        Unsafe only because the tool may be wanted: results stay the same.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#disable-debugging-apis
    """

    code = "ACC412"
    name = "debug-tools-left-on"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each switch once."""
        for operation, tool in debug_tools(facts):
            name, cost, remedy = _COSTS[tool]
            fix = None
            argument = operation.contexts[0].argument("mode", 0)
            if tool is Tool.ANOMALY and argument is not None and argument.expression is not None:
                edit = replace_node(facts.document, argument.expression, "False")
                fix = Fix("Switch it off", (edit,), Applicability.UNSAFE)
            code = name or facts.document.code(operation.node)
            yield self.finding(facts, operation.node, f"`{code}` {cost}", remedy, fix=fix)
