"""What a model computes that half precision breaks: kernels of its own, distances by products, linear algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, calls, within
from accel_advisor.syntax.imports import full_name
from accel_advisor.syntax.shapes import dotted, methods_of
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.source.document import Document

_NEEDS_DIGITS = (
    *within("torch.utils.cpp_extension", "torch.linalg"),
    *calls("torch.svd", "torch.symeig", "torch.eig", "torch.cholesky", "torch.inverse", "torch.logdet"),
)
"""What knows no half precision, or kernels that are compiled for float32 alone."""
_FUNCTIONS = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})
_KNOWN = ("torch", "numpy", "math", "typing", "functools", "itertools", "warnings", "einops")
_CASTS = (AnyCall("custom_fwd"), AnyCall("amp_custom_fwd"))
_PRODUCTS = frozenset({"matmul", "bmm", "mm", "einsum"})
_NEAREST = frozenset({"topk", "sort", "argsort", "min", "argmin", "kthvalue"})


def suffers_from_autocast(facts: Facts) -> bool:
    """Whether a program computes what autocast would break: it calls kernels that know float32 only, takes the nearest
    of points by distances that are differences of large products, or decomposes matrices."""
    if facts.does(*_NEEDS_DIGITS):
        return True
    documents = [one.document for one in facts.program]
    if not facts.does(*_CASTS) and any(map(_has_kernels, documents)):
        return True
    return any(map(_measures_by_products, documents))


def _has_kernels(document: Document) -> bool:
    """Whether a function of autograd hands tensors to what is imported and is no known library: a compiled module."""
    for cls in descendants(document.tree, cst.ClassDef):
        bases = [full_name(document.imported, one.value) for one in cls.bases]
        forward = methods_of(cls).get("forward")
        if forward is None or _FUNCTIONS.isdisjoint(bases):
            continue
        names = (full_name(document.imported, one.func) for one in descendants(forward, cst.Call))
        if any(name and name.partition(".")[0] not in _KNOWN for name in names):
            return True
    return False


def _measures_by_products(document: Document) -> bool:
    """Whether squared distances come of ``-2 * x @ y`` in a document, and what is nearest is picked by them."""
    doubled = any(map(_is_doubled_product, descendants(document.tree, cst.BinaryOperation)))
    return doubled and any(one.attr.value in _NEAREST for one in descendants(document.tree, cst.Attribute))


def _is_doubled_product(node: cst.BinaryOperation) -> bool:
    """``2 * (x @ y)``, or ``2 * x @ y``, which is ``(2 * x) @ y``."""
    if isinstance(node.operator, cst.MatrixMultiply) and isinstance(node.left, cst.BinaryOperation):
        return isinstance(node.left.operator, cst.Multiply) and _is_two(node.left.left)
    return isinstance(node.operator, cst.Multiply) and _is_two(node.left) and _is_product(node.right)


def _is_two(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.UnaryOperation):
        node = node.expression
    return isinstance(node, (cst.Integer, cst.Float)) and node.evaluated_value == 2


def _is_product(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, cst.MatrixMultiply)
    return isinstance(node, cst.Call) and dotted(node.func).rpartition(".")[2] in _PRODUCTS
