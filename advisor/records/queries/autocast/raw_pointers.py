"""Functions that hand the addresses of tensors to kernels, which take whatever lies there for numbers of one type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import last_name
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.source.document import Document

_POINTER = "data_ptr"
_CALLERS = frozenset({"cupy", "pycuda", "numba", "ctypes", "cffi", "cuda", "tensorrt", "pynvrtc"})
"""Packages by which Python calls compiled code; some others only compare addresses."""
_COMPARES = frozenset(
    {"add", "append", "get", "pop", "setdefault", "hash", "hex", "print", "str", "int", "len", "format"}
)
"""Calls that look at an address alone."""
_CASTS = frozenset({"float", "double", "int", "long"})


def raw_pointers(facts: Facts) -> Iterator[tuple[Document, cst.FunctionDef]]:
    """The functions of a program that are used and give the address of a tensor to such a kernel, unless they cast each
    tensor there."""
    for each in facts.program:
        document = each.document
        if _POINTER not in document.text or _CALLERS.isdisjoint(each.packages):
            continue
        for function in descendants(document.tree, cst.FunctionDef):
            if any(_hands_over(call) for call in descendants(function, cst.Call)) and each.is_used(function):
                yield document, function


def _hands_over(call: cst.Call) -> bool:
    """Whether a call is given an address, alone or in a list: ``kernel(args=[x.data_ptr(), n])``."""
    given = [arg.value for arg in call.args] if last_name(call.func) not in _COMPARES else []
    while given:
        one = given.pop()
        if isinstance(one, (cst.List, cst.Tuple)):
            given += [each.value for each in one.elements]
        if isinstance(one, cst.Call) and last_name(one.func) == _POINTER and isinstance(one.func, cst.Attribute):
            owner = one.func.value
            if not (isinstance(owner, cst.Call) and last_name(owner.func) in _CASTS):
                return True
    return False
