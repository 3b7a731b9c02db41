"""Programs are begun by their size, and their results come in their order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from accel_advisor.config import Config
from accel_advisor.linting.pool import pooled
from accel_advisor.linting.report import Program, Result


def noted(program: Program, contents: Mapping[str, bytes], sources: Mapping[str, bytes]) -> Result:
    """A check that says when it was begun, in a file of the program's root."""
    with open(Path(program.root, "begun"), "a") as file:
        file.write(f"{program.filenames[0]}\n")
    return Result(program, ())


def test_the_largest_is_begun_first_and_results_keep_their_order(tmp_path: Path) -> None:
    contents = {"a.py": b"x", "b.py": b"x" * 9, "c.py": b"x" * 3}
    todo = [Program((name,), (Config(root=tmp_path),), str(tmp_path)) for name in contents]
    found = list(pooled(noted, todo, contents, {}, 1))
    assert [one.program for one in found] == todo
    assert (tmp_path / "begun").read_text().split() == ["b.py", "c.py", "a.py"]
