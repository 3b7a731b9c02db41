"""The overlay behaves like the file system, and the file system stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def plant(folder: Path) -> None:
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "a.txt").write_text("a")
    (folder / "b.bin").write_text("bbbb")
    (folder / "sub" / "c.txt").write_text("c")
    (folder / "sub" / "deep" / "d.txt").write_text("d")
    (folder / "link").symlink_to("sub")


def picture(folder: Path) -> dict[str, object]:
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


def test_random_operations_see_what_they_would_see_natively(tmp_path: Path) -> None:
    count = 200
    for kind in ("native", "contained"):
        for number in range(count):
            plant(tmp_path / kind / str(number))
    (tmp_path / "scratch").mkdir()
    before = picture(tmp_path / "contained")
    done = subprocess.run(
        [
            sys.executable,
            str(HERE / "contained_operations.py"),
            *(str(tmp_path / name) for name in ("scratch", "native", "contained")),
            "9000",
            str(count),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.stderr == ""
    assert done.stdout == ""
    assert picture(tmp_path / "contained") == before
