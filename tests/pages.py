"""The commands on the pages of the project: those of the README, of docs/, and of what is recorded."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*/README.md")),
)
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
"""Blocks of commands are marked `sh`, what programs print `text`."""
_INLINE = re.compile(r"`(accel-advisor [a-z-]+(?: [^`]*)?)`")
_ENDS = {"&&", ";"}
TRIALS = ("tune", "report")
"""Commands that need a trial, or what one left."""


@dataclass(frozen=True, slots=True)
class PageCommand:
    """A command as a page shows it.

    Attributes:
        page: relative to the root.
        words: as a shell reads them; the first is the program without its folder.
    """

    page: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: {' '.join(self.words)}"


def shown() -> Iterator[PageCommand]:
    """The commands in blocks, one by one."""
    for page in PAGES:
        for _, mark, block in _FENCE.findall(page.read_text(encoding="utf-8")):
            for line in block.splitlines() if mark == "sh" else ():
                yield from _commands(str(page.relative_to(ROOT)), line)


def unmarked() -> Iterator[str]:
    """The pages with a block of which nobody knows whether it is one of commands."""
    for page in PAGES:
        if any(not mark for _, mark, _ in _FENCE.findall(page.read_text(encoding="utf-8"))):
            yield str(page.relative_to(ROOT))


def mentioned() -> Iterator[PageCommand]:
    """The commands within sentences that have no placeholders."""
    for page in PAGES:
        for text in _INLINE.findall(page.read_text(encoding="utf-8")):
            if not re.search(r"\b[A-Z]{3,}\b(?!\d)|\[|\.\.\.", text):
                yield from _commands(str(page.relative_to(ROOT)), text)


def _commands(page: str, line: str) -> Iterator[PageCommand]:
    words: list[str] = []
    for word in [*shlex.split(line, comments=True), ";"]:
        if word not in _ENDS:
            words.append(word)
        elif words:
            own = list(dropwhile(re.compile(r"[A-Z_]+=").match, words))
            yield PageCommand(page, (Path(own[0]).name, *own[1:]))
            words = []


def a_project(folder: Path, script: str) -> Path:
    """A repository with a training script, a notebook of it, and a branch that it left."""
    (folder / "train.py").write_text(script, encoding="utf-8")
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**cell, "source": script.splitlines(keepends=True)}]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "train.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    for name in ("trial.json", "before.json", "after.json"):
        shutil.copy(ROOT / "docs" / "recorded" / "trial.json", folder / name)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", str(folder)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "It"]):
        subprocess.run([*git, *words], check=True)
    subprocess.run([*git, "update-ref", "refs/remotes/origin/main", "HEAD"], check=True)
    return folder
