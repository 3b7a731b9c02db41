"""What a script says to other files: its text without the lines that only the script itself has to do with."""

from __future__ import annotations

import ast
import hashlib
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

MOST_EXCERPTS = 200

_BY_NAME = frozenset({"globals", "locals", "vars", "dir", "eval", "exec"})
_OF_AN_OBJECT = frozenset({"vars", "dir"})
"""What may read a name that the text does not spell out, and what of it does not where it is given an object."""
_PLAIN_CALLS = frozenset(
    "abs bool bytes dict divmod float format frozenset hash hex int len list max min oct pow print range repr reversed"
    " round set sorted str sum tuple zip".split()
)
_PLAIN = (
    ast.Constant,
    ast.UnaryOp,
    ast.BinOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.expr_context,
)
_OTHER_ENCODING = re.compile(rb"(?:.*\n)?.*coding[:=][ \t]*(?!utf-?8)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A script as other files know it.

    Attributes:
        raw: its bytes, line by line, with blanks for comments and for what neither calls nor changes anything.
        digest: of the lines that are left, wherever they stand.
        placed: of the lines that are left, and where they stand.
        lines: how many are left.
    """

    raw: bytes
    digest: str
    placed: str
    lines: int


@lru_cache(maxsize=MOST_EXCERPTS)
def excerpt(raw: bytes) -> Excerpt:
    """The excerpt of a file of Python; all of it where that cannot be parsed.

    Left out are comments, documentation, and statements made of numbers and texts alone: those that print, and those
    that bind names which nothing reads that is left. A file that nothing imports gives to others what it calls them
    with and what it changes of them, which is in what is left.
    """
    lines, blank = raw.splitlines(keepends=True), set[int]()
    nodes = _nodes(raw) if not _OTHER_ENCODING.match(raw) else []
    if nodes:
        idle = _Idle(nodes, lines)
        for row in idle.emptied:
            line = lines[row - 1]
            lines[row - 1] = line[: len(line) - len(line.lstrip())] + b"pass" + _end(line)
        kept = idle.emptied | _inside_texts(nodes) - idle.rows
        empty = {row for row, line in enumerate(lines, 1) if line.lstrip()[:1] in (b"", b"#")}
        blank = (idle.rows | empty) - kept
    left = [line for row, line in enumerate(lines, 1) if row not in blank]
    text = b"".join(_end(line) if row in blank else line for row, line in enumerate(lines, 1))
    return Excerpt(text, _digest(b"\n".join(one.rstrip(b"\r\n") for one in left)), _digest(text.rstrip()), len(left))


def _nodes(raw: bytes) -> list[ast.AST]:
    """All of a text's tree; nothing where CPython cannot parse it."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return list(ast.walk(ast.parse(raw)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _end(line: bytes) -> bytes:
    return line[len(line.rstrip(b"\r\n")) :]


def _digest(raw: bytes) -> str:
    return hashlib.blake2b(raw, digest_size=20).hexdigest()


def _inside_texts(nodes: Iterable[ast.AST]) -> set[int]:
    """The lines that begin inside of a text."""
    return {
        row
        for node in nodes
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno != node.lineno
        for row in range(node.lineno + 1, _last_row(node) + 1)
    }


def _last_row(node: ast.expr | ast.stmt) -> int:
    return node.end_lineno or node.lineno


class _Idle:
    """The statements of a file that have to do with nothing but numbers and texts of its own.

    Attributes:
        rows: the lines that they stand on.
        emptied: the first line of each block of which nothing would be left.
    """

    def __init__(self, nodes: list[ast.AST], lines: list[bytes]) -> None:
        self.rows: set[int] = set()
        self.emptied: set[int] = set()
        self._lines = lines
        self._names = [one for one in nodes if isinstance(one, ast.Name)]
        self._others = _bound_otherwise(nodes)
        stored = {one.id for one in self._names if not isinstance(one.ctx, ast.Load)}
        self._calls = _PLAIN_CALLS - stored - self._others
        self._plain: frozenset[str] = frozenset()
        reading = {one for one in self._names if one.id in _BY_NAME}
        if reading <= _about_objects(nodes):
            blocks = list(_blocks(nodes))
            self._find_plain_names(blocks)
            self._leave_out(blocks)

    def _find_plain_names(self, blocks: list[tuple[bool, list[ast.stmt]]]) -> None:
        """Finds the names that stand for numbers and texts alone, wherever they are bound."""
        values: dict[str, list[ast.expr]] = {}
        for of_class, block in blocks:
            for one in block if not of_class else ():
                if isinstance(one, (ast.Assign, ast.AugAssign)):
                    for target in _targets(one):
                        values.setdefault(target.id, []).append(one.value)
        bound = Counter(one.id for one in self._names if not isinstance(one.ctx, ast.Load))
        candidates = {
            name: given for name, given in values.items() if len(given) == bound[name] and name not in self._others
        }
        while more := {name for name, given in candidates.items() if all(map(self._is_plain, given))}:
            self._plain |= more
            candidates = {name: given for name, given in candidates.items() if name not in more}

    def _is_plain(self, value: ast.AST) -> bool:
        if isinstance(value, ast.Name):
            return value.id in self._plain
        if isinstance(value, ast.Call):
            known = isinstance(value.func, ast.Name) and value.func.id in self._calls
            return known and not value.keywords and all(map(self._is_plain, value.args))
        return isinstance(value, _PLAIN) and all(map(self._is_plain, ast.iter_child_nodes(value)))

    def _leave_out(self, blocks: list[tuple[bool, list[ast.stmt]]]) -> None:
        """Leaves out what is idle and binds nothing that is read in what is left."""
        idle: dict[ast.stmt, set[str]] = {}
        for of_class, block in blocks:
            for one in block:
                if self._is_idle(one, of_class=of_class) and self._stands_alone(one):
                    idle[one] = {target.id for target in _targets(one)}
        within = {name for one in idle for name in ast.walk(one)}
        read = {one.id for one in self._names if one not in within}
        while needed := [one for one, bound in idle.items() if not bound.isdisjoint(read)]:
            for one in needed:
                del idle[one]
                read |= {node.id for node in ast.walk(one) if isinstance(node, ast.Name)}
        self.rows = {row for one in idle for row in range(one.lineno, _last_row(one) + 1)}
        self.emptied = {block[0].lineno for _, block in blocks if all(one in idle for one in block)}

    def _is_idle(self, statement: ast.stmt, *, of_class: bool) -> bool:
        if isinstance(statement, ast.Expr):
            return self._is_plain(statement.value)
        targets = _targets(statement) if not of_class else []  # there they are attributes
        return bool(targets) and all(one.id in self._plain and not one.id.startswith("__") for one in targets)

    def _stands_alone(self, statement: ast.stmt) -> bool:
        """Whether nothing else but a comment stands on its lines."""
        before = self._lines[statement.lineno - 1][: statement.col_offset]
        after = self._lines[_last_row(statement) - 1][statement.end_col_offset :].strip()
        return not before.strip(b" \t\f") and (not after or after.startswith(b"#"))


def _about_objects(nodes: Iterable[ast.AST]) -> set[ast.Name]:
    """The names of what is called with an object, and then reads no names of the code around it."""
    calls = [one for one in nodes if isinstance(one, ast.Call) and one.args]
    return {one.func for one in calls if isinstance(one.func, ast.Name) and one.func.id in _OF_AN_OBJECT}


def _targets(statement: ast.stmt) -> list[ast.Name]:
    """The names that a statement binds and does nothing else; none where it is another one."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign):
        targets = [statement.target]
    names = [one for one in targets if isinstance(one, ast.Name)]
    return names if len(names) == len(targets) else []


def _blocks(nodes: Iterable[ast.AST]) -> Iterator[tuple[bool, list[ast.stmt]]]:
    """The blocks of statements in a file, and whether each is that of a class."""
    for node in nodes:
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block:
                yield isinstance(node, ast.ClassDef), block


def _bound_otherwise(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that something else binds than a name in the code: imports, definitions, parameters, patterns."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            found.add(node.name or "")
        elif isinstance(node, ast.MatchMapping):
            found.add(node.rest or "")
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
    return found
