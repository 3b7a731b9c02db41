"""How deeply a text is nested: what would keep the parser busy forever, or overflow a stack, is found beforehand."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from accel_advisor.syntax.line_breaks import NEWLINE

MOST_NESTED = 400
"""Operators, calls and brackets around or before one operand. The parser takes the square of this, and code that was
written by hand stays below 70."""
MOST_IN_PATTERN = 8
"""Brackets within brackets of a ``case`` or ``del``: with each the parser takes up to four times as long."""
MOST_BRACKETS = 200
"""Brackets within brackets: as many as CPython takes."""
MOST_BRANCHES = 500
STACK = 6_000
"""Python frames that a walk over the syntax, or an analysis in which a call takes some twenty of them, may use."""

_PLAIN = re.compile(
    r"""(?:
        (?:
            [^()\[\]{}'"\#\\\r\n]{1,20}+
            | \([^()\[\]{}'"\#\\\r\n]{0,99}\)
            | '[^'\\\r\n]*+'(?!') | "[^"\\\r\n]*+"(?!")
        ){0,20}+
        (?:\#[^\r\n]*+)?
        (?:\r\n?|\n)
    )++""",
    re.VERBOSE,
)
"""Lines that are a statement each and too short to be deep: nearly all lines are, and they are skipped at once."""
_TOKEN = re.compile(
    r"""
    '{3}(?:[^\\']|\\.|'(?!''))*+'{3} | "{3}(?:[^\\"]|\\.|"(?!""))*+"{3}
    | '(?:[^\\'\r\n]|\\(?:\r\n|.))*+' | "(?:[^\\"\r\n]|\\(?:\r\n|.))*+"
    | \#[^\r\n]*+ | \\(?:\r\n|.)
    | (?P<opening>[(\[{]) | (?P<closing>[)\]}])
    | (?P<comma>,) | (?P<end>[\r\n;])
    | (?P<pattern>^[ \t]*case\b|\bdel\b)
    | (?P<head>\b(?:lambda|for)\b) | (?P<body>:|\bin\b)
    | (?P<operator>[-+*/%@&|^~<>=!.]+|\b(?:not|await|if|and|or)\b)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def too_deep(text: str) -> int | None:
    """The line, counted from 1, on which a text is nested too deeply to be parsed; None where it is not. A text that is
    not Python may be called so or not."""
    offset = _deep_expression(text)
    if offset is not None:
        return len(NEWLINE.findall(text, 0, offset)) + 1
    return _deep_branches(text) if text.count("elif") > MOST_BRANCHES else None


@contextmanager
def deep_stack() -> Iterator[None]:
    """Lets Python code follow syntax that is as deep as is parsed."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, STACK))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _deep_expression(text: str) -> int | None:
    """Where an expression is too deep. Counts, statement by statement, what stands around or before one operand. A
    comma begins again, unless it parts the parameters of a lambda or the targets of a comprehension, after which the
    nesting goes on."""
    position = 0
    while True:
        plain = _PLAIN.match(text, position)
        if plain is not None:
            position = plain.end()
        outside = run = heads = 0
        around: list[tuple[int, int]] = []
        pattern = False
        for token in _TOKEN.finditer(text, position):
            kind = token.lastgroup
            if kind == "operator":
                run += 1
            elif kind == "opening":
                around.append((run + 1, heads))
                outside += run + 1
                run = heads = 0
                if len(around) > (MOST_IN_PATTERN if pattern else MOST_BRACKETS):
                    return token.start()
            elif kind == "closing" and around:
                run, heads = around.pop()
                outside -= run
            elif kind == "comma" and not heads:
                run = 0
            elif kind == "head":
                run, heads = run + 1, heads + 1
            elif kind == "body":
                heads -= heads > 0
            elif kind == "pattern":
                pattern = True
            elif kind == "end" and not around:
                position = token.end()
                break
            if outside + run > MOST_NESTED:
                return token.start()
        else:
            return None


def _deep_branches(text: str) -> int | None:
    """The line of an ``if`` with too many branches, each of which is nested in the one before."""
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text)
    except (RecursionError, MemoryError):
        return 1
    except (SyntaxError, ValueError):
        return None
    branches: dict[ast.AST, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and len(node.orelse) == 1:
            count = branches[node.orelse[0]] = branches.get(node, 0) + 1
            if count > MOST_BRANCHES:
                return node.lineno
    return None
