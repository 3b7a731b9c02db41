"""Patterns in the notation of .gitignore, and the .gitignore files around a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_ANYWHERE = "^(?:.+/)?"
"""How pathspec's pattern of a line begins that holds in every folder."""
_NAMED = re.compile(r"\(\?P<\w+>")


def is_pattern(line: str) -> bool:
    """Whether a line means anything: ``!`` alone does not."""
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def spec_of(lines: Iterable[str]) -> GitIgnoreSpec | None:
    """What the lines say together; None where they say nothing. A line that means nothing is skipped, as git does."""
    told = [line for line in lines if line.strip() and not line.startswith("#")]
    if not told:
        return None
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(told)
    except ValueError:
        return spec_of([line for line in told if is_pattern(line)])


def any_line_of(spec: GitIgnoreSpec) -> re.Pattern[str]:
    """What is found in each path that a line speaks of, and perhaps in others. Most paths are those of no line, and to
    ask line by line takes ten times as long."""
    texts = [_NAMED.sub("(?:", one.regex.pattern) for one in spec.patterns if one.regex is not None]
    anywhere = [text.removeprefix(_ANYWHERE) for text in texts if text.startswith(_ANYWHERE)]
    rest = [text for text in texts if not text.startswith(_ANYWHERE)]
    return re.compile("|".join([f"{_ANYWHERE}(?:{'|'.join(anywhere)})", *rest] if anywhere else rest))


class Ignores:
    """The .gitignore files that hold in a folder, those of the folders above it in the same repository included.

    Args:
        top: the folder, by absolute path; its own file counts once it is entered.
    """

    def __init__(self, top: str) -> None:
        self._levels: list[tuple[str, re.Pattern[str], GitIgnoreSpec]] = []
        above: list[str] = []
        folder = os.path.dirname(top)
        if not os.path.exists(os.path.join(top, ".git")):
            while True:
                above.append(folder)
                if os.path.exists(os.path.join(folder, ".git")):
                    break
                if os.path.dirname(folder) == folder:
                    above = []
                    break
                folder = os.path.dirname(folder)
        for folder in reversed(above):
            self._add(folder)

    def entering(self, folder: str, has_file: bool) -> Ignores:
        """These and the one of a folder below, where there is one."""
        if not has_file:
            return self
        deeper = Ignores.__new__(Ignores)
        deeper._levels = list(self._levels)
        deeper._add(folder)
        return deeper

    def ignored(self, path: str, *, folder: bool) -> bool:
        """Whether the deepest .gitignore that says anything about a path says that it is ignored."""
        for base, any_line, spec in reversed(self._levels):
            relative = os.path.relpath(path, base).replace(os.sep, "/") + "/" * folder
            verdict = spec.check_file(relative).include if any_line.search(relative) else None
            if verdict is not None:
                return verdict
        return False

    def _add(self, folder: str) -> None:
        try:
            lines = Path(folder, ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:  # most folders have none
            return
        spec = spec_of(lines)
        if spec is not None:
            self._levels.append((folder, any_line_of(spec), spec))
