"""How much of what an expert says on labelled public code the linter says, and how much of what it says is right.

    python -m benchmarks.recall clone FOLDER
    python -m benchmarks.recall score FOLDER [--missed] [--record]

`clone` fetches the labelled repositories at their commits with git. `score` lints the labelled files of each, as files
of their project, and prints the table; `--record` keeps it in results/recall.json and in README.md. A checkout that
differs from what was labelled is refused.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from accel_advisor.editing.fixer import write_atomically

from ..checkouts import clone, lint
from ..recording import keep, machine
from .labels import (
    CORE,
    RULES,
    Label,
    Score,
    Tree,
    read_contested,
    read_labels,
    read_trees,
    scored,
    spots,
    uncontested,
)

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results" / "recall.json"


def reports_on(root: Path, paths: list[str]) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """What the linter reports on files of a project, by file and rule.

    Raises:
        SystemExit: it failed.
    """
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for finding in lint(root, *paths):
        for filename, lines in spots(finding):
            found.setdefault((filename, finding["name"]), []).append(lines)
    return found


def table(scores: Mapping[str, Score], agreed: Mapping[str, Score]) -> Iterator[str]:
    """The lines of the table: a label's rule in each, then the core and all of them, and both without the labels that
    are contested."""
    yield "| label | precision | recall | met | missed | wrong | of these hard, met |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    without = f", without {len(read_contested())} that are contested"
    rows = [(name, name, scores) for name in (*RULES, "**core**", "**all**")]
    for said, name, counted in (*rows, *((f"{name}{without}", name, agreed) for name in ("**core**", "**all**"))):
        one = total(counted, name)
        shares = [f"{share:.3f}" if share is not None else "–" for share in (one.precision, one.recall)]
        hard = f"{one.hard[True]} of {one.hard.total()}"
        yield f"| {said} | {' | '.join(shares)} | {one.met} | {one.missed} | {one.wrong} | {hard} |"


def total(scores: Mapping[str, Score], name: str) -> Score:
    """The counts of one label's rule, of the core or of all."""
    names = {"**core**": CORE, "**all**": tuple(RULES)}.get(name, (name,))
    return reduce(add, (scores.get(one, Score()) for one in names), Score())


def added(before: Mapping[str, Score], scores: Mapping[str, Score]) -> dict[str, Score]:
    """The counts of one tree added to those of the trees before it."""
    return {name: before.get(name, Score()) + scores.get(name, Score()) for name in RULES}


def record(scores: Mapping[str, Score], agreed: Mapping[str, Score], trees: list[Tree]) -> dict[str, Any]:
    """What is kept of a run."""
    names = {"core": "**core**", "all": "**all**"} | {name: name for name in RULES}
    counts = {name: total(scores, shown) for name, shown in names.items()}
    counts |= {f"{name}, contested labels left out": total(agreed, f"**{name}**") for name in ("core", "all")}
    return {
        **machine(),
        "trees": {one.repository: one.commit for one in trees},
        "scores": {
            name: {
                "precision": one.precision,
                "recall": one.recall,
                "met": one.met,
                "missed": one.missed,
                "wrong": one.wrong,
                "quiet": one.quiet,
            }
            for name, one in counts.items()
        },
    }


def write_page(kept: Mapping[str, Any], lines: list[str]) -> None:
    """Puts the table of a run into the page."""
    page = (HERE / "README.md").read_text(encoding="utf-8")
    before, mark, _ = page.partition("## Recorded\n")
    said = f"{kept['date']}, accel-advisor at {kept['commit']}, Python {kept['python']}."
    write_atomically(HERE / "README.md", "\n".join([f"{before}{mark}", said, "", *lines, ""]).encode())


def score(folder: Path, missed: bool, recorded: bool) -> None:
    """Scores the linter, prints the table, and records it where that is asked for."""
    trees, labels = read_trees(), read_labels()
    for tree in trees:
        if differing := tree.differing(folder):
            sys.exit(f"{tree.folder(folder)}: {differing[0]} is not the labelled file; check out {tree.commit}")
    everything: dict[str, Score] = {}
    agreed: dict[str, Score] = {}
    contested = read_contested()
    failed: list[Label] = []
    for tree in trees:
        of_tree = [one for one in labels if one.repository == tree.repository]
        reports = reports_on(tree.folder(folder), sorted(tree.files))
        scores, broken = scored(of_tree, reports)
        everything = added(everything, scores)
        agreed = added(agreed, scored(uncontested(of_tree, contested), reports)[0])
        failed += broken
    if missed:
        for one in failed:
            kind = "missed" if one.expect == "must" else "wrong"
            print(f"{kind} {one.rule} {one.repository} {one.path}:{one.line} {one.why}", file=sys.stderr)
    lines = list(table(everything, agreed))
    print("\n".join(lines))
    if recorded:
        kept = record(everything, agreed, trees)
        keep(RESULTS, kept)
        write_page(kept, lines)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.recall",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    fetches = commands.add_parser("clone", help="fetch the labelled repositories")
    scores = commands.add_parser("score", help="score the linter on them")
    for one in (fetches, scores):
        one.add_argument("folder", type=Path, help="holds a checkout of each repository, called owner+name")
    scores.add_argument("--missed", action="store_true", help="list what is missed or wrong on stderr")
    scores.add_argument("--record", action="store_true", help="keep the table in results/recall.json and README.md")
    args = parser.parse_args()
    if args.command == "clone":
        for tree in read_trees():
            clone(tree.repository, tree.commit, args.folder)
    else:
        score(args.folder, args.missed, args.record)


if __name__ == "__main__":
    main()
