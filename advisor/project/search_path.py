"""Folders that a script adds to `sys.path`, read from its text."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator

_SAME = frozenset({"abspath", "realpath", "normpath", "expanduser", "fspath", "resolve", "absolute", "as_posix", "str"})
"""Functions and methods that say the same path in another way; so do the classes of paths, where they get one part."""
_PATHS = frozenset({"Path", "PurePath", "PosixPath"})
_HERE = frozenset({"getcwd", "cwd"})
MOST_STEPS = 50
"""Expressions within expressions that are followed, so that names which mean each other come to an end."""


def added_folders(path: str, code: bytes) -> tuple[str, ...]:
    """The folders that a file puts on `sys.path`, by itself or by a function of its own that it gives them to.

    Args:
        path: the file's absolute path: what `__file__` stands for.
        code: its Python.

    Returns:
        Absolute paths, and relative ones where the folder in which the script runs decides; nothing for a folder that
        is not known from the text alone.
    """
    if b"sys.path" not in code:
        return ()
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    reader = _Reader(path, tree)
    found = (reader.path_of(one, MOST_STEPS) for one in _added(tree))
    return tuple(dict.fromkeys(os.path.normpath(one) for one in found if one is not None))


def folders_meant(added: Iterable[str], path: str, root: str) -> Iterator[str]:
    """The absolute folders that a file adds: a script runs in its own folder, or in the root of its project."""
    for one in added:
        for base in (os.path.dirname(path), root):
            yield os.path.normpath(os.path.join(base, one))


def _added(tree: ast.Module) -> Iterator[ast.expr]:
    """What is put on `sys.path`, where it is written."""
    helpers: dict[str, int] = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            names = [one.arg for one in function.args.args]
            for one in _put_there(function):
                if isinstance(one, ast.Name) and one.id in names:
                    helpers[function.name] = names.index(one.id)
    yield from _put_there(tree)
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in helpers:
            yield from call.args[helpers[call.func.id] :][:1]


def _put_there(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_search_path(node.func.value):
            if node.func.attr in ("append", "insert"):
                yield from node.args[-1:]
            elif node.func.attr == "extend" and node.args and isinstance(node.args[0], (ast.List, ast.Tuple)):
                yield from node.args[0].elts
        elif isinstance(node, ast.AugAssign) and _is_search_path(node.target):
            yield from node.value.elts if isinstance(node.value, (ast.List, ast.Tuple)) else ()


def _is_search_path(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "path"
        and isinstance(node.value, ast.Name)
        and node.value.id == "sys"
    )


class _Reader:
    """Reads expressions of one file as paths."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self._file = path
        self._bound: dict[str, ast.expr | None] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        # one that is bound twice may mean either
                        again = target.id in self._bound
                        self._bound[target.id] = None if again else node.value

    def path_of(self, node: ast.expr | None, steps: int) -> str | None:
        """The path that an expression stands for; None where the text does not say it."""
        if steps == 0 or node is None:
            return None
        steps -= 1
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self._file if node.id == "__file__" else self.path_of(self._bound.get(node.id), steps)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Div)):
            parts = [self.path_of(node.left, steps), self.path_of(node.right, steps)]
            return _joined(parts) if isinstance(node.op, ast.Div) else _concatenated(parts)
        if isinstance(node, ast.Attribute):
            if node.attr == "parent":
                return _parent(self.path_of(node.value, steps))
            known = {"pardir": "..", "curdir": ".", "sep": "/"}.get(node.attr)
            return known or self.path_of(self._bound.get(node.attr), steps)
        if isinstance(node, ast.Subscript):
            return self._ancestor(node, steps)
        return self._of_call(node, steps) if isinstance(node, ast.Call) else None

    def _ancestor(self, node: ast.Subscript, steps: int) -> str | None:
        """`Path(__file__).parents[1]`."""
        if not isinstance(node.value, ast.Attribute) or node.value.attr != "parents":
            return None
        if not isinstance(node.slice, ast.Constant) or not isinstance(node.slice.value, int):
            return None
        found = self.path_of(node.value.value, steps)
        for _ in range(min(node.slice.value + 1, MOST_STEPS)):
            found = _parent(found)
        return found

    def _of_call(self, node: ast.Call, steps: int) -> str | None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _HERE:
            return "."
        if name in ("join", "joinpath") or (name in _PATHS and len(node.args) > 1):
            owner = [node.func.value] if isinstance(node.func, ast.Attribute) and name == "joinpath" else []
            return _joined([self.path_of(one, steps) for one in (*owner, *node.args)])
        if name == "dirname" and node.args:
            return _parent(self.path_of(node.args[0], steps))
        if name in _SAME | _PATHS:
            said = node.args[0] if node.args else getattr(node.func, "value", None)
            return self.path_of(said, steps)
        return None


def _parent(path: str | None) -> str | None:
    return os.path.dirname(path) or "." if path is not None else None


def _joined(parts: list[str | None]) -> str | None:
    known = [one for one in parts if one is not None]
    return os.path.join(*known) if known and len(known) == len(parts) else None


def _concatenated(parts: list[str | None]) -> str | None:
    known = [one for one in parts if one is not None]
    return "".join(known) if len(known) == len(parts) else None


def lies_in(path: str, folder: str) -> bool:
    """Whether an absolute path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
