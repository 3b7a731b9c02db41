"""Code that is run as a program of its own, in a fork of one interpreter that imported before what many need."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

_RUNNER = """
import json, os, socket, sys, traceback, types

def child(asked):
    status = 1
    try:
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        for number, path in enumerate(asked["output"], 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        if "tempfile" in sys.modules:
            sys.modules["tempfile"].tempdir = None
        sys.argv = asked["argv"]
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(asked["code"], "<string>", "exec"), main.__dict__)
        status = 0
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)

control = socket.socket(fileno=int(sys.argv[1]))
exec(sys.argv[2], {})
import gc
gc.freeze()  # a collection in a fork would copy each page that it looks at
for line in control.makefile():
    asked = json.loads(line)
    process = os.fork()
    if not process:
        control.detach()
        child(asked)
    control.sendall(b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
os._exit(0)
"""

_AS_PYTHON = """\
import os, runpy, sys
if sys.argv[0] == "-m":
    module = sys.argv.pop(1)
    sys.path[0] = os.getcwd()
    runpy.run_module(module, run_name="__main__", alter_sys=True)
else:
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Forks:
    """An interpreter that has imported some modules, and runs code in forks of itself, one after the other.

    What is asked of a program is asked of a fork as of a process that was started: it has its own working directory,
    environment and ``__main__``; only what it would import is there already.

    Args:
        before: the code that imports that.
    """

    def __init__(self, before: str) -> None:
        self._control, other = socket.socketpair()
        command = [sys.executable, "-c", _RUNNER, str(other.fileno()), before]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[other.fileno()])
        other.close()
        self._answers = self._control.makefile()

    def run(self, code: str, cwd: Path, argv: Iterable[str] = ("-c",)) -> subprocess.CompletedProcess[str]:
        """Runs code to its end, with the environment as it is now and nothing to read."""
        with tempfile.TemporaryDirectory() as folder:
            output = [os.path.join(folder, name) for name in ("out", "err")]
            environment = dict(os.environ)
            asked = {"code": code, "cwd": str(cwd), "argv": [*argv], "output": output, "environment": environment}
            self._control.sendall(json.dumps(asked).encode() + b"\n")
            answer = self._answers.readline()
            assert answer, "the interpreter that forks has ended"
            out, err = (Path(path).read_text(encoding="utf-8") for path in output)
        return subprocess.CompletedProcess(code, int(answer), out, err)

    def python(self, words: Iterable[str], cwd: Path) -> subprocess.CompletedProcess[str]:
        """What ``python FILE ...`` or ``python -m MODULE ...`` does."""
        return self.run(_AS_PYTHON, cwd, words)

    def close(self) -> None:
        """Ends the interpreter."""
        self._control.shutdown(socket.SHUT_RDWR)
        self._answers.close()
        self._control.close()
        assert self._process.wait(60) == 0
