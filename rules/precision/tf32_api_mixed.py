"""TF32 set through one API and read through the other."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.actions import AnySets, Call, Reads, Sets, Within
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule, also_at

_READS = (
    Reads("torch.backends.cuda.matmul.allow_tf32"),
    Reads("torch.backends.cudnn.allow_tf32"),
    Call("torch.get_float32_matmul_precision"),
)
_OLD_WRITES = (
    Sets("torch.backends.cuda.matmul", "allow_tf32"),
    Sets("torch.backends.cudnn", "allow_tf32"),
    Call("torch.set_float32_matmul_precision"),
)
_SETTER = '`torch.set_float32_matmul_precision("high")`'


class Tf32ApiMixed(Rule):
    """The precision of float32 is set through the new API and read through the old one.

    What it does
        Finds a read of `allow_tf32` or `torch.get_float32_matmul_precision()` after a write to a `fp32_precision`
        setting of `torch.backends`, in the same function or at the top of the same file, and writes to
        `fp32_precision` in projects that support torch before 2.9, which has no such setting.

    Why it costs time
        The two families of settings exclude each other: once `fp32_precision` was written, reading the old names raises
        RuntimeError, in libraries too.

    Example
        import torch

        torch.backends.cuda.matmul.fp32_precision = "tf32"
        print(torch.backends.cuda.matmul.allow_tf32)

    Use instead
        import torch

        torch.set_float32_matmul_precision("high")
        print(torch.backends.cuda.matmul.allow_tf32)

    When to ignore it
        Never: the read raises. A write to the old names in between brings the families in step again, and the rule is
        then silent.

    References
        - https://docs.pytorch.org/docs/stable/notes/cuda.html#tensorfloat-32-tf32-on-ampere-and-later-devices
    """

    code = "ACC409"
    name = "tf32-api-mixed"
    severity = Severity.ERROR
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each read, and each write that an older torch does not have, once."""
        written: Operation | None = None
        for operation in facts.operations_of(AnySets("fp32_precision"), *_OLD_WRITES, *_READS):
            if operation.does(AnySets("fp32_precision")) and operation.does(Within("torch.backends")):
                if facts.allows_before((2, 9)):
                    code = facts.document.code(operation.node)
                    claim = f"`{code}` does not exist before torch 2.9, which this project supports"
                    yield self.finding(facts, operation.node, claim, f"call {_SETTER}")
                written = None if operation.guarded else operation
            elif operation.what in _OLD_WRITES:
                written = None
            elif operation.what in _READS and written is not None and _follows(operation, written):
                document = facts.document
                read, before = document.code(operation.node), document.code(written.node)
                claim = f"`{read}` raises RuntimeError, because `{before}` was set before"
                remedy = f"use one of the two APIs, such as {_SETTER}"
                related = also_at(document, written.node, "set through the other API here")
                yield self.finding(facts, operation.node, claim, remedy, related=[related])


def _follows(read: Operation, write: Operation) -> bool:
    """Whether the write certainly happened before, in the same function or around it."""
    return all(
        any(one.functions == context.functions[: len(one.functions)] for one in write.contexts)
        for context in read.contexts
    )
