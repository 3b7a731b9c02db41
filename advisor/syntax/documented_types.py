"""The types that docstrings give to parameters."""

from __future__ import annotations

import re
from functools import lru_cache

import libcst as cst

_TYPE = r"(?::\w+:)?`?~?(?P<type>[\w.]+)`?(?=\s*(?:[,)\[]|$|\bof\b))"
_FORMS = (
    rf"\s*(?P<name>\w+) ?\({_TYPE}[^()]*\)\s*:",  # Google
    rf"\s*(?P<name>\w+) : {_TYPE}",  # numpy
    rf"\s*:type (?P<name>\w+):\s*{_TYPE}",  # Sphinx
    r"\s*:param (?P<type>[\w.]+) (?P<name>\w+):",
)
_LINES = tuple(re.compile(form) for form in _FORMS)


@lru_cache(maxsize=1000)
def documented_types(node: cst.FunctionDef | cst.ClassDef) -> dict[str, str]:
    """The type of each parameter that the docstring of a function or class describes, as it is written there, in the
    styles of Google, numpy and Sphinx; a choice of several is left out."""
    text = _docstring(node)
    found: dict[str, str] = {}
    for line in text.splitlines() if "(" in text or ":" in text else ():
        matches = (form.match(line) for form in _LINES)
        described = next((one for one in matches if one is not None), None)
        if described is not None:
            found[described["name"]] = described["type"]
    return found


def _docstring(node: cst.FunctionDef | cst.ClassDef) -> str:
    first = next(iter(node.body.body), None)
    if isinstance(first, cst.SimpleStatementLine):
        first = first.body[0]
    value = first.value if isinstance(first, cst.Expr) else None
    written = value.evaluated_value if isinstance(value, cst.SimpleString) else None
    return written if isinstance(written, str) else ""
