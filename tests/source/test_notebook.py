"""Notebooks: read from any JSON, linted as one program, and mended without a byte changed elsewhere."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accel_advisor.config import Config
from accel_advisor.editing.fixer import EditConflictError, edited
from accel_advisor.finding import CellPlace
from accel_advisor.lint.cache import Cache
from accel_advisor.lint.linter import lint
from accel_advisor.lint.report import Report
from accel_advisor.project.discovery import Discoverer, Found
from accel_advisor.source.document import Document, DocumentError
from accel_advisor.source.magics import masked

from ..conftest import Done

Run = Callable[..., Done]

SETUP = """\
%matplotlib inline
!pip install torch
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
"""
LOADER = """\
data = TensorDataset(torch.randn(64, 3), torch.zeros(64, dtype=torch.long))
loader = DataLoader(data, batch_size=4, num_workers=2)
"""
TRAIN = """\
%%time
model = nn.Linear(3, 2).to("cuda")
for x, y in loader:
    x, y = x.to("cuda"), y.to("cuda")  # über
    nn.functional.cross_entropy(model(x), y).backward()"""
PIN = "DataLoader(data, batch_size=4, num_workers=2, pin_memory=True)"


def code(source: str | Sequence[str], **keys: object) -> dict[str, Any]:
    """A code cell; the source as it is given."""
    return {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": source, **keys}


def lines(source: str) -> list[str]:
    return source.splitlines(keepends=True)


def notebook(*cells: object, metadata: object = None) -> dict[str, Any]:
    """A notebook whose first cell is text, so that the code begins in the second."""
    text = {"cell_type": "markdown", "metadata": {}, "source": ["# import torch\n"]}
    return {"cells": [text, *cells], "metadata": metadata or {}, "nbformat": 4, "nbformat_minor": 5}


def training() -> dict[str, Any]:
    return notebook(*(code(lines(one)) for one in (SETUP, LOADER, TRAIN)))


def document(data: object) -> Document:
    return Document.from_bytes("train.ipynb", json.dumps(data).encode())


def sources(raw: bytes) -> list[str]:
    """The sources of the code cells, as any reader of JSON sees them."""
    cells = [cell for cell in json.loads(raw.decode("utf-8-sig"))["cells"] if cell["cell_type"] == "code"]
    return ["".join(cell["source"]) for cell in cells]


def without_sources(raw: bytes) -> object:
    data = json.loads(raw.decode("utf-8-sig"))
    return [data | {"cells": [{**cell, "source": None} for cell in data["cells"]]}]


def linted(path: Path, cache: Cache | None = None) -> Report:
    return lint([Found(str(path), named=True)], Config.load(path.parent), cache=cache)


def found(path: Path) -> list[tuple[str, str]]:
    return [(str(one.span.start), one.code) for one in linted(path).findings]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.accel-advisor]\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def train(folder: Path) -> Path:
    path = folder / "train.ipynb"
    path.write_text(json.dumps(training(), indent=1) + "\n")
    return path


class TestMasks:
    @pytest.mark.parametrize(
        "text",
        [
            "x = 1\nprint('%s'\n      % x)\n",
            "y = (a\n  ! b)",  # not Python, but not a magic either
            "s = '''\n%matplotlib inline\n!ls\nwhat?\n'''\n",
            "s = 'why?'  # really?\n",
            "x = a \\\n  % b\n",
            "a != b\n",
            'f"{x!r}"\n',
            "await model.train()\nmodel;\n",
            "\tif x: y",
            "",
        ],
    )
    def test_what_is_no_magic_stays(self, text: str) -> None:
        assert masked(text) == text

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("%load_ext x\nx = 1", "0          \nx = 1"),
            ("!pip install \\\n  torch\nx", "0             \n       \nx"),
            ("if x:\n    !ls {x}\ny", "if x:\n    0      \ny"),
            ("files = !ls -l\n", "files = _0    \n"),
            ("t = %timeit -o f()", "t = _0            "),
            ("?model\nmodel??\nnn.L*?  # all\n", "0     \n0      \n0            \n"),
            ("x = f(1,\n  2)\nx.shape?", "x = f(1,\n  2)\n0       "),
            ("%time y = f(x)\n", "0    ;y = f(x)\n"),
            ("%time for x in y: f(x)", "0                     "),
            ("/f 1\n,f a b\n;f a b", "0   \n0     \n0     "),
            ("pip install torch\r\nx = 1\r\n", "0                \r\nx = 1\r\n"),
            ("%%time\nx = f()", "0     \nx = f()"),
            ("# @title\n\n%%capture out\nx", "# @title\n\n0            \nx"),
            ("%%bash\npip install x\n", "      \n             \n"),
            ("%%writefile a.py\nimport torch", "                \n            "),
            ("%sql select 1\nfrom x", "             \n      "),
        ],
    )
    def test_magics(self, text: str, expected: str) -> None:
        assert masked(text) == expected

    @given(st.text(st.sampled_from("%!?xy =()'\"\\\n\r\t#;,/"), max_size=40))
    def test_length_and_lines_stay(self, text: str) -> None:
        after = masked(text)
        assert len(after) == len(text)
        newlines = [index for index, one in enumerate(text) if one in "\r\n"]
        assert [index for index, one in enumerate(after) if one in "\r\n"] == newlines


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
    def test_other_languages_are_passed_by(self, metadata: object) -> None:
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
        first, last = one.notebook.cells[index].value
        text, new = raw.decode("utf-8-sig"), after.decode("utf-8-sig")
        assert after[:3] == raw[:3]
        assert new.startswith(text[:first])
        assert new.endswith(text[last:])
        kinds = {type(cell["source"]) for cell in json.loads(new)["cells"]}
        assert kinds == {type(cell["source"]) for cell in json.loads(text)["cells"]}

    @given(st.lists(st.sampled_from(["a\n", "é <b>\n", "\n", '"\\']), min_size=1, max_size=6), st.data())
    def test_lines_that_stay_are_spelled_as_they_were(self, old: list[str], data: st.DataObject) -> None:
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


class TestLint:
    def test_cells_are_one_program(self, train: Path) -> None:
        assert found(train) == [("cell 3:2:10", "ACC101"), ("cell 4:4:12", "ACC201")]

    def test_the_text(self, train: Path, run: Run) -> None:
        result = run("lint", "train.ipynb")
        assert "train.ipynb:cell 3:2:10: ACC101" in result.out
        assert "  2 | loader = DataLoader(data, batch_size=4, num_workers=2)\n" in result.out
        assert result.status == 1
        assert "train.ipynb:cell 4:4:12: ACC201" in run("lint", "train.ipynb", "--output-format=concise").out

    def test_json(self, train: Path, run: Run) -> None:
        first = json.loads(run("lint", "train.ipynb", "--output-format=json").out)[0]
        assert (first["cell"], first["location"], first["end_location"]["row"]) == (3, {"row": 2, "column": 10}, 2)
        (edit,) = first["fix"]["edits"]
        assert (edit["cell"], edit["location"]) == (3, {"row": 2, "column": 54})

    def test_services_are_told_the_line_of_the_file(self, train: Path, run: Run) -> None:
        row = next(row for row, line in enumerate(train.read_text().splitlines(), 1) if "DataLoader(data" in line)
        github = run("lint", "train.ipynb", "--output-format=github").out
        assert f"file=train.ipynb,line={row},col=15," in github
        assert "::train.ipynb:cell 3:2:10: ACC101" in github
        (first, *_) = json.loads(run("lint", "train.ipynb", "--output-format=gitlab").out)
        assert first["location"]["positions"]["begin"] == {"line": row, "column": 15}
        result = json.loads(run("lint", "train.ipynb", "--output-format=sarif").out)["runs"][0]["results"][0]
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == row
        assert "fixes" not in result

    def test_diff(self, train: Path, run: Run) -> None:
        shown = run("lint", "--diff", "--select=ACC101", "--unsafe-fixes", "train.ipynb").out
        assert shown.splitlines() == [
            "--- a/train.ipynb:cell 3",
            "+++ b/train.ipynb:cell 3",
            "@@ -1,3 +1,3 @@",
            f" {lines(LOADER)[0].rstrip()}",
            "-loader = DataLoader(data, batch_size=4, num_workers=2)",
            f"+loader = {PIN}",
            " ",
        ]

    def test_fix_changes_the_lines_and_nothing_else(self, train: Path, run: Run) -> None:
        before = train.read_bytes()
        run("lint", "--fix", "--unsafe-fixes", "train.ipynb")
        after = train.read_bytes()
        assert after != before
        expected = before.replace(b"DataLoader(data, batch_size=4, num_workers=2)", PIN.encode())
        expected = expected.replace(b'.to(\\"cuda\\"),', b'.to(\\"cuda\\", non_blocking=True),')
        assert after == expected.replace(b'y.to(\\"cuda\\") ', b'y.to(\\"cuda\\", non_blocking=True) ')
        run("lint", "--fix", "--unsafe-fixes", "train.ipynb")
        assert train.read_bytes() == after

    def test_stdin(self, train: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(train.read_bytes())))
        shown = run("lint", "-", "--stdin-filename", "x.ipynb", "--fix", "--unsafe-fixes").out
        run("lint", "--fix", "--unsafe-fixes", "train.ipynb")
        assert shown.encode() == train.read_bytes()

    def test_the_cache_knows_cells(self, train: Path) -> None:
        cache = Cache(Config.load(Path.cwd()))
        first = linted(train, cache)
        cache.save()
        known = Cache(Config.load(Path.cwd())).get((str(train),), {str(train): train.read_bytes()})
        assert known is not None
        assert [one.span.start.cell for one in known.findings] == [one.span.start.cell for one in first.findings]
        assert first.findings[0].span.start.cell is not None

    def test_a_broken_cell_is_told_once(self, folder: Path) -> None:
        data = training()
        data["cells"] += [code("x = torch.\nprint x"), code("%%bash\nls"), code("torch. ("), code("def f(:")]
        (folder / "a.ipynb").write_text(json.dumps(data))
        report = linted(folder / "a.ipynb")
        (broken,) = [one for one in report.findings if one.code == "ACC001"]
        assert str(broken.span.start) == "cell 5:1:11"
        assert broken.message == "Syntax error: invalid syntax; the cell is left out, as are 2 others."
        assert broken.severity == "info"
        assert [one.code for one in report.findings if one is not broken] == ["ACC101", "ACC201"]

    def test_no_notebook(self, folder: Path, run: Run) -> None:
        (folder / "a.ipynb").write_text('{"cells": [\n"torch"\n')
        result = run("lint", "a.ipynb", "--output-format=concise")
        sentence = "This file is no notebook, because it is not JSON: Expecting ',' delimiter."
        assert result.out.splitlines()[0] == f"a.ipynb:3:1: ACC001 {sentence}"
        assert result.status == 1

    def test_suppressions(self, folder: Path) -> None:
        data = training()
        data["cells"][2]["source"][1] = data["cells"][2]["source"][1].rstrip() + "  # accel: ignore[ACC101] small\n"
        data["cells"][3]["source"] = [TRAIN + "\n# accel: ignore-file[ACC201]"]
        (folder / "a.ipynb").write_text(json.dumps(data))
        assert found(folder / "a.ipynb") == []

    def test_a_comment_at_the_end_of_a_cell_does_not_reach_the_next(self, folder: Path, run: Run) -> None:
        (folder / "a.ipynb").write_text(json.dumps(notebook(code("import torch\n# accel: ignore"), code("x = 1"))))
        assert found(folder / "a.ipynb") == [("cell 2:2:1", "ACC002")]
        run("lint", "--fix", "a.ipynb")
        assert sources((folder / "a.ipynb").read_bytes()) == ["import torch", "x = 1"]

    def test_an_import_means_a_file_of_the_project(self, folder: Path) -> None:
        (folder / "loaders.py").write_text(
            "from torch.utils.data import DataLoader\n\n\ndef build(data, workers):\n"
            "    return DataLoader(data, 4, num_workers=workers)\n"
        )
        data = training()
        data["cells"][2]["source"] = "import loaders\nloader = loaders.build([torch.zeros(3)] * 9, 2)"
        (folder / "a.ipynb").write_text(json.dumps(data))
        report = lint([Found("a.ipynb", named=True), Found("loaders.py", named=True)], Config.load(folder))
        assert [one.filenames for one in report.programs] == [("a.ipynb", "loaders.py")]
        assert ("loaders.py", "ACC101") in [(one.filename, one.code) for one in report.findings]

    def test_no_file_imports_a_notebook(self, train: Path) -> None:
        (train.parent / "other.py").write_text("import torch\nimport train\nfrom train import loader\n")
        report = lint([Found("train.ipynb", named=True), Found("other.py", named=True)], Config.load(train.parent))
        assert sorted(one.filenames for one in report.programs) == [("other.py",), ("train.ipynb",)]
        assert not any(name.endswith("other.py") for one in report.programs for name in one.consulted)


class TestMeaning:
    """What is different in a notebook."""

    def codes(self, folder: Path, *cells: str, name: str = "a.ipynb") -> list[str]:
        (folder / name).write_text(json.dumps(notebook(*map(code, cells))))
        return [one.code for one in linted(folder / name).findings]

    @pytest.mark.parametrize(
        ("last", "codes"),
        [
            ('x.to("cuda")', []),
            ('x.to("cuda")  # on the GPU\n', []),
            ('y = 1; x.to("cuda")', []),
            ('x.to("cuda");', ["ACC207"]),
            ('x.to("cuda")\n%matplotlib inline', ["ACC207"]),
            ('x.to("cuda")\nfor y in x: print(y)', ["ACC207"]),
            ('if True:\n    x.to("cuda")', ["ACC207"]),
        ],
    )
    def test_the_last_value_of_a_cell_is_shown(self, folder: Path, last: str, codes: list[str]) -> None:
        assert self.codes(folder, "import torch\nx = torch.randn(4, 8)", last, "x") == codes

    @pytest.mark.parametrize("use", ["f(device)", "!python train.py --device {device}", "%time f(device)"])
    def test_a_name_that_a_later_cell_reads(self, folder: Path, use: str) -> None:
        train = "\n".join(
            [
                "import torch",
                "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
                "model = torch.nn.Linear(8, 2)",
                "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
                "for step in range(10):",
                "    loss = model(torch.randn(4, 8)).sum()",
                "    loss.backward()",
                "    optimizer.step()",
            ]
        )
        assert self.codes(folder, train, "x = 1") == ["ACC301"]
        assert self.codes(folder, train, use) == []

    def test_workers_do_not_run_cells(self, folder: Path) -> None:
        spawned = "DataLoader([1], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda batch: batch)"
        program = f"from torch.utils.data import DataLoader\nloader = {spawned}\nfor x in loader:\n    print(x)\n"
        assert self.codes(folder, program) == []
        (folder / "a.py").write_text(program)
        assert {one.code for one in linted(folder / "a.py").findings} == {"ACC113", "ACC114"}

    def test_workers_that_are_not_forked_do_not_know_what_cells_define(self, folder: Path) -> None:
        photos = (
            "from PIL import Image\nfrom torch.utils.data import Dataset\n\nclass Photos(Dataset):\n"
            "    def __getitem__(self, index):\n        return Image.open(str(index))\n"
        )
        loader = "loader = DataLoader(Photos(), batch_size=4)"
        assert "ACC102" in self.codes(folder, SETUP, photos, loader, TRAIN)
        (folder / "pyproject.toml").write_text("[tool.accel-advisor]\nplatform = ['windows', 'linux']\n")
        assert "ACC102" not in self.codes(folder, SETUP, photos, loader, TRAIN)

    def test_what_a_shell_gives_is_not_known(self, folder: Path) -> None:
        loader = "from torch.utils.data import DataLoader\nDataLoader([1], num_workers=n, persistent_workers=True)"
        assert self.codes(folder, "n = 0", loader) == ["ACC104"]
        assert self.codes(folder, "n = !nproc", loader) == []

    def test_what_an_unreadable_cell_did_is_not_known(self, folder: Path) -> None:
        made, moved = "import torch\nx = torch.randn(4, 8)", 'x.to("cuda")\nprint(1)'
        assert self.codes(folder, made, "y = = torch.ones(3)", moved) == ["ACC001", "ACC207"]
        for cells in (("x = load() ...",), ("for x in what",), ("x ...", "y ..."), ("y ...", "x ...", "z = 1")):
            assert self.codes(folder, made, *cells, moved) == ["ACC001"]
        assert self.codes(folder, made, "x ...", made, moved) == ["ACC001", "ACC207"]

    def test_messages_name_the_cell(self, train: Path) -> None:
        pin, *_ = linted(train).findings
        assert "in line 4 of cell 4 copies" in pin.message


class TestDiscovery:
    def test_notebooks_are_found_and_their_checkpoints_are_not(self, folder: Path) -> None:
        for name in ("a.ipynb", "b.py", ".ipynb_checkpoints/a-checkpoint.ipynb"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text("{}")
        assert [one.filename for one in Discoverer(folder).discover(["."]).files] == ["a.ipynb", "b.py"]
