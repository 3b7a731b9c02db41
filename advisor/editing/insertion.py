"""Where one more statement goes: behind a script's imports, or in front of the loop in which an object is used."""

from __future__ import annotations

import ast

from accel_advisor.editing.wrapping import newline_of
from accel_advisor.finding import Edit
from accel_advisor.source.document import Document

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def torch_name(document: Document) -> str | None:
    """What a module calls torch in all of its functions; None where it does not import it at its top."""
    for node in ast.parse(document.today).body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "torch":
                    return alias.asname or "torch"
                if alias.name.startswith("torch.") and alias.asname is None:
                    return "torch"
    return None


def after_imports(document: Document, statement: str) -> Edit | None:
    """The edit that puts a statement behind the imports at the top of a module; None where there are none."""
    imports = [node for node in ast.parse(document.today).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    last = imports[-1].end_lineno if imports else None
    newline = newline_of(document)
    if last is None or last >= document.text.count(newline):
        return None
    start = document.offset(last + 1, 1)
    return document.edit(start, start, f"{newline}{statement}{newline}")


def before_loop(document: Document, row: int, name: str, statement: str) -> Edit | None:
    """The edit that puts a statement about the object ``name`` in front of the outermost loop around ``row`` in which
    the name is not bound, or of the statement itself where there is no loop; None where it does not start its line.
    Further lines of ``statement`` are indented relative to the first."""
    around = _around(ast.parse(document.today), row)
    fitting = [node for node in around if not _binds(node, name) and _starts_its_line(document, node)]
    node = next((node for node in fitting if isinstance(node, _LOOPS)), fitting[-1] if fitting else None)
    if node is None or (node is not around[-1] and not isinstance(node, _LOOPS)):
        return None
    line = document.line(node.lineno)
    indentation = line[: len(line) - len(line.lstrip())]
    start = document.offset(node.lineno, len(indentation) + 1)
    newline = newline_of(document)
    lines = statement.replace("\n", newline + indentation)
    return document.edit(start, start, f"{lines}{newline}{indentation}")


def with_imports(document: Document, row: int, *modules: str) -> tuple[Edit, ...] | None:
    """The edits that import modules by their whole names, in front of the last import at the top of a module, as far
    as they are not imported yet; None where there is no such place ahead of ``row``."""
    imports = [node for node in ast.parse(document.today).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    plain = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names if not alias.asname}
    missing = [module for module in modules if module not in plain]
    if not missing:
        return ()
    last = imports[-1] if imports else None
    if last is None or getattr(last, "module", "") == "__future__":
        return None
    if last.col_offset or (last.end_lineno or last.lineno) >= row:
        return None
    start = document.offset(last.lineno, 1)
    newline = newline_of(document)
    return (document.edit(start, start, "".join(f"import {module}{newline}" for module in missing)),)


def free_name(document: Document, *wanted: str) -> str | None:
    """The first of some names that a module binds or reads nowhere; None where it has them all."""
    tree = ast.parse(document.today)
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    taken |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    taken |= {node.name for node in ast.walk(tree) if isinstance(node, (*_FUNCTIONS, ast.ClassDef))}
    taken |= {
        (alias.asname or alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom | ast.Import)
        for alias in node.names
    }
    return next((name for name in wanted if name not in taken), None)


def in_loop(document: Document, row: int) -> bool:
    """Whether a loop of the function that holds ``row`` is around it."""
    return any(isinstance(node, _LOOPS) for node in _around(ast.parse(document.today), row))


def _around(tree: ast.Module, row: int) -> list[ast.stmt]:
    """The statements around a row within the function that holds it, outermost first; none where several share it."""
    found: list[ast.stmt] = []
    bodies: list[list[ast.stmt]] = [tree.body]
    while bodies:
        inner = [node for body in bodies for node in body if node.lineno <= row <= (node.end_lineno or node.lineno)]
        if not inner:
            return found
        if len(inner) > 1:
            return []
        node = inner[0]
        found = [] if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) else [*found, node]
        bodies = [value for _, value in ast.iter_fields(node) if _is_body(value)]
        bodies += [handler.body for handler in getattr(node, "handlers", [])]
        bodies += [case.body for case in getattr(node, "cases", [])]
    return found


def _is_body(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, ast.stmt) for one in value)


def _binds(node: ast.stmt, name: str) -> bool:
    return any(
        isinstance(one, ast.Name) and one.id == name and not isinstance(one.ctx, ast.Load) for one in ast.walk(node)
    )


def _starts_its_line(document: Document, node: ast.stmt) -> bool:
    before = document.line(node.lineno).encode()[: node.col_offset]
    return not before.strip() and not document.line(node.lineno).lstrip().startswith("elif")
