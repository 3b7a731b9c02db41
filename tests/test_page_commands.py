"""The commands on the pages of the README and of docs/ are run, those of other programs are there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from accel_advisor.cli import cli

from .forked import Forks
from .pages import ROOT, TRIALS, PageCommand, a_project, mentioned, shown, unmarked

ELSEWHERE = {
    "pip": "CI installs the package in each of these ways but into flake8's environment (tests/test_flake8_plugin.py)",
    "pre-commit": "tests/test_pre_commit.py runs it on a repository of this machine",
    "flake8": "tests/test_flake8_plugin.py runs it",
    "git": "it clones what is not on this machine",
    "java": "the validator is no package of pip's",
    "make": "CI runs `make test`; `make demo` is the trial of the README's demo",
}
"""Programs that are not run here, each with the reason."""
SHELL = ("mkdir", "cp", "cd", "python3")
"""What only prepares another command of its block."""
PARSED = (*TRIALS, "server", "completion", "new-rule")
"""Commands that serve, or write beyond a project: here only their options are read. test_page_trials.py runs trials."""
HAND = "build/demo"
"""The folder of the demo, which is run by hand below."""
OURS = [
    one
    for one in (*shown(), *mentioned())
    if one.words[0] == "accel-advisor" and one.page != "CONTRIBUTING.md" and HAND not in " ".join(one.words)
]
"""CONTRIBUTING makes a rule: tests/commands/test_new_rule_command.py does."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    script = (ROOT / "fixtures" / "demo" / "train.py").read_text(encoding="utf-8")
    return a_project(tmp_path_factory.mktemp("project"), script)


@pytest.mark.parametrize("command", dict.fromkeys(OURS), ids=str)
def test_a_command_of_a_page_works(command: PageCommand, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    _, name, *arguments = command.words
    if name in PARSED:
        parent = click.Context(cli, **cli.context_settings)  # a command keeps the names of help that it is first given
        found = cli.get_command(parent, name)
        assert found is not None
        if arguments:
            found.make_context(name, arguments, parent=parent)
        return
    if name == "init":  # what it asks a terminal is answered in tests/commands/starting/test_init_command.py
        arguments = [*arguments, "--yes"]
    before = {path: path.read_bytes() for path in project.glob("train.*")}
    done = CliRunner().invoke(cli, [name, *arguments])
    for path, content in before.items():
        path.write_bytes(content)
    assert done.exit_code in (0, 1), done.output
    assert not isinstance(done.exception, Exception), done.output


def benchmarks() -> dict[tuple[str, ...], set[str]]:
    """What Python is to run of the benchmarks, with a command of its own where it has some, and the options."""
    found: dict[tuple[str, ...], set[str]] = {}
    for one in shown():
        words = one.words[1:]
        if one.words[0] == "python" and any(word.startswith("benchmarks") for word in words[:2]):
            count = 2 if words[0] == "-m" else 1
            own = [word for word in words[count : count + 1] if word.isalpha() and word.islower()]
            options = re.findall(r"--[a-z-]+", " ".join(words))
            found.setdefault((*words[:count], *own), set()).update(options)
    return found


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Python, with what is the most of what benchmarks import."""
    forks = Forks("import torch, accel_advisor.tuning.tuner, accel_advisor.linting.linter")
    yield forks
    forks.close()


@pytest.mark.parametrize(("words", "options"), benchmarks().items(), ids=map(" ".join, benchmarks()))
def test_a_benchmark_of_a_page_has_the_options_that_it_is_given(
    words: tuple[str, ...], options: set[str], forks: Forks
) -> None:
    """They take hours and other people's code, so their own help is asked."""
    done = forks.python([*words, "--help"], ROOT)
    assert done.returncode == 0, done.stderr
    assert {option for option in options if option not in done.stdout} == set()


def test_every_program_of_a_page_is_known() -> None:
    known = {"accel-advisor", "python", *ELSEWHERE, *SHELL}
    assert [str(one) for one in shown() if one.words[0] not in known] == []
    assert list(unmarked()) == []


def test_make_has_the_targets_of_the_pages() -> None:
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    for one in shown():
        if one.words[0] == "make":
            assert re.search(rf"^{one.words[1]}:", rules, re.MULTILINE), one


def test_the_demo_of_the_readme_by_hand(tmp_path: Path) -> None:
    """In a folder that looks like a clone with an environment; its trial is that of `make demo`."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    ours = tmp_path / ".venv" / "bin" / "accel-advisor"
    ours.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m accel_advisor "$@"\n')
    ours.chmod(0o755)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = (one for one in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) if "make_data.py" in one)
    lines = [one for one in block.splitlines() if not re.search(r"-m (venv|pip|pytest)| tune ", one)]
    lines = [re.sub(r"(make_data\.py)\b", r"\1 --count 6", one) for one in lines]
    assert len([one for one in lines if one]) == 3
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, "-e", "-c", "\n".join(lines)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "What to do first:" in done.stdout
