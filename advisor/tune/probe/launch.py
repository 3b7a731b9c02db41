"""Entry of the child process: ``python launch.py``, with the plan on its standard input.

Started as a file, so that neither an installed accel-advisor nor the folder of the user's command is needed to find the
probe, and nothing of the user's can shadow what it imports.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = "accel_advisor.tune.probe"


def _package() -> None:
    """Make the probe importable under its own name, without the package around it."""
    folder = Path(__file__).resolve().parent
    name = ""
    for part, path in zip(PACKAGE.split("."), (folder.parent.parent, folder.parent, folder), strict=True):
        name = f"{name}.{part}".lstrip(".")
        module = ModuleType(name)
        module.__path__ = [str(path)]
        sys.modules[name] = module


def _die_with_parent(parent: int) -> None:
    if sys.platform.startswith("linux"):
        pr_set_pdeathsig = 1
        ctypes.CDLL(None, use_errno=True).prctl(pr_set_pdeathsig, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def main() -> None:
    """Read the plan, connect to the parent, run the user's command under the probe."""
    began = time.perf_counter()
    plan: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    _die_with_parent(plan["guard"])
    _package()
    from accel_advisor.tune.probe.child import Child

    Child(plan, began).run()


if __name__ == "__main__":
    main()
