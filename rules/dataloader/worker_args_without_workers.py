"""Arguments for workers given to loaders that have none."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.facts import Facts, LoaderCall
from accel_advisor.records.given import Given
from accel_advisor.rule import Rule, drop_argument


class WorkerArgsWithoutWorkers(Rule):
    """A DataLoader without worker processes is given arguments that only workers can use, which raises.

    What it does
        Finds `persistent_workers=True`, `prefetch_factor=...`, `multiprocessing_context=...` and a positive `timeout`
        at a DataLoader whose `num_workers` is 0 or not given.

    Why it costs time
        The program stops: the first three raise ValueError when the loader is built, `timeout` fails an assertion when
        it is iterated.

    Example
        from torch.utils.data import DataLoader

        loader = DataLoader([1, 2, 3], batch_size=2, persistent_workers=True)

    Use instead
        from torch.utils.data import DataLoader

        loader = DataLoader([1, 2, 3], batch_size=2)

    When to ignore it
        Never: there is no version of torch in which such a loader works. Before torch 2.0 a `prefetch_factor` of 2 was
        let pass.

    Fix safety
        Safe: the argument is dropped, and the program could not run with it. Where workers were meant, pass
        `num_workers` instead.

    References
        - https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    code = "ACC104"
    name = "worker-args-without-workers"
    severity = Severity.ERROR
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, with all the arguments that it cannot have."""
        for loader in facts.loaders:
            if not loader.constructor.advises or not loader.without_workers:
                continue
            useless = [name for name in _NEEDS_WORKERS if self._is_set(name, loader.given(name))]
            if facts.allows_before((2, 0)) and loader.gives("prefetch_factor", 2):
                useless = [name for name in useless if name != "prefetch_factor"]  # the only legal value there
            if useless:
                yield self._report(facts, loader, useless)

    def _is_set(self, name: str, given: Given) -> bool:
        return all(self._asks_for_workers(name, one) for one in given.alternatives)

    def _asks_for_workers(self, name: str, given: Given) -> bool:
        if name == "persistent_workers":
            return given.is_literal(True)
        if name == "timeout":
            return isinstance(given.literal, (int, float)) and given.literal > 0
        if name == "multiprocessing_context" and given.made_by.endswith("multiprocessing.get_context"):
            return True
        return given.literal is not None

    def _report(self, facts: Facts, loader: LoaderCall, useless: list[str]) -> Finding:
        names = " and ".join(f"`{name}`" for name in useless)
        when = "when it is iterated" if useless == ["timeout"] else "when it is built"
        claim = f"`{loader.label}` has no worker processes but is given {names}, which raises {when}"
        remedy = f"pass `num_workers` too, or drop {'it' if len(useless) == 1 else 'them'}"
        return self.finding(facts, loader.node, claim, remedy, fix=self._fix(facts, loader, useless))

    def _fix(self, facts: Facts, loader: LoaderCall, useless: list[str]) -> Fix | None:
        written = [name for name in loader.keywords if name in useless]
        if len(written) != len(useless) or loader.opaque:
            return None
        return drop_argument(facts.document, loader.node, written[0], Applicability.SAFE)


_NEEDS_WORKERS = ("persistent_workers", "prefetch_factor", "multiprocessing_context", "timeout")
