"""Which lines of files a change touches, as git knows it: against a commit, what is not committed yet included."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from accel_advisor.project.discovery import DiscoveryError
from accel_advisor.project.roots import REPOSITORY

GIT = REPOSITORY[0]
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_OTHER_NEWLINES = re.compile(rb"\r(?!\n)")
"""git counts lines by line feeds alone."""


class GitError(DiscoveryError):
    """git is missing, or cannot say what changed; the message is one sentence with the remedy."""


class ChangedLines:
    """The lines that differ from where a branch left another one, in every repository that is asked about. A file that
    moved is compared with what it was; of a file that git does not know, each line is new.

    Args:
        ref: a commit, branch or tag. Compared is what stands on disk with the last commit that it shares with HEAD.
    """

    def __init__(self, ref: str) -> None:
        self.ref = ref
        self._tops: dict[str, str] = {}
        self._changed: dict[str, dict[str, frozenset[int]]] = {}
        self._tracked: dict[str, frozenset[str]] = {}

    def of(self, filename: str) -> frozenset[int] | None:
        """The rows of a file that are new or changed, counted from 1 as the file has them; None for all of them.

        Raises:
            GitError: the file is in no repository, the commit is not known there, or git failed.
        """
        path = os.path.realpath(filename)
        top = self._top(os.path.dirname(path), filename)
        if top not in self._changed:
            self._read(top)
        if path in self._changed[top]:
            rows = self._changed[top][path]
            return None if _OTHER_NEWLINES.search(Path(path).read_bytes()) else rows
        return frozenset() if path in self._tracked[top] else None

    def _top(self, folder: str, filename: str) -> str:
        if folder not in self._tops:
            parent = os.path.dirname(folder)
            if os.path.exists(os.path.join(folder, GIT)):
                self._tops[folder] = folder
            elif parent == folder:
                raise GitError(f"--diff-base: {filename} is in no git repository, so what changed in it is not known")
            else:
                self._tops[folder] = self._top(parent, filename)
        return self._tops[folder]

    def _read(self, top: str) -> None:
        base = self._base(top)
        options = ("--unified=0", "--inter-hunk-context=0", "--find-renames", "--no-color", "--no-ext-diff")
        plain = ("--no-textconv", "--text", "--no-relative", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short")
        diff = self._git(top, "-c", "core.quotePath=false", "diff", *options, *plain, base, "--")
        self._changed[top] = dict(_rows(top, diff.split(b"\n")))
        listed = self._git(top, "ls-files", "-z", "--full-name").split(b"\0")
        self._tracked[top] = frozenset(os.path.join(top, os.fsdecode(one)) for one in listed if one)

    def _base(self, top: str) -> str:
        commit = self._asked(top, "rev-parse", "--verify", "--quiet", f"{self.ref}^{{commit}}")
        if not commit or self.ref.startswith("-"):
            raise GitError(
                f"--diff-base: '{self.ref}' is no commit, branch or tag of the repository in {top}; "
                "a branch of a remote is fetched with `git fetch origin BRANCH` and named `origin/BRANCH`"
            )
        base = self._asked(top, "merge-base", commit, "HEAD")
        if not base:
            raise GitError(
                f"--diff-base: '{self.ref}' and HEAD have no commit in common in the repository in {top}; "
                "where it is a shallow clone, `git fetch --unshallow` brings the rest (`fetch-depth: 0` in CI)"
            )
        return base

    def _asked(self, top: str, *args: str) -> str:
        """The first line of an answer; empty where git says no.

        Raises:
            GitError: git is missing, or refuses to work at all.
        """
        done = _run(top, args)
        if done.returncode > 1:
            raise _failure(top, done)
        return done.stdout.decode(errors="replace").partition("\n")[0] if done.returncode == 0 else ""

    def _git(self, top: str, *args: str) -> bytes:
        done = _run(top, args)
        if done.returncode != 0:
            raise _failure(top, done)
        return done.stdout


def _run(top: str, args: Iterable[str]) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        return subprocess.run(["git", *args], cwd=top, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    except OSError as error:
        reason = "is not installed, or not on the PATH" if isinstance(error, FileNotFoundError) else error.strerror
        raise GitError(f"--diff-base: git {reason}; without it, what changed is not known") from error


def _failure(top: str, done: subprocess.CompletedProcess[bytes]) -> GitError:
    said = next((one for one in done.stderr.decode(errors="replace").splitlines() if one.strip()), "")
    return GitError(f"--diff-base: git failed in {top}: {said or f'exit status {done.returncode}'}")


def _rows(top: str, diff: Iterable[bytes]) -> Iterator[tuple[str, frozenset[int]]]:
    """The files of a diff without context, each with its new rows."""
    path: str | None = None
    rows: set[int] = set()
    left = 0
    for line in diff:
        if left:
            left -= line.startswith((b"+", b"-"))
        elif line.startswith(b"diff --git "):
            if path is not None:
                yield path, frozenset(rows)
            path, rows = None, set()
        elif line.startswith(b"+++ "):
            name = _unquoted(line[4:])
            path = os.path.join(top, os.fsdecode(name[2:])) if name.startswith(b"b/") else None
        elif hunk := _HUNK.match(line):
            removed, first, added = (int(one or b"1") for one in hunk.groups())
            rows.update(range(first, first + added))
            left = removed + added
    if path is not None:
        yield path, frozenset(rows)


def _unquoted(name: bytes) -> bytes:
    """A name as git writes it in a diff: within quotes where it has odd characters, with a tab behind it where it has
    spaces."""
    name = name.removesuffix(b"\t")
    if not name.startswith(b'"'):
        return name
    return _ESCAPE.sub(_character, name[1:-1])


def _character(escape: re.Match[bytes]) -> bytes:
    text = escape[1]
    return bytes([int(text, 8)]) if len(text) == 3 else _ESCAPED.get(text, text)
