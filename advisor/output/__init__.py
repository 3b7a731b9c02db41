"""The formats of reports. Each file of this folder is one, under the name that ``--output-format`` knows it by: its
function ``render`` takes a :class:`~accel_advisor.linting.report.Report` and a :class:`Screen`, and returns text."""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accel_advisor.linting.report import Report

DEFAULT = "text"
FOR_PEOPLE = frozenset({DEFAULT, "concise"})
"""Formats that are read from the top to the end. The others mark each place, as an editor does."""


@dataclass(frozen=True, slots=True)
class Screen:
    """What a report is shown on.

    Attributes:
        colour: whether it shows colours.
        width: columns that messages are wrapped at, or None to leave each on one line.
    """

    colour: bool = False
    width: int | None = None


def formats() -> list[str]:
    """The names of all formats, the default first."""
    files = (os.path.splitext(name) for name in os.listdir(os.path.dirname(__file__)))
    names = {stem for stem, suffix in files if suffix == ".py" and not stem.startswith("_")}
    return sorted(names, key=lambda name: (name != DEFAULT, name))


def rendered(report: Report, name: str, screen: Screen) -> str:
    """A report in the format of this name, which must be one of :func:`formats`."""
    text: str = importlib.import_module(f"{__name__}.{name}").render(report, screen)
    return text
