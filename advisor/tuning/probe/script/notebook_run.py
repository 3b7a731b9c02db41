"""Runs the cells of a notebook in their order, as a kernel does, with IPython's shell where it is installed."""

from __future__ import annotations
import __future__

import ast
import asyncio
import builtins
import importlib.util
import inspect
import io
import linecache
import os
import sys
import tempfile
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag


def run(script: str, notebook: dict[str, Any]) -> None:
    """Run the cells to the end of the last.

    Args:
        script: the file of the notebook; code objects bear its name, and lines are those of the program.
        notebook: the ``text`` of all cells as one program, and ``cells``, a list of the row at which each begins there,
            from 1, and of what it is in Python.
    """
    path = os.path.abspath(script)
    sys.argv[:] = [script]
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    text = notebook["text"]
    linecache.cache[path] = (len(text), None, io.StringIO(text).readlines(), path)
    main = ModuleType("__main__")  # without a file: what its cells define is found by no process but forks of this one
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    if importlib.util.find_spec("IPython") is not None:
        _open_shell(main)
    for code in _compiled(path, notebook["cells"]):
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(code, main.__dict__))
        else:
            exec(code, main.__dict__)


def _compiled(path: str, cells: list[tuple[int, str]]) -> Iterator[CodeType]:
    """The code of each cell, when its turn has come."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    for row, python in cells:
        try:
            code = compile("\n" * (row - 1) + python, path, "exec", flags, dont_inherit=True)
        except SyntaxError as error:
            error.text = linecache.getline(path, error.lineno or 0)  # CPython looks into the file, which is JSON
            raise
        flags |= code.co_flags & _FUTURE  # holds for all further cells
        yield code


def _open_shell(main: ModuleType) -> None:
    """Gives the cells ``get_ipython`` and ``display``. The shell keeps no history and reads no profile."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Shell(InteractiveShell):
        """One that draws nothing, since nobody looks."""

        def enable_gui(self, gui: Any = None) -> None:
            pass

        def enable_matplotlib(self, gui: Any = None) -> Any:
            return gui, "agg"

    config = Config()
    config.HistoryManager.enabled = False
    hook, argv = sys.excepthook, sys.argv[:]
    shell = Shell.instance(
        user_module=main, user_ns=main.__dict__, ipython_dir=tempfile.mkdtemp(prefix="ipython-"), config=config
    )
    shell.builtin_trap.activate()
    sys.excepthook, sys.argv[:], sys.modules["__main__"] = hook, argv, main
