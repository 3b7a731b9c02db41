"""Scripts that their spawned workers run again."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts, LoaderCall, Loop
from accel_advisor.records.queries.loaders.start_method import loop_that_workers_run, start_methods
from accel_advisor.rule import Rule, also_at


class MissingMainGuard(Rule):
    """A script starts spawned workers from its top level, and each of them runs the script again.

    What it does
        Finds a loop over a DataLoader with workers at the top level of a module, or in a function that is called there,
        outside of `if __name__ == "__main__":`, in a program whose workers are not forked.

    Why it costs time
        A worker that is not forked imports the script first. Without the guard it comes to the loop as well, and the
        program ends with "DataLoader worker exited unexpectedly".

    Example
        from torch.utils.data import DataLoader

        loader = DataLoader([1, 2, 3], num_workers=1, multiprocessing_context="spawn")
        for x in loader:
            print(x)

    Use instead
        from torch.utils.data import DataLoader

        loader = DataLoader([1, 2, 3], num_workers=1, multiprocessing_context="spawn")
        if __name__ == "__main__":
            for x in loader:
                print(x)

    When to ignore it
        The rule is silent in notebooks, whose workers do not run its cells, and where workers are forked, as on Linux
        before Python 3.14; the settings `platform` and `python-version` say where the program runs.

    References
        - https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors
    """

    code = "ACC114"
    name = "missing-main-guard"
    severity = Severity.ERROR
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports a document once, at its first such loader, with its loops and the other loaders as related places."""
        if facts.document.notebook is not None:
            return
        found: list[tuple[LoaderCall, str, Loop]] = []
        for loader in facts.loaders:
            started = start_methods(facts, loader).fresh if (loader.fixed_workers or 0) > 0 else ""
            loop = loop_that_workers_run(facts, loader) if started else None
            if loop is not None:
                found.append((loader, started, loop))
        if found:
            yield self._report(facts, found)

    def _report(self, facts: Facts, found: list[tuple[LoaderCall, str, Loop]]) -> Finding:
        (loader, started, loop), *others = found
        line = facts.document.span(loop.node).start.line
        what = f"the call of `{loop.functions[0]}`" if loop.functions else "it"
        claim = (
            f"the workers of `{loader.label}` are started by {started} and run this script again, down to the "
            f"loop in {line}, which fails"
        )
        remedy = f'put {what} under `if __name__ == "__main__":`'
        loops = dict.fromkeys(loop.node for _, _, loop in found)
        related = [also_at(facts.document, node, "runs in every worker") for node in loops]
        related += [also_at(facts.document, one.node, "its workers are started likewise") for one, _, _ in others]
        return self.finding(facts, loader.node, claim, remedy, related=related)
