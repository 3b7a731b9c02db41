"""The keys of ``[tool.accel-advisor]`` with what each is for: what ``init`` writes and the reference is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from accel_advisor.config import TABLE

PER_FILE = "per-file-ignores"
"""The one key that is written as a table."""


@dataclass(frozen=True, slots=True)
class Topic:
    """Keys that one sentence is about.

    Attributes:
        says: what they are for.
        keys: each with an example or its default, in TOML.
    """

    says: str
    keys: Mapping[str, str]


GROUPS = (
    (
        Topic(
            "Rules that do not run, by code, name or prefix; `accel-advisor rule --all` lists them.",
            {"ignore": '["ACC102"]'},
        ),
        Topic("Rules that run besides those that are on by default.", {"extend-select": '["torch-compile-missing"]'}),
        Topic("Rules that run instead of those that are on by default.", {"select": '["ACC1", "ACC2"]'}),
    ),
    (
        Topic(
            "What is not linted, in the notation of .gitignore; tests, docs and what git ignores are skipped anyway.",
            {"exclude": '["legacy/"]'},
        ),
        Topic("What is linted although it would be skipped.", {"include": '["benchmarks/train.py"]'}),
    ),
    (
        Topic('Findings below this severity are not shown: "error", "warning" or "info".', {"min-severity": '"info"'}),
        Topic("Findings at or above this one make the exit status 1.", {"fail-on": '"warning"'}),
        Topic(
            '"proven" shows only what the code itself says, "evident" also what an expert reader would conclude.',
            {"min-confidence": '"evident"'},
        ),
        Topic("Whether what is of little consequence where it stands is shown, too.", {"minor": "false"}),
    ),
    (
        Topic(
            "What the code runs on, where the project does not declare it in its requirements.",
            {"torch-version": '">=2.4"', "python-version": '"3.11"', "platform": '["linux"]'},
        ),
    ),
    (
        Topic(
            "The findings that the project lives with; `accel-advisor lint --write-baseline FILE` writes it.",
            {"baseline": '"accel-baseline.json"'},
        ),
    ),
    (
        Topic(
            "What `accel-advisor tune` runs when no script is named.",
            {"tune": '{ script = "train.py", args = ["--epochs", "1"] }'},
        ),
    ),
    (Topic("Rules that do not run in some files.", {PER_FILE: '"scripts/*.py" = ["ACC1"]'}),),
)
"""All keys, in the order in which a configuration shows them, with an empty line between groups."""


def commented() -> str:
    """The table with every key as a comment."""
    parts = [
        f"[{TABLE}]\n"
        '# Each key is shown with an example or its default: take the "# " away from what you want to change.\n'
        "# `accel-advisor lint --show-settings` prints what holds.\n"
    ]
    parts += ["".join(f"# {line}\n" for topic in group for line in _lines(topic)) for group in GROUPS]
    return "\n".join(parts)


def _lines(topic: Topic) -> Iterator[str]:
    yield topic.says
    for key, example in topic.keys.items():
        if key == PER_FILE:
            yield f"[{TABLE}.{key}]"
            yield example
        else:
            yield f"{key} = {example}"
