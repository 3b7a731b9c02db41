"""TorchFix, hotpath-ai and accel-advisor on the same files: who reports what, and what the others leave out.

    python benchmarks/rivals/compare.py measure --raw FOLDER --torchfix PROGRAM --hotpath PROGRAM REPOSITORY...
    python benchmarks/rivals/compare.py sample
    python benchmarks/rivals/compare.py table

`measure` runs the three on checkouts of repositories, keeps what the rivals print in FOLDER (and does not run them
again where it is there), and writes findings.csv and trees.json. `sample` draws from it what is to be read and adds it
to sample.csv, where verdicts that are there stay. `table` prints the tables of the README from the three.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
FINDINGS, TREES, SAMPLE = HERE / "findings.csv", HERE / "trees.json", HERE / "sample.csv"
SEED, SIZE = 20261121, 60
VERDICTS = ("right", "weak", "wrong")

# What a rule of a rival is about, in our words. What is not named here is no topic of ours (security, torchvision).
TOPICS = {
    "workers": "TOR401 KP001 ACC102 ACC601",
    "pinned memory": "KP002 ACC101 ACC602 ACC612",
    "persistent workers": "KP014 ACC106 ACC604",
    "transfers": "KP004 KP015 ACC201 ACC210 ACC211 ACC212 ACC213 ACC606 ACC608",
    "synchronisation": "KP003 KP017 ACC208 ACC215 ACC611",
    "tensors made on the host": "KP005 ACC205 ACC219 ACC304",
    "copies of tensors": "KP013 ACC218",
    "empty_cache": "KP011 ACC214",
    "zero_grad": "KP010 ACC411",
    "eval without no_grad": "KP012 ACC401",
    "saving": "KP016 ACC427",
    "mixed precision": "KP008 ACC402 ACC403 ACC404 ACC405 ACC406 ACC407 ACC605 ACC609",
    "torch.compile": "KP007",
    "attention": "KP006",
    "checkpointing": "TOR002 TOR003 ACC413",
}
TOPIC_OF = {code: topic for topic, codes in TOPICS.items() for code in codes.split()}
# Counted and not read: its several hundred examples of one make would be most of the sample.
UNREAD = {"pyg-team/pytorch_geometric"}
# Hidden unless asked for: hotpath calls them heuristics.
HIDDEN = {"KP009", "KP012"}
OURS = "accel-advisor"


class Reported(NamedTuple):
    """One finding of one tool, in a file of a repository."""

    repository: str
    path: str
    line: int
    tool: str
    code: str
    linted: bool

    @property
    def topic(self) -> str:
        """What it is about."""
        return TOPIC_OF.get(self.code, "other" if self.tool == OURS else "not ours")

    @property
    def place(self) -> tuple[str, str, int]:
        """Where it stands."""
        return self.repository, self.path, self.line


def kept(raw: Path, name: str, command: list[str], folder: Path) -> str:
    """What a command prints, from the last time where it ran before."""
    path = raw / name
    if not path.exists():
        path.write_text(subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout)
    return path.read_text()


def of_torchfix(printed: str) -> Iterator[tuple[str, int, str]]:
    """Path, line and code of what TorchFix prints."""
    for path, line, code in re.findall(r"^(.+?):(\d+):\d+: (TOR\d+) ", printed, re.MULTILINE):
        yield path, int(line), code


def of_hotpath(printed: str) -> Iterator[tuple[str, int, str]]:
    """Path, line and code of what hotpath prints as JSON."""
    for file in json.loads(printed)["files"]:
        for finding in file["findings"]:
            yield file["path"], finding["line"], finding["rule_id"]


def of_ours(folder: Path, files: list[str]) -> Iterator[tuple[str, int, str]]:
    """Path, line and code of our findings in files, which are linted even where discovery would leave them out."""
    command = [sys.executable, "-m", "accel_advisor", "lint", "--no-cache", "--exit-zero", "--min-severity", "info"]
    printed = subprocess.run([*command, "--output-format", "json", *files], cwd=folder, capture_output=True, text=True)
    for finding in json.loads(printed.stdout):
        path = Path(finding["filename"])
        path = path.relative_to(folder) if path.is_absolute() else path
        yield path.as_posix(), finding["location"]["row"], finding["code"]


def linted_files(folder: Path) -> set[str]:
    """The modules that our discovery finds: no tests, no documentation, nothing vendored."""
    command = [sys.executable, "-m", "accel_advisor", "lint", "--show-files", "."]
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout.split("\n")
    paths = (Path(one).relative_to(folder) if Path(one).is_absolute() else Path(one) for one in shown if one)
    return {path.as_posix() for path in paths if path.suffix == ".py"}


def measure(raw: Path, torchfix: str, hotpath: str, folders: list[Path]) -> None:
    """Runs the three on the repositories and writes down what they report."""
    raw.mkdir(parents=True, exist_ok=True)
    found: set[Reported] = set()
    trees = []
    for folder in (one.resolve() for one in folders):
        repository = folder.name.replace("+", "/", 1)
        linted = linted_files(folder)
        files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))
        reports = {
            "TorchFix": of_torchfix(
                kept(raw, f"torchfix.{folder.name}.txt", [torchfix, "--select", "ALL", "-j", "1", "."], folder)
            ),
            "hotpath-ai": of_hotpath(
                kept(
                    raw,
                    f"hotpath.{folder.name}.json",
                    [hotpath, "analyze", "--format", "json", "--fail-on", "none", "--include-heuristics", "."],
                    folder,
                )
            ),
            OURS: of_ours(folder, files),
        }
        for tool, report in reports.items():
            found |= {Reported(repository, path, line, tool, code, path in linted) for path, line, code in report}
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True).stdout.strip()
        trees.append({"repository": repository, "commit": commit, "files": len(files), "linted": len(linted)})
        print(f"{repository}: {len(files)} files", file=sys.stderr)
    with FINDINGS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("repository", "path", "linted", "tool", "code", "lines"))
        lines = defaultdict(list)
        for one in sorted(found):
            lines[one.repository, one.path, int(one.linted), one.tool, one.code].append(one.line)
        writer.writerows((*key, " ".join(map(str, rows))) for key, rows in lines.items())
    own = subprocess.run(["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True).stdout.strip()
    versions = {"TorchFix": "0.7.0", "hotpath-ai": "0.1.0", OURS: f"{version('accel-advisor')} at {own}"}
    TREES.write_text(json.dumps({"date": str(date.today()), "versions": versions, "trees": trees}, indent=1) + "\n")


def findings() -> list[Reported]:
    """What was measured."""
    with FINDINGS.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [
        Reported(repository, path, int(line), tool, code, linted == "1")
        for repository, path, linted, tool, code, lines in rows
        for line in lines.split()
    ]


def samples(found: Iterable[Reported]) -> dict[str, list[Reported]]:
    """What is to be read: of each rival, and of what both of them report and we do not."""
    shown = [
        one
        for one in sorted(found)
        if one.linted
        and one.repository not in UNREAD
        and one.code not in HIDDEN
        and one.topic not in ("not ours", "other")
    ]
    places = defaultdict(set)
    for one in shown:
        places[one.tool].add((one.place, one.topic))
    alone = (places["TorchFix"] & places["hotpath-ai"]) - places[OURS]
    groups = {tool: [one for one in shown if one.tool == tool] for tool in ("hotpath-ai", "TorchFix")}
    groups["both"] = [one for one in groups["TorchFix"] if (one.place, one.topic) in alone]
    chosen = random.Random(SEED)
    return {name: sorted(chosen.sample(group, min(SIZE, len(group)))) for name, group in groups.items()}


def read_verdicts() -> dict[tuple[str, ...], tuple[str, str]]:
    """The verdicts of sample.csv, by group, place and code."""
    if not SAMPLE.exists():
        return {}
    with SAMPLE.open(newline="") as file:
        return {tuple(row[:5]): (row[5], row[6]) for row in list(csv.reader(file))[1:]}


def sample() -> None:
    """Draws the samples and writes them with the verdicts that are there."""
    verdicts = read_verdicts()
    with SAMPLE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("group", "repository", "path", "line", "code", "verdict", "reason"))
        for group, chosen in samples(findings()).items():
            for one in chosen:
                key = (group, one.repository, one.path, str(one.line), one.code)
                writer.writerow((*key, *verdicts.get(key, ("", ""))))


def table() -> None:
    """Prints the tables."""
    found = findings()
    tools = ("TorchFix", "hotpath-ai", OURS)
    for title, chosen in (
        ("Findings in the files that accel-advisor lints", [one for one in found if one.linted]),
        ("Findings in all files, tests and documentation included", found),
    ):
        counts = Counter((one.topic, one.tool) for one in chosen)
        alone = defaultdict(set)
        for one in chosen:
            alone[one.place, one.topic].add(one.tool)
        only = Counter((topic, *tools) for (_, topic), tools in alone.items() if len(tools) == 1)
        print(f"\n{title}; in brackets, what no other tool reports at that line\n")
        print(f"| topic | {' | '.join(tools)} |\n|---|{'--:|' * len(tools)}")
        for topic in (*TOPICS, "other", "not ours"):
            cells = [f"{counts[topic, tool]} ({only[topic, tool]})" if counts[topic, tool] else "" for tool in tools]
            if any(cells):
                print(f"| {topic} | {' | '.join(cells)} |")
    print("\nRead one by one\n")
    print("| sample | topic | right | weak | wrong |\n|---|---|--:|--:|--:|")
    read = Counter((key[0], TOPIC_OF[key[4]], verdict) for key, (verdict, _) in read_verdicts().items() if verdict)
    for group in ("TorchFix", "hotpath-ai", "both"):
        for topic in TOPICS:
            row = [read[group, topic, verdict] for verdict in VERDICTS]
            if sum(row):
                print(f"| {group} | {topic} | {' | '.join(map(str, row))} |")
        whole = [sum(read[group, topic, verdict] for topic in TOPICS) for verdict in VERDICTS]
        print(f"| {group} | **all** | {' | '.join(map(str, whole))} |")


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--raw", type=Path, required=True)
    measuring.add_argument("--torchfix", required=True)
    measuring.add_argument("--hotpath", required=True)
    measuring.add_argument("folders", type=Path, nargs="+")
    commands.add_parser("sample")
    commands.add_parser("table")
    args = parser.parse_args()
    if args.command == "measure":
        measure(args.raw, args.torchfix, args.hotpath, args.folders)
    elif args.command == "sample":
        sample()
    else:
        table()


if __name__ == "__main__":
    main()
