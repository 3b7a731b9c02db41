"""Both hooks, by the real pre-commit in scratch repositories."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from .checkouts import NO_INDEX, RIGHT, ROOT, WRONG, environment, git, repository, write
from .commands.scripts import SLOW


def notebook(source: str) -> str:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def configuration(*ids: str) -> str:
    """Our hooks as they are, run by the program that is tested here instead of one that pre-commit installs."""
    hooks = []
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()):
        program, _, args = hook["entry"].partition(" ")
        assert program == "accel-advisor"
        hooks.append({**hook, "language": "system", "entry": f"{sys.executable} -m accel_advisor {args}"})
    chosen = [hook for hook in hooks if hook["id"] in ids]
    return yaml.safe_dump({"repos": [{"repo": "local", "hooks": chosen}]})


def pre_commit(folder: Path, home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pre_commit", *args]
    return subprocess.run(
        command,
        cwd=folder,
        env=environment(PRE_COMMIT_HOME=str(home), PIP_NO_COMPILE="1"),
        capture_output=True,
        encoding="utf-8",
    )


def test_the_hook_fails_where_lint_does_and_is_short(tmp_path: Path) -> None:
    files = {
        ".pre-commit-config.yaml": configuration("accel-advisor"),
        "pyproject.toml": '[tool.accel-advisor]\nexclude = ["legacy/"]\n',
        "train.py": WRONG,
        "legacy/old.py": WRONG,
        "notes.ipynb": notebook(WRONG),
        "README.md": "torch\n",
    }
    root = repository(tmp_path / "r", files)
    done = pre_commit(root, tmp_path / "home", "run", "--all-files")
    assert done.returncode == 1
    found = [line for line in done.stdout.splitlines() if ": ACC" in line]
    assert [line.split(": ACC")[0] for line in found] == ["notes.ipynb:cell 1:3:10", "train.py:3:10"]
    write(root, {"train.py": RIGHT, "notes.ipynb": notebook(RIGHT)})
    done = pre_commit(root, tmp_path / "home", "run", "--all-files")
    assert (done.returncode, "Passed" in done.stdout) == (0, True), done.stdout


def test_the_fixing_hook_writes_and_fails_once(tmp_path: Path) -> None:
    files = {
        ".pre-commit-config.yaml": configuration("accel-advisor-fix"),
        "train.py": WRONG,
        "notes.ipynb": notebook(WRONG),
    }
    root = repository(tmp_path / "r", files)
    done = pre_commit(root, tmp_path / "home", "run", "--all-files")
    assert (done.returncode, "files were modified by this hook" in done.stdout) == (1, True), done.stdout
    assert (root / "train.py").read_text() == RIGHT
    assert json.loads((root / "notes.ipynb").read_text())["cells"][0]["source"] == RIGHT
    done = pre_commit(root, tmp_path / "home", "run", "--all-files")
    assert (done.returncode, "Passed" in done.stdout) == (0, True), done.stdout


def test_a_commit_is_held_back_until_it_is_right(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {".pre-commit-config.yaml": configuration("accel-advisor"), "a.py": "x = 1\n"})
    assert pre_commit(root, tmp_path / "home", "install").returncode == 0
    write(root, {"train.py": WRONG})
    with pytest.raises(subprocess.CalledProcessError) as held:
        git(root, "commit", "-q", "-m", "It")
    assert "ACC104" in held.value.stdout + held.value.stderr
    write(root, {"train.py": RIGHT})
    git(root, "commit", "-q", "-m", "It")
    assert git(root, "log", "--format=%s").split() == ["It", "First"]


def test_both_hooks_as_pre_commit_installs_them(tmp_path: Path) -> None:
    """From this checkout, into an environment of pre-commit's own, with the package index."""
    if subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True).returncode != 0:
        pytest.skip("not a checkout: there is no commit that pre-commit could take")
    root = repository(tmp_path / "r", {"train.py": SLOW, "wrong.py": WRONG})
    done = pre_commit(root, tmp_path / "home", "try-repo", str(ROOT), "--all-files")
    if "accel-advisor..." not in done.stdout and any(one in done.stdout + done.stderr for one in NO_INDEX):
        pytest.skip("there is no package index here that pre-commit could install from")
    assert done.returncode == 1, done.stderr
    assert "train.py:19:10: ACC102" in done.stdout
    assert "wrong.py:3:10: ACC104" in done.stdout
    assert "files were modified by this hook" in done.stdout
    assert (root / "wrong.py").read_text() == RIGHT
