"""Loaders that are built again in every epoch."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.facts import Facts, LoaderCall, Loop
from accel_advisor.records.queries.loaders.epochs import rebuilt_loaders
from accel_advisor.rule import Rule, indentation_at, newline_of, remove_statement


class DataLoaderRebuiltPerEpoch(Rule):
    """The same DataLoader is built again in every epoch, so that its workers cannot live on.

    What it does
        Finds a DataLoader with workers that is built inside of the loop over epochs, or in a function that is called
        there, or where `next` has used up the one before (`except StopIteration`), of nothing that the loop changes.

    Why it costs time
        Each new loader starts new worker processes, and the GPU waits for their first batch. Building the loader once
        gains nothing by itself: only together with `persistent_workers=True` do the workers live on.

    Example
        import torch
        from torch.utils.data import DataLoader

        model = torch.nn.Linear(1, 1)
        for epoch in range(10):
            loader = DataLoader(torch.zeros(2, 1), num_workers=2)
            for x in loader:
                model(x).sum().backward()

    Use instead
        import torch
        from torch.utils.data import DataLoader

        model = torch.nn.Linear(1, 1)
        loader = DataLoader(torch.zeros(2, 1), num_workers=2, persistent_workers=True)
        for epoch in range(10):
            for x in loader:
                model(x).sum().backward()

    When to ignore it
        Where the loader is dropped on purpose to free memory. The rule is silent where the loader depends on the epoch,
        or on anything else that the loop assigns or calls a method of, and where each pass is a training of its own,
        which seeds again, makes an optimizer, or is counted as a fold, a run or a seed.

    Fix safety
        Unsafe: the state of the workers lives on, and so does the memory that they hold.

    References
        - https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    code = "ACC107"
    name = "dataloader-rebuilt-per-epoch"
    severity = Severity.INFO
    frequency = Frequency.EPOCH
    knob = "persistent_workers"

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        for loader, epochs in rebuilt_loaders(facts):
            yield self._report(facts, loader, epochs)

    def _report(self, facts: Facts, loader: LoaderCall, epochs: Loop | None) -> Finding:
        count = loader.fixed_workers
        workers = "its workers" if count is None else "a worker" if count == 1 else f"{count} workers"
        if epochs is None:
            claim = f"`{loader.label}` is built again whenever its batches are used up, and starts {workers} each time"
            remedy = "build it once, with `persistent_workers=True`, and only call `iter` again"
            return self.finding(facts, loader.node, claim, remedy)
        line = epochs.document.span(epochs.node).start.line
        where = "" if epochs.document is facts.document else f" of {epochs.document.filename}"
        claim = (
            f"`{loader.label}` is built again in every pass of the loop in {line}{where}, and starts {workers} each "
            "time"
        )
        remedy = "build it once before the loop, with `persistent_workers=True`"
        return self.finding(facts, loader.node, claim, remedy, fix=self._fix(facts, loader, epochs))

    def _fix(self, facts: Facts, loader: LoaderCall, epochs: Loop) -> Fix | None:
        built = next((one for one in facts.operations if one.node is loader.node), None)
        if built is None or not built.targets:
            return None
        document, statement = facts.document, built.statement
        code = document.code(statement)
        if len(code.splitlines()) > 1 or loader.spreads:
            return None
        if not loader.gives("persistent_workers", None) or epochs.target is None:
            return None
        removal = remove_statement(document, statement, epochs.body)
        if removal is None:
            return None
        start = document.span(epochs.node).start.offset
        indent = indentation_at(document, start)
        taken = document.text[removal.span.start.offset : document.span(statement).start.offset]
        comments = "".join(f"{one.strip()}{newline_of(document)}{indent}" for one in taken.splitlines() if one.strip())
        content = f"{comments}{code[:-1].rstrip(', ')}, persistent_workers=True){newline_of(document)}{indent}"
        insertion = document.edit(start, start, content)
        return Fix(f"Build `{loader.label}` once, before the loop", (insertion, removal), Applicability.UNSAFE)
