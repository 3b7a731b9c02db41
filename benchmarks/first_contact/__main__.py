"""A round of first contact: what the linter says on ten repositories that nobody here had read, linted or tuned on.

    python -m benchmarks.first_contact run ROUND FOLDER --worklist FILE [--size 100]
    python -m benchmarks.first_contact figure ROUND

FOLDER holds a clone of each repository of the round, called owner+name. Before the linter runs, a reader who wrote no
rule reads their training files, names these in rounds.json and writes down what they would say in remarks.csv. `run`
lints, notes which remarks the linter made, and draws findings for the reader, who writes a verdict for each into
findings.csv; the work list shows them with their lines and is written outside of this repository. A round is run once:
when something was mended afterwards, its repositories are no first contact any more.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path
from typing import Any

from accel_advisor.editing.fixer import write_atomically

from ..checkouts import excerpt, folder_of, lint
from ..recording import commit, today
from .records import (
    FINDINGS,
    HERE,
    REMARKS,
    VERDICTS,
    Place,
    Remark,
    Round,
    Verdict,
    met_by,
    precision_table,
    read_rounds,
    read_rows,
    recall_table,
    write_rounds,
    write_rows,
)


def places(findings: list[dict[str, Any]]) -> list[Place]:
    """All lines that findings are about."""
    return [
        Place(at["filename"], at["location"]["row"], at["code"]) for one in findings for at in (one, *one["related"])
    ]


def _head(repository: str, finding: dict[str, Any]) -> str:
    place = f"{finding['filename']}:{finding['location']['row']}"
    return f"{repository} {place} {finding['code']} {finding['severity']} {finding['confidence']}"


def run(chosen: Round, rounds: dict[str, Round], folder: Path, worklist: Path, size: int) -> None:
    """Lints the repositories of a round, and keeps what came out.

    Raises:
        SystemExit: the round was run before, or nothing was remarked on yet, or a checkout is missing.
    """
    if chosen.run:
        sys.exit(
            f"round {chosen.name} was run on {chosen.run['date']}: a round is never scored again as if it were new"
        )
    remarks = read_rows(Remark, REMARKS)
    own = [one for one in remarks if one.round == chosen.name]
    if not own:
        sys.exit(f"{REMARKS.name}: round {chosen.name} has no remarks; they are written before the linter runs")
    everything: list[tuple[str, dict[str, Any]]] = []
    read: dict[str, list[Place]] = {}
    for repository in chosen.repositories:
        root = folder_of(repository, folder)
        if not root.is_dir():
            sys.exit(f"{root} is missing: clone {repository}")
        found = lint(root, ".")
        everything += [(repository, one) for one in found]
        # the files that were read, named: discovery leaves out folders of tests and tools
        named = lint(root, *chosen.files[repository]) if chosen.files.get(repository) else []
        read[repository] = places(found) + places(named)
        print(f"{repository}: {len(found)} findings", file=sys.stderr)
    everything.sort(key=lambda one: (one[0], one[1]["filename"], one[1]["location"]["row"], one[1]["code"]))
    drawn = random.Random(int(chosen.name)).sample(everything, min(size, len(everything)))
    scored = [one._replace(met=met_by(one, read[one.repository])) if one in own else one for one in remarks]
    verdicts = [
        Verdict(
            chosen.name,
            repository,
            one["filename"],
            str(one["location"]["row"]),
            one["code"],
            one["severity"],
            one["confidence"],
        )
        for repository, one in drawn
    ]
    chosen.run = {"date": today(), "commit": commit(), "findings": len(everything), "drawn": len(drawn)}
    shown = [excerpt(folder_of(repository, folder), _head(repository, one), one) for repository, one in drawn]
    write_atomically(worklist, "\n".join(shown).encode())
    write_rows(Remark, scored, REMARKS)
    write_rows(Verdict, [*read_rows(Verdict, FINDINGS), *verdicts], FINDINGS)
    write_rounds(rounds.values())


def figure(chosen: Round) -> str:
    """The tables of a round.

    Raises:
        SystemExit: it was not run, or a finding has no verdict.
    """
    if not chosen.run:
        sys.exit(f"round {chosen.name} was not run yet")
    verdicts = [one for one in read_rows(Verdict, FINDINGS) if one.round == chosen.name]
    for one in verdicts:
        if one.verdict not in VERDICTS:
            sys.exit(f"{FINDINGS.name}: {one.path}:{one.line} {one.code} has no verdict; write right, weak or wrong")
    remarks = [one for one in read_rows(Remark, REMARKS) if one.round == chosen.name]
    files = sum(map(len, chosen.files.values()))
    head = (
        f"Round {chosen.name}, {chosen.run['date']}, accel-advisor at {chosen.run['commit']}: {files} files were read, "
        f"{len(remarks)} remarks were made; the linter found {chosen.run['findings']} places, of which "
        f"{len(verdicts)} were read."
    )
    return "\n".join([head, "", *precision_table(verdicts), "", *recall_table(remarks)])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.first_contact",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    runs, figures = commands.add_parser("run"), commands.add_parser("figure")
    rounds = read_rounds()
    for one in (runs, figures):
        one.add_argument("round", choices=list(rounds))
    runs.add_argument("folder", type=Path)
    runs.add_argument("--worklist", type=Path, required=True)
    runs.add_argument("--size", type=int, default=100)
    args = parser.parse_args()
    if args.command == "figure":
        print(figure(rounds[args.round]))
        return
    if HERE.parents[1] in args.worklist.resolve().parents:
        parser.error("--worklist: name a file outside of this repository, for it will hold the code of others")
    run(rounds[args.round], rounds, args.folder, args.worklist, args.size)


if __name__ == "__main__":
    main()
