"""Arguments of a DataLoader that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.loaders.late_settings import late_settings
from accel_advisor.rule import Rule, drop_argument


class DataLoaderConflictingArgs(Rule):
    """A DataLoader is given arguments that contradict each other, which raises.

    What it does
        Finds a DataLoader with a `sampler` and `shuffle=True`; with a `batch_sampler` and what that decides; with an
        order for an IterableDataset; with a `num_workers` or `prefetch_factor` that is no count; and attributes of a
        loader that are set after it was built.

    Why it costs time
        The program stops with ValueError, TypeError or AssertionError, some of them only when the first batch is taken.

    Example
        from torch.utils.data import DataLoader, RandomSampler

        data = [1, 2, 3]
        loader = DataLoader(data, shuffle=True, sampler=RandomSampler(data))

    Use instead
        from torch.utils.data import DataLoader, RandomSampler

        data = [1, 2, 3]
        loader = DataLoader(data, sampler=RandomSampler(data))

    When to ignore it
        Never: the rule reports only where all of the values are certain.

    Fix safety
        Unsafe: `shuffle=True` is dropped where there is a sampler; perhaps it is the sampler that should go.

    References
        - https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    code = "ACC105"
    name = "dataloader-conflicting-args"
    severity = Severity.ERROR
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports the first contradiction of each loader, and each attribute that is set too late."""
        for loader in facts.loaders:
            if not loader.constructor.advises or loader.constructor.shards:
                continue
            if (conflict := self._conflict(loader)) is not None:
                twice = self._shuffles_twice(loader)
                fix = drop_argument(facts.document, loader.node, "shuffle") if twice else None
                yield self.finding(facts, loader.node, f"`{loader.label}` {conflict[0]}", conflict[1], fix=fix)
        for operation in late_settings(facts):
            late, remedy = self._lateness(operation), f"pass `{operation.what.name}` to the constructor"
            yield self.finding(facts, operation.node, late, remedy)

    def _present(self, loader: LoaderCall, name: str) -> bool:
        """Whether an argument certainly is an object, such as a sampler."""
        # what a function of another library returns may be None
        given = loader.given(name).alternatives
        return all(one.is_object or one.made_by.rpartition(".")[2][:1].isupper() for one in given)

    def _shuffles_twice(self, loader: LoaderCall) -> bool:
        return loader.gives("shuffle", True) and self._present(loader, "sampler")

    def _conflict(self, loader: LoaderCall) -> tuple[str, str] | None:
        batches, size = self._present(loader, "batch_sampler"), loader.given("batch_size")
        dataset = loader.dataset
        stream = dataset is not None and dataset.iterable and len(dataset.given.alternatives) == 1
        ordered = [name for name in ("sampler", "batch_sampler") if self._present(loader, name)]
        ordered += ["shuffle"] if loader.gives("shuffle", True) else []
        if stream and ordered:
            return f"reads an IterableDataset, which has its own order, so `{ordered[0]}` raises ValueError", "drop it"
        if self._shuffles_twice(loader):
            return "has a `sampler` and `shuffle=True`, which raises ValueError", "keep the one that is meant"
        if batches:
            others = [name for name in ("shuffle", "drop_last") if loader.gives(name, True)]
            others += ["sampler"] if self._present(loader, "sampler") else []
            if size.written and size.literal != 1:
                others.append("batch_size")
            if others:
                return f"has a `batch_sampler`, which decides `{others[0]}`: ValueError", f"drop `{others[0]}`"
        if loader.gives("drop_last", True) and size.is_literal(None):
            return "has `batch_size=None`, so there is no last batch to drop: ValueError", "remove `drop_last=True`"
        return self._bad_count(loader)

    def _bad_count(self, loader: LoaderCall) -> tuple[str, str] | None:
        workers, prefetch = loader.given("num_workers"), loader.given("prefetch_factor")
        if workers.written and (not isinstance(workers.literal, int) or workers.literal < 0):
            return f"has `num_workers={workers.literal!r}`, no count of processes, which raises", "pass an integer"
        if prefetch.written and prefetch.literal == 0 and (loader.fixed_workers or 0) > 0:
            return "has `prefetch_factor=0`, which fails an assertion when it is iterated", "pass 1 or more, or drop it"
        return None

    def _lateness(self, operation: Operation) -> str:
        code = operation.document.code(operation.node)
        if operation.what.name == "num_workers":
            return (
                f"`{code}` is set after the loader was built without workers, which raises TypeError at the first "
                "batch because it has no `prefetch_factor`"
            )
        return f"`{code}` cannot be set after the loader was built: ValueError"
