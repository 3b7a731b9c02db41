"""Whether a program fixes the size of the images that it trains on, and by what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import calls
from accel_advisor.syntax.shapes import dotted, last_name, names_read_in
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.source.document import Document

_OF_ONE_SIZE = ("CIFAR10", "CIFAR100", "MNIST", "FashionMNIST", "KMNIST", "EMNIST", "QMNIST", "SVHN", "STL10", "USPS")
_DATASETS = calls(*(f"torchvision.datasets.{name}" for name in _OF_ONE_SIZE))
_CROP = re.compile(r"crop", re.IGNORECASE)
_RESIZE = re.compile(r"(?:ext|fixed|joint|_)?resize(?:d)?", re.IGNORECASE)
_NO_CROP = re.compile(
    r"(?:valid|get|calc\w*|uncrop|crop_?(?:params|size|box)|autocrop|multi_?crop|cropping)", re.IGNORECASE
)
_SIZE = re.compile(r"size|height|width|resolution|(?:^|[._])crop(?:_?[hw])?$|\.t?[hw]$", re.IGNORECASE)
_APART = re.compile(r"val|test|eval|infer|demo|predict|visual|sample|detect", re.IGNORECASE)
"""Names of what is not for the training."""
_VARIES = re.compile(
    r"(?i:nested_?tensor|pad_sequence\(|pad_packed|pack_padded|multi_?scale_train|multiscale_training|dynamic_?(?:size|shape))"
    r"|--multi[-_]scale|(?<!\w)(?:multi_?scale|multiscale)(?!\w)\s*[=:,)]"
)
_VARYING = (
    *("nested_tensor", "nestedtensor", "pad_sequence", "pad_packed", "pack_padded", "multi_scale", "multi-scale"),
    *("multiscale", "dynamic_size", "dynamicsize", "dynamic_shape", "dynamicshape"),
)
"""Words one of which stands in each of these: to look for them takes a tenth of the time."""
_SIDE = re.compile(r"h|w|height|width|(?:\w+_)?(?:size|scale)", re.IGNORECASE)
_DRAWS = re.compile(r"(?:^|\.)(?:random|rng)\.(?:choice|randint|randrange|uniform|integers|random)$")
_COLLATES = re.compile(r"collate", re.IGNORECASE)
_MOST_TEXTS = 2048
_EVENS = frozenset({"stack", "cat", "concatenate", "array", "default_collate", "from_numpy"})


@dataclass(frozen=True, slots=True)
class FixedSize:
    """What fixes the size of the images of a training.

    Attributes:
        node: the call, or the slice.
        words: what it is, in the words of the program.
    """

    document: Document
    node: cst.CSTNode
    words: str


def fixed_size(facts: Facts) -> FixedSize | None:
    """What fixes the size of the images that a program trains on: a data set whose images are of one size, a crop or a
    resize to a size that is written or configured. None where nothing does, and where the sizes vary all the same, by
    what the program names or how it collates samples."""
    if any(_varies(one.document.text) or one.document.once(_collates_unevenly) for one in facts.program):
        return None
    made = facts.program.operations_of(*_DATASETS)
    if made:
        first = made[0]
        return FixedSize(first.document, first.node, f"the images of `{first.what.name}` are of one size")
    return next((found for one in facts.program for found in _in_code(one.document)), None)


def _in_code(document: Document) -> Iterator[FixedSize]:
    """The crops and resizes of a document's functions that are not named for an evaluation."""
    if _APART.search(document.filename.rpartition("/")[2]):
        return
    for node in document.once(_fixing):
        does = "cuts images to" if isinstance(node, cst.Subscript) else "makes images of"
        yield FixedSize(document, node, f"`{_short(document.code(node))}` {does} one size")


def _fixing(tree: cst.Module) -> tuple[cst.CSTNode, ...]:
    """The calls and slices of a text that give images of one size."""
    functions = [one for one in descendants(tree, cst.FunctionDef) if _APART.search(one.name.value)]
    classes = [one for one in descendants(tree, cst.ClassDef) if _APART.search(one.name.value)]
    bound = [one for one in descendants(tree, cst.Assign) if any(map(_is_apart, one.targets))]
    apart = {id(part) for one in (*functions, *classes, *bound) for part in descendants(one, cst.Call, cst.Subscript)}
    samples = {id(part) for one in _data_sets(tree) for part in descendants(one, cst.Call, cst.Subscript)}
    found: list[cst.CSTNode] = []
    for node in descendants(tree, cst.Call, cst.Subscript):
        if id(node) in apart:
            continue
        if (
            isinstance(node, cst.Call) and (_crops(node, id(node) in samples) or _resizes(node, id(node) in samples))
        ) or (type(node) is cst.Subscript and id(node) in samples and _cuts(node)):
            found.append(node)
    return tuple(found)


