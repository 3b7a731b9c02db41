"""A notebook as a script: what of it runs, and what keeps it from being run."""

from __future__ import annotations

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from accel_advisor.source.document import is_notebook
from accel_advisor.source.notebook import Notebook
from accel_advisor.source.program_lines import row_for_people
from accel_advisor.source.runnable_cells import RunnableCells
from accel_advisor.syntax.line_breaks import in_one_line

_LONGEST = 40


def cells_of(notebook: Notebook) -> dict[str, Any]:
    """The cells of a notebook, as the probe runs them."""
    return {"text": notebook.text, "cells": [(one.row, one.python) for one in RunnableCells.of(notebook).cells]}


def lack_of(name: str, notebook: Notebook) -> str:
    """Why a notebook of that name cannot be run here, with the remedy, in one sentence; empty where it can."""
    found = RunnableCells.of(notebook)
    if not any(one.python.strip() for one in found.cells):
        return f"{name} has no code cell in Python: a trial runs the cells of a notebook whose kernel is Python's"
    if found.magics and find_spec("IPython") is None:
        first = found.magics[0]
        return (
            f"cell {first.cell} of {name} needs IPython for `{_short(first.text)}`, and IPython is not installed for "
            f"{sys.executable}: `{sys.executable} -m pip install ipython`"
        )
    return ""


def left_out(notebook: Notebook) -> list[str]:
    """What a trial does not run of a notebook, in notes."""
    return [
        f"`{_short(one.text)}` in cell {one.cell} was left out: a trial installs nothing"
        for one in RunnableCells.of(notebook).left_out
    ]


def in_cells(text: str, script: Path | None) -> str:
    """A traceback whose places in a notebook are those of its cells; any other text as it is."""
    if script is None or not is_notebook(str(script)):
        return text
    name = os.path.abspath(script)

    def place(found: re.Match[str]) -> str:
        cell, row = row_for_people(name, int(found[1]))
        return f'File "{name}", cell {cell}, line {row}' if cell is not None else found[0]

    return re.sub(rf'File "{re.escape(name)}", line (\d+)', place, text)


def _short(magic: str) -> str:
    return in_one_line(magic.replace("\\\n", " "), _LONGEST)
