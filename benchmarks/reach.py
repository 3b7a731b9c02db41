"""How much of a project is seen to run in its training: of the `forward` methods of its modules, those of which
anything is known, how many hold something that a loop does in which a model learns.

    python -m benchmarks.reach FOLDER [--json benchmarks/results/reach.json]

FOLDER holds checkouts, each with a folder of its own: those of practice, as `python -m benchmarks.practice clone
FOLDER` lays them out. Repositories in which nothing is seen to learn are left out. Not all of the rest can be reached:
projects hold layers that nothing builds, and networks that only evaluate.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import libcst as cst

from accel_advisor.configurations import Configurations
from accel_advisor.linting.checker import Checker
from accel_advisor.linting.linter import lint
from accel_advisor.project.discovery import Discoverer
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation

from .recording import keep, machine


class Reach(NamedTuple):
    """What is known of the modules of one project.

    Attributes:
        trains: whether a loop is seen in which a model learns.
        forwards: the `forward` methods of which anything is known.
        reached: those of them that run in such a loop.
    """

    trains: bool
    forwards: int
    reached: int


class Counting(Checker):
    """A checker that counts what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.trains = False
        self.forwards: dict[tuple[str, int], bool] = {}

    def understood(self, facts: Facts) -> None:
        """Told what is known of each document."""
        self.trains |= any(loop.learns and loop.repeats for loop in facts.loops)
        for one in facts.operations:
            if isinstance(one.function, cst.FunctionDef) and one.function.name.value == "forward":
                at = facts.document.filename, facts.document.span(one.function.name).start.row
                self.forwards[at] = self.forwards.get(at, False) or _learns(one)


def _learns(operation: Operation) -> bool:
    return any(loop.learns for context in operation.contexts for loop in context.loops)


def reach(root: Path) -> Reach:
    """Counts those of one project."""
    checker, configurations = Counting(), Configurations()
    with contextlib.chdir(root):
        lint(Discoverer(configurations.patterns).discover(["."]).files, configurations, checker=checker)
    return Reach(checker.trains, len(checker.forwards), sum(checker.forwards.values()))


def table(found: dict[str, Reach]) -> Iterator[str]:
    """The lines of the answer: those with the most that is not reached first."""
    total, reached = (sum(getattr(one, what) for one in found.values()) for what in ("forwards", "reached"))
    yield f"{reached} of {total} ({reached / max(total, 1):.2f}) in {len(found)} projects that train"
    for name, one in sorted(found.items(), key=lambda item: item[1].reached - item[1].forwards):
        if one.reached < one.forwards:
            yield f"{one.forwards - one.reached:4} of {one.forwards:3} not reached: {name}"


def main() -> int:
    """Counts, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the checkouts stand")
    parser.add_argument("--json", type=Path, help="the record to write")
    given = parser.parse_args()
    roots = sorted(one for one in given.folder.iterdir() if one.is_dir())
    if not roots:
        parser.error(
            f"{given.folder} holds no checkouts: `python -m benchmarks.practice clone {given.folder}` fetches them"
        )
    found = {root.name: one for root in roots if (one := reach(root)).trains and one.forwards}
    print("\n".join(table(found)))
    if given.json is not None:
        projects = {name.replace("+", "/", 1): [one.forwards, one.reached] for name, one in found.items()}
        record = {**machine(), "projects": projects}
        keep(given.json, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
