"""The site of docs/: it builds strictly, and the commands on its pages do what they are shown for."""

from __future__ import annotations

import json
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
from accel_advisor.rule import registry

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
BUILT = ("pip",)
"""Programs whose lines are not run here: CI installs the package before its tests."""
TRIALS = ("tune", "report")
"""Commands that need the minutes of a trial, or what one left: their lines are read by their own parsers here, and run
in ``make demo`` and in the tests of ``tune``."""


def commands() -> Iterator[tuple[str, list[str]]]:
    for page in sorted(DOCS.rglob("*.md")):
        for block in SHELL.findall(page.read_text(encoding="utf-8")):
            for line in block.splitlines():
                words = shlex.split(line, comments=True)
                if words and words[0] not in BUILT:
                    yield f"{page.relative_to(DOCS)}: {' '.join(words)}", words


COMMANDS = dict(commands())


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the script of the demo, and a notebook of it."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "fixtures" / "demo" / "train.py", folder)
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    source = (folder / "train.py").read_text().splitlines(keepends=True)
    notebook = {"cells": [{**cell, "source": source}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "train.ipynb").write_text(json.dumps(notebook))
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_command_of_a_page_works(words: list[str], project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    program, name, *arguments = words
    assert program == "accel-advisor"
    if name in TRIALS:
        parent = click.Context(cli, **cli.context_settings)  # a command keeps the names of help that it is first given
        command = cli.get_command(parent, name)
        assert command is not None
        command.make_context(name, arguments, parent=parent)
        return
    before = {path: path.read_bytes() for path in project.glob("train.*")}
    done = CliRunner().invoke(cli, [name, *arguments])
    for path, content in before.items():
        path.write_bytes(content)
    assert done.exit_code in (0, 1), done.output
    assert not isinstance(done.exception, Exception), done.output


def test_the_site_builds_and_has_a_page_for_each_rule(tmp_path: Path) -> None:
    """Strictly: every link leads to a page and a heading, and every page is in the navigation."""
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.parent.name for path in tmp_path.glob("rules/ACC*/index.html")} >= set(registry())
    page = (tmp_path / "rules" / "ACC402" / "index.html").read_text(encoding="utf-8")
    assert "What the fix changes" in page
    assert "torch.amp.GradScaler" in page


def test_links_between_files_become_links_between_pages(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import site_pages; print(site_pages.for_site('[a](../benchmarks/recall/README.md#x) [b](json.md) "
            "[c](../pyproject.toml)', 'docs/guides.md', 'guides.md'))",
        ],
        cwd=DOCS,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[a](evidence/recall.md#x) [b](json.md) c (`pyproject.toml`)"
