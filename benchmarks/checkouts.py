"""Checkouts of other people's repositories that figures are measured on: one folder each, called owner+name."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

AROUND = 12
"""Lines around a finding that are shown of its file, on each side."""


def folder_of(repository: str, among: Path) -> Path:
    """Where the checkout of ``owner/name`` stands."""
    return among / repository.replace("/", "+", 1)


def clone(repository: str, commit: str, among: Path) -> None:
    """Fetches a repository at a commit; what stands there already is left as it is.

    Raises:
        subprocess.CalledProcessError: git failed.
    """
    root = folder_of(repository, among)
    if root.exists():
        return
    subprocess.run(["git", "clone", "--quiet", f"https://github.com/{repository}", root], check=True)
    subprocess.run(["git", "-C", root, "checkout", "--quiet", commit], check=True)


def revision(folder: Path) -> str:
    """The commit that is checked out in a folder."""
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


def lint(root: Path, *paths: str, options: Sequence[str] = ()) -> list[dict[str, Any]]:
    """What the linter reports on a checkout, or on some of its files, by default and with everything that it calls
    info.

    Args:
        options: of `accel-advisor lint`, besides.

    Raises:
        SystemExit: it failed.
    """
    command = [sys.executable, "-m", "accel_advisor", "lint", "--no-cache", "--exit-zero", "--min-severity", "info"]
    done = subprocess.run(
        [*command, "--output-format", "json", *options, *paths], cwd=root, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{root.name}: {done.stderr.strip()}")
    found = list(json.loads(done.stdout))
    for one in (at for finding in found for at in (finding, *finding["related"])):
        path = Path(one["filename"])
        one["filename"] = (path.relative_to(root.resolve()) if path.is_absolute() else path).as_posix()
    return found


def excerpt(root: Path, head: str, finding: dict[str, Any]) -> str:
    """A finding for somebody who reads it: its words, its fix, and the lines around it."""
    row, fix = finding["location"]["row"], finding["fix"]
    shown = [f"## {head}", finding["message"]]
    if fix is not None:
        texts = ", ".join(repr(edit["content"]) for edit in fix["edits"])
        shown.append(f"fix ({fix['applicability']}): {fix['message']}: {texts}")
    shown += [f"- {one['filename']}:{one['location']['row']} {one['message']}" for one in finding["related"]]
    if finding["cell"] is None:
        lines = (root / finding["filename"]).read_text(encoding="utf-8", errors="replace").splitlines()
        first = max(0, row - 1 - AROUND)
        around = enumerate(lines[first : row + AROUND], first + 1)
        shown += ["```", *(f"{at}{'>' if at == row else ' '} {text}" for at, text in around), "```"]
    return "\n".join(shown) + "\n"
