"""What other packages name under the entry point ``accel_advisor.rules``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "accel_advisor.rules"


def entry_points() -> list[EntryPoint]:
    """Those of the group, in the order of names.

    Most environments have none, and to import ``importlib.metadata`` takes longer than to analyse a short file: it is
    asked only where a distribution mentions the group, or where that cannot be read from the folders of ``sys.path``.
    """
    beside_folders = any(os.path.isfile(place) for place in sys.path) or any(
        hasattr(finder, "find_distributions") for finder in sys.meta_path if finder is not PathFinder
    )
    if not beside_folders and not any(GROUP.encode() in raw for raw in _declarations()):
        return []
    from importlib.metadata import entry_points

    return sorted(entry_points(group=GROUP), key=lambda one: one.name)


def _declarations() -> Iterator[bytes]:
    """The entry points of every distribution that lies in a folder of ``sys.path``, as they are written."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:  # Python names folders that are not there
            continue
        for name in names:
            if name.lower().endswith((".dist-info", "egg-info")):
                try:
                    with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                        yield file.read()
                except OSError:  # most distributions have none
                    continue
