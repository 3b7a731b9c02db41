"""``lint --diff-base``, with real repositories of git."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import Run
from .scripts import SLOW as READY

SLOW = READY.replace("x.cuda(non_blocking=True)", "x.cuda()")
"""A script with findings in two lines."""
LOADER = SLOW.splitlines().index('loader = DataLoader(Photos(["a.jpg"]), batch_size=2)') + 1
LINT = ("lint", "--output-format", "concise", "--no-cache", "--fail-on", "info")


def git(folder: Path, *args: str) -> str:
    identity = {
        "user.name": "A",
        "user.email": "a@example.org",
        "commit.gpgSign": "false",
        "init.defaultBranch": "main",
    }
    settings = [part for key, value in identity.items() for part in ("-c", f"{key}={value}")]
    plain = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(["git", *settings, *args], cwd=folder, env=plain, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "A change")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository on a branch of its own, with a script that has findings; the working directory."""
    root = tmp_path / "repository"
    root.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.delenv("GIT_DIR", raising=False)
    git(root, "init", "-q", "-b", "main")
    (root / "train.py").write_text(SLOW)
    commit(root)
    git(root, "checkout", "-q", "-b", "work")
    return root


def places(out: str) -> list[str]:
    """Where the findings of a concise report stand: file and row."""
    return [":".join(line.split(":")[:2]) for line in out.splitlines() if ": ACC" in line]


class TestWhatIsShown:
    def test_only_lines_that_changed(self, repository: Path, run: Run) -> None:
        assert f"train.py:{LOADER}" in places(run(*LINT).out)
        done = run(*LINT, "--diff-base", "main")
        assert (done.status, places(done.out)) == (0, [])
        assert done.err == "Nothing that is linted changed since main.\n"
        (repository / "train.py").write_text(SLOW.replace("batch_size=2", "batch_size=4"))
        done = run(*LINT, "--diff-base", "main")
        assert done.status == 1
        assert set(places(done.out)) == {f"train.py:{LOADER}"}

    def test_a_line_that_is_committed_on_the_branch(self, repository: Path, run: Run) -> None:
        (repository / "train.py").write_text("# first\n\n" + SLOW)
        commit(repository)
        done = run(*LINT, "--diff-base", "main")
        assert (done.status, places(done.out)) == (0, [])
        assert "nothing new; 3 findings on lines that did not change." in done.out
        (repository / "train.py").write_text("# first\n\n" + SLOW.replace("batch_size=2", "batch_size=4"))
        commit(repository)
        assert set(places(run(*LINT, "--diff-base", "main").out)) == {f"train.py:{LOADER + 2}"}
        assert run(*LINT, "--diff-base", "HEAD").status == 0

    def test_what_the_other_branch_did_since_is_no_change_of_this_one(self, repository: Path, run: Run) -> None:
        git(repository, "checkout", "-q", "main")
        (repository / "train.py").write_text(SLOW.replace("batch_size=2", "batch_size=8"))
        commit(repository)
        git(repository, "checkout", "-q", "work")
        assert run(*LINT, "--diff-base", "main").status == 0

    def test_a_span_of_several_lines_one_of_which_changed(self, repository: Path, run: Run) -> None:
        spread = SLOW.replace('DataLoader(Photos(["a.jpg"]), batch_size=2)', 'DataLoader(\n    Photos(["a.jpg"]),\n)')
        (repository / "train.py").write_text(spread)
        commit(repository)
        (repository / "train.py").write_text(spread.replace("a.jpg", "b.jpg"))
        assert set(places(run(*LINT, "--diff-base", "HEAD").out)) == {f"train.py:{LOADER}"}

    def test_lines_that_look_like_those_of_a_diff(self, repository: Path, run: Run) -> None:
        text = SLOW.replace("model = ", '"""\n-- a/x\n++ b/other.py\n"""\nmodel = ')
        (repository / "train.py").write_text(text.replace("++ b", "++ a"))
        commit(repository)
        (repository / "train.py").write_text(text.replace("batch_size=2", "batch_size=4"))
        assert set(places(run(*LINT, "--diff-base", "HEAD").out)) == {f"train.py:{LOADER + 4}"}


