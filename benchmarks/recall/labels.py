"""What an expert says of places in public code, and whether a report meets it."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..checkouts import folder_of

HERE = Path(__file__).resolve().parent

RULES: dict[str, frozenset[str]] = {
    "missing-pin-memory": frozenset({"dataloader-missing-pin-memory", "timm-pin-memory"}),
    "no-workers": frozenset({"dataloader-num-workers-zero", "hf-args-dataloader-workers"}),
    "blocking-transfer": frozenset({"blocking-host-to-device-copy"}),
    "missing-device-move": frozenset(
        {
            "batch-not-on-model-device",
            "model-not-moved",
            "gpu-detected-but-unused",
            "tensor-created-on-cpu-in-forward",
            "loss-weight-on-cpu",
        }
    ),
    "discarded-transfer": frozenset({"discarded-to-result", "batch-not-on-model-device"}),
    "cuda-in-dataset": frozenset({"cuda-in-dataset-or-collate"}),
    "loader-in-epoch-loop": frozenset({"dataloader-rebuilt-per-epoch"}),
    "sync-in-hot-loop": frozenset({"host-sync-every-step", "synchronize-in-loop"}),
    "loss-graph-accumulation": frozenset({"loss-accumulation-keeps-graph"}),
    "data-parallel": frozenset({"data-parallel-module"}),
    "empty-cache-in-loop": frozenset({"empty-cache-in-loop"}),
    "eval-without-no-grad": frozenset({"eval-without-no-grad"}),
}
"""The rules of a linter that answer a label."""
CORE = ("missing-pin-memory", "no-workers", "blocking-transfer", "missing-device-move", "discarded-transfer")
LONG = 12
"""Lines from which on a finding counts as standing at its first line only: a whole loop is no place."""


class Label(NamedTuple):
    """What is expected at a line: ``must`` be reported, ``must_not`` be, or ``either``, which is not scored.

    Attributes:
        line: the first line of the call or loop, counted from 1.
        hard: whether it takes another file, a base class or a helper's body to know.
        why: the reason in words.
    """

    repository: str
    path: str
    line: int
    rule: str
    expect: str
    hard: bool
    why: str


class Tree(NamedTuple):
    """A labelled repository: its commit, and the git blob of each labelled file."""

    repository: str
    commit: str
    files: Mapping[str, str]

    def folder(self, checkouts: Path) -> Path:
        """Where its checkout is expected: ``owner+name``."""
        return folder_of(self.repository, checkouts)

    def differing(self, checkouts: Path) -> list[str]:
        """The labelled files that are missing in the checkout, or others than those that were read."""
        root = self.folder(checkouts)
        return [path for path, blob in self.files.items() if blob_of(root / path) != blob]


@dataclass(slots=True)
class Score:
    """Counts of one label's rule.

    Attributes:
        met, missed: of those that must be reported; ``hard`` of the met, and all that are hard.
        wrong, quiet: of those that must not be.
    """

    met: int = 0
    missed: int = 0
    wrong: int = 0
    quiet: int = 0
    hard: Counter[bool] = field(default_factory=Counter)

    def __add__(self, other: Score) -> Score:
        return Score(
            self.met + other.met,
            self.missed + other.missed,
            self.wrong + other.wrong,
            self.quiet + other.quiet,
            self.hard + other.hard,
        )

    @property
    def precision(self) -> float | None:
        """The share of labelled reports that are right; None where there is none."""
        reports = self.met + self.wrong
        return self.met / reports if reports else None

    @property
    def recall(self) -> float | None:
        """The share of what must be reported that is; None where nothing must be."""
        required = self.met + self.missed
        return self.met / required if required else None


Reports = Mapping[tuple[str, str], Iterable[tuple[int, int]]]
"""First and last lines of what a tool reports, by file and by the name of its rule."""


def read_labels(path: Path = HERE / "labels.csv") -> list[Label]:
    """All labels."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Label(
                one["repository"],
                one["path"],
                int(one["line"]),
                one["rule"],
                one["expect"],
                one["hard"] == "yes",
                one["why"],
            )
            for one in csv.DictReader(file)
        ]


class Contested(NamedTuple):
    """A label that the linter does not follow on purpose, and the reason in words."""

    repository: str
    path: str
    line: int
    rule: str
    why: str


def read_contested(path: Path = HERE / "contested.csv") -> list[Contested]:
    """The labels that are contested."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [Contested(one["repository"], one["path"], int(one["line"]), one["rule"], one["why"]) for one in rows]


def uncontested(labels: Iterable[Label], contested: Iterable[Contested]) -> list[Label]:
    """The other labels."""
    places = {one[:4] for one in contested}
    return [one for one in labels if one[:4] not in places]


def read_trees(path: Path = HERE / "trees.json") -> list[Tree]:
    """The repositories that the labels are about."""
    return [Tree(**one) for one in json.loads(path.read_text(encoding="utf-8"))]


def blob_of(path: Path) -> str:
    """The name that git gives to a file's content; empty where there is no such file."""
    try:
        raw = path.read_bytes()
    except OSError:
        return ""
    return hashlib.sha1(b"blob %d\0" % len(raw) + raw).hexdigest()


def spots(finding: Mapping[str, Any]) -> list[tuple[str, tuple[int, int]]]:
    """The places that a finding of the linter's JSON is about, its own and the related ones: each with its file, and
    its first and last line."""
    own = finding["filename"], (finding["location"]["row"], finding["end_location"]["row"])
    return [own, *((one["filename"], (one["location"]["row"],) * 2) for one in finding["related"])]


def is_met(label: Label, reports: Reports) -> bool:
    """Whether something is reported there: for what must not be, at the very line; else at most a line beside it."""
    names = RULES[label.rule] | {label.rule}
    places = [place for name in names for place in reports.get((label.path, name), ())]
    if label.expect == "must_not":
        return any(first == label.line for first, _ in places)
    return any(
        first - 1 <= label.line <= max(first, last if last - first < LONG else first) + 1 for first, last in places
    )


def scored(labels: Iterable[Label], reports: Reports) -> tuple[dict[str, Score], list[Label]]:
    """The score of each label's rule, and the labels that are missed or broken."""
    scores: dict[str, Score] = {}
    failed: list[Label] = []
    for label in labels:
        score, met = scores.setdefault(label.rule, Score()), is_met(label, reports)
        if label.expect == "must":
            score.met += met
            score.missed += not met
            score.hard[met] += label.hard
        elif label.expect == "must_not":
            score.wrong += met
            score.quiet += not met
        if (label.expect, met) in (("must", False), ("must_not", True)):
            failed.append(label)
    return scores, failed
