"""Which code of a stack is the project's own: one answer for all who ask."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from accel_advisor.tuning.applying.project_code import display_name, is_own_code, own_frame, own_frames
from accel_advisor.tuning.probe.channel.wire import Frame

LIBRARY = Frame(os.__file__, "helper", 1, 1, 1, 2)


def frame(path: Path, text: str = "") -> Frame:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return Frame(str(path), "build", 1, 1, 1, 2)


def test_libraries_are_nobodys_own(tmp_path: Path) -> None:
    installed = frame(tmp_path / ".venv" / "lib" / "python3.12" / "site-packages" / "trainer.py")
    (tmp_path / "cache").mkdir()
    cached = frame(tmp_path / "cache" / "data.py")
    link = tmp_path / "env" / "site-packages" / "data.py"
    link.parent.mkdir(parents=True)
    link.symlink_to(cached.filename)
    stack = (LIBRARY, installed, Frame(str(link), "build", 1, 1, 1, 2), LIBRARY)
    assert own_frames(stack, tmp_path) == []
    assert own_frame(stack, tmp_path) is None
    assert own_frame((cached, *stack), tmp_path) == cached


def test_what_is_no_file_is_nobodys_own(tmp_path: Path) -> None:
    gone = Frame(str(tmp_path / "gone.py"), "f", 1, 1, 1, 2)
    typed = Frame("<stdin>", "f", 1, 1, 1, 2)
    assert own_frame((gone, typed), tmp_path) is None
    assert not is_own_code("train.py")


def test_the_innermost_frame_of_the_project_comes_before_those_of_others(tmp_path: Path) -> None:
    script, helper = frame(tmp_path / "project" / "train"), frame(tmp_path / "project" / "data.py")
    other = frame(tmp_path / "elsewhere" / "shared.py")
    stack = (script, helper, other, LIBRARY)
    assert own_frames(stack, tmp_path / "project") == [script, helper]
    assert own_frame(stack, tmp_path / "project") == helper
    assert own_frame((other, LIBRARY), tmp_path / "project") == other


def test_paths_are_named_from_where_one_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "examples"
    inner.mkdir()
    assert display_name(inner / "train.py", tmp_path) == "examples/train.py"
    monkeypatch.chdir(inner)
    assert display_name(inner / "train.py", tmp_path) == "train.py"
    assert display_name(tmp_path / "lib.py", tmp_path) == "lib.py"
    assert display_name("/usr/lib/x.py", tmp_path) == "/usr/lib/x.py"
