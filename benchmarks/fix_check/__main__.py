"""Fixes copies of whole projects and checks what came of it; draws fixes at random for a reader.

    python -m benchmarks.fix_check check FOLDER... [--record]
    python -m benchmarks.fix_check draw FOLDER... [--seed N] [--count N] [--least N]

`check` makes the safe fixes of each project, and in another copy all fixes, and finds out whether every file that
Python compiled still compiles, nothing changed where no finding names it, a second run changes nothing and leaves no
fix of that kind, and what is found that was not there before. It exits with 1 where any of that does not hold;
`--record` keeps the counts in results/fix_check.json. `draw` prints the diffs of some fixes, each made by itself: at
least two of each rule as far as there are, and the rest from all projects in turns.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from ..recording import keep, machine
from .drawing import Drawn, draw
from .project import KINDS, check, lint

RESULTS = Path(__file__).resolve().parent.parent / "results" / "fix_check.json"


def check_all(projects: list[Path], recorded: bool) -> int:
    """Checks projects, prints what is wrong, and says whether anything is."""
    counts: dict[str, dict[str, Any]] = {}
    names = [project.name for project in projects]
    wrong = 0
    for project in projects:
        name = project.name if names.count(project.name) == 1 else f"{project.parent.name}/{project.name}"
        first = lint(project)
        counts[name] = {"findings": len(first)}
        for kind in KINDS:
            with tempfile.TemporaryDirectory() as scratch:
                found = check(project, Path(scratch), kind, first)
            shown = {"fixes": found.fixes, "files": found.files, "wrong": len(found.wrong), "new": len(found.new)}
            counts[name][kind] = shown
            wrong += len(found.wrong) + len(found.new)
            print(f"{name}, {kind}: " + ", ".join(f"{count} {what}" for what, count in shown.items()))
            for line in found.wrong:
                print(f"    wrong: {line}")
            for line in found.new:
                print(f"    new: {line}")
    if recorded:
        kept = {**machine(), "projects": counts}
        keep(RESULTS, kept)
    return 1 if wrong else 0


def draw_some(projects: list[Path], count: int, least: int, seed: int) -> None:
    """Prints the diffs of fixes that are drawn."""
    groups = [
        [
            Drawn(project, one)
            for one in lint(project)
            if one["fix"] and one["fix"]["applicability"] != "display" and one["cell"] is None
        ]
        for project in projects
    ]
    for number, one in enumerate(draw(groups, count, least, seed), 1):
        print(f"#{number} {one.title}\n{one.finding['message']}\n{one.diff()}")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.fix_check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    checks = commands.add_parser("check", help="fix copies of projects and check what came of it")
    checks.add_argument("--record", action="store_true", help="keep the counts in results/fix_check.json")
    draws = commands.add_parser("draw", help="print the diffs of fixes at random")
    draws.add_argument("--seed", type=int, default=12)
    draws.add_argument("--count", type=int, default=60)
    draws.add_argument("--least", type=int, default=2, help="so many of each rule, as far as there are")
    for one in (checks, draws):
        one.add_argument("folders", type=Path, nargs="+")
    args = parser.parse_args()
    projects = [folder.resolve() for folder in args.folders]
    if args.command == "check":
        return check_all(projects, args.record)
    draw_some(projects, args.count, args.least, args.seed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
