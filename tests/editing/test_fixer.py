"""Edits, plans, diffs and writing."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accel_advisor.editing.fixer import (
    EditConflictError,
    apply_edits,
    edited_python,
    edits_by_file,
    plan,
    rehearse_writing,
    unified_diff,
    write_all,
    write_atomically,
)
from accel_advisor.finding import Applicability, Edit, Finding, Fix, Location, Severity, Span
from accel_advisor.source.document import Document
from accel_advisor.source.parsing import DocumentError

SAFE = frozenset({Applicability.SAFE})
BOTH = frozenset({Applicability.SAFE, Applicability.UNSAFE})


def edit(start: int, end: int, content: str, filename: str = "a.py") -> Edit:
    return Edit(filename, Span(Location(start, 1, start + 1), Location(end, 1, end + 1)), content)


def finding(*edits: Edit, code: str = "ACC101", applicability: Applicability = Applicability.SAFE) -> Finding:
    fix = Fix("Do it", edits, applicability) if edits else None
    start = edits[0].span if edits else Span(Location(0, 1, 1), Location(0, 1, 1))
    return Finding(code, "a-name", "A message.", Severity.WARNING, "a.py", start, fix)


class TestApplyEdits:
    def test_no_edits_leave_the_text(self) -> None:
        assert apply_edits("a\r\nb", []) == "a\r\nb"

    def test_insertions_at_one_place_keep_their_order(self) -> None:
        assert apply_edits("f(a)", [edit(3, 3, ", b=1"), edit(3, 3, ", c=2")]) == "f(a, b=1, c=2)"

    def test_equal_edits_are_made_once(self) -> None:
        assert apply_edits("x", [edit(0, 0, "import torch\n"), edit(0, 0, "import torch\n")]) == "import torch\nx"

    def test_an_insertion_comes_before_a_replacement_that_starts_there(self) -> None:
        assert apply_edits("abc", [edit(1, 2, "B"), edit(1, 1, "+")]) == "a+Bc"

    @pytest.mark.parametrize("other", [edit(2, 4, "x"), edit(3, 3, "x"), edit(1, 6, "x"), edit(2, 5, "y")])
    def test_overlaps_are_refused(self, other: Edit) -> None:
        with pytest.raises(EditConflictError, match="overlap"):
            apply_edits("0123456789", [edit(2, 5, "x"), other])

    def test_an_edit_outside_the_text_is_refused(self) -> None:
        with pytest.raises(EditConflictError, match="outside the 3 characters"):
            apply_edits("abc", [edit(2, 4, "")])

    def test_edits_of_two_files_are_refused(self) -> None:
        with pytest.raises(EditConflictError, match="several files"):
            apply_edits("abc", [edit(0, 0, "x"), edit(0, 0, "x", "b.py")])

    @given(st.data())
    def test_disjoint_edits_are_each_made_and_nothing_else_changes(self, data: st.DataObject) -> None:
        kept = data.draw(st.lists(st.text(max_size=6), min_size=1, max_size=8))
        replaced = [data.draw(st.text(max_size=4)) for _ in kept[1:]]
        contents = [data.draw(st.text(max_size=5)) for _ in replaced]
        before, expected, edits = kept[0], kept[0], []
        for index, (old, new, after) in enumerate(zip(replaced, contents, kept[1:], strict=True)):
            start = len(before)
            edits.append(edit(start, start + len(old), f"{new}{index}"))
            before += old + after
            expected += f"{new}{index}" + after
        # Neighbours may meet in one offset, where a replacement and an insertion have no order of their own.
        places = [offset for one in edits for offset in {one.span.start.offset, one.span.end.offset}]
        if len(set(places)) == len(places):
            assert apply_edits(before, data.draw(st.permutations(edits))) == expected


class TestEditedPython:
    def test_what_comes_out_is_a_document_that_parses(self) -> None:
        document = Document("a.py", "x = 1\n")
        content, after = edited_python(document, [edit(4, 5, "2")])
        assert (content, after.text) == (b"x = 2\n", "x = 2\n")

    def test_what_is_no_longer_python_is_refused(self) -> None:
        with pytest.raises(DocumentError, match="syntax error"):
            edited_python(Document("a.py", "x = 1\n"), [edit(4, 5, "(")])

    def test_a_cell_may_stay_broken_and_none_may_break(self) -> None:
        cells = [{"cell_type": "code", "source": source} for source in ("x = 1", "y = (")]
        document = Document.from_bytes("a.ipynb", json.dumps({"cells": cells}).encode())
        _, after = edited_python(document, [edit(4, 5, "2", "a.ipynb")])
        assert after.text.startswith("x = 2\n")
        with pytest.raises(DocumentError, match="syntax error"):
            edited_python(document, [edit(4, 5, "(", "a.ipynb")])


class TestPlan:
    def test_nothing_to_fix(self) -> None:
        assert plan([finding()], BOTH) == ([], [])

    def test_display_fixes_are_never_chosen(self) -> None:
        shown = finding(edit(0, 1, "x"), applicability=Applicability.DISPLAY)
        assert plan([shown], frozenset(Applicability)) == ([], [])

    def test_unsafe_fixes_need_leave(self) -> None:
        unsafe = finding(edit(0, 1, "x"), applicability=Applicability.UNSAFE)
        assert plan([unsafe], SAFE) == ([], [])
        assert plan([unsafe], BOTH) == ([unsafe], [])

    def test_an_overlapping_fix_waits_whole(self) -> None:
        first = finding(edit(0, 5, "x"))
        second = finding(edit(4, 6, "y"), edit(20, 21, "z"), code="ACC102")
        third = finding(edit(20, 22, "w"), code="ACC103")
        assert plan([third, second, first], SAFE) == ([first, third], [second])

    def test_insertions_at_one_place_go_together(self) -> None:
        both = [finding(edit(3, 3, ", a=1")), finding(edit(3, 3, ", b=1"), code="ACC102")]
        assert plan(both, SAFE) == (both, [])

    def test_equal_edits_of_two_fixes_go_together(self) -> None:
        both = [finding(edit(0, 2, "x")), finding(edit(0, 2, "x"), code="ACC102")]
        assert plan(both, SAFE) == (both, [])

    def test_the_same_place_in_two_files_is_no_overlap(self) -> None:
        both = [finding(edit(0, 2, "x")), finding(edit(0, 2, "y", "b.py"), code="ACC102")]
        assert plan(both, SAFE)[1] == []

    @given(
        st.lists(
            st.lists(
                st.tuples(st.integers(0, 30), st.integers(0, 5), st.text("xy", max_size=2)), min_size=1, max_size=3
            ),
            max_size=8,
        )
    )
    def test_whatever_was_chosen_can_be_applied(self, fixes: list[list[tuple[int, int, str]]]) -> None:
        findings = []
        for number, edits in enumerate(fixes):
            made = [edit(start, start + length, content) for start, length, content in edits]
            try:
                apply_edits("." * 40, made)
            except EditConflictError:
                continue
            findings.append(finding(*made, code=f"ACC{number:03}"))
        chosen, skipped = plan(findings, SAFE)
        apply_edits("." * 40, [one for edits in edits_by_file(chosen).values() for one in edits])
        assert len(chosen) + len(skipped) == len(findings)
        assert bool(chosen) == bool(findings)


class TestUnifiedDiff:
    def test_nothing_changed(self) -> None:
        assert unified_diff("a.py", "x\n", "x\n") == ""

    def test_patch_accepts_it(self, tmp_path: Path) -> None:
        before = "".join(f"line {number}\n" for number in range(20)) + "end"
        after = before.replace("line 3\n", "line three\n").replace("end", "END")
        (tmp_path / "a.py").write_text(before)
        diff = unified_diff("a.py", before, after)
        assert diff.startswith("--- a/a.py\n+++ b/a.py\n")
        done = subprocess.run(
            ["git", "apply", "-"], cwd=tmp_path, input=diff, text=True, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "a.py").read_text() == after

    def test_carriage_returns_stay(self) -> None:
        assert "+b\r\n" in unified_diff("a.py", "a\r\n", "b\r\n")


class TestWriteAtomically:
    def test_keeps_permissions_and_leaves_nothing_beside(self, tmp_path: Path) -> None:
        path = tmp_path / "run.py"
        path.write_bytes(b"old")
        path.chmod(0o751)
        write_atomically(path, b"new")
        assert path.read_bytes() == b"new"
        assert stat.S_IMODE(path.stat().st_mode) == 0o751
        assert os.listdir(tmp_path) == ["run.py"]

    def test_a_new_file_has_ordinary_permissions(self, tmp_path: Path) -> None:
        (tmp_path / "plain").write_bytes(b"")
        write_atomically(tmp_path / "made", b"x")
        assert (tmp_path / "made").stat().st_mode == (tmp_path / "plain").stat().st_mode

    @pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a privilege on Windows")
    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        target = tmp_path / "real" / "train.py"
        target.write_bytes(b"old")
        link = tmp_path / "train.py"
        link.symlink_to(target)
        write_atomically(link, b"new")
        assert link.is_symlink()
        assert target.read_bytes() == b"new"

    @pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
    def test_what_is_no_regular_file_is_written_to_and_stays(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        write_atomically(pipe, b"new")
        assert os.read(reader, 9) == b"new"
        os.close(reader)
        assert pipe.is_fifo()

    @pytest.mark.skipif(sys.platform == "win32", reason="/dev/full and its kin are not there")
    def test_a_failure_leaves_the_old_file_and_no_other(self, tmp_path: Path) -> None:
        path = tmp_path / "train.py"
        path.write_bytes(b"old")
        with pytest.raises(TypeError):
            write_atomically(path, "not bytes")  # type: ignore[arg-type]
        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["train.py"]

    @pytest.mark.skipif(sys.platform == "win32", reason="names are as long as paths there")
    def test_a_failure_names_the_file_and_not_the_one_beside_it(self, tmp_path: Path) -> None:
        path = tmp_path / ("x" * 255)  # the name of the file beside it would be too long
        path.write_bytes(b"old")
        with pytest.raises(OSError, match="File name too long") as raised:
            write_atomically(path, b"new")
        assert raised.value.filename == str(path)
        assert path.read_bytes() == b"old"

    def test_files_that_belong_together_are_written_together(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_bytes(b"a")
        with pytest.raises(OSError, match=r"gone\.py"):
            write_all({str(tmp_path / "a.py"): b"b", str(tmp_path / "gone.py"): b"b"})
        assert (tmp_path / "a.py").read_bytes() == b"a"

    @given(
        st.sampled_from(["utf-8", "latin-1"]),
        st.booleans(),
        st.sampled_from(["\n", "\r\n"]),
        st.text(st.characters(codec="latin-1", exclude_characters="\r\n\x0c"), max_size=20),
    )
    def test_a_document_is_written_as_it_was_read(self, encoding: str, bom: bool, newline: str, comment: str) -> None:
        mark = b"\xef\xbb\xbf" if bom and encoding == "utf-8" else b""
        coding = f"# -*- coding: {encoding} -*-"
        raw = mark + newline.join([coding, f"# {comment}", "x = 1", ""]).encode(encoding)
        document = Document.from_bytes("a.py", raw)
        assert document.encode(document.text) == raw
        start = document.text.index("x = 1")
        changed = apply_edits(document.text, [document.edit(start, start + 1, "y")])
        assert document.encode(changed) == raw.replace(b"x = 1", b"y = 1")


class TestRehearseWriting:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        (tmp_path / "train.py").write_text("x = 1\n")
        return tmp_path / "train.py"

    def tried(self, file: Path, before: str) -> str:
        """What a process says that tries it after ``before``: the same for root and for everybody else."""
        code = f"""\
