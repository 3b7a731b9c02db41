"""Whether the script's own code names a DataLoader although none was built yet: its training may begin later."""

from __future__ import annotations

import linecache
import sys

from accel_advisor.tuning.probe.script.stack import is_library, is_probe

_NAME = "DataLoader"


def names_loader() -> bool:
    """Whether a file of the script that was imported by now, or a cell of its notebook, names one outside of
    comments."""
    modules = {name for one in list(sys.modules.values()) if isinstance(name := getattr(one, "__file__", None), str)}
    return any(_names(name) for name in sorted(modules | set(linecache.cache)) if _is_own(name))


def _is_own(name: str) -> bool:
    return name.endswith((".py", ".ipynb")) and not (name.startswith("<") or is_probe(name) or is_library(name))


def _names(filename: str) -> bool:
    return any(_NAME in line.partition("#")[0] for line in linecache.getlines(filename))
