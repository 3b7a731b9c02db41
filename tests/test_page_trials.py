"""The commands on pages that need a trial, or what one left: they are run, with a budget of seconds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .pages import TRIALS, a_project, mentioned, shown

SCRIPT = """\
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    data = TensorDataset(torch.randn(2000, 16), torch.randn(2000, 1))
    loader = DataLoader(data, batch_size=16)
    model = torch.nn.Linear(16, 1)
    for _ in range(1000):
        for x, y in loader:
            loss = (model(x) - y).pow(2).mean()
            model.zero_grad()
            loss.backward()
            with torch.no_grad():  # by hand: with its first optimizer torch imports its compiler, in each run
                for parameter in model.parameters():
                    parameter -= 0.01 * parameter.grad
            time.sleep(0.005)  # which leaves the cores to other tests
"""
KNOBS = "--knobs"
"""Knobs start the script up to 24 times: tests/tuning/knobs and tests/tuning/racing run them, and not this file."""
BUDGET = ("--budget", "5")
COMMANDS = {
    one.words
    for one in (*shown(), *mentioned())
    if one.words[0] == "accel-advisor" and one.words[1] in TRIALS and KNOBS not in one.words
}


def largest(commands: set[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Those whose words are not all in another one: `tune train.py` is run with `tune train.py --explain`."""
    different = {frozenset(one): one for one in sorted(commands, key=lambda words: (words[1] != "tune", words))}
    return [one for words, one in different.items() if not any(words < other for other in different)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_project(tmp_path_factory.mktemp("project"), SCRIPT)


def run(words: tuple[str, ...], project: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "accel_advisor", *words],
        cwd=project,
        env={**os.environ, "TMPDIR": str(project.parent), "NO_COLOR": "1"},  # where trials of other tests have no lock
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize("words", largest(COMMANDS), ids=" ".join)
def test_a_command_of_a_page_works(words: tuple[str, ...], project: Path) -> None:
    _, name, *arguments = words
    if name == "report" and "speed.jsonl" in arguments and not (project / "speed.jsonl").exists():
        assert run(("tune", "train.py", "--history", "speed.jsonl", *BUDGET), project).returncode == 0
    done = run((name, *(BUDGET if name == "tune" else ()), *arguments), project)  # behind `--` it is the script's
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    files = [one for one in arguments if one.endswith((".html", ".json", ".jsonl"))]
    assert [one for one in files if not (project / one).is_file()] == []


def test_commands_were_found() -> None:
    assert {one[1] for one in COMMANDS} == set(TRIALS)
    assert len(largest(COMMANDS)) >= 8
