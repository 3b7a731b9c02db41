"""What to do about a script that fails for what is around it: interpreter, driver, GPU, shared memory."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping

_MISSING = re.compile(r"^ModuleNotFoundError: No module named '([\w.]+)'", re.MULTILINE)
_NO_DRIVER = re.compile(
    r"Found no NVIDIA driver|driver on your system is too old|No CUDA GPUs are available"
    r"|CUDA driver initialization failed|Unexpected error from cudaGetDeviceCount|CUDA unknown error"
)
_NO_CUDA = re.compile(r"Torch not compiled with CUDA enabled")
_BUSY = re.compile(r"busy or unavailable|cudaErrorDevicesUnavailable")
_DEVICE_MEMORY = re.compile(r"CUDA out of memory|cudaErrorMemoryAllocation|OutOfMemoryError: (?:CUDA|HIP)")
_SHARED = re.compile(
    r"(?:insufficient|out of|unable to allocate) shared memory|bus error|No space left.*/dev/shm",
    re.I,
)
_ARGUMENT = re.compile(r"\bsys\.argv\b.*?^IndexError: list index out of range", re.MULTILINE | re.DOTALL)
_INPUT = re.compile(r"^EOFError: EOF when reading a line", re.MULTILINE)
_DENIED = re.compile(r"^PermissionError: \[Errno 13\] Permission denied: (.+)$", re.MULTILINE)


def environment_remedy(failure: str, command: str, environment: Mapping[str, str]) -> str:
    """A remedy in words; empty where the words of the failure name none of these.

    Args:
        failure: its traceback, or what it wrote to stderr.
        command: the command that tunes it, without arguments of its own.
        environment: of this process.
    """
    missing = _MISSING.search(failure)
    if missing is not None:
        return f"`{missing[1]}` is not installed for {sys.executable}, which runs it: {_other(environment)}"
    remedies: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
        (_NO_CUDA, lambda _: "this torch is built for the CPU only: install a build for CUDA, which the selector on "
                             "pytorch.org/get-started names, or let the script run where there is no GPU"),
        (_NO_DRIVER, lambda _: "torch finds no GPU that it can use: `nvidia-smi` shows whether there is a driver and "
                               "how new it is, `accel-advisor doctor` what torch was built for"),
        (_BUSY, lambda _: "another process holds the GPU: `nvidia-smi` shows which; choose another one with "
                          "CUDA_VISIBLE_DEVICES, or wait until it has ended"),
        (_DEVICE_MEMORY, lambda _: "the memory of the GPU is full before the training begins: `nvidia-smi` shows "
                                   "whether another process takes it"),
        (_SHARED, lambda _: "/dev/shm is too small for the batches of its workers: `--shm-size=8g` or `--ipc=host` in "
                            "Docker, an `emptyDir` of `medium: Memory` in Kubernetes"),
        (_ARGUMENT, lambda _: f"it reads arguments of its own, which stand behind `--`: `{command} -- ARGS`"),
        (_INPUT, lambda _: "it asks a question, and nobody is there to answer in a trial: let an argument of the "
                            "script answer it, or a value in the notebook"),
        (_DENIED, lambda found: f"it may not read or write {found[1]}: run it as the user who may"),
    )  # fmt: skip
    for pattern, words in remedies:
        found = pattern.search(failure)
        if found is not None:
            return words(found)
    return ""


def missing_torch(environment: Mapping[str, str]) -> str:
    """What ``tune`` says where its own interpreter has no torch: most often it is not the one of the training."""
    return (
        f"torch is not installed for {sys.executable}, which runs accel-advisor, and tune runs the script with it: "
        f"{_other(environment, f' (`{sys.executable} -m pip install torch`)')}"
    )


def _other(environment: Mapping[str, str], command: str = "") -> str:
    active = environment.get("VIRTUAL_ENV") or environment.get("CONDA_PREFIX") or ""
    own = "install accel-advisor with its extra [tune] into the environment that the script runs in"
    if active and not sys.prefix.startswith(active):
        return f"{own}; {active} is active here and has another interpreter"
    return f"install it there{command}, or {own}"
