"""Our walk sees what libcst's own visitors see, in the same order."""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import Path

import libcst as cst
import pytest

from accel_advisor.syntax import walking
from accel_advisor.syntax.light import read
from accel_advisor.syntax.walking import PARTS, descendants, keep_order

HOME = Path(__file__).parents[2]

SILENT = (
    cst.BaseParenthesizableWhitespace | cst.TrailingWhitespace | cst.EmptyLine | cst.Newline | cst.Comment
    | cst.BaseBinaryOp | cst.BaseUnaryOp | cst.BaseBooleanOp | cst.BaseCompOp | cst.BaseAugOp | cst.AssignEqual
    | cst.Comma | cst.Dot | cst.Colon | cst.Semicolon | cst.Asynchronous | cst.BitOr
    | cst.LeftParen | cst.RightParen | cst.LeftSquareBracket | cst.RightSquareBracket | cst.LeftCurlyBrace
    | cst.RightCurlyBrace | cst.ParamSlash
)  # fmt: skip
"""What a walk leaves out: how something is written, not what is said."""

EVERYTHING = '''
from __future__ import annotations
import a.b as c, d
from . import e as f
from .g import *
async def h[T: int, *U, **V](x, /, y: int = 1, *z, w=2, **k) -> int:
    global a, b
    async with x as y, z: await y
    async for i in x: pass
    else: break
    return [i async for i in x if i if j for k in l]
type W[T = int] = list[T]
@d.e(1)
class K(c.d, metaclass=f):
    """text"""
    x: int = 1; y: str
    def f(self): nonlocal q
    def g(self, *, a, b=1): yield from self.f(*a, **b)
try:
    x += 1
    x @= y
    y = z = 2
except (A, B) as e: raise e from None
except C: raise
else: del x, y[0]
finally: assert x, "m"
try: pass
except* A as e: pass
while not x and y or -z ** 2 < 3 != 4 in w is not v: continue
else: print(f"{x!r:>{w}}" "b" rf"{y}", a[1:2:3, ..., :], {**a, "b": 1}, {1, *b}, {k: v for k, v in z})
match x:
    case [1, *rest] | (2, 3): pass
    case {"a": 1, **others} if others: pass
    case P(1, x=Q()) as p: pass
    case None | "s" | a.b: pass
    case _: pass
if x: [1]
elif y: pass
x = (lambda a, *b, c=1, **d: a if b else c, (y := 3), {s for s in t}, (g for g in h), 1.5, 2j, ...)
with (a as b, c): pass
'''

SOURCES = {
    "everything": EVERYTHING,
    **{path.relative_to(HOME).as_posix(): path.read_text("utf-8") for path in sorted(HOME.glob("advisor/**/*.py"))},
}
WHOLE = frozenset(list(SOURCES)[::8])
"""Those of which libcst makes the trees, which takes most of the time of these tests; for the others it is the linter,
as it does for itself, without what a walk leaves out. The first holds every kind of node."""


@cache
def _silent(kind: type[cst.CSTNode]) -> bool:
    return issubclass(kind, SILENT)


class Seen(cst.CSTVisitor):
    """What a visitor is shown."""

    def __init__(self) -> None:
        self.nodes: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if _silent(type(node)):
            return False
        self.nodes.append(node)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None: ...

    def on_visit_attribute(self, node: cst.CSTNode, attribute: str) -> None: ...

    def on_leave_attribute(self, original_node: cst.CSTNode, attribute: str) -> None: ...


def _by_libcst(tree: cst.Module) -> list[cst.CSTNode]:
    seen = Seen()
    tree.visit(seen)
    return seen.nodes


@pytest.mark.parametrize("name", SOURCES)
def test_sees_every_expression_and_statement_in_the_order_of_the_source(name: str) -> None:
    light = None if name in WHOLE else read(SOURCES[name])
    tree = cst.parse_module(SOURCES[name]) if light is None else light.tree
    assert [id(one) for one in descendants(tree)] == [id(one) for one in _by_libcst(tree)]


def test_the_sample_holds_every_kind_of_node_but_the_newest() -> None:
    seen = {type(one).__name__ for one in descendants(cst.parse_module(EVERYTHING))}
    gone = {"LazyImport", "LazyImportFrom", "TemplatedString", "TemplatedStringExpression", "StarredDictComp"}
    assert set(PARTS) - seen <= gone


def test_every_kind_of_node_is_known_or_holds_nothing() -> None:
    kinds = [one for one in vars(cst).values() if inspect.isclass(one) and issubclass(one, cst.CSTNode)]
    for kind in kinds:
        if kind.__name__ not in PARTS and not issubclass(kind, SILENT) and "_visit_and_replace_children" in vars(kind):
            body = inspect.getsource(kind._visit_and_replace_children)
            fields = {one for one in kind.__dataclass_fields__ if f'"{one}"' in body}
            assert not {one for one in fields if "whitespace" not in one and one not in HOW}, kind


HOW = frozenset(
    "comma operator lpar rpar newline comment first_line empty_lines last_line colon semicolon first_colon "
    "second_colon lbracket rbracket".split()
)


class Owner:
    """Lives as long as a tree is asked about."""


QUESTIONS: list[tuple[tuple[type[cst.CSTNode], ...], frozenset[type[cst.CSTNode]]]] = [
    ((), frozenset()),
    ((cst.Name,), frozenset()),
    ((cst.Name, cst.Call, cst.Name), frozenset()),
    ((cst.Call, cst.Integer, cst.Match), frozenset({cst.FunctionDef, cst.Lambda})),
    ((), frozenset({cst.If, cst.Call})),
    ((cst.FunctionDef,), frozenset({cst.FunctionDef})),
    ((cst.Import,), frozenset({cst.Module})),
]


@pytest.mark.parametrize("source", [EVERYTHING, *list(SOURCES.values())[1::40]])
def test_a_walk_that_looks_up_the_order_sees_what_one_through_the_tree_sees(source: str) -> None:
    tree = cst.parse_module(source)
    nodes = [one for one in descendants(tree) if source is EVERYTHING or isinstance(one, (cst.Module, cst.FunctionDef))]
    seen = [[[id(one) for one in descendants(node, *kinds, but=but)] for kinds, but in QUESTIONS] for node in nodes]
    owner = Owner()
    keep_order(tree, owner)
    for _ in range(2):
        for node, found in zip(nodes, seen, strict=True):
            for (kinds, but), expected in zip(QUESTIONS, found, strict=True):
                assert [id(one) for one in descendants(node, *kinds, but=but)] == expected


def test_an_order_is_kept_as_long_as_its_owner_lives() -> None:
    tree = cst.parse_module(EVERYTHING)
    expected = list(map(id, descendants(tree)))
    large = {id(one) for one in descendants(tree, cst.Module, cst.ClassDef)}
    for asked in (False, True):
        owner = Owner()
        keep_order(tree, owner)
        if asked:
            assert list(map(id, descendants(tree))) == expected
        assert large & walking._orders.keys() == (large if asked else {id(tree)})
        del owner
        assert not large & walking._orders.keys()
        assert list(map(id, descendants(tree))) == expected
