"""`accel-advisor init`: what it writes is read, and nothing is overwritten."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from accel_advisor.commands.starting.init_command import CONFIGURATION
from accel_advisor.config import Config

from ...conftest import Run
from ..scripts import SLOW

OTHERS = """\
# ours
repos:
- repo: https://example.org/hooks
  rev: v1
  hooks:
  - id: tidy

ci:
  autofix_prs: false
"""


def test_both_files_are_made_and_read(run: Run, project: Path) -> None:
    (project / "train.py").write_text(SLOW)
    done = run("init", "--yes")
    assert done.status == 0, done.err
    assert "+[tool.accel-advisor]" in done.out
    assert Config.read(project / "pyproject.toml") == Config(root=project, path=project / "pyproject.toml")
    (hook,) = yaml.safe_load((project / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    program, *args = hook["entry"].split()
    assert program == "accel-advisor"
    assert run(*args, "train.py").out.startswith("train.py:")
    again = run("init", "--yes")
    assert (again.status, again.out) == (0, "")
    assert again.err.count("left as it is") == 2


def test_every_key_that_it_shows_is_one_and_none_is_missing(tmp_path: Path) -> None:
    lines = [re.sub(r"^# (?=[\w-]+ = |\[|\"[^\"]+\" = )", "", line) for line in CONFIGURATION.splitlines()]
    (tmp_path / "pyproject.toml").write_text("\n".join(lines))
    config = Config.read(tmp_path / "pyproject.toml")
    assert config is not None
    assert config.tune_script == "train.py"
    assert config.per_file_ignores
    shown = set(re.findall(r"^# ([\w-]+) = ", CONFIGURATION, re.MULTILINE)) | {"per-file-ignores"}
    assert shown == set(config.settings()) - {"root", "config"}


def test_what_is_there_stays(run: Run, project: Path) -> None:
    (project / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (project / ".pre-commit-config.yaml").write_text(OTHERS)
    assert run("init", "-y").status == 0
    assert (project / "pyproject.toml").read_text() == f"[project]\nname = 'x'\n\n{CONFIGURATION}"
    text = (project / ".pre-commit-config.yaml").read_text()
    old, new = yaml.safe_load(OTHERS), yaml.safe_load(text)
    assert new["repos"][:1] == old["repos"]
    assert new["repos"][1]["hooks"][0]["id"] == "accel-advisor"
    assert new["ci"] == old["ci"]
    assert [line for line in text.splitlines() if line in OTHERS.splitlines()]


def test_a_form_that_is_not_known_is_left_to_the_user(run: Run, project: Path) -> None:
    (project / ".pre-commit-config.yaml").write_text("repos: []\n")
    done = run("init", "-y")
    assert (project / ".pre-commit-config.yaml").read_text() == "repos: []\n"
    assert "put this below `repos:` yourself:\n# Runs the accel-advisor of" in done.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("[tool", "is not valid TOML"), ("[tool.accel-advisor]\nselct = []\n", "there is no key 'selct'")],
)
def test_a_wrong_file_is_named(run: Run, project: Path, text: str, sentence: str) -> None:
    (project / "pyproject.toml").write_text(text)
    done = run("init", "-y")
    assert done.status == 2
    assert sentence in done.err
    assert (project / "pyproject.toml").read_text() == text


def test_without_a_repository_there_is_no_hook(run: Run, project: Path) -> None:
    (project / ".git").rmdir()
    assert "is no git repository, so there is no hook to write" in run("init", "-y").err
    assert [one.name for one in project.iterdir()] == ["pyproject.toml"]


@pytest.mark.parametrize(("answer", "written"), [("y", True), ("n", False)])
def test_a_terminal_is_asked(project: Path, answer: str, written: bool) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, f"{answer}\n".encode())
    done = subprocess.run(
        [sys.executable, "-m", "accel_advisor", "init"],
        cwd=project,
        stdin=theirs,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0, done.stderr
    assert "Write this? [y/N]" in done.stdout
    assert (project / "pyproject.toml").exists() == written


def test_nobody_is_there_to_be_asked(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "accel_advisor", "init"],
        cwd=project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    said = "nothing was written, since nobody can be asked here: say `accel-advisor init --yes`"
    assert done.stderr.endswith(f"Error: {said}\n")
    assert list(project.iterdir()) == [project / ".git"]
