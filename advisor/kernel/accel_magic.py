"""``%accel lint`` and ``%accel tune``, as IPython calls them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from IPython.core.magic_arguments import MagicArgumentParser
from IPython.display import display

from accel_advisor.config import ConfigError
from accel_advisor.kernel.findings_table import FindingsTable
from accel_advisor.kernel.notebook_path import UnknownNotebookError, notebook_path
from accel_advisor.kernel.run_cells import RunCells
from accel_advisor.kernel.trial_report import TrialReport
from accel_advisor.library.engine import Engine
from accel_advisor.library.runs import TrialError, tune
from accel_advisor.selection import SelectorError
from accel_advisor.tuning.record.schema import Record

_PROGRAM = "cells-run-so-far.ipynb"
"""What the program is called for the linter: a file of the working directory, so that its imports and the configuration
of its project are found."""


class AccelMagic:
    """The line magic of one shell. Cells that run from now on are known by the identity that the front end gives them.

    Args:
        shell: whose history is read.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._ids: dict[int, str] = {}
        shell.events.register("post_run_cell", self._note)
        shell.register_magic_function(self.run, "line", "accel")  # type: ignore[arg-type]

    def remove(self) -> None:
        """Leaves the shell as if this had not been there."""
        del self._shell.magics_manager.magics["line"]["accel"]
        self._shell.events.unregister("post_run_cell", self._note)

    def run(self, line: str) -> None:
        """%accel lint [--select CODES] [--ignore CODES]: what keeps an accelerator waiting in the cells run so far.

        %accel tune [NOTEBOOK] [--apply] [--budget SECONDS] [--knobs NAMES] [--explain]: the settings of its loader that
        are fastest here, from a trial of this notebook, as it is saved, in a process of its own.

        Args:
            line: what stands behind ``%accel``.

        Raises:
            UsageError: it cannot be understood, a selector means no rule, the configuration of the project cannot be
                used, the file of the notebook is not known, or the trial came to nothing.
        """
        parser = MagicArgumentParser(prog="%accel", add_help=False)  # type: ignore[no-untyped-call]
        commands = parser.add_subparsers(dest="command", required=True)
        lint = commands.add_parser("lint", add_help=False)
        lint.add_argument("--select")
        lint.add_argument("--ignore", default="")
        trial = commands.add_parser("tune", add_help=False)
        trial.add_argument("notebook", nargs="?")
        trial.add_argument("--apply", action="store_true")
        trial.add_argument("--explain", action="store_true")
        trial.add_argument("--budget", type=float, default=60.0)
        trial.add_argument("--knobs")
        given = parser.parse_args(_words(line))
        if given.command == "tune":
            knobs = [] if given.knobs is None else ["--knobs", given.knobs]
            explain = ["--explain"] if given.explain else []
            found = self._tuned(given.notebook, given.budget, given.apply, [*knobs, *explain])
            display(TrialReport(found, f"%accel {line.strip()}"))  # type: ignore[no-untyped-call]
            return
        select = None if given.select is None else _codes(given.select)
        display(self._linted(select, _codes(given.ignore)))  # type: ignore[no-untyped-call]

    def _linted(self, select: Sequence[str] | None, ignore: Sequence[str]) -> FindingsTable:
        history: list[str] = self._shell.history_manager.input_hist_raw  # type: ignore[union-attr]
        # the last is this one; the first stands for what was before the first run
        cells = RunCells(history[1:-1], self._ids)
        try:
            engine = Engine(os.getcwd(), select=select, ignore=ignore)
            engine.update(_PROGRAM, cells.notebook())
            found = engine.findings(_PROGRAM)
        except (ConfigError, SelectorError) as error:
            raise UsageError(str(error)) from error
        latest = cells.latest
        placed = [(one, one.span.start.cell) for one in found]
        return FindingsTable([one for one, cell in placed if cell is not None and cell.number in latest], cells)

    def _tuned(self, named: str | None, budget: float, apply: bool, options: Sequence[str]) -> Record:
        try:
            path = notebook_path(named, self._shell.user_ns, os.environ)
            return tune(path, budget=budget, apply=apply, options=options)
        except (UnknownNotebookError, TrialError) as error:
            raise UsageError(str(error)) from error

    def _note(self, result: ExecutionResult) -> None:
        cell = getattr(result.info, "cell_id", None)  # IPython has it since 7.34 and 8.3
        if result.execution_count is not None and cell is not None:
            self._ids[result.execution_count] = cell


def _words(line: str) -> list[str]:
    """The words of a line; quotes hold one together that has spaces, as in ``"Colab Notebooks/train.ipynb"``.

    Raises:
        UsageError: a quote is not closed.
    """
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = lexer.escape = ""  # a backslash is a part of a path of Windows
    try:
        return list(lexer)
    except ValueError as error:
        raise UsageError(f"%accel {line.strip()}: a quote is not closed") from error


def _codes(words: str) -> list[str]:
    return [word for word in words.split(",") if word]


_MAGICS: dict[int, AccelMagic] = {}


def load(shell: Any) -> None:
    """Gives a shell the magic."""
    _MAGICS[id(shell)] = AccelMagic(shell)


def unload(shell: Any) -> None:
    """Takes out of a shell what :func:`load` put in."""
    _MAGICS.pop(id(shell)).remove()
