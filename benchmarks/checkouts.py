"""Checkouts of other people's repositories that figures are measured on: one folder each, called owner+name."""

from __future__ import annotations

import subprocess
from pathlib import Path


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