class TestWhichFiles:
    def test_a_file_that_moved_is_compared_with_what_it_was(self, repository: Path, run: Run) -> None:
        git(repository, "mv", "train.py", "moved.py")
        commit(repository)
        assert run(*LINT, "--diff-base", "main").status == 0
        (repository / "moved.py").write_text(SLOW.replace("batch_size=2", "batch_size=4"))
        assert set(places(run(*LINT, "--diff-base", "main").out)) == {f"moved.py:{LOADER}"}

    @pytest.mark.parametrize("name", ["new.py", "a b.py", 'q"uo\tte.py', "表.py"])
    def test_a_file_that_git_does_not_know(self, repository: Path, run: Run, name: str) -> None:
        (repository / name).write_text(SLOW)
        assert len(places(run(*LINT, "--diff-base", "main").out)) == 3
        git(repository, "add", "-A")
        assert len(places(run(*LINT, "--diff-base", "main").out)) == 3
        git(repository, "commit", "-q", "-m", "It")
        (repository / name).write_text(SLOW.replace("batch_size=2", "batch_size=4"))
        assert {one.rpartition(":")[2] for one in places(run(*LINT, "--diff-base", "HEAD").out)} == {str(LOADER)}

    def test_from_a_folder_below_and_by_path(
        self, repository: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        below = repository / "src"
        below.mkdir()
        (below / "one.py").write_text(SLOW)
        (repository / "train.py").write_text(SLOW.replace("batch_size=2", "batch_size=4"))
        monkeypatch.chdir(below)
        assert set(places(run(*LINT, "--diff-base", "main").out)) == {f"one.py:{LOADER}", f"one.py:{LOADER + 2}"}
        assert f"../train.py:{LOADER}" in places(run(*LINT, "--diff-base", "main", "../train.py").out)
        monkeypatch.chdir(tmp_path)
        assert f"repository/src/one.py:{LOADER}" in places(run(*LINT, "--diff-base", "main", "repository").out)

    def test_two_repositories(self, repository: Path, run: Run) -> None:
        inner = repository / "inner"
        inner.mkdir()
        git(inner, "init", "-q")
        (inner / "train.py").write_text(SLOW)
        commit(inner)
        (inner / "train.py").write_text(SLOW.replace("batch_size=2", "batch_size=4"))
        assert set(places(run(*LINT, "--diff-base", "main").out)) == {f"inner/train.py:{LOADER}"}

    def test_a_notebook(self, repository: Path, run: Run) -> None:
        def written(source: str) -> None:
            cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source.splitlines(keepends=True)}]
            data = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
            (repository / "notes.ipynb").write_text(json.dumps(data, indent=1))

        written(SLOW)
        commit(repository)
        written(SLOW.replace("batch_size=2", "batch_size=4"))
        found = places(run(*LINT, "--diff-base", "HEAD").out)
        assert set(found) == {"notes.ipynb:cell 1"}
        assert len(found) < len(places(run(*LINT, "notes.ipynb").out))

    def test_settings_of_git_that_change_its_diffs(self, repository: Path, run: Run) -> None:
        for key, value in {"diff.noprefix": "true", "diff.mnemonicPrefix": "true", "diff.external": "false"}.items():
            git(repository, "config", key, value)
        git(repository, "config", "diff.interHunkContext", "100")
        (repository / ".gitattributes").write_text("*.py binary\n")
        changed = SLOW.replace("batch_size=2", "batch_size=4").replace("import torch\n", "import torch  # it\n")
        (repository / "train.py").write_text(changed)
        assert set(places(run(*LINT, "--diff-base", "main").out)) == {f"train.py:{LOADER}"}


