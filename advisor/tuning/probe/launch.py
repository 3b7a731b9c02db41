"""Entry of the child process: ``python launch.py``, with the plan on its standard input.

Where the plan wants several ranks this process becomes the elastic launcher's agent, and each rank enters by
``python launch.py PLAN``, with the plan in a file.

Started as a file, so that neither an installed accel-advisor nor the folder of the user's command is needed to find the
probe, and nothing of the user's can shadow what it imports.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = "accel_advisor.tuning.probe"


def _package() -> None:
    """Make the probe importable under its own name, without the package around it."""
    folder = Path(__file__).resolve().parent
    name = ""
    for part, path in zip(PACKAGE.split("."), (folder.parent.parent, folder.parent, folder), strict=True):
        name = f"{name}.{part}".lstrip(".")
        module = ModuleType(name)
        module.__path__ = [str(path)]
        sys.modules[name] = module


_ENDS = 64
"""How often a script may read to the end of its terminal."""


def _read_nothing(terminal: tuple[int, int] | None) -> None:
    """Let the script's standard input be at its end: that of a terminal of so many rows and columns where it would have
    one, since some scripts ask it for its size and fail where there is none."""
    if terminal is None:
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        return
    import pty
    import termios

    outer, inner = pty.openpty()
    termios.tcsetwinsize(inner, terminal)
    os.write(outer, _ENDS * b"\x04")
    os.dup2(inner, 0)
    os.close(inner)  # the other side stays open as long as this process: without it there is no terminal


def _die_with_parent(parent: int) -> None:
    if sys.platform.startswith("linux"):
        import ctypes
        import signal

        pr_set_pdeathsig = 1
        ctypes.CDLL(None, use_errno=True).prctl(pr_set_pdeathsig, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


_SITE = """\
import importlib.util, sys
sys.path[:] = [path for path in sys.path if path != {site!r}]
_spec = importlib.util.spec_from_file_location("_accel_advisor_launch", {launch!r})
_launch = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_launch)
_launch.join({scratch!r})
sys.modules.pop("sitecustomize", None)
if importlib.util.find_spec("sitecustomize") is not None:
    import sitecustomize
else:
    sys.modules["sitecustomize"] = _launch
"""


def invite(scratch: str) -> None:
    """Let every Python that this process starts, such as workers by spawn and forkserver, join the overlay."""
    site = f"{scratch}/site"
    os.makedirs(site, exist_ok=True)
    mine = f"{site}/{os.getpid()}"
    with open(mine, "w", encoding="utf-8") as file:
        file.write(_SITE.format(site=site, launch=__file__, scratch=scratch))
    os.replace(mine, f"{site}/sitecustomize.py")
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{site}{os.pathsep}{known}" if known else site


def join(scratch: str) -> None:
    """Be contained too: called at the start of a Python process that a contained one has started."""
    if not os.path.isdir(scratch):
        return
    _package()
    from accel_advisor.tuning.probe.containment.other_processes import Elsewhere
    from accel_advisor.tuning.probe.containment.overlay import Overlay
    from accel_advisor.tuning.probe.containment.patches import Containment
    from accel_advisor.tuning.probe.script.import_watch import TORCH, import_without_collection

    import_without_collection(*TORCH)
    Containment(Overlay(scratch, fresh=False)).install()
    Elsewhere(scratch).watch()
    note_pids(scratch)
    name_semaphores(scratch)


def note_pids(scratch: str) -> None:
    """Note this process and all that fork from it: shared memory is named after processes that may be long gone."""
    path = f"{scratch}/pids"

    def note() -> None:
        try:
            number = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except FileNotFoundError:  # the trial is over
            return
        os.write(number, b"%d\n" % os.getpid())
        os.close(number)

    note()
    os.register_at_fork(after_in_child=note)


def name_semaphores(scratch: str) -> None:
    """Let the semaphores of this process and of its workers bear the trial's name: once their owners are killed,
    nothing else shows whose they were."""
    from multiprocessing import process

    from accel_advisor.tuning.probe.guard import semaphores

    process.current_process()._config["semprefix"] = f"/{semaphores(scratch)}"  # type: ignore[attr-defined]


def _torchrun(plan: dict[str, Any]) -> None:
    """Be the agent of PyTorch's elastic launcher, which starts this file again as every rank."""
    path = f"{plan['scratch']}/plan.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(plan, file)
    del sys.path[0]  # this folder, whose modules are not meant to be found by their bare names
    ranks, place = str(plan["ranks"]), plan["place"]
    where = ["--standalone"]
    if place is not None:
        where = ["--nnodes", str(place["nodes"]), "--node-rank", str(place["number"]), "--rdzv-backend", "static"]
        where += ["--rdzv-endpoint", place["endpoint"], f"--rdzv-id={place['name']}"]
    sys.argv[:] = ["torchrun", *where, "--nproc-per-node", ranks, "--max-restarts", "0", __file__, path]
    gc.disable()  # as in a rank; the agent itself makes hardly any garbage, and waits
    with contextlib.suppress(ImportError):  # torchrun raises it again
        importlib.import_module("torch")
    gc.freeze()
    gc.enable()
    runpy.run_module("torch.distributed.run", run_name="__main__", alter_sys=True)


def main() -> None:
    """Read the plan, connect to the parent, run the user's command under the probe."""
    ranked = len(sys.argv) > 1
    if ranked:
        with open(sys.argv[1], encoding="utf-8") as file:
            plan: dict[str, Any] = json.load(file)
    else:
        plan = json.loads(sys.stdin.buffer.read())
    _read_nothing(plan.get("terminal"))
    _die_with_parent(os.getppid() if ranked else plan["guard"])
    if plan["ranks"] and not ranked:
        _torchrun(plan)
        return
    _package()
    invite(plan["scratch"])
    note_pids(plan["scratch"])
    name_semaphores(plan["scratch"])
    from accel_advisor.tuning.probe.child import Child

    Child(plan).run()


if __name__ == "__main__":
    main()
