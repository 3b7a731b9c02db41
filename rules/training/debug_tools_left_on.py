"""Tools for debugging that stay on for the whole training."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import AnyCall, Call, Method, SetsItem, calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule, replace_node

_WORDS = re.compile(r"debug|profil|bench|test", re.IGNORECASE)
_SETS = SetsItem("os.environ", "CUDA_LAUNCH_BLOCKING")
_LAUNCH = (_SETS, *calls("os.environ.setdefault", "os.putenv"), Method("os.environ", "setdefault"))
_ANOMALY, _ANOMALIES = Call("torch.autograd.set_detect_anomaly"), Call("torch.autograd.detect_anomaly")
_TRAINER, _GRADCHECK = Call("lightning.Trainer"), Call("torch.autograd.gradcheck")
_PROFILE = Call("torch.profiler.profile")
_PROFILERS = (_PROFILE, *calls("torch.autograd.profiler.profile", "torch.autograd.profiler.emit_nvtx"))
_TOOLS = (*_LAUNCH, _ANOMALY, _ANOMALIES, _TRAINER, _GRADCHECK, *_PROFILERS)


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
        if not facts.trains and not facts.does(_TRAINER):
            return
        if _WORDS.search(PurePath(facts.document.filename).stem):
            return
        for operation in facts.operations_of(*_TOOLS):
            names = [name for context in operation.contexts for name in context.functions]
            if operation.guarded or any(_WORDS.search(name) for name in names):
                continue
            found = self._tool(facts, operation)
            if found is not None:
                tool, cost, fix = found
                code = tool or facts.document.code(operation.node)
                yield self.finding(facts, operation.node, f"`{code}` {cost}", fix=fix)

    def _tool(self, facts: Facts, operation: Operation) -> tuple[str | None, str, Fix | None] | None:
        """What to call a tool, if not by the code that switches it on, what it costs with the remedy, and the fix."""
        what = operation.what
        anomaly = "makes every backward pass{} keep stack traces and look for NaN; {} when the search is over"
        if what is _ANOMALY and operation.gives("mode", True, 0):
            return None, anomaly.format("", "switch it off"), _switch_off(facts, operation, "False")
        if what is _TRAINER and operation.gives("detect_anomaly", True):
            return "detect_anomaly=True", anomaly.format("", "drop it"), None
        if what is _ANOMALIES and self._surrounds(facts, what.full):
            return None, anomaly.format(" in it", "take it away"), None
        if what in _LAUNCH and self._blocks(operation):
            cost = "makes the host wait for every kernel that it launches; take it away when the search is over"
            return "CUDA_LAUNCH_BLOCKING=1", cost, None
        if what is _GRADCHECK and any(one.inner and one.inner.backward for one in operation.contexts):
            return None, "compares gradients numerically in each pass of the training; do it once, before", None
        on = operation.lacks("enabled", 0) or operation.gives("enabled", True, 0) or what is _PROFILE
        if what in _PROFILERS and on and operation.lacks("schedule") and self._surrounds(facts, what.full):
            return None, "records every operation of the whole training; give it a `schedule`, or a few steps", None
        return None

    def _blocks(self, operation: Operation) -> bool:
        if operation.what is not _SETS:
            return operation.gives("key", "CUDA_LAUNCH_BLOCKING", 0) and operation.gives("value", "1", 1)
        return operation.contexts[0].value.is_literal("1")

    def _surrounds(self, facts: Facts, name: str) -> bool:
        """Whether training loops run inside of this manager as a whole."""
        return any(
            name in context.managers and context.inner is not None and context.inner.loaders
            for operation in facts.program.operations_of(AnyCall("backward"))
            for context in operation.contexts
        )


def _switch_off(facts: Facts, operation: Operation, value: str) -> Fix | None:
    argument = operation.contexts[0].argument("mode", 0)
    if argument is None or argument.node is None:
        return None
    edit = replace_node(facts.document, argument.node.value, value)
    return Fix("Switch it off", (edit,), Applicability.UNSAFE)
