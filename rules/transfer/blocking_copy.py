"""Copies of batches to the GPU that the host waits for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.loaders import LoaderCall, labels_of
from accel_advisor.records.queries.steps.waiting_copies import WaitingCopy, asynchronous_edits, basis_of, waiting_copies
from accel_advisor.records.queries.steps.wrapper_copies import WrapperCopy, wrapper_copies
from accel_advisor.rule import Rule, also_at


class BlockingHostToDeviceCopy(Rule):
    """A batch is copied to the GPU by a call that waits until the copy is done.

    What it does
        Finds `.to(device)`, `.cuda()` and `.type(torch.cuda.FloatTensor)` on a loader's batches, and `.copy_(batch)`
        on a tensor on the GPU, inside the loop over the loader, without `non_blocking=True`, and calls of
        DistributedDataParallel or FSDP with batches on the host.

    Why it costs time
        The program waits for the copy before it queues the next kernels; with `non_blocking=True` it goes on at once.
        From pinned memory the copy then runs beside the computation; from pageable memory it is staged first and gains
        less, so the finding is a warning only where the loader is seen to pin its batches. What a cast on the host
        makes of a batch is pageable, too: copied first, and cast on the GPU, it comes from the pinned one.

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
        Where the copy itself is being timed; in a loop that synchronizes and reads the clock in every pass the rule is
        silent. It is silent too where a framework moves the batches, where the loop changes the batch on the host after
        the copy (the copy might still be reading), where the samples may be on the device already, where a loader
        without workers and pinning takes them out of memory, and where nothing speaks for a GPU. It is only `info`
        where the device is not known, and where a setting that is off by default decides `non_blocking`.

    Fix safety
        Safe where what is copied is proven to be a plain tensor and the device is CUDA or the host; where the device is
        a `torch.device` that may be another accelerator, `non_blocking=device.type == "cuda"` is written, because an
        asynchronous copy to MPS can read memory that is gone. Unsafe where the device is not known, where the batch may
        be an object with a `.to` of its own, where a batch on the host is read as an array, through which it may be
        changed while it is copied, and where the call casts too: the cast then moves to the GPU. There is none for
        `.type`, where a cast comes before the copy, or where a wrapper copies.

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
        if facts.target.has_cuda:
            yield from (self._report(facts, copies) for copies in waiting_copies(facts))
            yield from (self._report_wrapper(facts, copy) for copy in wrapper_copies(facts))

    def _report_wrapper(self, facts: Facts, copy: WrapperCopy) -> Finding:
        message = (
            f"{_source(copy.loaders, copy.pinned)} in `{facts.document.code(copy.call.node)}` {copy.wrapper} copies "
            f"them to the GPU, and waits{copy.basis.clause}; copy before it, by `.to(device, non_blocking=True)`"
        )
        severity = Severity.WARNING if copy.pinned and copy.basis.proven else Severity.INFO
        return self.finding(facts, copy.call.node, message, severity=severity, basis=copy.basis)

    def _report(self, facts: Facts, copies: list[WaitingCopy]) -> Finding:
        document, basis, first = facts.document, basis_of(copies), copies[0]
        calls = " and ".join(f"`{document.code(copy.transfer.node)}`" for copy in copies)
        pinned = all(copy.pinned for copy in copies)
        source = _source((loader for copy in copies for loader in copy.loaders), pinned)
        done = "wait until the copies are done" if len(copies) > 1 else "waits until the copy is done"
        where, asked = first.asynchronous_where, all(copy.transfer.waits_unless_asked for copy in copies)
        given = f"pass `non_blocking={where}`" if where else "pass `non_blocking=True` where the device is CUDA"
        remedy = "let its setting be on by default" if asked else given
        if any(copy.recast for copy in copies):
            pin = "" if first.from_pinning else "let the loader pin its batches, "
            remedy = f"{pin}copy first, with `non_blocking=True`, and cast on the GPU: what a cast makes is not pinned"
        elif first.by_type:
            remedy = "copy by `.to(device, non_blocking=True)`, and cast on the GPU"
        elif not (pinned or first.may_be_pinned):
            remedy += ", and let the loader pin its batches: from pageable memory the copy waits nearly as long"
        message = f"{source} {calls} {done}{basis.clause}; {remedy}"
        severity = Severity.WARNING if pinned and basis.proven and not asked else Severity.INFO
        related = [also_at(document, copy.transfer.node, "this copy waits too") for copy in copies[1:]]
        kind = Applicability.SAFE if all(copy.plain for copy in copies) else Applicability.UNSAFE
        fix = Fix(f"Pass `non_blocking={where}`", made, kind) if (made := asynchronous_edits(copies)) else None
        at = first.transfer.node
        return self.finding(facts, at, message, severity=severity, fix=fix, related=related, basis=basis, group=remedy)


def _source(loaders: Iterable[LoaderCall], pinned: bool) -> str:
    names = labels_of(loaders)
    pins = "pin their batches" if "` and `" in names else "pins its batches"
    return f"{names} {pins}, but" if pinned else f"for the batches of {names},"
