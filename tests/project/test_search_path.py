"""Folders that a script adds to `sys.path`."""

from __future__ import annotations

import os

import pytest

from accel_advisor.project.search_path import added_folders

TOP = os.path.abspath("project")
FILE = os.path.join(TOP, "tools", "train.py")
LIB = os.path.join(TOP, "lib")


def added(text: str) -> list[str]:
    return [*added_folders(FILE, f"import os, sys\nimport os.path as osp\nfrom pathlib import Path\n{text}\n".encode())]


class TestAddedFolders:
    @pytest.mark.parametrize(
        "text",
        [
            "sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'lib'))",
            "sys.path.append(os.path.dirname(os.path.abspath(__file__)) + '/../lib')",
            "here = osp.dirname(__file__)\nlib = osp.join(here, os.pardir, 'lib')\nsys.path.insert(0, lib)",
            "sys.path.append(str(Path(__file__).resolve().parents[1] / 'lib'))",
            "sys.path.append(Path(__file__).absolute().parent.parent.joinpath('lib').as_posix())",
            "sys.path += [osp.realpath(osp.join(osp.dirname(__file__), '../lib'))]",
            "sys.path.extend((os.fspath(Path(osp.dirname(osp.dirname(__file__)), 'lib')),))",
            "class Config:\n    top = osp.join(osp.dirname(__file__), '..')\nconfig = Config()\n"
            "sys.path.insert(0, osp.join(config.top, 'lib'))",
            "def add(path):\n    if path not in sys.path:\n        sys.path.insert(0, path)\n"
            "add(osp.join(osp.dirname(__file__), '..', 'lib'))",
        ],
    )
    def test_paths_are_read_however_they_are_written(self, text: str) -> None:
        assert added(text) == [LIB]

    def test_others_begin_where_the_script_runs(self) -> None:
        text = "sys.path.append('lib')\nsys.path.append(os.path.join(os.getcwd(), 'src'))"
        assert added(text) == ["lib", "src"]

    @pytest.mark.parametrize(
        "text",
        [
            "sys.path.append(os.environ['LIB'])",
            "sys.path.append(os.path.join(root(), 'lib'))",
            "lib = 'a'\nlib = 'b'\nsys.path.append(lib)",
            "lib = lib\nsys.path.append(lib)",
            "class A:\n    lib = 'a'\nclass B:\n    lib = 'b'\nsys.path.append(A.lib)",
            "path = []\npath.append('lib')  # not sys.path",
            "print 'sys.path'",
        ],
    )
    def test_what_the_text_does_not_say_is_left_out(self, text: str) -> None:
        assert added(text) == []
