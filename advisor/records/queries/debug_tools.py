"""Tools for debugging that a training switches on, and that no condition switches off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from pathlib import PurePath
from typing import TYPE_CHECKING

from accel_advisor.records.actions import AnyCall, Call, Method, SetsItem, calls, within

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation

_WORDS = re.compile(r"debug|profil|bench|test", re.IGNORECASE)
_BLOCKING = "CUDA_LAUNCH_BLOCKING"
_SETS = SetsItem("os.environ", _BLOCKING)
_LAUNCH = (_SETS, *calls("os.environ.setdefault", "os.putenv"), Method("os.environ", "setdefault"))
_ANOMALY, _ANOMALIES = Call("torch.autograd.set_detect_anomaly"), Call("torch.autograd.detect_anomaly")
_TRAINER, _GRADCHECK = Call("lightning.Trainer"), Call("torch.autograd.gradcheck")
_PROFILE = Call("torch.profiler.profile")
_MARKS = Call("torch.autograd.profiler.emit_nvtx")
_PROFILERS = (_PROFILE, _MARKS, Call("torch.autograd.profiler.profile"))
_RANGES = within("nvtx", "torch.cuda.nvtx")


class Tool(Enum):
    """What is switched on: detection of anomalies, by a switch, around the training or by Lightning's Trainer; launches
    of kernels that block; a numerical check of gradients; a profiler that records everything."""

    ANOMALY = auto()
    ANOMALY_REGION = auto()
    TRAINER_ANOMALY = auto()
    BLOCKING_LAUNCHES = auto()
    GRADCHECK = auto()
    PROFILER = auto()


def debug_tools(facts: Facts) -> Iterator[tuple[Operation, Tool]]:
    """The operations of a document that switch a tool on for the whole training, unless a name of a file or function
    says that it is about debugging."""
    if not facts.trains and not facts.does(_TRAINER):
        return
    if _WORDS.search(PurePath(facts.document.filename).stem):
        return
    for operation in facts.operations_of(*_LAUNCH, _ANOMALY, _ANOMALIES, _TRAINER, _GRADCHECK, *_PROFILERS):
        names = [name for context in operation.contexts for name in context.functions]
        if operation.guarded or any(_WORDS.search(name) for name in names):
            continue
        tool = _tool(facts, operation)
        if tool is not None:
            yield operation, tool


def _tool(facts: Facts, operation: Operation) -> Tool | None:
    what = operation.what
    if what is _MARKS and facts.does(*_RANGES):
        return None  # a run under a profiler is what the program is for
    if what is _ANOMALY:
        return Tool.ANOMALY if operation.gives("mode", True, 0) else None
    if what is _TRAINER:
        return Tool.TRAINER_ANOMALY if operation.gives("detect_anomaly", True) else None
    if what is _ANOMALIES:
        return Tool.ANOMALY_REGION if _surrounds(facts, what.full) else None
    if what in _LAUNCH:
        return Tool.BLOCKING_LAUNCHES if _blocks(operation) else None
    if what is _GRADCHECK:
        checks = any(one.inner and one.inner.backward for one in operation.contexts)
        return Tool.GRADCHECK if checks else None
    on = operation.lacks("enabled", 0) or operation.gives("enabled", True, 0) or what is _PROFILE
    records = on and operation.lacks("schedule") and _surrounds(facts, what.full)
    return Tool.PROFILER if records else None


def _blocks(operation: Operation) -> bool:
    if operation.what is not _SETS:
        return operation.gives("key", _BLOCKING, 0) and operation.gives("value", "1", 1)
    return operation.contexts[0].value.is_literal("1")


def _surrounds(facts: Facts, name: str) -> bool:
    """Whether training loops run inside of this manager as a whole."""
    return any(
        name in context.managers and context.inner is not None and context.inner.loaders
        for operation in facts.program.operations_of(AnyCall("backward"))
        for context in operation.contexts
    )
