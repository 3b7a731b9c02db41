"""The codes of flake8, by the real flake8."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from .commands.scripts import SLOW
from .conftest import Run

if not os.environ.get("CI") and "ACC" not in entry_points(group="flake8.extension").names:
    pytest.skip("installed before flake8 had an entry point: install it again", allow_module_level=True)
COPIES = SLOW.replace("x.cuda(non_blocking=True)", "x.cuda()")
"""Findings of two severities, in two lines."""
PLAIN = ("--select", "ACC", "--jobs", "2")


def flake8(*args: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, "-m", "flake8", *args], input=text, capture_output=True, encoding="utf-8")
    assert "Traceback" not in done.stderr, done.stderr
    return done


def shown(done: subprocess.CompletedProcess[str]) -> list[str]:
    """File, row, column and code of each line."""
    return sorted(" ".join(line.split(" ")[:2]) for line in done.stdout.splitlines())


def linted(run: Run, *args: str, least: str = "warning") -> list[str]:
    """The same as ``lint`` finds them."""
    found = json.loads(run("lint", "--output-format", "json", "--min-severity", least, *args).out)
    return sorted(
        f"./{one['filename']}:{one['location']['row']}:{one['location']['column']}: {one['code']}" for one in found
    )


def test_what_makes_lint_fail(project: Path, run: Run) -> None:
    (project / "train.py").write_text(COPIES)
    (project / "other.py").write_text(COPIES.replace("loader", "batches"))
    done = flake8(*PLAIN)
    assert done.returncode == 1
    assert shown(done) == linted(run)
    assert len(shown(done)) == 2
    everything = shown(flake8(*PLAIN, "--acc-min-severity", "info"))
    assert everything == linted(run, least="info")
    assert len(everything) > 2


def test_beside_the_codes_of_others(project: Path) -> None:
    (project / "train.py").write_text("import os\n" + SLOW)
    assert {line.split()[1] for line in flake8("--max-line-length", "200").stdout.splitlines()} == {"F401", "ACC102"}


def test_comments_and_configurations_are_honoured(project: Path, run: Run) -> None:
    (project / "train.py").write_text(SLOW)
    (project / "silenced.py").write_text(
        SLOW.replace("batch_size=2)", "batch_size=2)  # accel: ignore[ACC101, ACC102] few photos")
    )
    (project / "noqa.py").write_text(SLOW.replace("batch_size=2)", "batch_size=2)  # noqa: ACC101, ACC102"))
    (project / "legacy").mkdir()
    (project / "legacy" / "old.py").write_text(SLOW)
    (project / "pyproject.toml").write_text('[tool.accel-advisor]\nexclude = ["legacy/"]\n')
    assert shown(flake8(*PLAIN)) == ["./train.py:19:10: ACC102"]
    assert shown(flake8(*PLAIN, "legacy/old.py")) == []
    (project / ".flake8").write_text("[flake8]\nacc-min-severity = info\n")
    (project / "pyproject.toml").write_text('[tool.accel-advisor]\nexclude = ["legacy/"]\n')
    assert shown(flake8(*PLAIN)) == ["./train.py:19:10: ACC101", "./train.py:19:10: ACC102"]
    assert run("lint", "--write-baseline", "known.json").status == 0
    (project / "pyproject.toml").write_text('[tool.accel-advisor]\nexclude = ["legacy/"]\nbaseline = "known.json"\n')
    assert shown(flake8(*PLAIN)) == []


def test_files_are_understood_together_and_linted_once(project: Path, tmp_path: Path) -> None:
    """Each program is checked once, in one process, however many files and processes there are; what did not change is
    known from the run before."""
    for number in range(6):
        (project / f"train_{number}.py").write_text(
            "from photos import Photos\n" + SLOW[: SLOW.index("class")] + SLOW[SLOW.index("model") :]
        )
    (project / "photos.py").write_text(SLOW[: SLOW.index("model")])
    counted = tmp_path / "checked.txt"
    (tmp_path / "sitecustomize.py").write_text(
        "import os\n"
        "from accel_advisor.linting.checker import Checker\n"
        "check = Checker.check\n"
        "def counting(self, program, *args):\n"
        f"    with open({str(counted)!r}, 'a') as file:\n"
        "        print(*program.filenames, sep=' ', file=file)\n"
        "    return check(self, program, *args)\n"
        "Checker.check = counting\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "flake8", *PLAIN], env=environment, capture_output=True, encoding="utf-8"
        )
        assert len(shown(done)) == 6, done.stderr
        programs = counted.read_text().splitlines()
        assert len(programs) == len(set(programs))


def test_stdin(project: Path) -> None:
    assert shown(flake8(*PLAIN, "-", text=SLOW)) == ["stdin:19:10: ACC102"]
    (project / "train.py").write_text("import torch\n")
    named = ("--stdin-display-name", "train.py", "-")
    assert shown(flake8(*PLAIN, *named, text=SLOW)) == ["train.py:19:10: ACC102"]


def test_a_file_that_cannot_be_parsed_and_one_that_is_not_there(project: Path) -> None:
    (project / "train.py").write_text(SLOW + "def (:\n")
    assert shown(flake8("--select", "ACC,E9", "train.py", "missing.py")) == [
        "missing.py:0:1: E902",
        f"train.py:{len(SLOW.splitlines()) + 1}:6: E999",
    ]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ('ignore = ["ACC9"]', "accel-advisor: "),
        ("nonsense = 1", "nonsense"),
        ('baseline = "missing.json"', "there is no such baseline"),
    ],
)
def test_a_wrong_configuration_is_one_sentence(project: Path, table: str, sentence: str) -> None:
    (project / "train.py").write_text(SLOW)
    (project / "pyproject.toml").write_text(f"[tool.accel-advisor]\n{table}\n")
    done = flake8(*PLAIN)
    assert done.returncode == 1
    assert sentence in done.stdout + done.stderr


def test_help_says_what_the_option_does() -> None:
    assert "--acc-min-severity" in flake8("--help").stdout