import os, resource
{before}
from pathlib import Path
from accel_advisor.editing.fixer import rehearse_writing
try:
    rehearse_writing({str(file)!r})
except OSError as error:
    print(error.strerror)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
        return done.stdout.strip()

    def state(self, file: Path) -> tuple[object, ...]:
        """All that a write changes: not the time of access, which any reader moves."""
        of = file.stat()
        return (
            of.st_ino,
            of.st_mode,
            of.st_uid,
            of.st_gid,
            of.st_nlink,
            of.st_mtime_ns,
            of.st_ctime_ns,
        ), file.read_bytes()

    def test_what_can_be_written_is_the_same_afterwards(self, file: Path) -> None:
        os.utime(file, (0, 0))  # so that reading it moves the time of access, whenever this runs
        before = self.state(file)
        rehearse_writing(file)
        rehearse_writing(file.with_name("new.py"))
        assert self.state(file) == before
        assert list(file.parent.iterdir()) == [file]
        assert self.tried(file, "pass") == ""

    def test_a_file_that_is_read_only_can_be_replaced(self, file: Path) -> None:
        file.chmod(0o444)
        assert self.tried(file, "pass") == ""

    @pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs users as POSIX has them")
    def test_a_folder_of_somebody_else(self, file: Path) -> None:
        file.parent.chmod(0o555)
        try:
            assert self.tried(file, "import accel_advisor.editing.fixer; os.geteuid() or os.seteuid(65534)") != ""
        finally:
            file.parent.chmod(0o755)

    @pytest.mark.skipif(sys.platform == "win32", reason="needs limits as POSIX has them")
    def test_where_nothing_more_can_be_written(self, file: Path) -> None:
        assert self.tried(file, "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))") == "File too large"
        assert list(file.parent.iterdir()) == [file]
