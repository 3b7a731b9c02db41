"""Code that is there to try something out, known by how it is named."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.operations import Operation

_WORDS = re.compile(r"debug|profil|bench|overfit|sanity|smoke", re.IGNORECASE)


def is_for_tries(operation: Operation) -> bool:
    """Whether an operation stands in a file, in a function or behind a condition whose names mention debugging,
    profiling, benchmarks or of fitting one batch."""
    document = operation.document
    names = [name for context in operation.contexts for name in context.functions]
    at = document.span(operation.node).start.offset
    for one in descendants(document.tree, cst.If):
        assert isinstance(one, cst.If)
        body = document.span(one.body)
        if body.start.offset <= at < body.end.offset:
            names.append(document.code(one.test))
    return any(_WORDS.search(one) for one in (PurePath(document.filename).stem, *names))
