"""What fixing a copy of a project comes to."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accel_advisor.selection import INTERNAL_ERROR

from .rows import named_rows, names_lost, stray_lines

LINT = [sys.executable, "-m", "accel_advisor", "lint", "--no-cache", "--exit-zero", "--output-format", "json"]
KINDS = {"safe": ("--fix",), "unsafe": ("--fix", "--unsafe-fixes")}
"""The options that make the fixes of each kind."""
ALLOWED = {"safe": {"safe"}, "unsafe": {"safe", "unsafe"}}

Found = dict[str, Any]
"""A finding, as JSON has it."""


@dataclass(slots=True)
class Outcome:
    """What fixes of a kind did to one project.

    Attributes:
        files: how many of its files were changed.
        fixes: how many findings with such a fix it had.
        wrong: what must not be, each in a sentence.
        new: findings that are there after the fixes only, with their file and code.
    """

    files: int = 0
    fixes: int = 0
    wrong: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


def lint(folder: Path, *options: str) -> list[Found]:
    """The findings in a folder.

    Raises:
        SystemExit: the linter failed.
    """
    done = subprocess.run([*LINT, *options, "."], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{folder.name}: {done.stderr.strip()}")
    found: list[Found] = json.loads(done.stdout)
    return found


def copied(project: Path, folder: Path) -> Path:
    """A copy of a project, without its history, but with the mark of a repository where it has one: what is one
    project there would be several ones here."""
    copy = folder / project.name
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns(".git"), ignore_dangling_symlinks=True)
    if (project / ".git").exists():
        (copy / ".git").mkdir()
    return copy


def check(project: Path, scratch: Path, kind: str, first: list[Found]) -> Outcome:
    """Makes all fixes of a kind in a copy of a project, twice; makes no copy where it has none.

    Args:
        first: what is found in the project as it is.
    """
    outcome = Outcome(fixes=sum(_has_fix(one, kind) for one in first))
    if not outcome.fixes:
        return outcome
    copy = copied(project, scratch)
    before = {path: path.read_bytes() for path in sorted(copy.rglob("*.py")) if path.is_file()}
    left = lint(copy, *KINDS[kind])
    after = {path: path.read_bytes() for path in before}
    again = lint(copy, *KINDS[kind])
    changed = [path for path in before if before[path] != after[path]]
    rows = named_rows([*_edits(copy, (one for one in first if _has_fix(one, kind))), *_places(copy, first)])
    outcome.files = len(changed)
    for path in before:
        name = path.relative_to(copy).as_posix()
        if path.read_bytes() != after[path]:
            outcome.wrong.append(f"{name}: changed again by a second run")
        if path in changed:
            outcome.wrong += [f"{name}: {one}" for one in _broken(before[path], after[path])]
            strays = stray_lines(before[path], after[path], rows.get(path.resolve(), set()))
            outcome.wrong += [f"{name}:{row}: changed, and no finding names this line" for row in strays]
    for one in (*left, *again):
        if _has_fix(one, kind) or one["code"] == INTERNAL_ERROR[0]:
            outcome.wrong.append(f"{one['filename']}:{one['location']['row']}: {one['code']} is left: {one['message']}")
    added = Counter(map(_key, again)) - Counter(key for one in first for key in _keys(one))
    outcome.new += [f"{name}: {code}, {count} more" for (name, code), count in sorted(added.items())]
    shutil.rmtree(copy)
    return outcome


def _has_fix(finding: Found, kind: str) -> bool:
    return (finding["fix"] or {}).get("applicability") in ALLOWED[kind]


def _key(finding: Found) -> tuple[str, str]:
    return finding["filename"], finding["code"]


def _keys(finding: Found) -> Iterator[tuple[str, str]]:
    """That of a finding, and those of its related places: one of less consequence is a finding of its own once the
    one that it stood with is mended."""
    yield _key(finding)
    yield from ((place["filename"], finding["code"]) for place in finding["related"])


def _edits(copy: Path, findings: Iterable[Found]) -> Iterator[tuple[Path, int, int]]:
    """File, first and last line of each edit."""
    for finding in findings:
        for edit in finding["fix"]["edits"]:
            path = (copy / (edit.get("filename") or finding["filename"])).resolve()
            yield path, edit["location"]["row"], edit["end_location"]["row"]


def _places(copy: Path, findings: Iterable[Found]) -> Iterator[tuple[Path, int, int]]:
    """File and line, twice, of each related place: those of less consequence say there what is done about them."""
    for finding in findings:
        for place in finding["related"]:
            yield (copy / place["filename"]).resolve(), place["location"]["row"], place["location"]["row"]


def _broken(before: bytes, after: bytes) -> Iterator[str]:
    """Why Python does not compile a text that it compiled before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escapes in what was there before
        try:
            compile(before, "before", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return
        try:
            compile(after, "after", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            yield f"does not compile any more: {error}"
            return
    for name in sorted(names_lost(before, after)):
        yield f"uses {name}, which it imports no more"
