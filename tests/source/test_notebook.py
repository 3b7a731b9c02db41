"""Notebooks: read from any JSON, linted as one program, and fixed without a byte changed elsewhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accel_advisor.editing.fixer import EditConflictError, edited
from accel_advisor.finding import CellPlace
from accel_advisor.source.document import Document
from accel_advisor.source.parsing import DocumentError

from .notebooks import SETUP, code, document, lines, notebook, sources


class TestReading:
    @pytest.mark.parametrize("source", [SETUP, lines(SETUP), list(SETUP), [], ""])
    def test_every_form_of_source(self, source: str | list[str]) -> None:
        assert document(notebook(code(source))).text == "".join(source) + "\n\n"

    def test_cells_that_are_not_code(self) -> None:
        raw = {"cell_type": "raw", "metadata": {}, "source": "x"}
        strange = [
            None,
            3,
            {},
            code(["a", 3]),
            {"cell_type": "code"},
            code("x", metadata={"vscode": {"languageId": "sql"}}),
        ]  # type: ignore[list-item]
        one = document(notebook(raw, *strange, code("y")))
        assert one.text == "y\n\n"
        assert one.location(0).cell == CellPlace(9, 1, 1, one.location(0).in_file[1])

    @pytest.mark.parametrize(
        "metadata",
        [
            {"language_info": {"name": "R"}, "kernelspec": {"language": "python"}},
            {"kernelspec": {"language": "julia", "name": "julia-1.10"}},
        ],
    )
    def test_other_languages_are_skipped(self, metadata: object) -> None:
        assert document(notebook(code("library(torch)"), metadata=metadata)).parts == ()

    @pytest.mark.parametrize("metadata", [{}, [], {"kernelspec": None}, {"language_info": {"name": "ipython"}}])
    def test_python_is_meant_where_nothing_else_is_said(self, metadata: object) -> None:
        assert document(notebook(code("x"), metadata=metadata)).text == "x\n\n"

    def test_the_third_format(self) -> None:
        cells = [{"cell_type": "code", "input": ["x = 1\n", "y"], "language": "python"}, {"cell_type": "heading"}]
        one = document({"worksheets": [{}, {"cells": cells}, {"cells": cells}], "nbformat": 3})
        assert one.text == "x = 1\ny\n\n" * 2
        assert [part.cell for part in one.parts] == [1, 3]
        after = json.loads(one.encode_parts(["x = 1\nz", one.text[:7]]))
        assert after["worksheets"][1]["cells"][0]["input"] == ["x = 1\n", "z"]

    def test_places(self) -> None:
        raw = json.dumps(notebook(code(lines("a\n\tb")), code("é = 'ü'\n😀 = c")), indent=1, ensure_ascii=True)
        one = Document.from_bytes("a.ipynb", raw.encode())
        json_lines = raw.splitlines()
        for name, shown, line in (("b", "cell 2:2:2", "line 2 of cell 2"), ("c", "cell 3:2:5", "line 2 of cell 3")):
            place = one.location(one.text.index(name))
            assert (str(place), place.line) == (shown, line)
            row, column = place.in_file
            assert json_lines[row - 1][column - 1] == name

    @given(
        st.lists(st.text(st.sampled_from("a\r\n\té😀"), max_size=6), min_size=1, max_size=3), st.sampled_from([0, 1])
    )
    def test_every_place_is_found_again(self, texts: list[str], escaped: bool) -> None:
        raw = json.dumps(notebook(*map(code, texts)), indent=1, ensure_ascii=escaped)
        one = Document.from_bytes("a.ipynb", raw.encode())
        for number, (part, text) in enumerate(zip(one.parts, texts, strict=True), 2):
            for offset in range(part.start, part.end + 1):
                place = one.location(offset)
                assert place.cell is not None
                row = place.row - one.location(part.start).row + 1
                assert (place.cell.number, place.cell.row) == (number, row)
                line = raw.split("\n")[place.cell.file_row - 1][place.cell.file_column - 1 :]
                rest = json.dumps(text[offset - part.start :], ensure_ascii=escaped)[1:]
                assert line.startswith(rest)

    def test_the_same_key_twice(self) -> None:
        raw = b'{"cells": 1, "cells": [{"cell_type": "code", "source": "x", "source": ["y"]}]}'
        one = Document.from_bytes("a.ipynb", raw)
        assert one.text == "y\n\n"
        assert one.encode_parts(["z"]) == raw.replace(b'"y"', b'"z"')

    @pytest.mark.parametrize(
        ("raw", "sentence", "row"),
        [
            (b'{"cells": [\n  torch', "is no notebook, because it is not JSON: Expecting value", 2),
            (b'{"torch": 1}', "is no notebook: it has no list of cells", 1),
            (b"[1]", "is no notebook: it has no list of cells", 1),
            (b'{"cells": {}}', "is no notebook: it has no list of cells", 1),
            (b'{"cells": [\n"\xff"]}', "cannot be decoded as utf-8: invalid start byte", 2),
            (b'{"cells": ' + b"[" * 100_000, "is no notebook, because its JSON cannot be read", 1),
            (b'{"cells": [' + b"1" * 5_000 + b"]}", "is no notebook, because its JSON cannot be read", 1),
        ],
    )
    def test_what_is_no_notebook(self, raw: bytes, sentence: str, row: int) -> None:
        with pytest.raises(DocumentError) as caught:
            Document.from_bytes("a.ipynb", raw)
        assert str(caught.value).startswith(sentence)
        assert caught.value.row == row

    def test_a_cell_that_is_not_python_hides_no_other(self) -> None:
        one = document(notebook(code("x = = 1"), code("def f():"), code("'\ud800'"), code("x\0"), code("y = 1")))
        assert one.python.split() == ["y", "=", "1"]
        assert [cell.number for cell, _ in one.broken_cells] == [2, 3, 4, 5]
        assert str(one.broken_cells[2][1]) == "syntax error: half of a surrogate pair"
        assert len(one.python) == len(one.text)
        assert len(one.tree.body) == 1

    def test_cells_are_parsed_each_for_itself(self) -> None:
        one = document(notebook(code("s = '''"), code("x = 1"), code("'''"), code("y = 2 + \\"), code("z")))
        assert one.python.split() == ["x", "=", "1", "z"]


LAYOUTS: list[dict[str, Any]] = [
    {"indent": 1},
    {"indent": 2, "sort_keys": True},
    {"indent": "\t"},
    {},
    {"separators": (",", ":")},
]
TEXTS = st.text(st.sampled_from('ab#\n\r\t"\\/é😀\x1b\u2028\x7f'), max_size=12) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=12
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A notebook in some layout, its sources in any of the forms that are allowed."""
    cells: list[dict[str, Any]] = []
    for text in draw(st.lists(TEXTS, min_size=1, max_size=3)):
        forms = [text, lines(text), text.split("\n"), [one for one in text.partition("\n") if one], list(text)]
        source = draw(st.sampled_from([one for one in forms if "".join(one) == text]))
        cells.append(code(source, outputs=[{"text": ["é\n"], "n": float("nan")}], name=draw(TEXTS)))
    layout = draw(st.sampled_from(LAYOUTS))
    written = json.dumps(notebook(*cells), ensure_ascii=draw(st.booleans()), **layout)
    if draw(st.booleans()):
        written = written.replace("\n", "\r\n")
    if draw(st.booleans()):
        written = written.replace("/", "\\/")
    raw = (written + draw(st.sampled_from(["", "\n", "\r\n", " \n\n"]))).encode()
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + raw


