"""The man page: made of the help, and read by the programs that show man pages."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from accel_advisor.cli import HIDDEN, LAZY

from ...conftest import Run

PAGE = Path(__file__).parents[3] / "docs" / "accel-advisor.1"


def test_the_page_that_is_shipped_is_that_of_the_commands(run: Run) -> None:
    assert PAGE.read_text(encoding="utf-8") == run("man-page").out, (
        "`accel-advisor man-page > docs/accel-advisor.1` writes it"
    )


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
