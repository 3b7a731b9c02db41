"""The light tree of a text says what libcst's own parser says, and where each node stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accel_advisor.source.document import Document
from accel_advisor.source.parsing import DocumentError
from accel_advisor.syntax.light import read
from accel_advisor.syntax.positions import Positions
from accel_advisor.syntax.tree import Syntax
from accel_advisor.syntax.walking import PARTS, descendants

ROOT = Path(__file__).parents[2]
WORDS = ("value", "operator", "star", "asynchronous", "relative", "start", "end")
"""Fields that say something beside the nodes below a node."""

STATEMENTS = {
    "semicolons": "a = 1; b = 2;\nif a: b; c\nelse: pass; pass\nwhile a: break\n",
    "continued suite": "if a: \\\n    b\n",
    "elif": "if a:\n    b\nelif c:\n    d\nelse:\n    if e:\n        f\n    else:\n        g\n",
    "else and a word that begins alike": "if a:\n    b\nelse:\n    if elif_:\n        c\n",
    "try": "try:\n a\nexcept (B, C) as e:\n raise D from e\nexcept E:\n raise\nelse:\n f\nfinally:\n g\n",
    "try star": "try:\n    a\nexcept* B as e:\n    pass\n",
    "loops": "for a, *b in c:\n    continue\nelse:\n    d\nwhile (e := f()):\n    pass\nelse:\n    g\n",
    "asynchronous": "async def f():\n    async for a in b:\n        async with c as d, e:\n            await g\n",
    "comprehensions": "a = [b async for b in c if d if e for f in g]\n{h: i for h in j}\n{k for k in l}\n",
    "with": "with (open(a) as b, c):\n    pass\nwith a, (b): pass\nwith (a): pass\n",
    "imports": "import a, b.c as d, e.f.g\nfrom . import h\nfrom ...i.j import (k as l, m,)\nfrom n import *\n",
    "class": '@a\n@b.c(d)\nclass E(F, *g, h=i, **j):\n "k"\n l: int = 1\n m: str\nclass N: pass\nclass O(): pass\n',
    "parameters": "def f(a, b: int = 1, /, c=2, *d: e, g, h=3, **i: j) -> k: ...\ndef l(*, m): ...\n",
    "lambdas": "lambda: 0\nlambda a, *b, c=1: 2\n",
    "other": "assert a, b\ndel c\ndel d, e[0]\ndel (f, g)\n",
    "scopes": "global h, i\ndef j():\n    nonlocal k, l\n    return\n    yield\n    yield from m\n",
    "assignments": "a = b = c\nd += 1\ne @= f\ng: int\nh.i: str = j\n[k, l] = m\n*n, o = p\n",
    "wide characters": "é = f('äöü', b=(1), c='🎉') ; x = é.ß(2)\r\nif é:\r\n\tö = ('ü', é)\r\n",
    "magic comment": "# -*- coding: latin-1 -*-\na = 'é'\n",
    "empty": "",
    "comment": "# nothing",
    "string escapes": "a = '\\d'\nb = r'\\\\'\nc = b'\\x00' rb'\\d'\nd = '''e\n'f' ''' \"g\"\n",
}
EXPRESSIONS = (
    *("a < b <= c is not d not in e", "not a and b or c and d", "-a ** -b // ~c @ d", "a if b else c if d else e"),
    *("1_000", "0xFF", "1e-3", "1j", "...", "None", "True", "b'a'", "'a' 'b' \"c\"", "('a'\n  # b\n 'c')"),
    *("f'a{b}c'", "f'a' 'b' f'{c!r:>{d}.{e}f}'", "f'{a=}'", "f'{{a}}{b:{{}}}'", "rf'''{a}\\d'''", "F'{(a, b)}'", "''"),
    *("f'{a.item()} {a.item()}'", "f'''\n{a\n}'''", "f'{a:%H:%M}'", "(f'a'\n'b')"),
    *("a[b]", "a[b, c]", "a[(b, c)]", "a[(b), (c)]", "a[((b), (c))]", "a[b:c, ::d, ...]", "a[()]", "a[b,]", "a[*b, c]"),
    *("a[:]", "a[(b,)]", "a[(b, c), d]", "a[(b), c]", "a[b, (c)]"),
    *(
        "()",
        "(a,)",
        "((a),)",
        "((a), b)",
        "(a), (b)",
        "(a), b,",
        "(a + b), c",
        "(a)(b), c",
        "( a , b )",
        "(a, # b\n c)",
    ),
    *("f()", "f((a))", "f(a, (b), c)", "f((a), (b))", "f((a) + (b))", "f(a, # )\n b # (\n)", "f(( # c\n a))", "f(a,)"),
    *(
        "f(*a, **b)",
        "f(a, *b, c, d=e, *g, **h)",
        "f(a=(b))",
        "f((a for a in b))",
        "f(a for a in b)",
        "f((a for a in b), c)",
    ),
    *(
        "f((yield))",
        "f((a := b))",
        "f(a := b)",
        "f((lambda: a))",
        "f(\n    a,\n    b=c,\n)",
        "f(\n  (a)\n)",
        "f((\n  a\n))",
    ),
    *(
        "{}",
        "{a: b, **c, 'd': e}",
        "{a, *b}",
        "[]",
        "[a, *b]",
        "[(a), (b)]",
        "[*(a), b]",
        "(a for a in b)",
        "(  a for a in b  )",
    ),
    *("lambda a, /, b=(1), *, c: (a, b)", "(yield a)", "(await_)", "a.b.c().d[0].e", "(a).b", "(a.b)(c)", "(a)[(b)]"),
)


def test_reads_texts_of_this_project() -> None:
    """One in eight of them; `benchmarks/soak.py` goes over all of site-packages."""
    texts = sorted([*ROOT.glob("advisor/**/*.py"), *ROOT.glob("rules/**/*.py"), *ROOT.glob("fixtures/**/*.py")])
    for path in texts[::8]:
        text = path.read_text("utf-8")
        if not any(isinstance(one, ast.Match) for one in ast.walk(ast.parse(text))):
            agree(text)


@pytest.mark.parametrize("text", STATEMENTS.values(), ids=STATEMENTS)
def test_reads_statements(text: str) -> None:
    agree(text)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_reads_expressions(text: str) -> None:
    plain = "\n" not in text.strip("()") and "#" not in text
    if plain:
        agree(f"{text}\n")
        agree(f"x = {text}\ny = 1\n")
    agree(f"async def f():\n    return ({text}\n)\n")
    agree(f"async def f():\n    g(1, ({text}\n), h=[{text.strip(',')}\n])\n" if "yield" not in text else "a\n")


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """Expressions in brackets that are needed and not, over lines and around comments."""
    inner = expressions(depth=depth - 1)
    if depth == 0:
        return draw(st.sampled_from(["a", "b.c", "1", "'d'", "f'{e.f(e)}'", "é", "'g' # )\n 'h'"]))
    made = draw(
        st.sampled_from(
            ["%", "(%).a", "(% + %)", "f(%)", "f(%, %)", "f(k=%, *%)", "[%, %]", "(%, %)", "(%,)", "%[%, %]"]
        )
        | st.sampled_from(
            ["%[%]", "(% for b in %)", "f(% for b in %)", "{%: %}", "(% if % else %)", "(not %)", "f(**%)"]
        )
    )
    while "%" in made:
        one = draw(inner)
        around = draw(
            st.sampled_from(["{}", "{}", "({})", "( {} )", "({} # )\n)", "(# (\n{})", "(({}))", "\n{}\n", "{} "])
        )
        made = made.replace("%", around.format(one), 1)
    return made


@given(expressions())
@settings(max_examples=150)
def test_reads_whatever_is_put_into_brackets(text: str) -> None:
    agree(f"x = (\n{text}\n)\ny = 2\n")


def test_a_name_that_is_normalized_stands_where_it_is_written() -> None:
    document = Document("a.py", "ﬁt = x.ﬁt(ﬁt=2, b=ﬁt)\n")
    assert [one.value for one in descendants(document.tree, cst.Name)] == ["fit", "x", "fit", "fit", "b", "fit"]
    assert [document.code(one) for one in descendants(document.tree, cst.Name)] == ["ﬁt", "x", "ﬁt", "ﬁt", "b", "ﬁt"]


@pytest.mark.parametrize(
    "text",
    [
        "match a:\n    case 1: pass\n",
        "f'{a[0, 1]}'\n",
        'f\'{f"a" "b"}\'\n',
        "def f(*a: *b): pass\n",
        "print 'a'\n",
        "a = = b\n",
        "a\0b",
        "a = '\ud800'\n",
    ],
)
def test_leaves_the_rest_to_libcst(text: str) -> None:
    assert read(text) is None


def test_what_libcst_alone_cannot_read_has_no_place() -> None:
    text = "def f(a): pass\n(b): int = 1\n"
    document = Document("a.py", text)
    assert document.code(document.tree.body[1]) == "(b): int = 1"
    (parameter,) = (one for one in descendants(document.tree, cst.Param))
    with pytest.raises(DocumentError, match="syntax error"):
        document.span(parameter)


def agree(text: str) -> None:
    """Asserts that a text's light tree says, node for node, what libcst says."""
    light = read(text)
    assert light is not None
    whole = cst.parse_module(text)
    syntax, positions = Syntax(text, lambda _: whole), Positions(whole, text)
    for one, other in zip(nodes(syntax.tree), nodes(whole), strict=True):
        assert type(one) is type(other)
        for word in WORDS:
            if hasattr(other, word) and word not in PARTS.get(type(other).__name__, ()):
                assert said(getattr(one, word)) == said(getattr(other, word)), (word, type(one))
        if not isinstance(other, cst.Module):
            assert syntax.offsets(one) == positions.of(other), (type(one), text)


def nodes(tree: cst.Module) -> Iterator[cst.CSTNode]:
    return (one for one in descendants(tree) if not isinstance(one, cst.FormattedStringText))


def said(value: object) -> object:
    """What a field says, without the white space."""
    if isinstance(value, (list, tuple)):
        return len(value)
    return value if isinstance(value, (str, int)) else type(value)
