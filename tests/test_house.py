"""What the README, the hooks and the Makefile promise is there."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from click.testing import CliRunner

from accel_advisor.cli import LAZY, cli
from accel_advisor.configurations import Configurations

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/lint.md", "docs/tune.md")}
"""Where a reader first meets commands and options."""


def recording() -> ModuleType:
    spec = importlib.util.spec_from_file_location("recorded_output", ROOT / "benchmarks" / "recorded_output.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_show_what_was_recorded() -> None:
    found: list[str] = []
    for name in recording().PAGES:
        assert recording().with_recordings(PAGES[name]) == PAGES[name]
        for one in re.findall(r"<!-- recorded: (\w+) -->", PAGES[name]):
            assert (ROOT / "docs" / "recorded" / f"{one}.txt").read_text(encoding="utf-8") in PAGES[name]
            found.append(one)
    assert found == list(recording().COMMANDS)


def test_the_readme_is_a_screen_and_a_half() -> None:
    assert len(README.splitlines()) <= 100
    assert re.findall(r"^make (\w+)", README, re.MULTILINE) == ["demo", "test"]


@pytest.mark.parametrize("text", PAGES.values(), ids=PAGES)
def test_the_commands_of_the_first_pages_are_there(text: str) -> None:
    for target in re.findall(r"^make (\w+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), target
    for command in re.findall(r"accel-advisor ([a-z-]+)", re.sub(r"```yaml.*?```", "", text, flags=re.DOTALL)):
        assert command in LAZY, command


@pytest.mark.parametrize("text", PAGES.values(), ids=PAGES)
def test_the_options_of_the_first_pages_are_there(text: str) -> None:
    known = {"--force-exclude", "--epochs", "--output-format"}
    for name in ("lint", "tune", "report", "rule", "doctor"):
        shown = CliRunner().invoke(cli, [name, "--help"])
        assert shown.exit_code == 0
        known |= set(re.findall(r"--[a-z-]+", shown.output))
    text = re.sub(r"<!-- recorded.*?end of recording -->", "", text, flags=re.DOTALL)
    assert set(re.findall(r"(?<!<!)(?<![-\w])--[a-z][a-z-]+", text)) - known == set()


def test_links_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*/README.md")]
    for path in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
            made = re.fullmatch(r"(?:\.\./)?rules/ACC\d+\.md", target)  # of the site: tests/test_site.py
            assert made or (path.parent / target).exists(), f"{path.name}: {target}"


def test_the_configuration_of_the_page_is_valid(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGES["docs/lint.md"], re.DOTALL)
    (tmp_path / "pyproject.toml").write_text(text)
    config = Configurations().of(tmp_path)
    assert config.tune_script == "train.py"
    assert config.per_file_ignores


def test_the_hooks_are_commands_of_ours() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in hooks] == ["accel-advisor", "accel-advisor-fix"]
    for hook in hooks:
        program, *args = hook["entry"].split()
        assert program == "accel-advisor"
        assert hook["language"] == "python"
        assert CliRunner().invoke(cli, [*args, "--help"]).exit_code == 0


def test_linting_needs_no_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert not [one for one in project["dependencies"] if one.startswith("torch")]
    assert "Apache License" in (ROOT / "LICENSE").read_text()


def test_nothing_of_this_machine_is_committed() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a checkout: there is no git here to list the files")
    pattern = re.compile(rb"/(?:work|root|home|Users)/\w|/tmp/\w+/bin|py[p]i\.org|pythonhost[e]d")
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if name and path.is_file():
            found = pattern.search(path.read_bytes())
            assert found is None, f"{name}: {found[0]!r}" if found else name
