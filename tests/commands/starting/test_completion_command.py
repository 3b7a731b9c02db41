"""Completion in real shells."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ...conftest import Run

PRESS = {
    "bash": """
COMP_WORDS=({words}); COMP_CWORD={at}; _accel_advisor_completion accel-advisor
printf "%s\\n" "${{COMPREPLY[@]}}"
""",
    "fish": "complete -C '{line}'",
}
"""What makes a shell that has read its start files complete a line, and print what it offers."""


def offered(shell: str, home: Path, *words: str) -> list[str]:
    """What a new shell of a user offers behind some words."""
    line = " ".join(words)
    press = PRESS[shell].format(words=" ".join(f"'{one}'" for one in words), at=len(words) - 1, line=line)
    options = {"bash": ["--rcfile", str(home / ".bashrc"), "-i"], "fish": []}[shell]
    done = subprocess.run(
        [shell, *options, "-c", press],
        env={
            "PATH": f"{program(home)}:{os.environ['PATH']}",
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "TERM": "dumb",
        },
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return [one.split("\t")[0] for one in done.stdout.splitlines()]


def program(home: Path) -> Path:
    """A folder with `accel-advisor` as it is tested here."""
    folder = home / "bin"
    folder.mkdir(exist_ok=True)
    script = folder / "accel-advisor"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m accel_advisor "$@"\n')
    script.chmod(0o755)
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_new_shell_completes(run: Run, home: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (home / ".bashrc").write_text("alias ll='ls -l'")
    done = run("completion", shell)
    assert done.status == 0, done.err
    commands = offered(shell, home, "accel-advisor", "")
    assert {"lint", "tune", "rule", "doctor", "init"} <= set(commands)
    assert not {"new-rule", "man-page"} & set(commands)
    assert offered(shell, home, "accel-advisor", "rule", "dataloader-num-workers-z") == ["dataloader-num-workers-zero"]
    assert "ACC102" in offered(shell, home, "accel-advisor", "lint", "--select", "ACC10")
    assert run("completion", shell).status == 0
    if shell == "bash":
        assert (home / ".bashrc").read_text().count("accel-advisor: completion") == 1
        assert (home / ".bashrc").read_text().startswith("alias ll='ls -l'\n")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (b"accel-advisor rule dataloader-num-workers-z\t", "dataloader-num-workers-zero"),
        (b"accel-advisor comple\t", "accel-advisor completion"),
        (b"accel-advisor lint --select ACC10\t", "ACC102  -- dataloader-num-workers-zero"),
    ],
)
def test_zsh_completes_at_its_prompt(run: Run, home: Path, typed: bytes, offered: str) -> None:
    """Completion of zsh works at a prompt only, so keys are pressed in a terminal."""
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    assert run("completion", "zsh").status == 0
    with (home / ".zshrc").open("a") as start:
        start.write("PS1='ready> '\n")
    ours, theirs = pty.openpty()
    environment = {"PATH": f"{program(home)}:{os.environ['PATH']}", "HOME": str(home), "TERM": "xterm"}
    shell = subprocess.Popen(
        ["zsh", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=home, start_new_session=True
    )
    try:
        shown(ours, "ready> ")
        os.write(ours, typed)
        assert offered in shown(ours, offered)
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)
        os.close(theirs)


def shown(terminal: int, awaited: str) -> str:
    """What a terminal shows until some words are there, without its control sequences."""
    text = ""
    until = time.monotonic() + 60
    while awaited not in text and time.monotonic() < until:
        if select.select([terminal], [], [], 1)[0]:
            text += re.sub(r"\x1b\[[\d;?]*[a-zA-Z]|.\x08", "", os.read(terminal, 1 << 16).decode(errors="replace"))
    return text


def test_several_rules_behind_commas(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_ACCEL_ADVISOR_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "accel-advisor lint --ignore ACC101,ACC10")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert "plain,ACC101,ACC102" in run().out.splitlines()


def test_the_shell_is_that_of_the_user(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    assert "compdef" in run("completion", "--show").out
    assert list(home.iterdir()) == []
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    done = run("completion")
    assert done.status == 2
    assert "$SHELL is 'tcsh': name the shell, as in `accel-advisor completion bash`" in done.err


def test_a_home_that_cannot_be_written(run: Run, home: Path) -> None:
    (home / ".local").write_text("in the way")
    done = run("completion", "bash")
    assert done.status == 2
    assert "`--show` prints the script" in done.err
