"""Runs the user's command as ``python script``, ``python -m module`` or a notebook's kernel would, in this process."""

from __future__ import annotations

import builtins
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

from accel_advisor.tuning.probe.script import notebook_run
from accel_advisor.tuning.probe.script.stack import is_probe


@dataclass(frozen=True, slots=True)
class Ending:
    """How the script came to its end: its exit status, and its own traceback where it raised."""

    status: int
    traceback: str = ""


def run(
    script: str | None, module: str | None, args: list[str], cwd: str, notebook: dict[str, Any] | None = None
) -> Ending:
    """Run the command to its end, its non-daemon threads included.

    The module stays ``sys.modules["__main__"]`` afterwards, as under the interpreter itself, so that classes of the
    script can be pickled by atexit handlers and sent to workers that are started by spawn.

    Args:
        notebook: what :func:`notebook_run.run` takes, where the script is one.
    """
    try:
        if script is not None and notebook is not None:
            notebook_run.run(script, notebook)
        else:
            code, main = _script(script, args) if script is not None else _module(module or "", args, cwd)
            sys.modules["__main__"] = main
            exec(code, main.__dict__)
        ending = Ending(0)
    except SystemExit as stop:
        ending = Ending(_status(stop))
    except BaseException as error:
        ending = Ending(1, own_traceback(error))
        error.__traceback__ = _without_probe(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    return ending


def own_traceback(error: BaseException) -> str:
    """The traceback as plain Python would have printed it, without the probe's frames."""
    shown = traceback.TracebackException.from_exception(error)
    seen: list[Any] = [shown]
    while seen:
        each = seen.pop()
        if each is None:
            continue
        each.stack = traceback.StackSummary.from_list([frame for frame in each.stack if not is_probe(frame.filename)])
        seen.extend((each.__cause__, each.__context__))
    return "".join(shown.format())


def _without_probe(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and is_probe(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def _status(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code
    print(stop.code, file=sys.stderr)
    return 1


def _script(script: str, args: list[str]) -> tuple[CodeType, ModuleType]:
    path = Path(os.path.abspath(script))
    sys.argv[:] = [script, *args]
    sys.path[0] = str(path.resolve().parent)
    with io.open_code(str(path)) as file:
        source = file.read()
    code = compile(source, str(path), "exec", dont_inherit=True)
    main = ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", str(path))
    main.__dict__.update(__file__=str(path), __builtins__=builtins, __loader__=loader, __cached__=None, __spec__=None)
    return code, main


def _module(name: str, args: list[str], cwd: str) -> tuple[CodeType, ModuleType]:
    sys.path[0] = cwd
    sys.argv[:] = ["-m", *args]
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        name = f"{name}.__main__"
        spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{sys.executable}: No module named {name}")
    code = spec.loader.get_code(name)  # type: ignore[attr-defined]
    if code is None:
        raise SystemExit(f"{sys.executable}: No code object available for {name}")
    main = ModuleType("__main__")
    main.__dict__.update(
        __file__=spec.origin,
        __builtins__=builtins,
        __loader__=spec.loader,
        __package__=spec.parent,
        __spec__=spec,
        __cached__=spec.cached,
    )
    sys.argv[0] = spec.origin or name
    return code, main
