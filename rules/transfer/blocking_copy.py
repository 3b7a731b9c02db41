"""Copies of batches to the GPU that the host waits for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from accel_advisor.finding import Finding, Frequency, Pause, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.copies import waiting_copy_words as words
from accel_advisor.records.queries.copies.made_copies import MadeCopy, made_copies
from accel_advisor.records.queries.steps.training_steps import wait_for_batches, wait_of
from accel_advisor.records.queries.steps.waiting_copies import WaitingCopy, asynchronous_fix, basis_of, waiting_copies
from accel_advisor.records.queries.steps.wrapper_copies import WrapperCopy, wrapper_copies
from accel_advisor.rule import Rule, also_at


class BlockingHostToDeviceCopy(Rule):
    """A batch is copied to the GPU by a call that waits until the copy is done.

    What it does
        Finds `.to(device)`, `.cuda()` and `.type(torch.cuda.FloatTensor)` on a loader's batches, and `.copy_(batch)`
        on a tensor on the GPU, inside the loop over the loader, without `non_blocking=True`, calls of
        DistributedDataParallel or FSDP with batches on the host, and tensors that steps make of arrays and lists.

    Why it costs time
        The program waits for the copy before it queues the next kernels; with `non_blocking=True` it goes on at once.
        From pinned memory the copy then runs beside the computation; from pageable memory it is staged first and gains
        less, so the finding is a warning only where the loader is seen to pin its batches. What a cast on the host
        makes is pageable, too: copied first, and cast on the GPU, a batch comes from pinned memory. The larger the
        batch and the shorter the step, the more it gains.

    Example
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Linear(8, 2).cuda()
        data = TensorDataset(torch.zeros(64, 8), torch.zeros(64))
        loader = DataLoader(data, batch_size=16, num_workers=2, pin_memory=True)
        for x, y in loader:
            (model(x.cuda()).sum() - y.cuda().sum()).backward()

    Use instead
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Linear(8, 2).cuda()
        data = TensorDataset(torch.zeros(64, 8), torch.zeros(64))
        loader = DataLoader(data, batch_size=16, num_workers=2, pin_memory=True)
        for x, y in loader:
            (model(x.cuda(non_blocking=True)).sum() - y.cuda(non_blocking=True).sum()).backward()

    When to ignore it
        Where the copy itself is timed: the rule is silent in loops that synchronize and read the clock in every pass,
        but for trainings, where a framework moves the batches, where the loop changes the batch on the host after the
        copy, where the samples may be on the device already, where a loader without workers and pinning takes them out
        of memory, and where nothing speaks for a GPU. It is only `info` where the device is not known, and where a
        setting that is off by default decides `non_blocking`, or where a few batches (`islice`) train nothing. A loop
        that trains nothing and reads values of the GPU in every pass waits anyway: a copy there is named beside one
        that is worth more, or else only where the rule is selected.

    Fix safety
        Safe where what is copied is proven to be a plain tensor and the device is CUDA or the host; for a
        `torch.device` that may be another accelerator, `non_blocking=device.type == "cuda"` is written: an asynchronous
        copy to MPS can read memory that is gone. Unsafe where the device is not known, where the batch may be an object
        with a `.to` of its own, or is read as an array, and where the call casts too: the cast then moves to the GPU.

    References
        - https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
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
            yield from (self._report_made(facts, copies) for copies in made_copies(facts))

    def _report_made(self, facts: Facts, copies: list[MadeCopy]) -> Finding:
        node, basis = copies[0].node, copies[0].basis
        claim, remedy = words.making_and_waiting(facts.document.code(node), basis, filled=copies[0].filled)
        related = [also_at(facts.document, one.node, "this one, too") for one in copies[1:]]
        found = self.finding(facts, node, claim, remedy, severity=Severity.INFO, related=related, basis=basis)
        group = "filled" if copies[0].filled else ""
        return replace(found, group=group, wait=wait_of(copies[0].making, Pause.COPIES))

    def _report_wrapper(self, facts: Facts, copy: WrapperCopy) -> Finding:
        claim, remedy = words.wrapping_and_waiting(copy)
        level = Severity.WARNING if copy.pinned and copy.basis.proven and not copy.aside else Severity.INFO
        found = self.finding(facts, copy.call.node, claim, remedy, severity=level, basis=copy.basis)
        return replace(found, minor=copy.aside, aside=copy.aside, wait=wait_for_batches(copy.call.contexts))

    def _report(self, facts: Facts, copies: list[WaitingCopy]) -> Finding:
        document, basis, first = facts.document, basis_of(copies), copies[0]
        pinned, aside = all(copy.pinned for copy in copies), all(copy.aside for copy in copies)
        remedy, before = words.remedy_for(copies), words.remedy_for(copies, before_0_4=True)
        claim = f"{words.copying_and_waiting(copies)}{basis.clause}"
        often = Frequency.EPOCH if all(copy.few for copy in copies) else self.frequency
        held = aside or often is not self.frequency or all(copy.transfer.waits_unless_asked for copy in copies)
        severity = Severity.WARNING if pinned and basis.proven and not held else Severity.INFO
        related = [also_at(document, copy.transfer.node, "this copy waits too") for copy in copies[1:]]
        slight, wait = aside or all(copy.slight for copy in copies), wait_for_batches(first.transfer.contexts)
        at, fix, new = first.transfer.node, asynchronous_fix(copies), (0, 4)
        one = self.finding(facts, at, claim, remedy, fix=fix, related=related, basis=basis, since=new, before=before)
        return replace(one, severity=severity, minor=slight, aside=aside, wait=wait, frequency=often, group=remedy)
