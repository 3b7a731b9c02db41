"""Copies of batches to the GPU that the host waits for."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts, Transfer
from accel_advisor.records.loaders import loader_of
from accel_advisor.records.queries.steps.waiting_copies import asynchronous_where, copies_plainly, waiting_copies
from accel_advisor.rule import Rule, also_at


class BlockingHostToDeviceCopy(Rule):
    """A batch is copied to the GPU by a call that waits until the copy is done.

    What it does
        Finds `.to(device)` and `.cuda()` on a loader's batches, inside the loop over the loader, without
        `non_blocking=True`.

    Why it costs time
        The program waits for the copy before it goes on to queue the next kernels. With `non_blocking=True` it queues
        the copy and goes on. From pinned memory the copy then runs beside the computation; from pageable memory it is
        staged first and gains less, so the finding is a warning only where the loader pins its batches.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        data = TensorDataset(torch.zeros(64, 8), torch.zeros(64))
        loader = DataLoader(data, batch_size=16, num_workers=2, pin_memory=True)
        for x, y in loader:
            x, y = x.cuda(), y.cuda()
            (model(x).sum() - y.sum()).backward()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        data = TensorDataset(torch.zeros(64, 8), torch.zeros(64))
        loader = DataLoader(data, batch_size=16, num_workers=2, pin_memory=True)
        for x, y in loader:
            x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            (model(x).sum() - y.sum()).backward()

    When to ignore it
        Where the copy itself is being timed; in a loop that synchronizes and reads the clock the rule is silent. It is
        silent too where a framework moves the batches, where the loop changes the batch on the host after the copy (the
        copy might still be reading), where the device is not known to be CUDA on some machine, where the samples may be
        on the device already, and where the batches are not pinned and the loader neither has workers nor is seen to
        need them.

    Fix safety
        Safe where what is copied is proven to be a plain tensor and the device is CUDA or the host; where the device is
        a `torch.device` that may be another accelerator, `non_blocking=device.type == "cuda"` is written, because an
        asynchronous copy to MPS can read memory that is gone. Unsafe where the batch may be an object with a `.to` of
        its own, where a batch on the host is read as an array, through which it may be changed while it is copied, and
        where the call casts too: the cast then moves to the GPU.

    References
        - https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
        - https://github.com/pytorch/pytorch/issues/139550
    """

    code = "ACC201"
    name = "blocking-host-to-device-copy"
    severity = Severity.WARNING
    knob = "non_blocking"

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each statement once."""
        if not facts.target.has_cuda:
            return
        for transfers in waiting_copies(facts):
            yield self._report(facts, transfers)

    def _report(self, facts: Facts, transfers: list[Transfer]) -> Finding:
        document, many = facts.document, len(transfers) > 1
        sources = (loader_of(one.loader) for transfer in transfers for one in transfer.contexts)
        loaders = list(dict.fromkeys(one for one in sources if one is not None))
        pinned = all(loader.pins for loader in loaders)
        labels = list(dict.fromkeys(f"`{loader.label}`" for loader in loaders))
        names = labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"
        calls = " and ".join(f"`{document.code(one.node)}`" for one in transfers)
        pins = "pins its batches" if len(labels) == 1 else "pin their batches"
        source = f"{names} {pins}, but" if pinned else f"for the batches of {names},"
        copies = "wait until the copies are" if many else "waits until the copy is"
        shown, fix = f"non_blocking={asynchronous_where(transfers[0])}", self._fix(transfers)
        remedy = f"pass `{shown}`" if fix is not None else "pass `non_blocking=True` where the device is CUDA"
        message = f"{source} {calls} {copies} done; {remedy}"
        if not pinned:
            message += " (it pays in full from pinned memory)"
        related = [also_at(document, one.node, "this copy waits too") for one in transfers[1:]]
        severity = Severity.WARNING if pinned else Severity.INFO
        return self.finding(facts, transfers[0].node, message, severity=severity, fix=fix, related=related)

    def _fix(self, transfers: list[Transfer]) -> Fix | None:
        """The fix of all copies of a statement, or of none."""
        values = [asynchronous_where(one) or "" for one in transfers]
        known = zip(transfers, values, strict=True) if all(values) else ()
        edits = [edit for one, value in known if (edit := one.keyword_edit("non_blocking", value)) is not None]
        if len(edits) < len(transfers):
            return None
        applicability = Applicability.SAFE if all(copies_plainly(one) for one in transfers) else Applicability.UNSAFE
        return Fix(f"Pass `non_blocking={values[0]}`", tuple(edits), applicability)
