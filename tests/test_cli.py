"""The command line as a process: what is imported for it, its colours, its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from accel_advisor import __version__

from .commands.scripts import NOT_TORCH, SLOW


def python(*args: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *args],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


class TestProcess:
    def test_as_a_module(self, tmp_path: Path) -> None:
        done = python("-m", "accel_advisor", "--version", cwd=tmp_path)
        assert (done.returncode, done.stdout.strip()) == (0, f"accel-advisor, version {__version__}")

    @pytest.mark.parametrize("args", [("--help",), ("lint", "--help"), ("lint", "--show-files"), ("lint", "plain.py")])
    def test_imports_only_what_it_needs(self, project: Path, args: tuple[str, ...]) -> None:
        (project / "plain.py").write_text(NOT_TORCH)
        assert imported(project, *args) == set()

    def test_a_second_run_imports_neither_parser_nor_torch(self, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        assert imported(project, "lint", status=1) == {"libcst"}
        first = python("-m", "accel_advisor", "lint", cwd=project)
        assert imported(project, "lint", status=1) == set()
        assert python("-m", "accel_advisor", "lint", "--no-cache", cwd=project).stdout == first.stdout
        (project / "train.py").write_text(SLOW + "\n")
        assert imported(project, "lint", status=1) == {"libcst"}

    def test_a_lint_works_without_torch(self, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        blocked = "import sys; sys.modules['torch'] = None; from accel_advisor.cli import main; main(sys.argv[1:])"
        done = python("-c", blocked, "lint", "--fix", "--unsafe-fixes", cwd=project)
        assert (done.returncode, done.stderr) == (0, "")

    def test_colour_follows_the_environment(self, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        assert "\x1b[" not in python("-m", "accel_advisor", "lint", cwd=project).stdout
        assert "\x1b[" in python("-m", "accel_advisor", "lint", cwd=project, NO_COLOR="", FORCE_COLOR="1").stdout


HEAVY = {
    *("libcst", "torch", "rich", "pathspec", "psutil", "packaging"),
    *("concurrent.futures.process", "importlib.metadata", "tomllib", "configparser"),
}


def imported(project: Path, *args: str, status: int = 0) -> set[str]:
    """Which heavy packages a command imports."""
    code = (
        "import sys\nfrom accel_advisor.cli import main\n"
        "try:\n    main(sys.argv[1:])\n"
        "except SystemExit as left:\n"
        f"    print(left.code, *{HEAVY} & set(sys.modules), file=sys.stderr)\n"
    )
    done = python("-c", code, *args, cwd=project)
    left, *modules = done.stderr.split()
    assert int(left) == status, done.stderr
    return set(modules)


MANY = (
    "from torch.utils.data import DataLoader, Dataset\n"
    + "DataLoader(Dataset(), num_workers=0, persistent_workers=True)\n" * 500
)
PIPE = 65_536
"""More than a pipe holds is found in it: who writes waits for a reader."""


def test_a_process_that_lints_says_everything_before_it_ends(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(MANY)
    command = [sys.executable, "-m", "accel_advisor", "lint", "--no-cache", "--output-format", "concise", "a.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stdout) > PIPE
    assert done.stdout.count("ACC104") == 500
    assert not done.stderr


def test_a_process_that_lints_does_not_mind_a_reader_that_leaves(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(MANY)
    command = [sys.executable, "-m", "accel_advisor", "lint", "--no-cache", "--output-format", "concise", "a.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (1, 141)  # 1 is what click makes of it
