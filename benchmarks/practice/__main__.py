"""How many of the remarks that readers made on public training code the linter makes: practice, no first contact.

    python -m benchmarks.practice clone FOLDER
    python -m benchmarks.practice score FOLDER [--set A] [--missed] [--record]  # eight minutes for all
    python -m benchmarks.practice judged FOLDER --set U

`clone` fetches the repositories at their commits with git. `score` lints each as a whole, and the files that were
remarked on by name besides, and prints the tables; `--record` keeps them in results/practice.json. Each is linted as
it is by default, and once more for those who ask for everything (`--minor --extend-select ALL`). `judged` counts how
many of the findings of a set that readers judged (verdicts.csv) are still shown, whatever they advise.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..checkouts import clone, folder_of, lint
from ..first_contact.__main__ import places
from ..first_contact.records import Place, Remark, met_by, read_rows, recall_table
from ..recording import keep, machine

HERE = Path(__file__).resolve().parent
REMARKS, TREES = HERE / "remarks.csv", HERE / "trees.json"
VERDICTS, JUDGED = HERE / "verdicts.csv", HERE / "judged_trees.json"
RESULTS = HERE.parent / "results" / "practice.json"
EVERYTHING = ("--minor", "--extend-select", "ALL")
SETS = (
    "A",
    "B",
    "C",
    "D",
    "E",
    "G",
    "H",
    "I",
    "J",
    "K",
    "L",
    "M",
    "N",
    "O",
    "P",
    "Q",
    "R",
    "S",
    "T",
    "V",
    "W",
    "X",
    "Y",
    "Z",
    "AA",
    "AB",
    "AC",
    "AD",
    "AE",
)


class Practised(NamedTuple):
    """What came out on one set of repositories.

    Attributes:
        remarks: all that the readers made, with the code that met each.
        findings: how many the linter reports on the repositories as wholes, by rule.
        asked: of those that some rule could make, how many it makes for who asks for everything.
        shown: how many findings there are then.
    """

    remarks: list[Remark]
    findings: Counter[str]
    asked: int
    shown: int

    @property
    def sayable(self) -> list[Remark]:
        """The remarks that some rule could make."""
        return [one for one in self.remarks if one.rules]


def practise(name: str, folder: Path) -> Practised:
    """Scores one set.

    Raises:
        SystemExit: a checkout is missing, or the linter failed.
    """
    remarks = [one for one in read_rows(Remark, REMARKS) if one.round == name]
    scored: list[Remark] = []
    findings: Counter[str] = Counter()
    asked = shown = 0
    for repository in dict.fromkeys(one.repository for one in remarks):
        root = folder_of(repository, folder)
        if not root.is_dir():
            sys.exit(f"{root} is missing: `python -m benchmarks.practice clone {folder}` fetches it")
        own = [one for one in remarks if one.repository == repository]
        paths = sorted({one.path for one in own})
        found, everything = lint(root, "."), lint(root, ".", options=EVERYTHING)
        at = places(found) + places(lint(root, *paths))
        findings.update(one["code"] for one in found)
        scored += [one._replace(met=met_by(one, at)) for one in own]
        at = places(everything) + places(lint(root, *paths, options=EVERYTHING))
        asked += sum(bool(met_by(one, at)) for one in own if one.rules)
        shown += len(everything)
    return Practised(scored, findings, asked, shown)


def record(done: dict[str, Practised]) -> None:
    """Keeps the figures of a run."""
    sets = {
        name: {
            "remarks": len(one.remarks),
            "sayable": len(one.sayable),
            "said": sum(bool(each.met) for each in one.sayable),
            "said_if_asked_for_everything": one.asked,
            "findings_if_asked_for_everything": one.shown,
            "findings": dict(sorted(one.findings.items())),
        }
        for name, one in done.items()
    }
    keep(RESULTS, {**machine(), "sets": sets})


def shown(name: str, one: Practised, missed: bool) -> Iterable[str]:
    """The lines about one set."""
    said = sum(bool(each.met) for each in one.sayable)
    total = len(one.sayable)
    yield (
        f"Set {name}: {said} of {total} remarks that some rule could make ({said / total:.2f}); "
        f"{one.asked} ({one.asked / total:.2f}) with {' '.join(EVERYTHING)}."
    )
    yield ""
    yield from recall_table(one.remarks)
    if missed:
        yield from (f"{each.repository} {each.path}:{each.line} {each.rules}" for each in one.sayable if not each.met)
    yield ""


def still_shown(name: str, folder: Path) -> dict[str, tuple[int, int]]:
    """Of the findings of a set that readers judged, by verdict, how many are shown yet, and how many there were."""
    with VERDICTS.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["set"] == name]
    shown: dict[str, set[Place]] = {}
    for repository in dict.fromkeys(row["repository"] for row in rows):
        shown[repository] = set(places(lint(folder_of(repository, folder), ".")))
    met = [row for row in rows if Place(row["path"], int(row["line"]), row["code"]) in shown[row["repository"]]]
    kept, all_of_them = (Counter(row["verdict"] for row in one) for one in (met, rows))
    return {verdict: (kept[verdict], count) for verdict, count in all_of_them.items()}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.practice",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    clones, scores = commands.add_parser("clone"), commands.add_parser("score")
    for one in (clones, scores):
        one.add_argument("folder", type=Path)
    scores.add_argument("--set", choices=SETS, action="append")
    scores.add_argument("--missed", action="store_true")
    scores.add_argument("--record", action="store_true")
    judged = commands.add_parser("judged")
    judged.add_argument("folder", type=Path)
    judged.add_argument("--set", required=True)
    args = parser.parse_args()
    if args.command == "clone":
        for trees in (TREES, JUDGED):
            for repository, commit in json.loads(trees.read_text(encoding="utf-8")).items():
                clone(repository, commit, args.folder)
        return
    if args.command == "judged":
        for verdict, (kept, count) in still_shown(args.set, args.folder).items():
            print(f"{verdict}: {kept} of {count} are still shown")
        return
    done = {name: practise(name, args.folder) for name in args.set or SETS}
    for name, one in done.items():
        print("\n".join(shown(name, one, args.missed)))
    if args.record:
        record(done)


if __name__ == "__main__":
    main()
