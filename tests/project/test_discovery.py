"""Which files are linted."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from accel_advisor.project.discovery import Discoverer, DiscoveryError, Patterns, is_generated, mentions_accelerators


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("import torch\n" + "def test_it(): ...\n" * ("test_" in path.name), encoding="utf-8")


def found(*paths: str, exclude: tuple[str, ...] = (), include: tuple[str, ...] = (), force: bool = False) -> list[str]:
    discoverer = Discoverer(lambda _: Patterns(Path.cwd(), exclude, include), force_exclude=force)
    return [one.filename.replace(os.sep, "/") for one in discoverer.discover(paths or ["."]).files]


class TestSkipped:
    def test_what_nobody_wants_linted(self, tree: Path) -> None:
        make(tree, ".hidden/a.py", ".b.py", "node_modules/a.py", "lib/site-packages/a.py", "build/a.py", "tests/a.py")
        make(tree, "docs/a.py", "third_party/a.py", "x/test_a.py", "conftest.py", "a_pb2.py", "a.txt")
        make(tree, "benchmarks/a.py", "profile_step.py", "model-debug.py", "x/benchmark.ipynb", "speed_bench_all.py")
        make(tree, "env/lib/a.py")
        (tree / "env" / "pyvenv.cfg").touch()
        assert found() == []

    @pytest.mark.parametrize("name", ["test_net.py", "copy_test.py"])
    @pytest.mark.parametrize(
        "text", ["def test_it(): ...\n", "import pytest\n", "class TestIt: ...\n", "from unittest import main\n"]
    )
    def test_tests(self, tree: Path, name: str, text: str) -> None:
        (tree / name).write_text("import torch\n" + text)
        assert found() == []
        assert found(name) == [name]
        assert found(name, force=True) == []

    @pytest.mark.parametrize("name", ["test_net.py", "copy_test.py"])
    def test_programs_that_are_called_like_tests(self, tree: Path, name: str) -> None:
        (tree / name).write_text("import torch\n\ndef test(model): ...\n\nif __name__ == '__main__': test(None)\n")
        assert found() == [name]
        assert found(name, force=True) == [name]

    @pytest.mark.parametrize(
        ("head", "taken"),
        [
            ("#!/usr/bin/python3", True),
            ("#!/usr/bin/env python", True),
            ("#! /usr/bin/env -S python3.11 -u", True),
            ("#!/bin/sh", False),
            ("#!/usr/bin/env ipythonish", False),
            ("# python3", False),
            ("", False),
        ],
    )
    def test_programs_without_a_suffix(self, tree: Path, head: str, taken: bool) -> None:
        (tree / "train").write_text(f"{head}\nimport torch\n")
        (tree / "train.sh").write_text(f"{head}\nimport torch\n")
        assert found() == ["train"] * taken
        assert found("train") == ["train"]

    def test_names_that_only_sound_like_debugging(self, tree: Path) -> None:
        make(tree, "benchpress.py", "profiles.py", "debugger.py", "workbench/a.py")
        assert found() == ["benchpress.py", "debugger.py", "profiles.py", "workbench/a.py"]

    def test_an_empty_folder(self, tree: Path) -> None:
        assert found() == []

    def test_gitignore(self, tree: Path) -> None:
        make(tree, "out/a.py", "a.py", "kept.gen.py", "b.gen.py", "sub/c.py", "sub/d.py")
        (tree / ".gitignore").write_text("out/\n*.gen.py\n!kept.gen.py\n# comment\n\n")
        (tree / "sub" / ".gitignore").write_text("/c.py\n!b.gen.py\n")
        assert found() == ["a.py", "kept.gen.py", "sub/d.py"]

    def test_a_line_of_gitignore_that_means_nothing(self, tree: Path) -> None:
        make(tree, "a.py", "out/a.py")
        (tree / ".gitignore").write_text("!\nout/\n")
        assert found() == ["a.py"]

    def test_gitignore_of_the_folders_above(self, tree: Path) -> None:
        make(tree, "src/a.py", "src/gen/b.py")
        (tree / ".gitignore").write_text("/src/gen/\n")
        assert found("src") == ["src/a.py"]

    def test_gitignore_above_the_repository_does_not_count(self, tree: Path) -> None:
        make(tree, "repo/a.py")
        (tree / "repo" / ".git").mkdir()
        (tree / ".gitignore").write_text("repo/\n")
        assert found("repo") == ["repo/a.py"]

    def test_exclude(self, tree: Path) -> None:
        make(tree, "a.py", "legacy/b.py", "src/legacy/c.py", "src/d.py")
        assert found(exclude=("legacy/",)) == ["a.py", "src/d.py"]
        assert found(exclude=("/legacy/", "src/*.py")) == ["a.py", "src/legacy/c.py"]

    def test_copies_that_runs_leave_behind(self, tree: Path) -> None:
        make(tree, "train.py", "nets/unet.py", "wandb/run-7/files/code/train.py", "logs/7/nets/unet.py")
        make(tree, "experiments/7/code/train.py", "src/main.py", "src/outputs/7/main.py")
        for path in tree.rglob("*/7/**/*.py"):
            path.write_text("import torch  # as it was\n")
        assert found() == ["train.py", "nets/unet.py", "src/main.py"]
        assert found("logs", "src/outputs/7/main.py") == ["logs/7/nets/unet.py", "src/outputs/7/main.py"]
        assert "logs/7/nets/unet.py" in found(include=("logs/",))
        assert found("logs/7/nets/unet.py", "train.py", force=True) == ["train.py"]

    def test_copies_under_another_name_of_folder(self, tree: Path) -> None:
        make(tree, "src/train.py", "runs/7/train.py", "experiments/7/train.py", "checkpoints/train.py")
        assert found() == ["src/train.py"]
        (tree / "src" / "train.py").write_text("import torch  # edited since\n")
        assert found() == ["checkpoints/train.py", "experiments/7/train.py", "src/train.py"]
        (tree / "src" / "train.py").rename(tree / "src" / "main.py")
        assert "runs/7/train.py" in found()

    def test_code_in_folders_that_only_sound_like_runs(self, tree: Path) -> None:
        make(
            tree,
            "train.py",
            "__init__.py",
            "runs/train.py",
            "logs/x/__init__.py",
            "outputs/x/heads.py",
            "pkg/logs/a/train.py",
        )
        make(tree, "pkg/train.py", "pkg/logs/__init__.py", "experiments/mnist/train.py")
        for name in ("runs", "logs", "outputs", "pkg", "experiments"):
            for path in (tree / name).rglob("*.py"):
                path.write_text(f"import torch  # {path}\n")
        assert len(found()) == 9


class TestTaken:
    def test_in_a_stable_order(self, tree: Path) -> None:
        make(tree, "b.py", "a.py", "z/a.py", "c/b.py", "c/a.py")
        assert found() == ["a.py", "b.py", "c/a.py", "c/b.py", "z/a.py"]

    def test_what_is_named(self, tree: Path) -> None:
        make(tree, "tests/test_a.py", "build/b.py", "script")
        (tree / ".gitignore").write_text("build/\n")
        assert found("tests/test_a.py", "build/b.py", "script") == ["tests/test_a.py", "build/b.py", "script"]
        assert found("tests") == ["tests/test_a.py"]

    def test_a_skipped_folder_below_another_name(self, tree: Path) -> None:
        make(tree, "tests/unit/docs/test_a.py")
        assert found("tests/unit") == ["tests/unit/docs/test_a.py"]

    def test_include_brings_back_what_is_skipped_by_default(self, tree: Path) -> None:
        make(tree, "tests/train.py", "tests/other.py", "gen/a.py", "a.py")
        (tree / ".gitignore").write_text("gen/\n")
        assert found(include=("tests/train.py", "gen/")) == ["a.py", "gen/a.py", "tests/train.py"]
        assert found(include=("tests/",), exclude=("tests/other.py",)) == ["a.py", "tests/train.py"]

    def test_each_file_once(self, tree: Path) -> None:
        make(tree, "src/a.py")
        assert found("src/a.py", "src", ".") == ["src/a.py"]

    def test_named_files_can_be_held_to_the_rules(self, tree: Path) -> None:
        make(tree, "tests/test_a.py", "legacy/b.py", "gen/c.py", "d.py", "docs/e.py")
        (tree / ".gitignore").write_text("gen/\n")
        named = ("tests/test_a.py", "legacy/b.py", "gen/c.py", "d.py", "docs/e.py")
        assert found(*named, exclude=("legacy/",), include=("docs/",), force=True) == ["d.py", "docs/e.py"]

    def test_an_absolute_path_stays_absolute(self, tree: Path) -> None:
        make(tree, "src/a.py")
        assert found(str(tree / "src")) == [str(tree / "src" / "a.py").replace(os.sep, "/")]

    def test_a_project_below_a_folder_with_a_skipped_name(self, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        make(tree, "tests/project/a.py", "tests/project/tests/b.py")
        monkeypatch.chdir(tree / "tests" / "project")
        assert found() == ["a.py"]


class TestOddities:
    def test_a_missing_path(self, tree: Path) -> None:
        with pytest.raises(DiscoveryError, match=r"^gone\.py: there is no such file or folder$"):
            found("gone.py")

    @pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a privilege on Windows")
    def test_links(self, tree: Path) -> None:
        make(tree, "a/one.py")
        (tree / "a" / "loop").symlink_to(tree)
        (tree / "a" / "same.py").symlink_to(tree / "a" / "one.py")
        (tree / "a" / "broken.py").symlink_to(tree / "nowhere.py")
        assert found() == ["a/one.py"]
        with pytest.raises(DiscoveryError, match=r"broken\.py: is a broken link"):
            found("a/broken.py")

    @pytest.mark.skipif(sys.platform == "win32", reason="no fifos on Windows")
    def test_a_pipe_is_no_file(self, tree: Path) -> None:
        os.mkfifo(tree / "pipe.py")
        assert found() == []
        with pytest.raises(DiscoveryError, match="neither a file nor a folder"):
            found("pipe.py")

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may list every folder")
    def test_a_folder_that_may_not_be_listed(self, tree: Path) -> None:
        make(tree, "closed/a.py", "b.py")
        (tree / "closed").chmod(0)
        try:
            discovery = Discoverer(lambda _: Patterns(tree)).discover(["."])
        finally:
            (tree / "closed").chmod(0o755)
        assert [one.filename for one in discovery.files] == ["b.py"]
        assert discovery.notes == ["closed: cannot be listed: Permission denied"]


def test_the_test_by_bytes() -> None:
    assert not mentions_accelerators(b"import numpy\n")
    assert mentions_accelerators(b"from pytorch_metric_learning import x\n")
    assert mentions_accelerators(b"import lightning as L\n")
    assert mentions_accelerators(b"def step(self):\n    self.loss().backward()\n")
    assert not mentions_accelerators(b"def step(self):\n    self.walk(backward=True)\n")
    assert mentions_accelerators(b"def evaluate(model):\n    model.eval()\n")
    assert not mentions_accelerators(b"def evaluate(frame):\n    frame.eval('a + b')\n")
    assert mentions_accelerators(b"def step(self):\n    self.optimizer.zero_grad()\n")


def test_generated_files_say_so_at_their_top() -> None:
    assert is_generated(b"#!/usr/bin/python\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\n")
    assert not is_generated(b"import torch\n" * 400 + b"# @generated\n")
    assert not is_generated(b'"""Code that is @generated is skipped, DO NOT EDIT it."""\n')
