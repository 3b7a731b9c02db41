"""When, at which commit and on what the figures of a benchmark were measured, without a name or a path."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from accel_advisor.editing.fixer import write_atomically
from accel_advisor.machine.machine import inspect_machine


def today() -> str:
    """The day, as JSON has it."""
    return datetime.date.today().isoformat()


def commit() -> str:
    """The commit of this checkout, in twelve digits; nothing where that is not known. ``BENCHMARK_COMMIT`` names
    it in a copy without its history."""
    if given := os.environ.get("BENCHMARK_COMMIT"):
        return given[:12]
    command = ["git", "rev-parse", "--short=12", "HEAD"]
    with contextlib.suppress(OSError):
        return subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True).stdout.strip()
    return ""


def processor() -> str:
    """The model of the processor, or its architecture where the model is not known."""
    return inspect_machine().processor or platform.machine()


def machine() -> dict[str, Any]:
    """The machine of a record, together with its software, the day and the commit."""
    import torch

    return {
        "processor": processor(),
        "cores": int(inspect_machine().cores),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "date": today(),
        "commit": commit(),
    }


def keep(path: Path | None, record: object) -> None:
    """Writes a record as JSON, if it is to be written."""
    if path is not None:
        write_atomically(path, (json.dumps(record, indent=1) + "\n").encode())


def put(page: str, name: str, text: str) -> str:
    """A page with another text between its marks: ``<!-- name -->`` and ``<!-- end of name -->``."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    head, _, rest = page.partition(begin)
    return f"{head}{begin}{text}{end}{rest.partition(end)[2]}"


def write_scores(page: Path, found: str) -> None:
    """Puts tables between the marks of scores in a page."""
    write_atomically(page, put(page.read_text(), "scores", f"{found}\n").encode())
