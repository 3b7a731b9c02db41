"""What is advised where a script fails for what is around it: the first mistakes of people."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from accel_advisor.tuning.target.environment_remedies import environment_remedy, missing_torch

COMMAND = "accel-advisor tune train.py"


def failure_of(source: str, tmp_path: Path) -> str:
    """What Python says when it runs a script."""
    (tmp_path / "train.py").write_text(source)
    done = subprocess.run(
        [sys.executable, "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize(
    ("source", "remedy"),
    [
        ("import not_there_at_all\n", f"`not_there_at_all` is not installed for {sys.executable}, which runs it: "),
        ("import sys\nprint(sys.argv[1])\n", f"stand behind `--`: `{COMMAND} -- ARGS`"),
        ("input('Which GPU? ')\n", "it asks a question, and nobody is there to answer in a trial"),
    ],
)
def test_what_python_says(source: str, remedy: str, tmp_path: Path) -> None:
    assert remedy in environment_remedy(failure_of(source, tmp_path), COMMAND, {})


def test_what_this_torch_says(tmp_path: Path) -> None:
    import torch

    if torch.version.cuda is not None:
        pytest.skip("this torch is built for CUDA")
    failure = failure_of("import torch\ntorch.zeros(1).cuda()\n", tmp_path)
    assert "is built for the CPU only" in environment_remedy(failure, COMMAND, {})


FILLS_SHARED_MEMORY = """\
import torch
from torch.utils.data import DataLoader
if __name__ == "__main__":
    for _ in DataLoader([torch.zeros(4, 1 << 20)], num_workers=1):
        pass
"""


def test_what_torch_says_where_shared_memory_is_small(tmp_path: Path) -> None:
    """In a mount namespace of its own, whose /dev/shm holds a megabyte."""
    (tmp_path / "train.py").write_text(FILLS_SHARED_MEMORY)
    small = "mount -t tmpfs -o size=1m none /dev/shm || exit 77"
    run = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        f'{small}; exec "$0" train.py',
        sys.executable,
    ]
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare")
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("this system gives no mount namespaces")
    assert done.returncode == 1, done.stderr
    assert "/dev/shm is too small" in environment_remedy(done.stderr, COMMAND, {})


WORDS = {
    "RuntimeError: Found no NVIDIA driver on your system.": "`nvidia-smi` shows",
    "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was attempted on non "
    "supported HW": "how new it is",
    "torch.AcceleratorError: CUDA error: CUDA-capable device(s) is/are busy or unavailable": "another process holds",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.": "whether another process takes it",
    "RuntimeError: DataLoader worker (pid 9) is killed by signal: Bus error. It is possible that dataloader's workers "
    "are out of shared memory.": "/dev/shm is too small",
    "PermissionError: [Errno 13] Permission denied: '/data/x'": "it may not read or write '/data/x'",
}
"""What torch and the system say on machines that are not this one, as reported by people."""


@pytest.mark.parametrize("failure", WORDS)
def test_what_other_machines_say(failure: str) -> None:
    assert WORDS[failure] in environment_remedy(f"Traceback (most recent call last):\n{failure}\n", COMMAND, {})


@pytest.mark.parametrize("failure", ["", "ValueError: no driver\n", "IndexError: list index out of range\n"])
def test_where_the_words_do_not_tell_there_is_none(failure: str) -> None:
    assert environment_remedy(failure, COMMAND, {}) == ""


def test_the_environment_that_is_active_is_named() -> None:
    assert sys.executable in missing_torch({})
    assert "/envs/train is active here and has another interpreter" in missing_torch({"VIRTUAL_ENV": "/envs/train"})
    assert "is active here" not in missing_torch({"VIRTUAL_ENV": sys.prefix})


def test_tune_without_torch(tmp_path: Path) -> None:
    """The real command, in an interpreter that finds no torch."""
    (tmp_path / "train.py").write_text("import torch\n")
    code = (
        "import sys, importlib.util as u\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'torch' else find(name, *rest)\n"
        "from accel_advisor.cli import main\n"
        "main(['tune', 'train.py'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ}
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"Error: torch is not installed for {sys.executable}, which runs accel-advisor, ")


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("import not_there_at_all\n", "`not_there_at_all` is not installed for"),
        (
            "import sys\nprint('Usage: train.py DATA')\nsys.exit(1)\n",
            "1: Usage: train.py DATA: its own arguments stand behind `--`: `accel-advisor tune train.py -- ARGS`",
        ),
        ("import sys\nprint(sys.argv[1])\n", "stand behind `--`: `accel-advisor tune train.py -- ARGS`"),
    ],
)
def test_the_command_says_it(source: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(source)
    done = subprocess.run(
        [sys.executable, "-m", "accel_advisor", "tune", "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "TMPDIR": str(tmp_path)},  # where trials of other tests have no lock
    )
    assert done.returncode == 2
    assert sentence in done.stderr.splitlines()[-1]