class TestWriting:
    @given(files(), st.data())
    def test_an_edit_changes_its_place_only(self, raw: bytes, data: st.DataObject) -> None:
        one = Document.from_bytes("a.ipynb", raw)
        assert one.encode_parts([one.text[part.start : part.end] for part in one.parts]) == raw
        index = data.draw(st.integers(0, len(one.parts) - 1))
        part = one.parts[index]
        start = data.draw(st.integers(part.start, part.end))
        end = data.draw(st.integers(start, part.end))
        content = data.draw(TEXTS)
        after = edited(one, [one.edit(start, end, content)])
        wanted = sources(raw)
        wanted[index] = one.text[part.start : start] + content + one.text[end : part.end]
        assert sources(after) == wanted
        assert one.notebook is not None
        first, last = one.notebook.spellings[one.notebook.cells[index].number].value
        text, new = raw.decode("utf-8-sig"), after.decode("utf-8-sig")
        assert after[:3] == raw[:3]
        assert new.startswith(text[:first])
        assert new.endswith(text[last:])
        kinds = {type(cell["source"]) for cell in json.loads(new)["cells"]}
        assert kinds == {type(cell["source"]) for cell in json.loads(text)["cells"]}

    @given(st.lists(st.sampled_from(["a\n", "é <b>\n", "\n", '"\\']), min_size=1, max_size=6), st.data())
    def test_lines_that_stay_are_written_as_they_were(self, old: list[str], data: st.DataObject) -> None:
        raw = json.dumps(notebook(code(lines("".join(old)))), indent=1).replace("<", "\\u003C").encode()
        one = Document.from_bytes("a.ipynb", raw)
        at = data.draw(st.integers(0, len("".join(old))))
        after = edited(one, [one.edit(at, at, "x")])
        assert len(after) == len(raw) + 1 or not "".join(old)[at:]
        changed = [(a, b) for a, b in zip(raw.split(b"\n"), after.split(b"\n"), strict=False) if a != b]
        assert len(changed) <= 1 or not "".join(old)[at:]

    @pytest.mark.parametrize(
        ("before", "old", "new", "after"),
        [
            ('["a = 1\\n", "b = \\u00e9"]', "1", "10", '["a = 10\\n", "b = \\u00e9"]'),
            ('["a = 1\\n", "b = \\u00E9"]', "b", "bb", '["a = 1\\n", "bb = \\u00E9"]'),
            ('["a\\n",\r\n  "b"]', "a\n", "a\nc\n", '["a\\n",\r\n  "c\\n",\r\n  "b"]'),
            ('[\n "a"\n]', "a", "a\nb\nc", '[\n "a\\n",\n "b\\n",\n "c"\n]'),
            ('[ "a\\n" , "b\\n" , "c" ]', "a\nb\n", "", '[ "c" ]'),
            ('["a\\n", "b"]', "\nb", "", '["a"]'),
            ('["a\\n", "b"]', "a\nb", "", "[]"),
            ('"a\\nb\\/\\u0062"', "a", "é", '"é\\nb\\/\\u0062"'),
            ('"\\u00e4\\nb"', "b", "é", '"\\u00e4\\n\\u00e9"'),
            ('"\\u00e4\\nb"', "b", "😀\x1b", '"\\u00e4\\n\\ud83d\\ude00\\u001b"'),
            ('"a"', "a", "", '""'),
        ],
    )
    def test_the_form_stays(self, before: str, old: str, new: str, after: str) -> None:
        frame = '{{"cells": [{{"cell_type": "code", "source": {}}}]}}'
        one = Document.from_bytes("a.ipynb", frame.format(before).encode())
        start = one.text.index(old)
        assert edited(one, [one.edit(start, start + len(old), new)]).decode() == frame.format(after)

    def test_an_edit_of_two_cells_is_refused(self) -> None:
        one = document(notebook(code("a"), code("b")))
        with pytest.raises(EditConflictError):
            edited(one, [one.edit(0, 4, "")])
        with pytest.raises(EditConflictError):
            edited(one, [one.edit(2, 2, "x"), one.edit(0, 1, "")])

    def test_a_last_line_goes_with_the_newline_before_it(self) -> None:
        one = document(notebook(code("a\n# b"), code("c")))
        after = edited(one, [one.edit(2, 6, "")])
        assert sources(after) == ["a", "c"]
