"""Loaders that do not pin batches which are copied to the GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from accel_advisor.finding import Applicability, Finding, Severity
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.records.queries.loaders.unpinned import UnpinnedLoader, unpinned_loaders
from accel_advisor.rule import Rule, also_at, pass_argument


class DataLoaderMissingPinMemory(Rule):
    """A DataLoader whose batches are copied to the GPU does not pin their memory.

    What it does
        Finds a DataLoader without `pin_memory` whose batches are copied to a CUDA device.

    Why it costs time
        A copy from ordinary (pageable) memory is staged through a buffer of the driver and keeps the program waiting
        until it is done. From page-locked memory the device fetches the batch by itself while the program goes on.
        What that gives a training depends on its step: much where a copy takes as long as the rest, little where the
        rest takes many times as long. With `num_workers=0` the main process itself pins, so the finding is only `info`
        there, and not made where samples are in memory.

    Example
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Linear(8, 2).cuda()
        data = TensorDataset(torch.zeros(64, 8))
        loader = DataLoader(data, batch_size=16, num_workers=2)
        for (x,) in loader:
            model(x.cuda(non_blocking=True)).sum().backward()

    Use instead
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Linear(8, 2).cuda()
        data = TensorDataset(torch.zeros(64, 8))
        loader = DataLoader(data, batch_size=16, num_workers=2, pin_memory=True)
        for (x,) in loader:
            model(x.cuda(non_blocking=True)).sum().backward()

    When to ignore it
        Page-locked memory is scarce: up to `num_workers * prefetch_factor` batches are held in it. Some machines gain
        nothing (unified memory, GH200): `accel-advisor tune` measures it. A literal `pin_memory=False` is taken as a
        decision and reported as `info` without a fix, as is a setting that is off by default; an option of the command
        line that is off by default is only named where the rule is selected, as is a loader alone that only feeds
        evaluations which wait in every pass anyway. The rule is silent where only single batches are looked at
        (`next(iter(loader))`), and where pinning does not reach what is copied: batches are text, on a GPU already,
        sparse, taken out of a graph after the workers, or hold objects of a class of the project that has no
        `pin_memory` method; or a cast on the host makes other tensors of them.

    Fix safety
        Safe where the data set is known to yield plain tensors, the default collate function puts them together, and
        the device is CUDA, or CUDA where there is one: then `torch.cuda.is_available()` is passed, which avoids a
        warning on machines without a GPU. Unsafe otherwise.

    References
        - https://docs.pytorch.org/docs/stable/data.html#memory-pinning
        - https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
    """

    code = "ACC101"
    name = "dataloader-missing-pin-memory"
    severity = Severity.WARNING
    knob = "pin_memory"

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        if facts.target.has_cuda:
            yield from (self._report(facts, one) for one in unpinned_loaders(facts))

    def _report(self, facts: Facts, unpinned: UnpinnedLoader) -> Finding:
        loader, basis = unpinned.loader, unpinned.basis
        name, moved = loader.label, f"{unpinned.mover} copies its batches to the GPU from pageable memory"
        if loader.gives("pin_memory", False):
            waits = " and waits for it all the same" if unpinned.copy and unpinned.copy.asynchronous else ""
            claim = f"`{name}` has `pin_memory=False`, and {moved}{waits}{basis.clause}"
            remedy = "unless that is on purpose, let it pin its batches"
            return self.finding(facts, loader.node, claim, remedy, severity=Severity.INFO, basis=basis)
        if loader.pins_if_asked:
            by = loader.given("pin_memory").decided_by
            who = f"`{by}` says" if by else "its settings say"
            claim = f"`{name}` pins its batches only where {who} so, and {moved}{basis.clause}"
            off = [also_at(one.document, one.node, "off by default") for one in loader.origins("pin_memory")]
            known = self.finding(facts, loader.node, claim, "pin by default", basis=basis, related=off)
            return replace(known, severity=Severity.INFO, minor=bool(by))
        workers, certain = loader.default_count("num_workers"), not loader.moved_by and basis.proven
        expression = self._expression(facts, loader, certain)
        remedy = f"pass `pin_memory={expression}`" if expression else "pass `pin_memory=True` where there is a GPU"
        if unpinned.copy is not None and unpinned.copy.waits:
            remedy += ", and `non_blocking=True` to the copy"
        claim = f"`{name}` does not pin its batches, and {moved}, which blocks{basis.clause}"
        if not workers:
            remedy += " (it pays with worker processes: without them pinning runs in the main process)"
        safe = certain and loader.plain_samples and loader.destination_kinds <= {"cuda", "cpu"}
        applicability = Applicability.SAFE if safe else Applicability.UNSAFE
        fix = pass_argument(loader, "pin_memory", expression, applicability) if expression else None
        severity = Severity.WARNING if workers and basis.proven and not unpinned.aside else Severity.INFO
        known = self.finding(facts, loader.node, claim, remedy, fix=fix, basis=basis, group="unpinned")
        return replace(known, severity=severity, minor=unpinned.aside or unpinned.slight, aside=unpinned.aside)

    def _expression(self, facts: Facts, loader: LoaderCall, certain: bool) -> str | None:
        if certain and loader.destination_kinds == {"cuda"}:
            return "True"
        return f"{facts.torch_name}.cuda.is_available()" if facts.torch_name else None
