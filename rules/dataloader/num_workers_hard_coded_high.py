"""Large numbers of workers that are written into the program."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule

MANY = 16
"""Workers that a machine chosen at random may not have the cores for."""


class NumWorkersHardCodedHigh(Rule):
    """A large number of workers is written into the program, whatever machine it runs on.

    What it does
        Finds a DataLoader whose `num_workers` is a literal of 16 or more.

    Why it costs time
        On a machine with fewer cores the workers take them from each other and from the main process, and all of
        them take memory. torch warns at run time; a linter cannot know the machine.

    Example
        from torch.utils.data import DataLoader

        loader = DataLoader([1, 2, 3], num_workers=64)

    Use instead
        import argparse
        from torch.utils.data import DataLoader

        parser = argparse.ArgumentParser()
        parser.add_argument("--workers", type=int, default=4)
        loader = DataLoader([1, 2, 3], num_workers=parser.parse_args().workers)

    When to ignore it
        Where the program runs on one kind of machine only, and the number was measured there: `accel-advisor tune`
        does.
    References
        - https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    code = "ACC120"
    name = "num-workers-hard-coded-high"
    severity = Severity.INFO
    enabled = False
    knob = "num_workers"

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        for loader in facts.loaders:
            workers = loader.fixed_workers
            if loader.constructor.advises and workers is not None and workers >= MANY:
                claim = f"`{loader.label}` always starts {workers} workers, which is more than many machines have cores"
                remedy = "let an option decide, and `accel-advisor tune` find the number"
                yield self.finding(facts, loader.node, claim, remedy)
