"""Files that are odd in their bytes, their names or their place, and files that change while they are linted."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from accel_advisor.configurations import Configurations
from accel_advisor.finding import Applicability
from accel_advisor.linting.fix_loop import fix
from accel_advisor.linting.linter import lint
from accel_advisor.project.discovery import Found

from ..conftest import Done, Run
from .scripts import SLOW

windows = pytest.mark.skipif(sys.platform == "win32", reason="the file system there has no such files")


def found(done: Done) -> list[tuple[str, str, int]]:
    """File, code and row of each finding of a lint that printed JSON."""
    return [(one["filename"], one["code"], one["location"]["row"]) for one in json.loads(done.out)]


def as_json(run: Run, *args: str) -> list[tuple[str, str, int]]:
    return found(run("lint", "--no-cache", "--output-format", "json", *args))


@pytest.fixture
def plain(run: Run, project: Path) -> list[tuple[str, str, int]]:
    """What is found in a file that is not odd at all."""
    (project / "train.py").write_bytes(SLOW.encode())
    expected = as_json(run, "train.py")
    assert len(expected) > 1
    return expected


def after_fixing(run: Run, path: Path) -> bytes:
    """The bytes of a file after all of its fixes, which a second run leaves alone."""
    run("lint", "--no-cache", "--fix", "--unsafe-fixes", path.name)
    raw = path.read_bytes()
    run("lint", "--no-cache", "--fix", "--unsafe-fixes", path.name)
    assert path.read_bytes() == raw
    return raw


class TestText:
    @pytest.mark.parametrize(
        ("encoding", "cookie", "rows"),
        [
            ("latin-1", "# -*- coding: latin-1 -*-\n", 1),
            ("cp1252", "#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\n", 2),
            ("utf-8-sig", "", 0),
            ("utf-8-sig", "# coding: utf-8\n", 1),
        ],
    )
    def test_an_encoding_that_is_declared(
        self, run: Run, project: Path, plain: list[tuple[str, str, int]], encoding: str, cookie: str, rows: int
    ) -> None:
        before = (cookie + SLOW.replace("a.jpg", "é.jpg")).encode(encoding)
        (project / "train.py").write_bytes(before)
        assert as_json(run, "train.py") == [(name, code, row + rows) for name, code, row in plain]
        after = after_fixing(run, project / "train.py")
        place = before.index(b"batch_size=2") + len(b"batch_size=2")
        assert after.startswith(before[:place])
        assert after.endswith(before[place:])
        assert b"num_workers=" in after[place:]

    @pytest.mark.parametrize(
        ("raw", "sentence"),
        [
            (SLOW.replace("a.jpg", "é.jpg").encode("latin-1"), "cannot be decoded as utf-8: invalid continuation byte"),
            (b"# coding: ascii\nimport torch\nx = '\xc3\xa9'\n", "cannot be decoded as ascii"),
            (b"\xef\xbb\xbf# coding: latin-1\nimport torch\n", "cannot be decoded"),
            (SLOW.encode() + b"\x00", "yntax error"),
            (b"import torch\nx = '\xed\xa0\x80'\n", "cannot be decoded as utf-8"),
            (b"# torch, Python 2\nprint 'slow', x\n", "yntax error: Missing parentheses"),
            (b"import torch\nif True:\n\tx = 1\n        y = 2\n", "yntax error"),
        ],
    )
    def test_what_cannot_be_read_is_reported_and_left_alone(
        self, run: Run, project: Path, raw: bytes, sentence: str
    ) -> None:
        (project / "bad.py").write_bytes(raw)
        (project / "train.py").write_text(SLOW)
        done = run("lint", "--no-cache", "--fix", "--unsafe-fixes", "--output-format", "json")
        assert done.status == 1
        (bad,) = [one for one in json.loads(done.out) if one["filename"] == "bad.py"]
        assert bad["code"] == "ACC001"
        assert sentence in bad["message"]
        assert (project / "bad.py").read_bytes() == raw
        assert "num_workers=" in (project / "train.py").read_text()

    def test_utf_16_is_no_python(self, run: Run, project: Path) -> None:
        (project / "train.py").write_bytes(SLOW.encode("utf-16"))
        done = run("lint", "--no-cache", "train.py")
        assert done.status == 1
        assert "This file cannot be decoded" in done.out

    @pytest.mark.parametrize("newline", ["\r\n", "\r"])
    def test_newlines(self, run: Run, project: Path, plain: list[tuple[str, str, int]], newline: str) -> None:
        after = after_fixing(run, project / "train.py")
        (project / "train.py").write_bytes(SLOW.replace("\n", newline).encode())
        assert as_json(run, "train.py") == plain
        assert after_fixing(run, project / "train.py") == after.replace(b"\n", newline.encode())

    def test_mixed_newlines(self, run: Run, project: Path, plain: list[tuple[str, str, int]]) -> None:
        newlines = ["\r\n", "\n", "\r", "\n", "\r\n"]
        rows = SLOW.split("\n")
        text = "".join(row + newlines[index % 5] for index, row in enumerate(rows[:-1]))
        (project / "train.py").write_bytes(text.encode())
        assert as_json(run, "train.py") == plain
        after = after_fixing(run, project / "train.py").decode()
        for newline in ("\r\n", "\r", "\n"):
            assert after.count(newline) == text.count(newline)

    @pytest.mark.parametrize(
        ("old", "new", "rows"),
        [
            ("    ", "\t", 0),
            ("\n\n\nclass", "\n\x0c\n\nclass", 0),
            ("DataLoader(Photos", "DataLoader \\\n(Photos", 1),
            ("import torch\n", "import torch  # é 漢字 🎉\n", 0),
        ],
        ids=["tabs", "form feed", "continuation", "unicode"],
    )
    def test_white_space(
        self, run: Run, project: Path, plain: list[tuple[str, str, int]], old: str, new: str, rows: int
    ) -> None:
        text = SLOW.replace(old, new)
        assert text != SLOW
        (project / "train.py").write_bytes(text.encode())
        assert [code for _, code, _ in as_json(run, "train.py")] == [code for _, code, _ in plain]
        after = after_fixing(run, project / "train.py").decode()
        place = text.index("batch_size=2") + len("batch_size=2")
        assert after.startswith(text[:place])
        assert after.endswith(text[place:])

    @pytest.mark.parametrize("raw", [b"", b"\n", b"\xef\xbb\xbf", b"# torch", b"\x0c", b"\\\n", b"torch \\"])
    def test_next_to_nothing(self, run: Run, project: Path, raw: bytes) -> None:
        (project / "a.py").write_bytes(raw)
        assert run("lint", "--no-cache", "a.py").status in (0, 1)
        assert (project / "a.py").read_bytes() == raw

    def test_ten_megabytes(self, run: Run, project: Path, plain: list[tuple[str, str, int]]) -> None:
        data = '"""' + "0123456789abcde\n" * 650_000 + '"""\n'
        (project / "train.py").write_text(SLOW + "DATA = " + data)
        assert as_json(run, "train.py") == plain


class TestPlaces:
    NAMES = (b"with space.py", b"two\nlines.py", b"caf\xc3\xa9.py", b"\xff\xfe.py", b"-x.py")

    @pytest.fixture
    def named(self, project: Path) -> list[Path]:
        """Files with odd names, as far as the file system takes them."""
        made = []
        for name in self.NAMES:
            path = project / os.fsdecode(name)
            try:
                path.write_text(SLOW)
            except OSError:  # it wants names to be text
                continue
            made.append(path)
        return made

    @windows
    @pytest.mark.parametrize("output", ["text", "concise", "json", "sarif", "github", "gitlab"])
    def test_names_in_every_format(self, run: Run, named: list[Path], output: str) -> None:
        done = run("lint", "--no-cache", "--output-format", output, "--select", "ACC102")
        assert done.status == 1
        assert done.out.count("ACC102") >= len(named)
        if output in ("json", "sarif", "gitlab"):
            json.loads(done.out)

    @windows
    def test_names_of_files_that_are_fixed(self, run: Run, named: list[Path]) -> None:
        done = run("lint", "--diff", "--unsafe-fixes", "--select", "ACC102")
        assert done.out.count("+++ b/") == len(named)
        run("lint", "--fix", "--unsafe-fixes", "--select", "ACC102")
        assert all("num_workers=" in path.read_text() for path in named)
        assert run("lint", "--select", "ACC102").status == 0

    @windows
    def test_links_to_nowhere_and_in_circles(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        (project / "broken.py").symlink_to("nowhere.py")
        (project / "circle.py").symlink_to("circle.py")
        (project / "folder").mkdir()
        (project / "folder" / "up").symlink_to("..")
        assert {name for name, _, _ in as_json(run)} == {"train.py"}
        for name in ("broken.py", "circle.py"):
            done = run("lint", "--no-cache", name)
            assert done.status == 2
            assert f"{name}: is a broken link" in done.err

    @windows
    def test_a_link_stays_one_when_its_file_is_fixed(self, run: Run, project: Path) -> None:
        (project / "real").mkdir()
        (project / "real" / "train.py").write_text(SLOW)
        (project / "link.py").symlink_to(Path("real", "train.py"))
        run("lint", "--no-cache", "--fix", "--unsafe-fixes", "link.py")
        assert (project / "link.py").is_symlink()
        assert "num_workers=" in (project / "real" / "train.py").read_text()

    @pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no devices among the files here")
    def test_devices_are_no_files(self, run: Run, project: Path) -> None:
        done = run("lint", "--no-cache", "/dev/zero")
        assert done.status == 2
        assert "/dev/zero: is neither a file nor a folder" in done.err

    def test_a_folder_that_is_called_like_a_file(self, run: Run, project: Path) -> None:
        (project / "train.py").mkdir()
        (project / "train.py" / "inner.py").write_text(SLOW)
        names = {name for name, _, _ in as_json(run)}
        assert names == {str(Path("train.py", "inner.py"))}

    @windows
    def test_imports_of_what_is_no_file(self, run: Run, project: Path, plain: list[tuple[str, str, int]]) -> None:
        os.mkfifo(project / "pipe.py")
        (project / "folder.py").mkdir()
        (project / "circle.py").symlink_to("circle.py")
        (project / "binary.py").write_bytes(bytes(range(256)))
        imports = "from pipe import a\nfrom folder import b\nfrom circle import c\nfrom binary import d\n"
        (project / "train.py").write_text(SLOW.replace("import torch\n", imports + "import torch\n", 1))
        assert as_json(run, "train.py") == [(name, code, row + 4) for name, code, row in plain]


class TestMeanwhile:
    def test_one_that_becomes_a_folder(self, project: Path) -> None:
        (project / "train.py").mkdir()
        (one,) = lint([Found("train.py", named=True)], Configurations()).findings
        assert (one.code, one.message.startswith("This file cannot be read: ")) == ("ACC001", True)

    def test_one_that_vanishes_before_it_is_fixed(self, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        report = lint([Found("train.py", named=True)], Configurations())
        (project / "train.py").unlink()
        outcome = fix(report, frozenset(Applicability))
        assert b"num_workers=" in outcome.after["train.py"]

    @pytest.mark.parametrize("change", ["edited", "gone"])
    def test_one_that_changes_before_it_is_written_is_left_alone(
        self, run: Run, project: Path, monkeypatch: pytest.MonkeyPatch, change: str
    ) -> None:
        from accel_advisor.linting import fix_loop

        (project / "train.py").write_text(SLOW)
        (project / "other.py").write_text(SLOW)
        really = fix_loop.fix

        def slowly(*args: object) -> object:
            outcome = really(*args)  # type: ignore[arg-type]
            if change == "gone":
                (project / "train.py").unlink()
            else:
                (project / "train.py").write_text("# saved by an editor\n")
            return outcome

        monkeypatch.setattr(fix_loop, "fix", slowly)
        done = run("lint", "--no-cache", "--fix", "--unsafe-fixes")
        assert done.status == 2
        assert "train.py" in done.err
        assert "no file was changed" in done.err
        assert (project / "other.py").read_text() == SLOW
        if change == "gone":
            assert not (project / "train.py").exists()
        else:
            assert (project / "train.py").read_text() == "# saved by an editor\n"

    def test_a_file_that_may_only_be_read_keeps_its_mode(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        (project / "train.py").chmod(0o444)
        done = run("lint", "--no-cache", "--fix", "--unsafe-fixes", "train.py")
        assert done.status in (0, 2)
        assert (project / "train.py").stat().st_mode & 0o777 == 0o444

    def test_standard_input_that_is_no_text(self, run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"import torch\n\xff\n")))
        done = run("lint", "-", "--output-format", "json")
        assert (done.status, json.loads(done.out)[0]["code"]) == (1, "ACC001")
