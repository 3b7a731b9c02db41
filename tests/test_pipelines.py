"""The GitHub Action and the job for GitLab: valid by their schemas, and their shell run by the real bash, in clones as
a runner makes them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from .checkouts import RIGHT, ROOT, WRONG, environment, git, own_checkout, repository, write
from .commands.scripts import SLOW
from .conftest import NewFolder

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
JOB = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text(encoding="utf-8"))["accel-advisor"]
EXPRESSION = re.compile(r"\$\{\{ *([\w.-]+) *\}\}")
BRANCH = "work;touch${IFS}evil"
"""A name that git allows, and a command where a shell gets to read it."""
OLD_BASH = "enable -n mapfile readarray\n"
"""What runners of macOS lack, whose bash is 3.2."""
CONDITION = re.compile(r"([\w.-]+) == '(\w+)'")


@pytest.mark.parametrize(
    ("schema", "file"),
    [("vendor.github-actions", "action.yml"), ("vendor.gitlab-ci", "ci/gitlab.yml")],
)
def test_the_schemas_hold(schema: str, file: str) -> None:
    from check_jsonschema.cli import main  # takes a second, and each process of a run collects every file

    done = CliRunner().invoke(main, ["--builtin-schema", schema, str(ROOT / file)])
    assert done.exit_code == 0, done.output


@dataclass
class Ran:
    """What a run of the action came to.

    Attributes:
        status: of the first step that failed; 0 where none did.
        out: what all steps printed.
        outputs: of each step, under `steps.ID.outputs.NAME`.
        used: the actions of others that would have run, with what they were given.
    """

    status: int = 0
    out: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    used: list[tuple[str, dict[str, str]]] = field(default_factory=list)


@dataclass
class Runner:
    """Runs the steps of the action as a runner does: expressions replaced in `env` and `with`, shell scripts in bash
    with the options that `shell: bash` means. Actions of others are only noted."""

    temporary: Path
    checkout: Path
    installed: dict[str, str] = field(default_factory=dict)

    def run(
        self, folder: Path, inputs: Mapping[str, str] | None = None, github: Mapping[str, str] | None = None
    ) -> Ran:
        """Runs all steps; the one that installs only the first time."""
        ran = Ran(outputs=dict(self.installed))
        known = {f"inputs.{name}": one.get("default", "") for name, one in ACTION["inputs"].items()}
        known |= {f"inputs.{name}": value for name, value in (inputs or {}).items()}
        known |= {f"github.{name}": value for name, value in (github or {}).items()}
        known["steps.python.outputs.python-path"] = sys.executable
        for step in ACTION["runs"]["steps"]:
            context = known | ran.outputs
            wanted = CONDITION.fullmatch(step.get("if", "inputs.python-version == '3'"))
            assert wanted is not None
            if "if" in step and context.get(wanted[1]) != wanted[2]:
                continue
            if step.get("id") == "install" and self.installed:
                continue
            if "uses" in step:
                ran.used.append((step["uses"], self._filled(step["with"], context)))
                continue
            self._step(folder, step, context, ran)
            if ran.status:
                break
            if step.get("id") == "install":
                self.installed = dict(ran.outputs)
        return ran

    def _step(self, folder: Path, step: Mapping[str, Any], context: Mapping[str, str], ran: Ran) -> None:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "what a branch is called must never become a part of a script"
        output = self.temporary / "output"
        output.write_text("")
        script = self.temporary / "step.sh"
        script.write_text(step["run"])
        old = self.temporary / "old.sh"
        old.write_text(OLD_BASH)
        variables = environment(
            BASH_ENV=str(old),
            RUNNER_TEMP=str(self.temporary),
            GITHUB_OUTPUT=str(output),
            GITHUB_ACTION_PATH=str(self.checkout),
            # What the action's environment needs besides comes from that of the tests, without an index.
            PIP_NO_DEPS="1",
            PIP_NO_BUILD_ISOLATION="1",
            PIP_NO_COMPILE="1",  # what a run imports is compiled by it
            PYTHONPATH=os.pathsep.join(one for one in sys.path if one.endswith("site-packages")),
        )
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=folder,
            env=variables | self._filled(step["env"], context),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        ran.status = done.returncode
        ran.out += done.stdout
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            ran.outputs[f"steps.{step['id']}.outputs.{name}"] = value

    def _filled(self, texts: Mapping[str, Any], context: Mapping[str, str]) -> dict[str, str]:
        return {key: EXPRESSION.sub(lambda one: context.get(one[1], ""), str(text)) for key, text in texts.items()}


@pytest.fixture(scope="module")
def runner(new_folder: NewFolder) -> Runner:
    return Runner(new_folder("runner"), own_checkout(new_folder("action")))


@pytest.fixture(scope="module")
def clone(new_folder: NewFolder) -> Path:
    """A shallow clone of a branch, as `actions/checkout` makes it, of a repository whose main branch has moved on."""
    folder = new_folder("origin")
    origin = repository(folder / "origin", {"old.py": WRONG, "train.py": RIGHT, "a b/c.py": WRONG})
    git(origin, "checkout", "-q", "-b", BRANCH)
    write(origin, {"train.py": WRONG, "new.ipynb": json.dumps(notebook(SLOW))})
    git(origin, "commit", "-q", "-m", "Work")
    git(origin, "checkout", "-q", "main")
    write(origin, {"old.py": WRONG + "# more\n", "other.py": WRONG})
    git(origin, "commit", "-q", "-m", "More")
    git(folder, "clone", "-q", "--depth", "1", "--branch", BRANCH, f"file://{origin}", "clone")
    return folder / "clone"


def notebook(source: str) -> dict[str, Any]:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def annotated(out: str) -> set[str]:
    return set(re.findall(r"^::(?:error|warning) title=accel-advisor \(ACC\d+\),file=([^,]+),", out, re.MULTILINE))


class TestAction:
    def test_everything_is_linted_and_uploaded(self, clone: Path, runner: Runner) -> None:
        ran = runner.run(clone, {"sarif": "true"})
        assert ran.status == 1, ran.out
        assert annotated(ran.out) == {"old.py", "train.py", "new.ipynb", "a b/c.py"}
        setup, upload = ran.used
        assert setup[0].startswith("actions/setup-python@")
        assert upload[0].startswith("github/codeql-action/upload-sarif@")
        results = json.loads(Path(upload[1]["sarif_file"]).read_text())["runs"][0]["results"]
        assert {one["ruleId"] for one in results} >= {"ACC102", "ACC104"}

    def test_only_what_a_pull_request_changes(self, clone: Path, runner: Runner) -> None:
        """Although the clone is shallow, and the branch that it goes to has moved on."""
        ran = runner.run(clone, {"only-changed": "true", "sarif": "true"}, {"base_ref": "main"})
        assert ran.status == 1, ran.out
        assert annotated(ran.out) == {"train.py", "new.ipynb"}
        results = json.loads(Path(ran.outputs["steps.sarif.outputs.file"]).read_text())["runs"][0]["results"]
        uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results}
        assert uris == {"train.py", "new.ipynb"}

    def test_only_what_a_push_changes(self, clone: Path, runner: Runner) -> None:
        before = git(clone, "rev-parse", "HEAD").strip()
        ran = runner.run(clone, {"only-changed": "true"}, {"event.before": before})
        assert (ran.status, annotated(ran.out)) == (0, set()), ran.out
        ran = runner.run(clone, {"only-changed": "true"}, {"event.before": "0" * 40})
        assert "nothing to compare with, so everything is linted" in ran.out
        assert annotated(ran.out) >= {"old.py", "train.py"}

    def test_paths_and_options(self, clone: Path, runner: Runner) -> None:
        ran = runner.run(clone, {"paths": "a b\n  \n\nold.py\n", "args": "--select ACC104 --exit-zero"})
        assert (ran.status, annotated(ran.out)) == (0, {"old.py", "a b/c.py"}), ran.out

    def test_a_wrong_input_is_one_sentence(self, clone: Path, runner: Runner) -> None:
        ran = runner.run(clone, {"paths": "missing"})
        assert (ran.status, ran.out) == (2, "Error: missing: there is no such file or folder\n")

    def test_no_name_becomes_a_command(self, clone: Path) -> None:
        assert not (clone / "evil").exists()


class TestGitLab:
    def job(self, folder: Path, programs: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs the job's script in a runner's shell, with the program that is tested here."""
        programs.mkdir(exist_ok=True)
        program = programs / "accel-advisor"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m accel_advisor "$@"\n')
        program.chmod(0o755)
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", "\n".join(JOB["script"])],
            cwd=folder,
            env=environment(PATH=path) | JOB["variables"] | variables,
            capture_output=True,
            encoding="utf-8",
        )

    def test_the_reports_are_written_and_the_job_fails(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "r", {"train.py": WRONG, "right.py": RIGHT})
        done = self.job(root, tmp_path / "bin")
        assert done.returncode == 1, done.stderr
        assert "train.py:3:10: ACC104" in done.stdout
        reports = JOB["artifacts"]["reports"]
        assert [one["check_name"] for one in json.loads((root / reports["codequality"]).read_text())] == ["ACC104"]
        assert ElementTree.parse(root / reports["junit"]).getroot().get("failures") == "1"
        assert JOB["artifacts"]["when"] == "always"

    def test_only_what_a_merge_request_changes(self, tmp_path: Path) -> None:
        root = repository(tmp_path / "r", {"train.py": WRONG})
        base = git(root, "rev-parse", "HEAD").strip()
        only = {"ACCEL_ADVISOR_ONLY_CHANGED": "true", "CI_MERGE_REQUEST_DIFF_BASE_SHA": base}
        assert self.job(root, tmp_path / "bin", **only).returncode == 0
        write(root, {"new.py": WRONG})
        done = self.job(root, tmp_path / "bin", **only, ACCEL_ADVISOR_ARGS="--select ACC1")
        assert (done.returncode, "train.py" in done.stdout, "new.py" in done.stdout) == (1, False, True)

    def test_the_environment_is_named_as_a_package(self) -> None:
        assert JOB["before_script"] == ['pip install --quiet "$ACCEL_ADVISOR_PACKAGE"']
        assert JOB["variables"]["ACCEL_ADVISOR_PACKAGE"] == "accel-advisor"


class TestRuff:
    """What docs/pipelines.md says of Ruff, by the real one."""

    def checked(self, folder: Path, *args: str) -> str:
        command = [
            sys.executable,
            "-m",
            "ruff",
            "check",
            "--isolated",
            "--no-cache",
            "--select",
            "RUF100,RUF102",
            *args,
            ".",
        ]
        return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, encoding="utf-8").stdout

    def test_codes_that_it_does_not_know_are_deleted_unless_it_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "train.py").write_text("loader = 1  # noqa: ACC102\n")
        assert "RUF10" in self.checked(tmp_path)
        assert "RUF10" not in self.checked(tmp_path, "--config", 'lint.external = ["ACC"]')

    def test_our_own_comments_are_no_business_of_its(self, tmp_path: Path) -> None:
        (tmp_path / "train.py").write_text("loader = 1  # accel: ignore[ACC102]\n")
        assert "RUF10" not in self.checked(tmp_path)

    def test_it_has_no_code_that_begins_as_ours(self) -> None:
        command = [sys.executable, "-m", "ruff", "rule", "--all", "--output-format", "json"]
        rules = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        assert not [one["code"] for one in rules if (one["code"] or "").startswith("ACC")]
