"""What workers need and cannot be pickled."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.dataset_facts import IssueKind
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.loaders.start_method import start_methods
from accel_advisor.rule import Rule, also_at


class UnpicklableWorkerArgs(Rule):
    """A DataLoader's workers need something that cannot be pickled, so they start only where processes are forked.

    What it does
        Finds a lambda, or a function or class that is defined inside of a function, as `collate_fn`, `worker_init_fn`
        or data set of a DataLoader with workers.

    Why it costs time
        Workers are forked on Linux before Python 3.14 only. Elsewhere everything that they need is pickled, and a local
        function raises AttributeError when the loader is iterated. The finding is an error where the program or the
        project says that it does not fork, and `info` otherwise.

    Example
        from torch.utils.data import DataLoader

        loader = DataLoader([1, 2, 3], num_workers=2, collate_fn=lambda batch: batch[0])

    Use instead
        from torch.utils.data import DataLoader

        def first(batch):
            return batch[0]

        loader = DataLoader([1, 2, 3], num_workers=2, collate_fn=first)

    When to ignore it
        Where the program will only ever run on Linux with a Python before 3.14. The rule takes
        `multiprocessing_context="fork"` for an answer, and the settings `platform` and `python-version`.
        It is silent in notebooks: what their cells define cannot be pickled wherever it stands.

    References
        - https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors
    """

    code = "ACC113"
    name = "unpicklable-worker-args"
    severity = Severity.ERROR
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        if facts.document.notebook is not None:
            return  # not even a function at the top of a cell can be pickled for a worker that is not forked
        for loader in facts.loaders:
            issues = [one for one in loader.issues if one.kind is IssueKind.UNPICKLABLE]
            if not issues or not (loader.fixed_workers or 0) > 0:
                continue
            issue, starts = issues[0], start_methods(facts, loader)
            if starts.methods == {"fork"} and starts.complete:
                continue
            certain = bool(starts.fresh)
            where = (
                f"by {starts.fresh}, as they are here" if certain else "on macOS, on Windows and from Python 3.14 on"
            )
            claim = (
                f"`{issue.label}` of `{loader.label}` is local and cannot be pickled, so its workers cannot be started "
                f"{where}"
            )
            remedy = "define it at the top of the module"
            related = [also_at(issue.document, issue.node, "defined here")]
            severity = Severity.ERROR if certain else Severity.INFO
            yield self.finding(facts, loader.node, claim, remedy, severity=severity, related=related)
