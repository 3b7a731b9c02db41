"""What is kept of a round: what the reader remarked on, what the linter said, and what the reader thinks of that."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..recording import keep

HERE = Path(__file__).resolve().parent
ROUNDS, REMARKS, FINDINGS = HERE / "rounds.json", HERE / "remarks.csv", HERE / "findings.csv"
NEAR = 2
"""Lines between a remark and a finding that are the same place: a call may begin above what is wrong with it."""
VERDICTS = ("right", "weak", "wrong")

Row = TypeVar("Row", bound=NamedTuple)


class Remark(NamedTuple):
    """What the reader of a round wrote down before the linter ran.

    Attributes:
        line: counted from 1.
        remark: in the reader's words.
        rules: the codes of rules that could say it, with spaces between; empty where no rule is about it.
        met: the code that did, as it came out in the round; empty where none did.
    """

    round: str
    repository: str
    path: str
    line: str
    remark: str
    rules: str
    met: str = ""


class Verdict(NamedTuple):
    """What the reader thinks of a finding: right and useful, weak (true, and of little consequence there) or wrong."""

    round: str
    repository: str
    path: str
    line: str
    code: str
    severity: str
    confidence: str
    verdict: str = ""
    reason: str = ""


class Place(NamedTuple):
    """A line that a finding is about, by its own place or a related one."""

    path: str
    line: int
    code: str


@dataclass(slots=True)
class Round:
    """Ten repositories that nobody linted, read or tuned on before.

    Attributes:
        name: ``1``, ``2``...
        repositories: fixed by name before the round begins.
        commits: what was checked out, by repository.
        files: the training files that were read, by repository.
        run: when and at which version the linter ran, and how much it found; empty until then.
    """

    name: str
    repositories: list[str]
    commits: dict[str, str] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)


def read_rounds(path: Path = ROUNDS) -> dict[str, Round]:
    """All rounds, by name."""
    return {one["name"]: Round(**one) for one in json.loads(path.read_text(encoding="utf-8"))}


def write_rounds(rounds: Iterable[Round], path: Path = ROUNDS) -> None:
    """Keeps all rounds."""
    plain = [{name: getattr(one, name) for name in Round.__slots__} for one in rounds]
    keep(path, plain)


def read_rows(kind: type[Row], path: Path) -> list[Row]:
    """The rows of a table; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [kind(**row) for row in csv.DictReader(file)]


def write_rows(kind: type[Row], rows: Iterable[Row], path: Path) -> None:
    """Keeps a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(kind._fields)
        writer.writerows(rows)


def met_by(remark: Remark, places: Iterable[Place]) -> str:
    """The code of the nearest finding that says what a remark says; empty where none does."""
    codes = remark.rules.split()
    near = [
        (abs(one.line - int(remark.line)), one.code)
        for one in places
        if one.path == remark.path and one.code in codes and abs(one.line - int(remark.line)) <= NEAR
    ]
    return min(near)[1] if near else ""


def precision_table(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """The lines of a table: a rule in each, all of them in the last; three columns that are never joined."""
    counts: dict[str, Counter[str]] = {}
    for one in verdicts:
        for name in (one.code, "**all**"):
            counts.setdefault(name, Counter())[one.verdict] += 1
    yield "| rule | read | right and useful | weak | wrong |"
    yield "|---|--:|--:|--:|--:|"
    for name in sorted(counts, key=lambda name: (name.startswith("*"), name)):
        count, read = counts[name], counts[name].total()
        shares = (f"{count[kind]} ({100 * count[kind] / read:.0f} %)" for kind in VERDICTS)
        yield f"| {name} | {read} | {' | '.join(shares)} |"


def recall_table(remarks: Iterable[Remark]) -> Iterator[str]:
    """The lines of a table: what some rule could say, by the first rule that could, all of it, and the rest."""
    counts: dict[str, Counter[bool]] = {}
    for one in remarks:
        for name in (one.rules.split()[0], "**all**") if one.rules else ("no rule",):
            counts.setdefault(name, Counter())[bool(one.met)] += 1
    yield "| rule that could say it | remarks | said | recall |"
    yield "|---|--:|--:|--:|"
    for name in sorted(counts, key=lambda name: (name.startswith(("*", "n")), name.startswith("n"), name)):
        count = counts[name]
        share = "–" if name == "no rule" else f"{100 * count[True] / count.total():.0f} %"
        yield f"| {name} | {count.total()} | {count[True]} | {share} |"
