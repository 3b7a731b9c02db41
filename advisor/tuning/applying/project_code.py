"""Which code of a stack is the project's own, and how its files are named for people."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from accel_advisor.tuning.probe.channel.wire import Frame
from accel_advisor.tuning.probe.script.stack import is_library

_SOURCES = (".py", ".ipynb", "")  # a script may have no suffix


def is_own_code(filename: str) -> bool:
    """Whether a file is source that somebody works on: neither a library's, nor gone."""
    path = Path(filename)
    return path.is_absolute() and path.suffix in _SOURCES and path.is_file() and not is_library(filename)


def own_frames(stack: Sequence[Frame], root: Path) -> list[Frame]:
    """Those of a stack's frames that are the project's own code, which may be edited."""
    base = root.resolve()
    return [
        frame for frame in stack if is_own_code(frame.filename) and Path(frame.filename).resolve().is_relative_to(base)
    ]


def own_frame(stack: Sequence[Frame], root: Path) -> Frame | None:
    """The innermost frame of the user's own code: the project's if there is one, else any that is no library's; None
    where the whole stack is libraries'."""
    own = own_frames(stack, root) or [frame for frame in stack if is_own_code(frame.filename)]
    return own[-1] if own else None


def display_name(path: str | Path, root: Path) -> str:
    """A path as people want to read it, with forward slashes: relative to the folder of the project that they work in,
    or to its root."""
    resolved, base, here = (Path(os.path.realpath(one)) for one in (path, root, os.curdir))
    if here.is_relative_to(base) and resolved.is_relative_to(here):
        base = here
    return resolved.relative_to(base).as_posix() if resolved.is_relative_to(base) else resolved.as_posix()
