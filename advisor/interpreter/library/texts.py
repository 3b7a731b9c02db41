"""Strings and what is formatted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act
from accel_advisor.tables.gpu_signs import text_names_gpu
from accel_advisor.values.devices import device_text, numbered
from accel_advisor.values.values import UNKNOWN, Constant, Origin, Tensor, Value

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine

_PLAIN_STRING = re.compile(r"""(['"])([^\\'"\r\n]*)\1""")


def text(machine: Machine, node: cst.SimpleString | cst.ConcatenatedString) -> Value:
    """The value of a string, or of several that stand behind each other."""
    value = _literal(node)
    if value is None and isinstance(node, cst.ConcatenatedString):
        beginning = machine.evaluate(node.left)
        machine.evaluate(node.right)
        written = beginning.value if isinstance(beginning, Constant) else None
        return device_text(written) if isinstance(written, str) else UNKNOWN
    if isinstance(value, str) and text_names_gpu(value):
        machine.recorder.gpu_named(machine.document)
    return UNKNOWN if value is None else Constant(value, Origin(machine.document, node))


def _literal(node: cst.SimpleString | cst.ConcatenatedString) -> str | bytes | None:
    if isinstance(node, cst.SimpleString):
        plain = _PLAIN_STRING.fullmatch(node.value)  # most are, and to have them compiled takes ten times as long
        if plain is not None:
            return plain[2]
    return node.evaluated_value


def formatted_text(machine: Machine, node: cst.FormattedString) -> Value:
    """The value of an f-string: a device, where it is the name of one."""
    first, *rest = node.parts or [cst.FormattedStringText("")]
    beginning: Value = UNKNOWN
    for part in node.parts:
        if isinstance(part, cst.FormattedStringExpression):
            value = machine.evaluate(part.expression)
            beginning = value if part is first else beginning
            if isinstance(value, Tensor):
                machine.recorder.operation(machine.frame, part.expression, Act.FORMATS, value)
    if isinstance(first, cst.FormattedStringText):
        return device_text(first.value)
    after = rest[0] if rest else None
    return numbered(beginning) if isinstance(after, cst.FormattedStringText) and after.value[:1] == ":" else UNKNOWN
