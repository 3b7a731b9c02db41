"""What the script wrote is imported as if it were on the disk, sources and compiled modules alike."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PROGRAM = """\
import importlib.util, shutil, sys
from accel_advisor.tuning.probe.containment.overlay import Overlay
from accel_advisor.tuning.probe.containment.patches import Containment

scratch, compiled, place, written = sys.argv[1:]
Containment(Overlay(scratch, fresh=True)).install()


def loaded(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if written == "yes":
    shutil.copyfile(compiled, place)
    with open("made.py", "w") as file:
        file.write("NAME = 'made'")
    assert loaded("made", "made.py").NAME == "made"
module = loaded("native", place)
print(type(module.parse_module("a = 1")).__name__, module.__spec__.origin)
"""


@pytest.mark.parametrize("written", [True, False])
def test_modules_that_the_script_wrote_are_imported_and_the_disk_stays_as_it_was(tmp_path: Path, written: bool) -> None:
    found = find_spec("libcst.native")
    assert found is not None
    assert found.origin is not None
    (tmp_path / "scratch").mkdir()
    project = tmp_path / "project"
    project.mkdir()
    place = project / Path(found.origin).name
    words = [str(tmp_path / "scratch"), found.origin, str(place), "yes" if written else "no"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=False, cwd=project
    )
    if written:
        assert done.stderr == ""
        assert done.stdout == f"Module {place}\n"
    else:
        assert "ImportError" in done.stderr
        assert str(place) in done.stderr
    assert list(project.iterdir()) == []
