"""Scratch repositories, and a copy of this one, for tests that drive other programs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WRONG = """\
from torch.utils.data import DataLoader

loader = DataLoader(range(9), persistent_workers=True)
"""
"""An error with a safe fix."""
RIGHT = WRONG.replace(", persistent_workers=True", "")
NO_INDEX = ("No matching distribution", "Could not find a version", "Temporary failure", "Max retries")
"""What pip says where no package index can be reached."""

ROLES = ("AUTHOR", "COMMITTER")


def environment(**more: str) -> dict[str, str]:
    """What a program sees that is run in a scratch repository, whatever git said to those who called the tests."""
    identity = {f"GIT_{role}_{what}": f"a{'@b.c' * (what == 'EMAIL')}" for role in ROLES for what in ("NAME", "EMAIL")}
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "FORCE_COLOR"))}
    return {**plain, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "NO_COLOR": "1", **more}


def git(folder: Path, *args: str) -> str:
    """What git prints.

    Raises:
        CalledProcessError: it failed.
    """
    command = ["git", "-c", "protocol.file.allow=always", *args]
    return subprocess.run(
        command, cwd=folder, env=environment(), check=True, capture_output=True, encoding="utf-8"
    ).stdout


def repository(folder: Path, files: Mapping[str, str]) -> Path:
    """A repository with one commit, on branch main."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    write(folder, files)
    git(folder, "commit", "-q", "-m", "First")
    return folder


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Writes files and stages them."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(folder, "add", "-A")


def own_checkout(folder: Path) -> Path:
    """A copy of this checkout as it is now, without what git ignores; the test is skipped where this is none."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True
    )
    if listed.returncode != 0:
        pytest.skip("not a checkout: there is no git here to list the files")
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder
