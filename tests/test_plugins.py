"""Entry points of other packages are found wherever they lie, and cost next to nothing where there are none."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from accel_advisor.plugins import entry_points

from .test_floors import forbidden_to_a_rule

POINTS = "[console_scripts]\nelse = else:main\n\n[accel_advisor.rules]\nlate = more:Late\nearly = more:Early\n"
METADATA = "Metadata-Version: 2.1\nName: more\nVersion: 1.0\n"


def test_none_are_looked_for_without_a_mention() -> None:
    code = (
        "import sys\nfrom accel_advisor.plugins import entry_points\n"
        "print(entry_points(), 'importlib.metadata' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[] False\n", "")


@pytest.mark.parametrize("folder", ["more-1.0.dist-info", "More-1.0.egg-info", "EGG-INFO"])
def test_those_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    site = tmp_path / ("more-1.0.egg" if folder == "EGG-INFO" else "site")
    (site / folder).mkdir(parents=True)
    (site / folder / "entry_points.txt").write_text(POINTS)
    (site / folder / ("METADATA" if folder.endswith("dist-info") else "PKG-INFO")).write_text(METADATA)
    monkeypatch.syspath_prepend(site)
    assert [(one.name, one.value) for one in entry_points()] == [("early", "more:Early"), ("late", "more:Late")]


def test_those_of_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "more.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("more-1.0.dist-info/entry_points.txt", POINTS)
        file.writestr("more-1.0.dist-info/METADATA", METADATA)
    monkeypatch.syspath_prepend(archive)
    assert [one.name for one in entry_points()] == ["early", "late"]


def test_those_of_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "more-1.0.dist-info").mkdir()
    (tmp_path / "more-1.0.dist-info" / "entry_points.txt").write_text(POINTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert len(entry_points()) == 2


RULE = '''
from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import AnyCall, Call, Method
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule, replace_node


class MeanOverOne(Rule):
    """A tensor on the GPU is averaged over one dimension, which the house says is a sum."""

    code = "HOU101"
    name = "mean-over-one"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        if facts.does(AnyCall("no_house_rules"), Call("house.relaxed")):
            return
        for operation in facts.operations_of(Method("Tensor", "mean")):
            call, written = operation.node, operation.arguments
            dims = [context.given("dim", 0) for context in operation.contexts]
            on_gpu = all(context.subject.on_accelerator for context in operation.contexts)
            if on_gpu and all(dim.is_literal(1) for dim in dims) and written:
                edit = replace_node(facts.document, written[0], "dim=1")
                fix = Fix("Name the dimension", (edit,), Applicability.SAFE)
                yield self.finding(facts, call, f"`{facts.document.code(call)}` averages over one", "name it", fix=fix)
'''
PROGRAM = "import torch\n\nx = torch.zeros(8, 8, device='{device}')\nprint(x.mean(1))\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Where another package is installed: one module, and a distribution that names its rule."""
    folder = tmp_path / "site"
    information = folder / "house_rules-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / "house_rules.py").write_text(RULE)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: house-rules\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[accel_advisor.rules]\nmean = house_rules:MeanOverOne\n")
    return folder


def lint(site: Path, program: str, *args: str) -> subprocess.CompletedProcess[str]:
    """The installed command on a program of one file, where another package is installed too."""
    project = site.parent / "project"
    project.mkdir()
    (project / "train.py").write_text(program)
    command = [sys.executable, "-m", "accel_advisor", "lint", "--no-cache", "--select", "HOU", *args, "train.py"]
    environment = {**os.environ, "PYTHONPATH": str(site), "NO_COLOR": "1"}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def test_a_rule_of_another_package_reports(site: Path) -> None:
    done = lint(site, PROGRAM.format(device="cuda"), "--output-format", "concise")
    assert "train.py:4:7: HOU101" in done.stdout, done.stdout + done.stderr
    assert "`x.mean(1)` averages over one; name it" in done.stdout
    assert (done.returncode, done.stderr) == (1, "")


def test_a_rule_of_another_package_fixes(site: Path) -> None:
    lint(site, PROGRAM.format(device="cuda"), "--fix")
    assert (site.parent / "project" / "train.py").read_text() == PROGRAM.format(device="cuda").replace("(1)", "(dim=1)")


@pytest.mark.parametrize("line", ["import house\nhouse.relaxed()\n", "import conf\nconf.no_house_rules()\n"])
def test_a_rule_of_another_package_is_silent_about_what_it_exempts(site: Path, line: str) -> None:
    done = lint(site, line + PROGRAM.format(device="cuda"))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_a_rule_of_another_package_knows_where_a_tensor_lives(site: Path) -> None:
    assert lint(site, PROGRAM.format(device="cpu")).returncode == 0


def test_the_rule_of_another_package_needs_only_what_rules_may_import(site: Path) -> None:
    """What is shown here can be had with the imports that docs/rule-api.md promises."""
    assert not forbidden_to_a_rule("house_rules", site / "house_rules.py")
