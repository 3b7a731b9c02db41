"""Fixes that give a call one more argument, or take one out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import libcst as cst

from accel_advisor.editing.edits import remove_argument
from accel_advisor.finding import Applicability, Edit, Fix

if TYPE_CHECKING:
    from accel_advisor.source.document import Document


class CallRecord(Protocol):
    """The record of a call."""

    def keyword_edits(self, name: str, expression: str) -> tuple[Edit, ...] | None:
        """The edits that give the call one more keyword; None where it splats arguments."""


def pass_argument(
    call: CallRecord,
    name: str,
    expression: str,
    applicability: Applicability = Applicability.UNSAFE,
    *,
    title: str = "",
    workers: int | None = None,
) -> Fix | None:
    """The fix that gives the call of a record one more keyword, which its title shows unless another one is given;
    None where the call splats arguments, among which the keyword might be.

    Args:
        workers: see :class:`Fix`.
    """
    edits = call.keyword_edits(name, expression)
    return Fix(title or f"Pass `{name}={expression}`", edits, applicability, workers) if edits is not None else None


def drop_argument(
    document: Document,
    call: cst.CSTNode,
    name: str,
    applicability: Applicability = Applicability.UNSAFE,
    *,
    position: int | None = None,
    shown: str = "",
) -> Fix | None:
    """The fix that takes an argument out of a call, given by keyword or at a position; None where the call does not
    spell it.

    Args:
        shown: what the title says is dropped; the name of the argument where it is empty.
    """
    for index, argument in enumerate(call.args if isinstance(call, cst.Call) else ()):
        if argument.star:
            position = None  # what follows may stand anywhere
        if argument.keyword.value == name if argument.keyword is not None else index == position:
            assert isinstance(call, cst.Call)
            edit = remove_argument(document, call, argument)
            return Fix(f"Drop `{shown or name}`", (edit,), applicability)
    return None
