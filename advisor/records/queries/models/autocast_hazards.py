"""What a model computes that half precision breaks: kernels of its own, distances by products, linear algebra."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, calls, methods, within
from accel_advisor.records.queries.autocast.computed_scales import computed_scales
from accel_advisor.records.queries.autocast.raw_pointers import raw_pointers
from accel_advisor.records.queries.autocast.rounded_differences import STEEP_NAMES, rounded_differences
from accel_advisor.records.queries.autocast.rounded_places import WHOLE_NAMES, rounded_places
from accel_advisor.syntax.imports import full_name
from accel_advisor.syntax.shapes import last_name, methods_of
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.torch_modules import FUNCTION_BASES

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation
    from accel_advisor.source.document import Document

_NEEDS_DIGITS = (
    *within("torch.utils.cpp_extension", "torch.linalg"),
    *calls(
        "torch.nn.BCELoss",
        "torch.nn.functional.binary_cross_entropy",
        "torch.svd",
        "torch.symeig",
        "torch.eig",
        "torch.cholesky",
        "torch.inverse",
        "torch.logdet",
    ),
)
"""What knows no half precision, raises under autocast, or kernels that are compiled for float32 alone."""
_TRANSFORMS = (*calls("torch.stft", "torch.istft"), *methods("Tensor", "stft", "istft"))
"""Fourier transforms take no bfloat16, and autocast casts nothing for them on CUDA: it has no kernel for them."""
_OF_MODULES = calls(
    *(f"torchaudio.transforms.{name}" for name in ("Spectrogram", "InverseSpectrogram", "MelSpectrogram", "MFCC"))
)
_LOADS = frozenset({"load", "load_inline"})
_KNOWN = ("torch", "numpy", "math", "typing", "functools", "itertools", "warnings", "einops")
_CASTS = (AnyCall("custom_fwd"), AnyCall("amp_custom_fwd"))
_PRODUCTS = frozenset({"matmul", "bmm", "mm", "einsum"})
_FARTHEST = frozenset({"max", "argmax"})
_NEAREST = frozenset({"topk", "sort", "argsort", "min", "argmin", "kthvalue"})


def needing_float32(facts: Facts, loop: Loop | None = None) -> Iterator[tuple[Document, cst.CSTNode]]:
    """What of a program autocast would break: calls of kernels that know float32 only, distances that are differences
    of large products, by which the nearest of points are taken, decompositions of matrices, and in modules Fourier
    transforms and normalizations whose weights are computed; the first of each kind in each document, but all kernels,
    and what hands addresses to some. Of the steps of a loop, also differences from one of which half precision leaves
    nothing, and whole numbers that it rounds."""
    if loop is not None:
        yield from rounded_differences(facts, loop)
        yield from rounded_places(facts, loop)
    for each in facts.program:
        decomposes = each.operations_of(*_NEEDS_DIGITS)
        if decomposes:
            yield each.document, decomposes[0].node
        transforms = [one for one in each.operations_of(*_TRANSFORMS, *_OF_MODULES) if is_in_a_module(one)]
        if transforms:
            yield each.document, transforms[0].node
        scaled = next((one for one in computed_scales(each) if is_in_a_module(one)), None)
        if scaled is not None:
            yield each.document, scaled.node
    documents = [one.document for one in facts.program]
    casts = facts.does(*_CASTS)
    yield from () if casts else raw_pointers(facts)
    for document in documents:
        yield from ((document, one) for one in (() if casts else _kernels(document)))
        distances = _measured_by_products(document)
        if distances is not None:
            yield document, distances


def name_of(document: Document, part: cst.CSTNode) -> str:
    """What a message calls such a part: the function that is called, the class or function that is defined, or else the
    expression; an extension that is compiled where it is loaded is called as that call says."""
    if isinstance(part, (cst.ClassDef, cst.FunctionDef)):
        return part.name.value
    named = part.func if isinstance(part, cst.Call) else part
    given = part.args[0].value if isinstance(part, cst.Call) and part.args else None
    name = last_name(named)
    if name in STEEP_NAMES | WHOLE_NAMES and isinstance(part, cst.Call):
        return " ".join(document.code(part).split())
    if isinstance(given, cst.SimpleString) and last_name(named) in _LOADS:
        return given.raw_value
    return " ".join(document.code(named).split())


def is_in_a_module(operation: Operation) -> bool:
    """Whether an operation stands in a class that has a forward pass, which a data set has not."""
    classes = descendants(operation.document.tree, cst.ClassDef)
    return any(
        "forward" in methods and any(one is operation.function for one in methods.values())
        for methods in map(methods_of, classes)
    )


def _kernels(document: Document) -> Iterator[cst.ClassDef]:
    """The functions of autograd that hand tensors to what is imported and is no known library: a compiled module."""
    for cls in descendants(document.tree, cst.ClassDef):
        bases = [full_name(document.imported, one.value) for one in cls.bases]
        forward = methods_of(cls).get("forward")
        if forward is None or FUNCTION_BASES.isdisjoint(bases):
            continue
        names = (full_name(document.imported, one.func) for one in descendants(forward, cst.Call))
        if any(name and name.partition(".")[0] not in _KNOWN for name in names):
            yield cls


def _measured_by_products(document: Document) -> cst.CSTNode | None:
    """The squared distances of a document that come of ``-2 * x @ y``, where what is nearest is picked by some."""
    doubled = next(filter(_is_doubled_product, descendants(document.tree, cst.BinaryOperation)), None)
    picks = doubled is not None and any(map(_picks_nearest, descendants(document.tree, cst.Attribute)))
    return doubled if picks else None


def _picks_nearest(node: cst.Attribute) -> bool:
    """Whether a method or function picks by the smallest distance, or by the largest of what is negated."""
    return node.attr.value in _NEAREST or (node.attr.value in _FARTHEST and isinstance(node.value, cst.UnaryOperation))


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
    return isinstance(node, cst.Call) and last_name(node.func) in _PRODUCTS
