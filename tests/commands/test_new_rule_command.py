"""A new rule is started by a command."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from accel_advisor.rule import Rule

from ..conftest import Run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(project: Path) -> Path:
    for name in ("advisor/rule.py", "rules/dataloader/__init__.py", "rules/device/__init__.py"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).touch()
    return project


def test_a_rule_and_its_tests_are_written(run: Run, checkout: Path) -> None:
    done = run("new-rule", "ACC199", "loader-of-nothing", "--theme", "dataloader")
    assert done.status == 0, done.err
    path = checkout / "rules" / "dataloader" / "loader_of_nothing.py"
    spec = importlib.util.spec_from_file_location("scaffolded", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rule = module.LoaderOfNothing()
    assert isinstance(rule, Rule)
    assert (rule.code, rule.name) == ("ACC199", "loader-of-nothing")
    test = (checkout / "tests" / "rules" / "dataloader" / "test_loader_of_nothing.py").read_text()
    assert "$" not in test + path.read_text()
    again = run("new-rule", "ACC199", "loader-of-nothing", "--theme", "dataloader")
    assert again.status == 2
    assert "is there already" in again.err


def test_the_tests_of_a_new_rule_pass_as_they_are_written(run: Run, project: Path) -> None:
    for name in ("advisor", "rules"):
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    (project / "tests" / "rules" / "dataloader").mkdir(parents=True)
    for name in ("__init__.py", "checks.py", "programs.py", "dataloader/__init__.py"):
        shutil.copy(ROOT / "tests" / "rules" / name, project / "tests" / "rules" / name)
    # the installed package maps both folders; here links do
    (project / "accel_advisor").symlink_to("advisor")
    (project / "advisor" / "rules").symlink_to("../rules")
    done = run("new-rule", "ACC199", "loader-of-nothing", "--theme", "dataloader")
    assert done.status == 0, done.err
    command = [sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider", "tests/rules"]
    environment = {**os.environ, "PYTHONPATH": str(project)}
    tested = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "3 passed" in tested.stdout


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("199", "a-name", "--theme", "device"), "'199' is not a code such as ACC142"),
        (("ACC199", "Name", "--theme", "device"), "'Name' is not a name such as"),
        (("ACC102", "a-name", "--theme", "device"), "there is a rule ACC102 (dataloader-num-workers-zero) already"),
        (("ACC199", "a-name", "--theme", "devices"), "there is no folder rules/devices; the folders are dataloader"),
        (("ACC199", "a-name"), "Missing option '--theme'"),
    ],
)
def test_wrong_use(run: Run, checkout: Path, args: tuple[str, ...], sentence: str) -> None:
    done = run("new-rule", *args)
    assert done.status == 2
    assert sentence in done.err


def test_outside_a_checkout(run: Run, project: Path) -> None:
    assert "is no checkout of accel-advisor" in run("new-rule", "ACC199", "a-name", "--theme", "device").err
