"""Fixes copies of whole projects and checks what came of it: every file still parses, nothing changed outside of the
edits that the findings name, and a second run changes nothing.

    python benchmarks/fix_check.py FOLDER...

Exits with 1 where any of that does not hold.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

LINT = [sys.executable, "-m", "accel_advisor", "lint", "--no-cache"]
FIX = [*LINT, "--fix", "--unsafe-fixes"]


def edited(findings: list[dict[str, Any]]) -> Iterator[tuple[Path, int, int]]:
    """File, first and last line of each edit."""
    for finding in findings:
        for edit in (finding["fix"] or {}).get("edits", []):
            path = Path(edit.get("filename") or finding["filename"]).resolve()
            yield path, edit["location"]["row"], edit["end_location"]["row"]


def named_rows(edits: Iterable[tuple[Path, int, int]]) -> dict[Path, set[int]]:
    """The lines of each file that edits touch, with the lines beside them."""
    rows: dict[Path, set[int]] = {}
    for path, first, last in edits:
        rows.setdefault(path, set()).update(range(first - 1, last + 2))
    return rows


def stray_lines(before: bytes, after: bytes, rows: set[int]) -> list[int]:
    """Changed lines that no edit names."""
    old, new = (text.decode(errors="replace").splitlines() for text in (before, after))
    found = []
    for kind, start, end, _, _ in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal" and not rows & set(range(start + 1, end + 2)):
            found.append(start + 1)
    return found


def check(project: Path, scratch: Path) -> bool:
    """Whether fixing a copy of a project does what it should; says what it saw."""
    copy = scratch / project.name
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns(".git"))
    before = {path: path.read_bytes() for path in sorted(copy.rglob("*.py"))}
    listed = subprocess.run(
        [*LINT, "--output-format", "json", "--min-severity", "info", str(copy)], capture_output=True, text=True
    )
    findings = json.loads(listed.stdout)
    rows = named_rows(edited(findings))
    subprocess.run([*FIX, str(copy)], capture_output=True)
    after = {path: path.read_bytes() for path in before}
    subprocess.run([*FIX, str(copy)], capture_output=True)
    changed = [path for path in before if before[path] != after[path]]
    wrong = [f"{path}: changed again by a second run" for path in before if path.read_bytes() != after[path]]
    for path in changed:
        try:
            ast.parse(after[path])
        except SyntaxError as error:
            wrong.append(f"{path}:{error.lineno}: does not parse any more")
        wrong += [
            f"{path}:{row}: no finding names this line"
            for row in stray_lines(before[path], after[path], rows.get(path.resolve(), set()))
        ]
    print(
        f"{project.name}: {len(before)} files, {len(findings)} findings, {len(changed)} files changed, "
        f"{len(wrong)} wrong"
    )
    print("\n".join(wrong), end="\n" if wrong else "")
    return not wrong


def main() -> int:
    """Checks every folder that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    folders = parser.parse_args().folders
    with tempfile.TemporaryDirectory() as scratch:
        results = [check(folder.resolve(), Path(scratch, str(index))) for index, folder in enumerate(folders)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
