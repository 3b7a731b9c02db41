"""Draws findings at random from checkouts of repositories, to be read one by one.

    python benchmarks/precision/sample.py --seed 1 --size 200 --worklist FOLDER/worklist.md CHECKOUT[:FOLDER]...

lints each checkout (or one folder of it) with the default rules, draws from all findings alike, and adds them to
verdicts.csv without a verdict, and how they were drawn to samples.json. The work list shows each one with the lines
around it; it holds other people's code and is written outside of this repository. A checkout is a clone in a folder
that is called like its repository, with a plus for the slash: ``pytorch+examples``.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.checkouts import excerpt, lint, revision
from benchmarks.first_contact.records import read_rows, write_rows

HERE = Path(__file__).resolve().parent
VERDICTS, SAMPLES = HERE / "verdicts.csv", HERE / "samples.json"


class Place(NamedTuple):
    """Where a finding stands; in a notebook, in which cell."""

    repository: str
    path: str
    line: str
    code: str


class Verdict(NamedTuple):
    """What somebody who read it thinks of a finding: right, weak (true, and of little consequence there) or wrong."""

    sample: str
    repository: str
    commit: str
    path: str
    line: str
    code: str
    severity: str
    verdict: str = ""
    reason: str = ""

    @property
    def place(self) -> Place:
        """Where the finding stood."""
        return Place(self.repository, self.path, self.line, self.code)


@dataclass(frozen=True, slots=True)
class Checkout:
    """A repository on this machine, or one folder of it that is linted."""

    root: Path
    part: str

    @classmethod
    def parse(cls, argument: str) -> Checkout:
        """What ``CHECKOUT[:FOLDER]`` names."""
        root, _, part = argument.partition(":")
        if not (Path(root) / part).is_dir():
            raise argparse.ArgumentTypeError(f"{argument} is no folder")
        return cls(Path(root).resolve(), part or ".")

    @property
    def repository(self) -> str:
        """``owner/name``."""
        return self.root.name.replace("+", "/", 1)

    @property
    def commit(self) -> str:
        """What is checked out."""
        return revision(self.root)

    def findings(self) -> list[dict[str, Any]]:
        """Everything that the default rules report in it, in order."""
        return lint(self.root, self.part)

    def place(self, finding: dict[str, Any]) -> Place:
        """Where a finding stands."""
        row, cell = finding["location"]["row"], finding["cell"]
        line = str(row) if cell is None else f"cell {cell}, {row}"
        return Place(self.repository, finding["filename"], line, finding["code"])


def shown(checkout: Checkout, finding: dict[str, Any]) -> str:
    """One finding for somebody who reads it."""
    place = checkout.place(finding)
    head = f"{place.repository} {place.path}:{place.line} {place.code} {finding['severity']}"
    return excerpt(checkout.root, head, finding)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--worklist", type=Path, required=True)
    parser.add_argument("checkouts", type=Checkout.parse, nargs="+")
    args = parser.parse_args()
    if HERE.parents[1] in args.worklist.resolve().parents:
        parser.error("--worklist: name a file outside of this repository, for it will hold the code of others")

    everything: list[tuple[Checkout, dict[str, Any]]] = []
    trees = []
    for checkout in args.checkouts:
        found = checkout.findings()
        everything += [(checkout, finding) for finding in found]
        trees.append(
            {
                "repository": checkout.repository,
                "commit": checkout.commit,
                "folder": checkout.part,
                "findings": len(found),
            }
        )
        print(f"{checkout.repository}: {len(found)}", file=sys.stderr)
    everything.sort(key=lambda one: (one[0].place(one[1]), one[1]["message"]))
    drawn = random.Random(args.seed).sample(everything, min(args.size, len(everything)))

    samples = json.loads(SAMPLES.read_text(encoding="utf-8")) if SAMPLES.exists() else []
    name = str(len(samples) + 1)
    commits = {checkout.repository: checkout.commit for checkout in args.checkouts}
    verdicts = [
        Verdict(name, place.repository, commits[place.repository], place.path, place.line, place.code, one["severity"])
        for checkout, one in drawn
        for place in [checkout.place(one)]
    ]
    samples.append(
        {
            "sample": name,
            "date": str(date.today()),
            "version": revision(HERE),
            "seed": args.seed,
            "size": len(drawn),
            "findings": len(everything),
            "trees": trees,
        }
    )
    args.worklist.write_text("\n".join(shown(*one) for one in drawn), encoding="utf-8")
    write_rows(Verdict, [*read_rows(Verdict, VERDICTS), *verdicts], VERDICTS)
    SAMPLES.write_text(json.dumps(samples, indent=1) + "\n", encoding="utf-8")
    print(f"sample {name}: {len(drawn)} of {len(everything)} findings; {args.worklist} shows them", file=sys.stderr)


if __name__ == "__main__":
    main()
