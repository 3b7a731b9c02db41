"""Strings and what is formatted."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act
from accel_advisor.tables.gpu_signs import text_names_gpu
from accel_advisor.values.composed_texts import composed
from accel_advisor.values.devices import numbered
from accel_advisor.values.values import UNKNOWN, Constant, Qualified, Tensor, Value

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine

MOST_KEPT = 10_000
"""Strings of which is kept what they say."""
_PLAIN_STRING = re.compile(r"""(['"])([^\\'"\r\n]*)\1""")


def text(machine: Machine, node: cst.SimpleString | cst.ConcatenatedString) -> Value:
    """The value of a string, or of several that stand behind each other."""
    value, names_gpu = _literal(node)
    if value is None and isinstance(node, cst.ConcatenatedString):
        beginning = machine.evaluate(node.left)
        machine.evaluate(node.right)
        written = beginning.value if isinstance(beginning, Constant) else None
        return composed(written) if isinstance(written, str) else UNKNOWN
    if names_gpu:
        machine.recorder.gpu_named(machine.document)
    return UNKNOWN if value is None else machine.literal(node, value)


@lru_cache(maxsize=MOST_KEPT)
def _literal(node: cst.SimpleString | cst.ConcatenatedString) -> tuple[str | bytes | None, bool]:
    """What a string says, and whether it names a GPU. Kept by its node, which nothing changes: a function that is
    called in many ways has its strings, and its docstring, read again in each."""
    plain = _PLAIN_STRING.fullmatch(node.value) if isinstance(node, cst.SimpleString) else None
    # most are plain, and to have them compiled takes ten times as long
    value = node.evaluated_value if plain is None else plain[2]
    return value, isinstance(value, str) and text_names_gpu(value)


def formatted_text(machine: Machine, node: cst.FormattedString) -> Value:
    """The value of an f-string: a device or a module, where it is the name of one."""
    first, *rest = node.parts or [cst.FormattedStringText("")]
    beginning: Value = UNKNOWN
    for part in node.parts:
        if type(part) is cst.FormattedStringExpression:
            value = machine.evaluate(part.expression)
            beginning = value if part is first else beginning
            if isinstance(value, Tensor):
                machine.recorder.operation(machine.frame, part.expression, Act.FORMATS, value)
    last = node.parts[-1] if node.parts else first
    end = last.value if last is not first and isinstance(last, cst.FormattedStringText) else ""
    if isinstance(first, cst.FormattedStringText):
        return composed(first.value, end)
    after = rest[0] if rest else None
    if isinstance(after, cst.FormattedStringText) and _names_package(machine, beginning):
        return composed(after.value, end if last is not after else "")
    return numbered(beginning) if isinstance(after, cst.FormattedStringText) and after.value[:1] == ":" else UNKNOWN


def _names_package(machine: Machine, value: Value) -> bool:
    """Whether a value is the name of the package that the document is a part of."""
    if value == Qualified("__name__"):
        return os.path.basename(machine.document.path) == "__init__.py"
    return value == Qualified("__package__")
