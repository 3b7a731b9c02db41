"""Comments that silence what there is: written where they are read, once, and without touching anything else."""

from __future__ import annotations

import ast
import io
import json
import sys
from pathlib import Path

import pytest

from accel_advisor.editing.fixer import edited
from accel_advisor.finding import Finding, Severity, Span
from accel_advisor.source.document import Document
from accel_advisor.source.ignore_comments import Form, Ignorer
from accel_advisor.source.suppressions import Suppressions

from ..conftest import Done, Run

HEAD = """\
import torch
from torch.utils.data import DataLoader

data = [1, 2, 3]
"""


def findings_in(document: Document, *codes: str) -> list[Finding]:
    """A finding of each code at each call ``DataLoader(...)``."""
    found = []
    for call in ast.walk(ast.parse(document.text)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "DataLoader":
            assert call.end_lineno is not None
            assert call.end_col_offset is not None
            start = document.offset(call.lineno, call.col_offset + 1)
            end = document.offset(call.end_lineno, call.end_col_offset + 1)
            span = Span(document.location(start), document.location(end))
            found += [Finding(code, f"name-{code}", "It waits.", Severity.INFO, "a.py", span) for code in codes]
    return sorted(found, key=lambda one: one.sort_key)


def silenced(body: str, form: Form, *codes: str, reason: str = "", newline: str = "\n") -> tuple[str, int]:
    """A program after its findings were silenced, without its head, and how many were left. What was written is read
    back: it silences all others."""
    document = Document("a.py", (HEAD + body).replace("\n", newline))
    findings = findings_in(document, *(codes or ("ACC102",)))
    assert findings
    edits, left = Ignorer(document, form, reason).edits(findings)
    after = Document.from_bytes("a.py", edited(document, edits))
    compile(after.text, "a.py", "exec")
    kept = Suppressions(after).apply(findings_in(after, *(codes or ("ACC102",))))
    assert [one.code for one in kept] == [one.code for one in left]
    again, _ = Ignorer(after, form, reason).edits(kept)
    assert again == [] or left
    return after.text[len(HEAD.replace("\n", newline)) :], len(left)


ACCEL = {
    "at the end of the line": ("x = DataLoader(data)\n", "x = DataLoader(data)  # accel: ignore[ACC102]\n"),
    "without a newline at the end": ("x = DataLoader(data)", "x = DataLoader(data)  # accel: ignore[ACC102]"),
    "after blanks": ("x = DataLoader(data)  \n", "x = DataLoader(data)  # accel: ignore[ACC102]\n"),
    "behind a comment": ("x = DataLoader(data)  # why\n", "x = DataLoader(data)  # why  # accel: ignore[ACC102]\n"),
    "behind somebody else's": (
        "x = DataLoader(data)  # noqa: E501\n",
        "x = DataLoader(data)  # noqa: E501  # accel: ignore[ACC102]\n",
    ),
    "several lines": (
        "x = DataLoader(\n    data,\n)\n",
        "x = DataLoader(  # accel: ignore[ACC102]\n    data,\n)\n",
    ),
    "merged": (
        "x = DataLoader(data)  # accel: ignore[ACC101] small\n",
        "x = DataLoader(data)  # accel: ignore[ACC101, ACC102] small\n",
    ),
    "merged into the last line": (
        "x = DataLoader(\n    data,\n)  # accel:ignore [ ACC101 ]\n",
        "x = DataLoader(\n    data,\n)  # accel:ignore [ACC101, ACC102]\n",
    ),
    "merged into one without codes": (
        "x = DataLoader(data)  # accel: ignore[]\n",
        "x = DataLoader(data)  # accel: ignore[ACC102]\n",
    ),
    "merged above the statement": (
        "# accel: ignore[ACC101] why\nx = DataLoader(\n    data,\n)\n",
        "# accel: ignore[ACC101, ACC102] why\nx = DataLoader(\n    data,\n)\n",
    ),
    "not into one for the file": (
        "# accel: ignore-file[ACC101]\nx = DataLoader(data)\n",
        "# accel: ignore-file[ACC101]\nx = DataLoader(data)  # accel: ignore[ACC102]\n",
    ),
    "not into one for another line": (
        "y = 1  # accel: ignore[ACC101]\nx = DataLoader(data)\n",
        "y = 1  # accel: ignore[ACC101]\nx = DataLoader(data)  # accel: ignore[ACC102]\n",
    ),
    "a backslash": (
        "x = \\\n    DataLoader(data)\n",
        "x = \\\n    DataLoader(data)  # accel: ignore[ACC102]\n",
    ),
    "a backslash behind it": (
        "if data:\n    x = DataLoader(data) or \\\n        None\n",
        "if data:\n    # accel: ignore[ACC102]\n    x = DataLoader(data) or \\\n        None\n",
    ),
    "a string that goes on": (
        'x = DataLoader(data), """a\n  b"""\n',
        '# accel: ignore[ACC102]\nx = DataLoader(data), """a\n  b"""\n',
    ),
    "a formatted string that goes on": (
        'x = DataLoader(data), f"""{data}\n  # accel: ignore[ACC1]"""\n',
        '# accel: ignore[ACC102]\nx = DataLoader(data), f"""{data}\n  # accel: ignore[ACC1]"""\n',
    ),
    "a string within the call": (
        'x = DataLoader("""\n  b""", 4)\n',
        'x = DataLoader("""\n  b""", 4)  # accel: ignore[ACC102]\n',
    ),
    "the head of a loop": (
        "for x in DataLoader(data):\n    pass\n",
        "for x in DataLoader(data):  # accel: ignore[ACC102]\n    pass\n",
    ),
    "two on a line": (
        "x, y = DataLoader(data), DataLoader(data)\n",
        "x, y = DataLoader(data), DataLoader(data)  # accel: ignore[ACC102]\n",
    ),
    "two in a statement": (
        "f(\n    DataLoader(data),\n    DataLoader(data),\n)\n",
        "f(\n    DataLoader(data),  # accel: ignore[ACC102]\n    DataLoader(data),  # accel: ignore[ACC102]\n)\n",
    ),
    "a tab and a form feed": (
        "if 1:\n\tx = DataLoader(data)\n\f\n",
        "if 1:\n\tx = DataLoader(data)  # accel: ignore[ACC102]\n\f\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), ACCEL.values(), ids=ACCEL.keys())
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_where_a_comment_is_written(before: str, after: str, newline: str) -> None:
    assert silenced(before, Form.ACCEL, newline=newline) == (after.replace("\n", newline), 0)


def test_several_codes_and_a_reason() -> None:
    got = silenced("x = DataLoader(data)\n", Form.ACCEL, "ACC106", "ACC101", reason="agreed in May")
    assert got == ("x = DataLoader(data)  # accel: ignore[ACC101, ACC106] agreed in May\n", 0)


NOQA = {
    "new": ("x = DataLoader(data)\n", "x = DataLoader(data)  # noqa: ACC102\n"),
    "merged": ("x = DataLoader(data)  # noqa: E501\n", "x = DataLoader(data)  # noqa: E501, ACC102\n"),
    "merged before words": (
        "x = DataLoader(data)  # NOQA:E501,F401 so it is\n",
        "x = DataLoader(data)  # NOQA:E501,F401, ACC102 so it is\n",
    ),
    "merged before another comment": (
        "x = DataLoader(data)  # noqa: E501  # why\n",
        "x = DataLoader(data)  # noqa: E501, ACC102  # why\n",
    ),
    "beside one of ours": (
        "x = DataLoader(data)  # accel: ignore[ACC101]\n",
        "x = DataLoader(data)  # accel: ignore[ACC101]  # noqa: ACC102\n",
    ),
    "several lines": ("x = DataLoader(\n    data,\n)\n", "x = DataLoader(  # noqa: ACC102\n    data,\n)\n"),
}


@pytest.mark.parametrize(("before", "after"), NOQA.values(), ids=NOQA.keys())
def test_where_a_noqa_is_written(before: str, after: str) -> None:
    assert silenced(before, Form.NOQA) == (after, 0)


def test_a_noqa_without_a_place_is_left_out() -> None:
    body = "x = DataLoader(data) or \\\n    None\ny = DataLoader(data)\n"
    document = Document("a.py", HEAD + body)
    edits, left = Ignorer(document, Form.NOQA).edits(findings_in(document, "ACC102"))
    assert edited(document, edits).decode() == HEAD + body[:-1] + "  # noqa: ACC102\n"
    assert [one.span.start.row for one in left] == [5]


SLOW = """\
import torch
from torch.utils.data import DataLoader

model = torch.nn.Linear(8, 2).cuda()
loader = DataLoader(
    torch.zeros(64, 8), batch_size=2, num_workers=2, pin_memory_device="cuda",
)
for x in loader:
    model(x.cuda()).sum().backward()
scaler = torch.cuda.amp.GradScaler()  # noqa
"""
THREE = ("--select", "ACC101,ACC118,ACC201,ACC402")
"""Options under which three findings are shown: the one of ACC402 is silenced by a bare noqa."""


class TestCommand:
    @pytest.mark.parametrize("option", ["--add-ignore", "--add-noqa"])
    @pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
    def test_a_second_run_finds_nothing(self, option: str, newline: bytes, run: Run, project: Path) -> None:
        path = project / "train.py"
        path.write_bytes(SLOW.encode().replace(b"\n", newline))
        assert run("lint", *THREE, "--exit-zero", "--output-format", "concise").out.count(": ACC") == 3
        done = run("lint", *THREE, option)
        assert done == Done(0, "1 file checked, nothing found.\n", "Silenced 3 findings in 1 file.\n")
        after = path.read_bytes()
        assert after.count(b"\n") == after.count(newline) == SLOW.count("\n")
        assert after.endswith(b"scaler = torch.cuda.amp.GradScaler()  # noqa" + newline)
        assert run("lint", *THREE, "--no-cache") == Done(0, "1 file checked, nothing found.\n", "")
        assert run("lint", *THREE, option).err == "Silenced 0 findings in 0 files.\n"
        assert path.read_bytes() == after
        compile(after, "train.py", "exec")

    def test_only_what_is_shown_is_silenced(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        run("lint", "--add-ignore", "--select", "ACC118", "--reason", "not ours")
        text = (project / "train.py").read_text()
        assert text.count("accel: ignore") == 1
        assert "loader = DataLoader(  # accel: ignore[ACC118] not ours\n" in text
        run("lint", "--add-ignore")
        text = (project / "train.py").read_text()
        assert "loader = DataLoader(  # accel: ignore[ACC118, ACC101" in text
        assert run("lint").out == "1 file checked, nothing found.\n"

    def test_what_the_tool_says_of_itself_stays(self, run: Run, project: Path) -> None:
        raw = "import torch  # accel: ignore[ACC102]\n"
        (project / "a.py").write_text(raw)
        (project / "b.py").write_text("import torch\ndef (\n")
        done = run("lint", "--add-ignore")
        assert done.status == 1
        assert "ACC002" in done.out
        assert "ACC001" in done.out
        assert done.err == "Silenced 0 findings in 0 files.\n"
        assert (project / "a.py").read_text() == raw

    def test_stdin(self, run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SLOW.encode())))
        done = run("lint", "-", "--add-ignore", "--select", "ACC118")
        assert "DataLoader(  # accel: ignore[ACC118]\n" in done.out
        assert done.err == "Silenced 1 finding in 1 file.\n1 file checked, nothing found.\n"

    def test_a_notebook(self, run: Run, project: Path) -> None:
        cells = [
            {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1, "source": SLOW.splitlines(True)},
            {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 2, "source": "%time 1\n!ls"},
        ]
        path = project / "train.ipynb"
        path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
        done = run("lint", *THREE, "--add-ignore")
        assert done == Done(0, "1 file checked, nothing found.\n", "Silenced 3 findings in 1 file.\n")
        assert json.loads(path.read_text())["cells"][1] == cells[1]

    def test_a_reason_that_the_file_cannot_hold(self, run: Run, project: Path) -> None:
        raw = ("# coding: latin-1\n" + SLOW).encode("latin-1")
        (project / "train.py").write_bytes(raw)
        done = run("lint", "--add-ignore", "--reason", "später ✓")
        assert done.status == 2
        assert "--reason: 'später ✓' does not fit the encoding of train.py (iso-8859-1)" in done.err
        assert (project / "train.py").read_bytes() == raw

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (("--add-ignore", "--reason", "a # b"), "--reason: must be one line of text without '#'"),
            (("--add-ignore", "--reason", "a\nb"), "--reason: must be one line of text without '#'"),
            (("--add-noqa", "--reason", "a"), "--reason needs --add-ignore"),
            (("--reason", "a"), "--reason needs --add-ignore"),
            (("--add-ignore", "--add-noqa"), "--add-ignore cannot be used with --add-noqa"),
            (("--fix", "--add-noqa"), "--fix or --diff cannot be used with --add-noqa"),
            (("--diff", "--write-baseline", "b.json"), "--fix or --diff cannot be used with --write-baseline"),
            (("--baseline", "a", "--write-baseline", "b"), "--baseline cannot be used with --write-baseline"),
            (("-", "--write-baseline", "b.json"), "--write-baseline cannot be used with '-'"),
        ],
    )
    def test_wrong_use(self, options: tuple[str, ...], sentence: str, run: Run, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        done = run("lint", *options)
        assert done.status == 2
        assert f"Error: {sentence}" in done.err
        assert (project / "train.py").read_text() == SLOW
