"""ACC202."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Applicability, Finding, Fix, Related, Severity
from accel_advisor.records.actions import Act, Method, any_calls, calls, methods
from accel_advisor.records.facts import Facts
from accel_advisor.records.given import Given
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule, remove_argument

READS = (
    *any_calls("item", "numpy", "tolist", "mean", "sum", "max", "min", "argmax", "softmax", "float", "double", "half"),
    *any_calls("long", "int", "any", "all", "norm", "clone", "add", "sub", "mul", "div", "format", "print", "bool"),
    *any_calls("save", "asarray", "array", "stack", "cat", "exp", "log", "sqrt", "matmul", "argsort", "topk"),
    *(Act.COMPUTES_UNARRIVED, Act.FORMATS, Act.TRUTH),
)
COPY = Method("Tensor", "copy_")
WAITS = (*methods("Tensor", "item", "tolist", "cpu", "numpy"), *calls("float", "int", "print"), Act.FORMATS)
"""What waits for everything that the GPU was given before, where it reads a tensor that is there."""


class AsyncDeviceToHostRead(Rule):
    """A tensor is copied to the host asynchronously, and read before the copy is done.

    What it does
        Finds `.to("cpu", non_blocking=True)` whose result is read on the host (`.item()`, `.numpy()`, `.tolist()`,
        `.mean()`, `print`, an f-string, arithmetic...) in a program that nowhere waits for the copy, and
        `host.copy_(tensor, non_blocking=True)` where `host` was made with `pin_memory=True`: into other memory the copy
        is waited for.

    Why it costs time
        It costs correctness: towards the host, `non_blocking=True` returns before the bytes have arrived, and what is
        read meanwhile is whatever the memory held. Nothing is raised.

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        out = model(torch.randn(4, 8, device="cuda"))
        host = out.to("cpu", non_blocking=True)
        print(host.mean().item())

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2).cuda()
        out = model(torch.randn(4, 8, device="cuda"))
        host = out.to("cpu")
        print(host.mean().item())

    When to ignore it
        The rule is silent where the program synchronizes or waits for an event or a stream, where a value of the GPU is
        read in between (`loss.item()`), where the result is only sent back to the device, and where it is returned: the
        caller may wait.

    Fix safety
        Safe: without `non_blocking=True` the call waits for the copy, which is what the read needs.

    References
        - https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
    """

    code = "ACC202"
    name = "async-device-to-host-read"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each copy once."""
        if facts.does(*any_calls("synchronize", "wait", "query", "wait_stream", "wait_event")):
            return
        moves = [one for one in facts.transfers if one.method == "to"]
        copies = {one.node for one in moves if not any(context.from_host for context in one.contexts)}
        staged: dict[cst.Call, cst.Call] = {}
        seen: set[cst.Call] = set()
        for operation in facts.operations_of(*READS, COPY):
            for read in _tensors(operation) if operation.what is not COPY else ():
                made = read.born.node if read.born is not None else None
                copy = read.arrives_by if read.arrives_by in copies else staged.get(made) if made is not None else None
                if copy is not None and copy not in seen and not self._waits_between(facts, copy, operation):
                    seen.add(copy)
                    yield self._report(facts, copy, operation)
            staged |= self._staged(facts, operation)

    def _staged(self, facts: Facts, operation: Operation) -> dict[cst.Call, cst.Call]:
        """The factory call that made a pinned buffer, and the asynchronous copy from the GPU into it, if it is one."""
        if operation.what is not COPY or not operation.gives("non_blocking", True, 1):
            return {}
        pinned = {one.node for one in facts.operations if one.makes_tensor and one.gives("pin_memory", True)}
        found: dict[cst.Call, cst.Call] = {}
        for context in operation.contexts:
            born = context.subject.born
            arrives = context.given("src", 0).on_accelerator
            if born is not None and arrives and born.node in pinned and isinstance(operation.node, cst.Call):
                found[born.node] = operation.node
        return found

    def _waits_between(self, facts: Facts, copy: cst.Call, read: Operation) -> bool:
        """Whether something behind the copy reads from the GPU, which ends when the copy has."""
        started = False
        for operation in facts.operations:
            if operation is read:
                return False
            started |= operation.node is copy
            waits = started and operation.does(*WAITS) and not operation.guarded
            if waits and any(one.on_accelerator and one.arrives_by is None for one in _tensors(operation)):
                return True
        return False

    def _report(self, facts: Facts, copy: cst.Call, read: Operation) -> Finding:
        document = facts.document
        message = (
            f"`{document.code(copy)}` returns before the bytes have arrived, but "
            f"`{document.code(read.node)}` reads them at once: wrong values and no error; drop "
            "`non_blocking=True`"
        )
        given = [arg for arg in copy.args if arg.keyword is not None and arg.keyword.value == "non_blocking"]
        fix = None
        if len(given) == 1:
            edit = remove_argument(document, copy, given[0])
            fix = Fix("Drop `non_blocking=True`", (edit,), Applicability.SAFE)
        related = [Related(document.filename, document.span(read.node), "it is read here")]
        return self.finding(facts, copy, message, fix=fix, related=related)


def _tensors(operation: Operation) -> Iterator[Given]:
    """The tensors that an operation reads: its receiver, or the arguments of a function."""
    for context in operation.contexts:
        given = context.values if context.subject.absent else ()
        items = [item for one in given for item in one.items or ()]
        yield from (one for one in (context.subject, *given, *items) if one.is_tensor)
