"""Places of nodes agree with libcst's own provider, whatever is asked first."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from accel_advisor.source.document import Document
from accel_advisor.source.parsing import DocumentError
from accel_advisor.syntax.positions import Positions

SOURCES = {
    path.name: path.read_text("utf-8")
    for path in sorted((Path(__file__).parents[2] / "advisor" / "source").glob("*.py"))
}
SOURCES |= {
    "no newline at the end": "x = 1\nif x:\n    y = (x)",
    "comments and feeds": "# one\n\n\n@a\n# two\ndef f(a, *, b=1): return (a\n  )\n# three\n",
    "carriage returns": "class A:\r\n\tx = [1,\r\n\t\t2]\r\n",
    "the same again": "# a\n\nx = (1)\nx = (1)\nif a:\n    x = (1)\nelse:\n  x = (1)\nx = (1)\nx = (1)",
    "only a comment": "# nothing",
    "empty": "",
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("backwards", [False, True])
def test_agrees_with_the_position_provider(name: str, backwards: bool) -> None:
    text = SOURCES[name]
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    expected = {
        node: place
        for node, place in wrapper.resolve(PositionProvider).items()
        if isinstance(node, cst.BaseExpression | cst.BaseStatement | cst.BaseSmallStatement | cst.Arg | cst.Param)
    }
    document = Document("a.py", text)
    positions = Positions(wrapper.module, text)
    for node, place in reversed(expected.items()) if backwards else expected.items():
        start, end = positions.of(node)
        assert isinstance(place, CodeRange)
        first, last = document.location(start), document.location(end)
        assert (first.row, first.column - 1) == (place.start.line, place.start.column)
        assert (last.row, last.column - 1) == (place.end.line, place.end.column)


def test_knows_no_other_nodes() -> None:
    positions = Positions(cst.parse_module("x = 1\n"), "x = 1\n")
    with pytest.raises(KeyError):
        positions.of(cst.Name("x"))


def test_refuses_a_tree_that_is_not_that_of_the_text() -> None:
    tree = cst.parse_module("x = 1\ny = 2\n")
    positions = Positions(tree, "x = 1\nz = 2\n")
    assert positions.of(tree.body[0]) == (0, 5)
    with pytest.raises(ValueError, match="give the text back"):
        positions.of(tree.body[1])


@pytest.mark.parametrize("other", ["def f(b): pass\n", "def f(a): return\n"])
def test_a_document_says_so_in_a_sentence(other: str) -> None:
    document = Document("a.py", f"def f(a): pass  # not {other}")
    document._syntax.__dict__["whole"] = cst.parse_module(other)
    definition = document.tree.body[0]
    assert isinstance(definition, cst.FunctionDef)
    (parameter,) = definition.params.params
    with pytest.raises(DocumentError, match="does not survive a round trip"):
        document.span(parameter)
