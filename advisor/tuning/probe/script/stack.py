"""The stack that built a loader, with exact places."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType

from accel_advisor.tuning.probe.channel.wire import Frame

_STANDARD = str(Path(linecache.__file__).resolve().parent)
_PACKAGES = {"site-packages", "dist-packages"}
PROBE_FOLDER = str(Path(__file__).resolve().parents[1])


def is_probe(filename: str) -> bool:
    """Whether a file is one of the probe's own."""
    return filename.startswith(PROBE_FOLDER)


@cache
def is_library(filename: str) -> bool:
    """Whether a file is the standard library's or an installed package's, by its name or by what that links to."""
    path = Path(filename)
    real = path.resolve()
    if not _PACKAGES.isdisjoint(path.parts) or not _PACKAGES.isdisjoint(real.parts):
        return True
    return real.is_relative_to(_STANDARD)


def capture(frame: FrameType | None = None) -> tuple[Frame, ...]:
    """The frames from ``frame`` (the caller's caller by default) outwards, outermost first, the probe's left out."""
    frame = frame or sys._getframe(2)
    frames: list[Frame] = []
    while frame is not None:
        code = frame.f_code
        if not is_probe(code.co_filename):
            frames.append(place(code, frame.f_lasti, frame.f_lineno))
        frame = frame.f_back
    frames.reverse()
    return tuple(frames)


def library_frames() -> Iterator[FrameType]:
    """The frames outwards from the caller, up to the first that is not an installed library's; the probe's left out."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if not is_probe(filename):
            if not is_library(filename):
                return
            yield frame
        frame = frame.f_back


def place(code: CodeType, instruction: int, line: int | None = None) -> Frame:
    """The place of an instruction, given by its offset; on ``line`` where the code has no positions."""
    positions = next(islice(code.co_positions(), max(instruction, 0) // 2, None), (None, None, None, None))
    row, end_row, column, end_column = positions
    row = row or line or code.co_firstlineno
    end_row = end_row or row
    return Frame(
        filename=code.co_filename,
        function=code.co_name,
        row=row,
        column=_characters(code.co_filename, row, column),
        end_row=end_row,
        end_column=_characters(code.co_filename, end_row, end_column),
    )


def _characters(filename: str, row: int, offset: int | None) -> int:
    """CPython counts UTF-8 bytes from 0; people and documents count characters from 1."""
    if offset is None:
        return 0
    line = linecache.getline(filename, row)
    if line.isascii():
        return offset + 1
    return len(line.encode()[:offset].decode(errors="ignore")) + 1
