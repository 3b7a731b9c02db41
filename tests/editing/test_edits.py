"""Edits made from nodes: what they add is what Python then sees, and nothing else changes."""

from __future__ import annotations

import ast

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accel_advisor.editing.edits import (
    add_before_splat,
    add_entry,
    add_keyword,
    decorate,
    insert_statement,
    may_stand_twice,
    remove_statement,
    takes_method,
)
from accel_advisor.editing.fixer import apply_edits
from accel_advisor.source.document import Document
from accel_advisor.syntax.walking import descendants


def call_in(source: str) -> tuple[Document, cst.Call]:
    document = Document("train.py", source)
    statement = document.tree.body[-1]
    assert isinstance(statement, cst.SimpleStatementLine)
    expression = statement.body[0]
    assert isinstance(expression, cst.Expr)
    assert isinstance(expression.value, cst.Call)
    return document, expression.value


def with_keywords(source: str, *keywords: tuple[str, str]) -> str:
    document, call = call_in(source)
    edits = [add_keyword(document, call, name, value) for name, value in keywords]
    assert all(edits)
    return apply_edits(document.text, [edit for one in edits for edit in one or ()])


def test_refuses_beside_splatted_arguments() -> None:
    for source in ("f(*a)\n", "f(1, **kw)\n", "f(1, *a, b=2, **kw)\n"):
        document, call = call_in(source)
        assert add_keyword(document, call, "x", "1") is None


def test_no_arguments() -> None:
    assert with_keywords("f()\n", ("x", "1")) == "f(x=1)\n"


def test_one_line() -> None:
    assert with_keywords("f(a, b=2)\n", ("x", "1"), ("y", "2")) == "f(a, b=2, x=1, y=2)\n"


def test_commas_have_no_space_where_none_of_the_call_has() -> None:
    assert with_keywords("f(a,b,c=2)\n", ("x", "1")) == "f(a,b,c=2,x=1)\n"
    assert with_keywords("f(a,b, c=2)\n", ("x", "1")) == "f(a,b, c=2, x=1)\n"
    assert with_keywords("f(a)\n", ("x", "1")) == "f(a, x=1)\n"


def test_trailing_comma_on_the_line() -> None:
    assert with_keywords("f(a, b=2,)\n", ("x", "1")) == "f(a, b=2, x=1,)\n"


def test_one_argument_a_line() -> None:
    assert with_keywords("f(\n    a,\n    b=2\n)\n", ("x", "1")) == "f(\n    a,\n    b=2,\n    x=1\n)\n"


def test_as_many_arguments_a_line_as_fit() -> None:
    assert with_keywords("f(a, b,\n  c)\n", ("x", "1")) == "f(a, b,\n  c, x=1)\n"
    assert with_keywords("f(a,\n  c)\n", ("x", "1")) == "f(a,\n  c,\n  x=1)\n"
    assert with_keywords("f(\n    a, b,\n    c\n)\n", ("x", "1")) == "f(\n    a, b,\n    c, x=1\n)\n"


def test_trailing_comma_with_a_comment() -> None:
    before = "f(\n    a,\n    b=2,  # two\n)\n"
    assert with_keywords(before, ("x", "1"), ("y", "2")) == "f(\n    a,\n    b=2,  # two\n    x=1,\n    y=2,\n)\n"


def test_windows_newlines() -> None:
    before = "f(\r\n\ta,\r\n\tb=2,\r\n)\r\n"
    assert with_keywords(before, ("x", "1")) == "f(\r\n\ta,\r\n\tb=2,\r\n\tx=1,\r\n)\r\n"


LONG = "batch_size=config.batch_size_of_the_training, shuffle=True"
MANY = "pass\n" * 50
"""Lines that show how long those of a file are."""


def test_a_line_that_would_become_too_long_is_broken_below_the_arguments() -> None:
    before = f"{MANY}make(data, {LONG})\n"
    after = with_keywords(before, ("num_workers", "4"), ("pin_memory", "True"))
    assert after == f"{MANY}make(data, {LONG},\n     num_workers=4,\n     pin_memory=True)\n"


def test_a_last_line_that_would_become_too_long_is_broken_as_those_above() -> None:
    before = f"{MANY}DataLoader(data,\n           {LONG})\n"
    after = with_keywords(before, ("pin_memory", "True"))
    assert after == f"{MANY}DataLoader(data,\n           {LONG},\n           pin_memory=True)\n"


@pytest.mark.parametrize(
    ("source", "twice", "method"),
    [
        ("loss", True, True),
        ("self.loss", True, True),
        ("losses[0]", False, True),
        ("compute(x)", False, True),
        ("a + b", False, False),
        ("a if b else c", False, False),
    ],
)
def test_what_may_stand_twice_and_what_takes_a_method(source: str, twice: bool, method: bool) -> None:
    expression = cst.parse_expression(source)
    assert (may_stand_twice(expression), takes_method(expression)) == (twice, method)


@pytest.mark.parametrize("head", [f"{MANY}# {'-' * 100}\n", "# a file of few lines\n"])
def test_lines_are_as_long_as_those_that_the_file_has(head: str) -> None:
    before = f"{head}make(data, {LONG})\n"
    assert with_keywords(before, ("pin_memory", "True")) == before.replace("True)", "True, pin_memory=True)")


def test_what_stands_behind_a_call_stays_on_its_line() -> None:
    document = Document("train.py", f"{MANY}make(data, {LONG}) + make(1, 2)\n")
    call = next(iter(descendants(document.tree, cst.Call)))
    (edit,) = add_keyword(document, call, "x", "1") or ()
    assert "\n" not in edit.content