class TestBesideOtherOptions:
    def test_the_cache(self, repository: Path, run: Run) -> None:
        (repository / "train.py").write_text(SLOW.replace("batch_size=2", "batch_size=4"))
        command = [one for one in LINT if one != "--no-cache"]
        everything, first = run(*command).out, run(*command, "--diff-base", "main").out
        assert places(first) != places(everything)
        assert (run(*command, "--diff-base", "main").out, run(*command).out) == (first, everything)

    def test_fixes_are_made_on_changed_lines_only(self, repository: Path, run: Run) -> None:
        text = SLOW.replace("loader = ", "other = DataLoader(Photos([]), batch_size=1)\nloader = ").replace(
            "in loader:", "in other:\n    model(x.cuda()).sum().backward()\nfor x in loader:"
        )
        (repository / "train.py").write_text(text)
        commit(repository)
        changed = text.replace("batch_size=2", "batch_size=4")
        (repository / "train.py").write_text(changed)
        done = run(*LINT, "--diff-base", "HEAD", "--fix", "--unsafe-fixes")
        after = (repository / "train.py").read_text()
        assert "other = DataLoader(Photos([]), batch_size=1)\n" in after
        assert "batch_size=4, " in after
        assert "Made " in done.out
        assert f"train.py:{LOADER}" not in places(done.out)

    def test_stdin(self, repository: Path) -> None:
        command = [sys.executable, "-m", "accel_advisor", *LINT, "--diff-base", "main", "--stdin-filename", "train.py"]
        unsaved = "# new\n" + SLOW.replace("batch_size=2", "batch_size=4")
        done = subprocess.run([*command, "-"], input=unsaved, capture_output=True, encoding="utf-8")
        assert set(places(done.stdout)) == {f"train.py:{LOADER + 1}"}
        done = subprocess.run([*command, "-"], input=SLOW, capture_output=True, encoding="utf-8")
        assert (done.returncode, places(done.stdout)) == (0, [])

    def test_a_baseline_keeps_what_it_holds(self, repository: Path, run: Run) -> None:
        run("lint", "--write-baseline", "known.json")
        commit(repository)
        (repository / "train.py").write_text("# new\n" + SLOW)
        done = run(*LINT, "--baseline", "known.json", "--diff-base", "HEAD")
        assert (done.status, places(done.out)) == (0, [])
        assert "no longer" not in done.err

    def test_not_beside_writing_a_baseline(self, repository: Path, run: Run) -> None:
        done = run("lint", "--diff-base", "main", "--write-baseline", "known.json")
        assert (done.status, "cannot be used with" in done.err) == (2, True)

    def test_a_file_that_cannot_be_read_is_said_wherever_its_error_stands(self, repository: Path, run: Run) -> None:
        (repository / "train.py").write_text(SLOW.replace("batch_size=2", "batch_size=2"[:-1] + "(") + "# end\n")
        assert "ACC001" in run(*LINT, "--diff-base", "main").out


class TestWhatCannotBe:
    def sentence(self, run: Run, *args: str) -> str:
        done = run(*LINT, *args)
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        return done.err

    def test_no_such_commit(self, repository: Path, run: Run) -> None:
        for ref in ("nowhere", "-x", "", "main..work"):
            assert f"'{ref}' is no commit, branch or tag" in self.sentence(run, f"--diff-base={ref}")

    def test_no_repository(self, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "train.py").write_text(SLOW)
        monkeypatch.chdir(tmp_path)
        assert "train.py is in no git repository" in self.sentence(run, "--diff-base", "main")

    def test_no_git(self, repository: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(repository))
        assert "git is not installed, or not on the PATH" in self.sentence(run, "--diff-base", "main")

    def test_a_shallow_clone(self, repository: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (repository / "train.py").write_text(SLOW + "\n")
        commit(repository)
        git(tmp_path, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{repository}", "shallow")
        monkeypatch.chdir(tmp_path / "shallow")
        assert "`fetch-depth: 0`" in self.sentence(run, "--diff-base", "origin/main")

    def test_git_that_refuses(self, repository: Path, run: Run) -> None:
        (repository / ".git" / "config").write_text("[core\n")
        assert "git failed in" in self.sentence(run, "--diff-base", "main")
