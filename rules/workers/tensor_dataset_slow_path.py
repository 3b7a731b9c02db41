"""Tensors in memory that are taken apart into samples."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Edit, Finding, Fix, Severity
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.records.queries.loaders.tensors_in_memory import row_by_row_loaders
from accel_advisor.rule import Rule, may_stand_twice, replace_keyword, replace_node


class TensorDatasetSlowPath(Rule):
    """Tensors in memory are taken apart into samples, only to be stacked into batches again.

    What it does
        Finds a DataLoader over a `TensorDataset` with the default collate function and a large batch, in a program that
        trains on an accelerator.

    Why it costs time
        Each sample is indexed in Python, and a batch of them is stacked: thousands of small operations where one would
        do. A sampler of whole batches indexes the tensors once a batch. Worker processes make it slower still, since
        every batch is then copied between processes.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        data = TensorDataset(torch.zeros(100_000, 8))
        loader = DataLoader(
            data,
            batch_size=256,
            shuffle=True,
            pin_memory=True,
        )
        for (x,) in loader:
            model(x.cuda(non_blocking=True)).sum().backward()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        data = TensorDataset(torch.zeros(100_000, 8))
        loader = DataLoader(
            data,
            batch_size=None,
            sampler=torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(data), 256, False),
            pin_memory=True,
        )
        for (x,) in loader:
            model(x.cuda(non_blocking=True)).sum().backward()

    When to ignore it
        Where the step takes much longer than making a batch. The rule is silent about small batches, where the tensors
        are known to be short, where a framework moves the batches, and where a sampler or a collate function of the
        program's own decides what a batch is. Data that fits on the GPU is served fastest from there, by slicing.

    Fix safety
        Unsafe: `loader.batch_size` is None afterwards, and code that reads it must ask the sampler.

    References
        - https://docs.pytorch.org/docs/stable/data.html#disable-automatic-batching
    """

    code = "ACC115"
    name = "tensor-dataset-slow-path"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        for loader, size in row_by_row_loaders(facts):
            worse = ", and workers only add copies" if (loader.fixed_workers or 0) > 0 else ""
            claim = (
                f"`{loader.label}` indexes the tensors of its `TensorDataset` sample by sample and stacks {size} of "
                f"them for each batch{worse}"
            )
            remedy = "let a `BatchSampler` index whole batches"
            yield self.finding(facts, loader.node, claim, remedy, fix=self._fix(facts, loader, size))

    def _fix(self, facts: Facts, loader: LoaderCall, size: int) -> Fix | None:
        given = loader.keywords
        shuffled = loader.gives("shuffle", True)
        ordered = loader.gives("shuffle", False) or loader.gives("shuffle", None)
        decided = all(loader.gives(name, None) for name in ("generator", "drop_last")) and (shuffled or ordered)
        if facts.torch_name is None or "batch_size" not in given or not decided:
            return None
        data = loader.positional[:1]
        if not data or not may_stand_twice(data[0]):
            return None
        home = f"{facts.torch_name}.utils.data"
        order = f"{home}.{'Random' if shuffled else 'Sequential'}Sampler({facts.document.code(data[0])})"
        sampler = f"{home}.BatchSampler({order}, {size}, False)"
        if "shuffle" in given:
            edits: tuple[Edit, ...] = (replace_keyword(facts.document, loader.node, "shuffle", f"sampler={sampler}"),)
        elif not ordered or (added := loader.keyword_edits("sampler", sampler)) is None:
            return None
        else:
            edits = added
        whole = replace_node(facts.document, given["batch_size"], "None")
        return Fix("Index whole batches", (whole, *edits), Applicability.UNSAFE)