def test_keyword_in_front_of_a_splat() -> None:
    document, call = call_in("f(a, **kw)\n")
    edit = add_before_splat(document, call, "x", "1")
    assert edit is not None
    assert apply_edits(document.text, [edit]) == "f(a, x=1, **kw)\n"


def test_entries_of_a_dict() -> None:
    for before, after in (
        ("f({})\n", 'f({"x": 1})\n'),
        ("f({'a': 2})\n", "f({'a': 2, 'x': 1})\n"),
        ("f({\n    'a': 2,\n})\n", "f({\n    'a': 2,\n    'x': 1,\n})\n"),
        ("f(dict(a=2))\n", "f(dict(a=2, x=1))\n"),
    ):
        document, call = call_in(before)
        edits = add_entry(document, call.args[0].value, "x", "1")
        assert edits is not None
        assert apply_edits(document.text, edits) == after


@pytest.mark.parametrize("head", ["", "@once\n    ", "@once\n    @twice(1)\n    "])
def test_a_decorator_stands_right_above_its_function(head: str) -> None:
    document = Document("train.py", f"class C:\n    {head}def f(self):\n        pass\n")
    (function,) = descendants(document.tree, cst.FunctionDef)
    after = apply_edits(document.text, [decorate(document, function, "@torch.no_grad()")])
    assert after == f"class C:\n    {head}@torch.no_grad()\n    def f(self):\n        pass\n"


def test_statement_at_the_top_of_a_body() -> None:
    document = Document("train.py", "for x in y:\n    # first\n    print(x)\n")
    loop = document.tree.body[0]
    assert isinstance(loop, cst.For)
    edit = insert_statement(document, loop.body, "x = x.cuda()")
    assert edit is not None
    assert apply_edits(document.text, [edit]) == "for x in y:\n    # first\n    x = x.cuda()\n    print(x)\n"


SPACE = st.sampled_from(["", " ", "  ", "\n    ", "\n        ", " # é\n    "])
EXPRESSION = st.sampled_from(
    ["a", "(1)", "x.y", "[1, 2]", '"ü,"', "lambda: 0", "f(1,\n 2)", "{'a': 1}", "1 if a else 2"]
)


@st.composite
def calls(draw: st.DrawFn) -> str:
    positional = draw(st.lists(EXPRESSION, max_size=3))
    keywords = [f"k{index}={draw(SPACE)}{draw(EXPRESSION)}" for index in range(draw(st.integers(0, 3)))]
    text = ""
    everything = positional + keywords
    for index, one in enumerate(everything):
        last = index == len(everything) - 1
        text += draw(SPACE) + one + draw(SPACE)
        text += "," if not last or draw(st.booleans()) else ""
    return f"é = 1\nfoo.bar{draw(st.sampled_from(['', ' ']))}({text}{draw(SPACE)})\n"


@given(calls(), st.sampled_from(["1", "True", "torch.cuda.is_available()"]), st.booleans())
def test_any_call_gets_just_the_keyword(source: str, value: str, twice: bool) -> None:
    _, call = call_in(source)
    given_keywords = [("num_workers", value), ("pin_memory", value)][: 1 + (twice and bool(call.args))]
    before = ast.parse(source)
    after = ast.parse(with_keywords(source, *given_keywords))
    statement = before.body[-1]
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    statement.value.keywords += [ast.keyword(name, ast.parse(text, mode="eval").body) for name, text in given_keywords]
    assert ast.dump(after) == ast.dump(before)


@pytest.mark.parametrize(
    ("head", "given"),
    [
        ("", '"cpu"'),
        ("x = 'a', 'b', \"c\"\n", "'cpu'"),
        ("\"\"\"It's 'a' 'b'.\"\"\"\n# 'c' 'd'\nx = \"e\"\n", '"cpu"'),
    ],
)
def test_a_string_is_quoted_as_the_file_quotes(head: str, given: str) -> None:
    assert with_keywords(f"{head}f(a)\n", ("x", '"cpu"')) == f"{head}f(a, x={given})\n"
    assert with_keywords(f"{head}f(a)\n", ("x", 'd["cpu"]')) == f'{head}f(a, x=d["cpu"])\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    a()\n\n    b()\n\n    c()\n", "    a()\n\n    c()\n"),
        ("    a()\n    b()\n\n    c()\n", "    a()\n\n    c()\n"),
        ("    a()\n\n    b()\n    c()\n", "    a()\n\n    c()\n"),
        ("    a()\n\n    b()\n", "    a()\n\n"),
        ("    b()\n\n    c()\n", "    c()\n"),
        ("    b()\n    c()\n", "    c()\n"),
        ("    a()\n\n    # what b does\n    # and why\n    b()\n\n    c()\n", "    a()\n\n    c()\n"),
        ("    a()\n    # what b does\n    b()\n", "    a()\n"),
        ("    # what b and c do\n    b()\n    c()\n", "    # what b and c do\n    c()\n"),
        ("    a()\n        # elsewhere\n    b()\n", "    a()\n        # elsewhere\n"),
    ],
)
def test_a_statement_goes_with_one_of_the_empty_lines_around_it(before: str, after: str) -> None:
    document = Document("train.py", f"for x in y:\n{before}")
    loop = document.tree.body[0]
    assert isinstance(loop, cst.For)
    statement = next(
        one.body[0]
        for one in loop.body.body
        if isinstance(one, cst.SimpleStatementLine) and document.code(one.body[0]) == "b()"
    )
    edit = remove_statement(document, statement, loop.body)
    assert edit is not None
    assert apply_edits(document.text, [edit]) == f"for x in y:\n{after}"
