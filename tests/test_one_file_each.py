"""CONTRIBUTING names one file for each of four new things: added to a copy by that file alone, each works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECTIONS = re.split(r"^## ", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
(TABLE,) = (one for one in SECTIONS if one.startswith("Where something new goes\n"))
ANSWERS = dict(re.findall(r"^\| (.+?) +\| `([^`]+)`", TABLE, re.MULTILINE))
SCRIPT = """\
import torch
from fastload import FastLoader
from torchvision.datasets import ImageFolder

model = torch.nn.Linear(8, 2).cuda()
for images, labels in FastLoader(ImageFolder("photos"), 64):
    model(images.cuda()).sum().backward()
"""
RULE = '''\
from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule


class LoopOverFolder(Rule):
    """Goes over data."""

    code = "ACC999"
    name = "loop-over-folder"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        for loop in facts.loops:
            yield self.finding(facts, loop.node, "this is a loop", "look at it")
'''
FORMAT = """\
from accel_advisor.linting.report import Report
from accel_advisor.output import Screen


def render(report: Report, screen: Screen) -> str:
    return ";".join(one.code for one in report.findings) + "\\n"
"""

KNOB = """\
from dataclasses import dataclass
from typing import ClassVar

from accel_advisor.tuning.probe.knobs.knob import Knob
from accel_advisor.tuning.probe.knobs.knob_statements import BehindImports


@dataclass(frozen=True, slots=True)
class Deterministic(Knob):
    name: ClassVar[str] = "deterministic"

    @property
    def written(self):
        return (BehindImports(("{torch}.use_deterministic_algorithms(True)",)),)

    def turn(self, torch, training):
        torch.use_deterministic_algorithms(True)
"""
TURNED = """\
import os
import torch
from accel_advisor.tuning.probe.knobs.training_knobs import TRAINING_KNOBS, Plan
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining

(kind,) = (one for one in TRAINING_KNOBS if one.name == "deterministic")
assert kind().shown() == "torch.use_deterministic_algorithms(True)"
assert not torch.are_deterministic_algorithms_enabled()
Plan.from_json(Plan(kind()).to_json()).install(ComparedTraining(exit))
assert torch.are_deterministic_algorithms_enabled()
os._exit(0)  # the end of an interpreter with torch takes half a second
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package, with what is compiled of it, beside a script that trains. Its files are links: what a
    test changes it must put in the place of one."""
    shutil.copytree(ROOT / "advisor", tmp_path / "accel_advisor", copy_function=os.symlink)
    shutil.copytree(ROOT / "rules", tmp_path / "accel_advisor" / "rules", copy_function=os.symlink)
    (tmp_path / "train.py").write_text(SCRIPT)
    return tmp_path


def place(copy: Path, kind: str, **names: str) -> Path:
    """Where the answer puts something, with the names that it leaves open."""
    answer = re.sub(r"<(\w+)>", lambda found: names[found[1]], ANSWERS[kind])
    return copy / re.sub(r"^advisor/|^(?=rules/)", "accel_advisor/", answer)


def call(copy: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return python(copy, "-m", "accel_advisor", *args)


def python(copy: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *args],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def codes(copy: Path, *args: str) -> list[str]:
    done = call(copy, "lint", "--no-cache", "--output-format", "concise", "train.py", *args)
    assert done.stderr == ""
    return re.findall(r"ACC\d+", done.stdout)


def test_four_questions_are_answered() -> None:
    assert set(ANSWERS) == {"a rule", "a library that builds loaders", "a knob of the training", "a format of reports"}
    for path in ANSWERS.values():
        assert (ROOT / path.partition("<")[0]).exists()


def test_a_rule(copy: Path) -> None:
    assert "ACC999" not in codes(copy)
    place(copy, "a rule", theme="dataloader", bad_pattern="loop_over_folder").write_text(RULE)
    assert "ACC999" in codes(copy)


def test_a_library_that_builds_loaders(copy: Path) -> None:
    assert "ACC102" not in codes(copy)
    table = place(copy, "a library that builds loaders")
    entry = '        Constructor("fastload.FastLoader", ("dataset", "batch_size")),\n'
    before = table.read_text()
    table.unlink()
    table.write_text(re.sub(r"(?m)^( +Constructor\(TORCH_LOADER.*\n)", lambda found: found[1] + entry, before))
    assert table.read_text() != before
    assert "ACC102" in codes(copy)


def test_a_knob_of_the_training(copy: Path) -> None:
    assert "unknown knob 'deterministic'" in call(copy, "tune", "train.py", "--knobs", "deterministic").stderr
    place(copy, "a knob of the training", name="deterministic").write_text(KNOB)
    assert "deterministic" in call(copy, "tune", "train.py", "--knobs", "none").stderr
    done = python(copy, "-c", TURNED)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_format_of_reports(copy: Path) -> None:
    assert "'codes' is not one of" in call(copy, "lint", "--output-format", "codes").stderr
    place(copy, "a format of reports", name="codes").write_text(FORMAT)
    shown = call(copy, "lint", "--no-cache", "--output-format", "codes", "train.py")
    assert (shown.stdout, shown.stderr) == ("\n", "")
    assert "codes" in call(copy, "lint", "--help").stdout
