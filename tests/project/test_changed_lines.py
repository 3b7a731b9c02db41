"""What changed, as git says it; :mod:`tests.commands.test_lint_command_diff_base` has the whole command."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from accel_advisor.project.changed_lines import ChangedLines, GitError


def commit(folder: Path) -> None:
    for command in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "x"),
    ):
        subprocess.run(["git", *command], cwd=folder, check=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_text("".join(f"{number}\n" for number in range(1, 9)))
    commit(tmp_path)
    return path


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("1\n2\n3\n4\n5\n6\n7\n8\n", set()),
        ("1\nx\n3\n4\n5\n6\n7\n8\n", {2}),
        ("1\n2\n3\n4\n5\n6\n7\n8\n9", {9}),
        ("x\n1\n3\n4\n5\n7\n8", {1, 7}),
        ("++ b/other.py\n@@ -1 +1 @@\n-- a/x\n2\n3\n4\n5\n6\n7\n8\n", {1, 2, 3}),
    ],
)
def test_rows(file: Path, text: str, rows: set[int]) -> None:
    file.write_text(text)
    assert ChangedLines("HEAD").of(str(file)) == rows


def test_a_file_that_git_does_not_know_is_new(file: Path) -> None:
    other = file.with_name("b.py")
    other.write_text("1\n")
    assert ChangedLines("HEAD").of(str(other)) is None


def test_lines_that_end_as_git_does_not_count_them(file: Path) -> None:
    file.write_bytes(b"1\r2\r3\r")
    assert ChangedLines("HEAD").of(str(file)) is None


def test_what_is_no_commit(file: Path) -> None:
    with pytest.raises(GitError, match="'nowhere' is no commit, branch or tag"):
        ChangedLines("nowhere").of(str(file))
