"""The man page: made of the help, and read by the programs that show man pages."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from accel_advisor.cli import HIDDEN, LAZY

from ...conftest import Run

PAGE = Path(__file__).parents[3] / "docs" / "accel-advisor.1"


def test_the_page_that_is_shipped_is_that_of_the_commands() -> None:
    # In a process of its own: a command keeps the names of help that it is first given, and tests run some without -h.
    done = subprocess.run([sys.executable, "-m", "accel_advisor", "man-page"], capture_output=True, check=True)
    assert PAGE.read_bytes() == done.stdout, "`accel-advisor man-page > docs/accel-advisor.1` writes it"


def test_every_command_and_its_options_are_in_it(run: Run) -> None:
    text = run("man-page").out.replace("\\-", "-")
    for name in LAZY:
        assert (f".SS accel-advisor {name} " in text) == (name not in HIDDEN)
    assert ".B --unsafe-fixes\n" in text
    assert "`" not in text


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_reads_it_without_a_warning() -> None:
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-z", str(PAGE)], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