@lru_cache(maxsize=_MOST_TEXTS)
def _varies(text: str) -> bool:
    small = text.casefold()
    return any(word in small for word in _VARYING) and _VARIES.search(text) is not None


def draws_sizes(document: Document) -> bool:
    """Whether a document that trains draws the size of something by lot, outside of its data sets and transforms."""
    return document.once(_draws_sizes)


def _draws_sizes(tree: cst.Module) -> bool:
    samples = {id(part) for one in _data_sets(tree) for part in descendants(one, cst.Assign)}
    for one in descendants(tree, cst.Assign):
        if id(one) in samples or not any(_is_side(target) for target in one.targets):
            continue
        if any(_DRAWS.search(dotted(call.func)) for call in descendants(one.value, cst.Call)):
            return True
    return False


def _is_side(target: cst.AssignTarget) -> bool:
    return any(_SIDE.fullmatch(one.value) for one in descendants(target.target, cst.Name))


def _is_apart(target: cst.AssignTarget) -> bool:
    return any(_APART.search(one.value) for one in descendants(target.target, cst.Name))


def _data_sets(tree: cst.Module) -> list[cst.ClassDef]:
    """The classes of data sets and of transforms: what gives a sample for an index, or is called with one."""
    return [
        one
        for one in descendants(tree, cst.ClassDef)
        if any(each.name.value in ("__getitem__", "__call__") for each in descendants(one, cst.FunctionDef))
    ]


def _crops(call: cst.Call, in_sample: bool) -> bool:
    """Whether a call makes, or does, a crop to a size that it is given: literally, or by a name that says so."""
    name = last_name(call.func)
    if not _CROP.search(name) or _NO_CROP.search(name) or not (name[:1].isupper() or in_sample):
        return False
    sizes = [
        arg for arg in call.args if arg.keyword is None or "size" in arg.keyword.value or "crop" in arg.keyword.value
    ]
    return any(_is_size(arg.value) for arg in sizes)


def _is_size(node: cst.BaseExpression) -> bool:
    if isinstance(node, (cst.Tuple, cst.List)):
        return len(node.elements) == 2 and all(_is_size(one.value) for one in node.elements)
    if isinstance(node, cst.Integer):
        return int(node.evaluated_value) > 8
    return bool(_SIZE.search(dotted(node)))


def _resizes(call: cst.Call, in_sample: bool) -> bool:
    """Whether a call resizes to a height and a width that are written or configured."""
    name = last_name(call.func)
    if not _RESIZE.fullmatch(name):
        return False
    places = [arg.value for arg in call.args if arg.keyword is None or arg.keyword.value in ("size", "dsize")]
    pairs = [one for one in places if isinstance(one, (cst.Tuple, cst.List)) and len(one.elements) == 2]
    if any(all(_is_settled(each.value) for each in pair.elements) for pair in pairs):
        return name[:1].isupper() or in_sample
    written = [one for one in places if isinstance(one, cst.Integer)]
    return name[:1].isupper() and len(written) == 2


def _is_settled(node: cst.BaseExpression) -> bool:
    """Whether a length is a literal, or an attribute or constant of the program, or computed of such alone."""
    if isinstance(node, cst.BinaryOperation):
        return _is_settled(node.left) and (_is_settled(node.right) or isinstance(node.right, cst.Name))
    if isinstance(node, cst.Integer):
        return True
    if isinstance(node, cst.Name):
        return node.value.isupper() or bool(_SIZE.search(node.value) and len(node.value) > 2)
    return isinstance(node, cst.Attribute) and "shape" not in dotted(node)


def _cuts(node: cst.Subscript) -> bool:
    """Whether a sample is cut from a place to that place and a size: ``image[y : y + self.crop_size]``."""
    for one in node.slice:
        part = one.slice
        if not isinstance(part, cst.Slice) or part.lower is None or not isinstance(part.upper, cst.BinaryOperation):
            continue
        names = [name for name in names_read_in(part.upper.right) if "." in name or "size" in name]
        if isinstance(part.upper.operator, cst.Add) and any(map(_SIZE.search, names)):
            return len(node.slice) > 1
    return False


def _collates_unevenly(tree: cst.Module) -> bool:
    """Whether a function that collates samples pads them, or leaves them in a list."""
    for one in descendants(tree, cst.FunctionDef):
        if _COLLATES.search(one.name.value):
            called = {last_name(call.func).lower() for call in descendants(one, cst.Call)}
            if _EVENS.isdisjoint(called) or any("pad" in name for name in called):
                return True
    return False


def _short(code: str) -> str:
    code = " ".join(code.split())
    return code if len(code) <= 60 else f"{code[:57]}..."
