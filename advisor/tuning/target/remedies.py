"""What to do about a script that failed by itself, where its last words say it."""

from __future__ import annotations

import re
import shlex
import signal
import sys
from pathlib import Path

from accel_advisor.source.document import is_notebook
from accel_advisor.tuning.probe.channel.refusals import OUT_OF_MEMORY

_USAGE = re.compile(r"^usage:.*^\S.*(error|required|unrecognized|missing|no such option)", re.I | re.M | re.S)
_RELATIVE = "ImportError: attempted relative import with no known parent package"
_MAGIC = "NameError: name 'get_ipython' is not defined"
_IPYTHON = re.compile(r"NameError: name '(get_ipython|display)' is not defined")
_ROOM = ["--knobs", "batch_size,activation_checkpointing"]


def ran_out_of_memory(failure: str, status: int | None) -> bool:
    """Whether a process most likely ran out of memory: torch, numpy and Python say so in their errors, and a system
    that has none left kills, and says nothing.

    Args:
        failure: what the process said last.
        status: its exit status; None where none is known.
    """
    return _killed(status) or OUT_OF_MEMORY.search(failure) is not None


def _killed(status: int | None) -> bool:
    return hasattr(signal, "SIGKILL") and status == -signal.SIGKILL


def remedy_for_memory(failure: str, status: int, own: list[str]) -> str:
    """A remedy for a script that takes batches and runs out of memory; empty where nothing says that it did.

    Args:
        failure, own: as :func:`remedy_of` takes them.
        status: its exit status.
    """
    if not ran_out_of_memory(failure, status):
        return ""
    likely = "most likely it ran out of memory; " if _killed(status) else ""
    smaller = f"{likely}make its batches smaller until it runs, since a knob is compared with the script as it is"
    if "--nproc-per-node" in own:
        return smaller
    split = own.index("--") if "--" in own else len(own)
    return f"{smaller}; then `{tune_line([*own[:split], *_ROOM, *own[split:]])}` finds how large they may be"


def remedy_of(failure: str, own: list[str], script: Path | None, cwd: Path) -> str:
    """A remedy in words; empty where there is none better than to make the script run.

    Args:
        failure: its traceback, or what it wrote to stderr.
        own: what is run, as it stands behind ``accel-advisor tune``.
        script: its file; None for a module.
        cwd: the folder that it runs in.
    """
    if "Traceback" not in failure and (_USAGE.search(failure) or _shows_usage_of(script, failure)):
        target = own[: own.index("--")] if "--" in own else own
        where = "its own arguments stand behind `--`"
        if target != own:
            where = "what stands behind `--` is for the script, and options of tune stand before it"
        return f"{where}: `{tune_line(target)} -- ARGS`"
    if _RELATIVE in failure and script is not None:
        module = _module(script, cwd)
        words = ["-m", module, *own[1:]] if module else []
        return f"it is part of a package, so run it as a module: `{tune_line(words)}`" if words else ""
    if script is not None and is_notebook(str(script)):
        lacks = _IPYTHON.search(failure)
        return f"`{lacks[1]}` is IPython's: `{sys.executable} -m pip install ipython`" if lacks else ""
    if _MAGIC in failure:
        return "take out the lines that the export of a notebook made of its magics, those with get_ipython"
    return ""


def _shows_usage_of(script: Path | None, failure: str) -> bool:
    """Whether a script said how it is called, as those do that look at ``sys.argv`` by themselves."""
    if script is None:
        return False
    return re.search(rf"^usage:\s.*(?<![\w-]){re.escape(script.name)}\b", failure, re.I | re.M) is not None


def _module(script: Path, cwd: Path) -> str:
    """The dotted name of a script as seen from a folder; empty where it has none."""
    if not script.is_relative_to(cwd):
        return ""
    parts = script.relative_to(cwd).with_suffix("").parts
    return ".".join(parts) if len(parts) > 1 and all(part.isidentifier() for part in parts) else ""


def tune_line(words: list[str]) -> str:
    """A command of tune, as a shell reads it."""
    return shlex.join(["accel-advisor", "tune", *words])
