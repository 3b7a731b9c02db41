"""Entry points of other packages are found wherever they lie, and cost next to nothing where there are none."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from accel_advisor.plugins import entry_points

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
