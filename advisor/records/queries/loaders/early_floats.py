"""Pictures that are converted to floats whole, before a sample keeps a piece of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import calls
from accel_advisor.records.queries.loaders.random_cuts import asks_length, is_drawn, is_random
from accel_advisor.syntax.imports import full_name
from accel_advisor.syntax.shapes import dotted, keywords_of, last_name
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.source.document import Document

_READS = calls(
    *("cv2.imread", "cv2.imdecode", "PIL.Image.open", "imageio.imread", "imageio.v2.imread", "imageio.v3.imread"),
    *("skimage.io.imread", "scipy.misc.imread", "matplotlib.image.imread", "torchvision.io.read_image"),
)
_WRITES = calls("cv2.imencode", "cv2.imwrite")
"""Functions beside which a picture is decoded again: for the noise of its format."""
_CROPS = re.compile(r"(?:\w*_)?(?:crop\w*|patch|patches)|\w*(?:RandomCrop|CenterCrop)")
_RESIZES = re.compile(r"resize|rescale|thumbnail")
_NO_CROPS = re.compile(r"mod_?crop|(?:save|show|plot|num|len)_\w+")
_SAME = frozenset(
    {
        "modcrop",
        "mod_crop",
        "shave",
        "resize",
        "imresize",
        "imresize_np",
        "transpose",
        "copy",
        "ascontiguousarray",
        "from_numpy",
        "to_torch",
        "expand_dims",
    }
    | {"squeeze", "unsqueeze", "permute", "flip", "fliplr", "flipud", "clip", "clamp", "cvtColor", "len", "print"}
    | {"img_to_tensor", "im_to_torch", "size", "max", "min", "sum", "array", "asarray", "append", "float", "astype"}
)
"""Functions that do the same to each pixel, or to few at the edges: after the cut they do as well."""
_FLOATS = frozenset({"float", "float32", "float64", "single", "double"})
_DTYPES = frozenset(f"{library}.{name}" for library in ("numpy", "torch") for name in _FLOATS)
_WHOLE_RANGE = re.compile(r"25[56](?:\.0*)?|127\.5|6553[56](?:\.0*)?")
_SCOPES: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})
_CHOICES: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.If})
_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class EarlyFloat:
    """A conversion of a whole picture.

    Attributes:
        node: the expression that converts it, or the call that gives it converted.
        cut: what keeps a piece of it.
    """

    node: cst.BaseExpression
    cut: cst.BaseExpression


def early_floats(facts: Facts) -> Iterator[EarlyFloat]:
    """The conversions in what makes samples in a document, in source order."""
    if not (facts.trains or facts.frameworks):
        return
    writers = {id(one.function) for one in facts.program.operations_of(*_WRITES)}
    reads = [one for one in facts.program.operations_of(*_READS) if id(one.function) not in writers]
    readers = {id(one.function) for one in reads} | {id(one.node) for one in reads}
    if not readers:
        return
    makers = {id(one.function) for one in facts.operations if any("__getitem__" in c.functions for c in one.contexts)}
    for function in descendants(facts.document.tree, cst.FunctionDef):
        if function.name.value == "__getitem__" or id(function) in makers:
            yield from _Picture(facts, readers).early(function)


@dataclass(eq=False)
class _Picture:
    """Follows the pictures that a function reads through its statements, in source order.

    Attributes:
        readers: the calls that read pictures, and the functions that they stand in, by their identity.
        raw: the names of pictures of whole numbers.
        floats: the names of pictures of floats, with what converts them.
        drawn: the names that stand for what chance decides.
    """

    facts: Facts
    readers: set[int]
    raw: set[str] = field(default_factory=set)
    floats: dict[str, cst.BaseExpression] = field(default_factory=dict)
    drawn: set[str] = field(default_factory=set)

    def early(self, function: cst.FunctionDef) -> Iterator[EarlyFloat]:
        """The conversions of pictures of which a piece is kept later."""
        found: dict[int, EarlyFloat] = {}
        for one in descendants(function.body, cst.Assign, cst.AugAssign, cst.Return, cst.Expr, but=_SCOPES):
            value = getattr(one, "value", None)
            if not isinstance(value, cst.BaseExpression):
                continue
            targets = _targets(one, value)
            bound = {each.value for target in targets for each in descendants(target, cst.Name)}
            made = [self.floats[each.value] for each in self._names(value) if each.value in self.floats]
            cut = self._cut(value)
            if cut is not None:
                found |= {id(each): EarlyFloat(each, cut) for each in made if id(each) not in found}
            self._bind(value, bound, made[0] if made else None, cut, isinstance(one, cst.AugAssign) and _is_scale(one))
        yield from found.values()

    def _bind(
        self,
        value: cst.BaseExpression,
        bound: set[str],
        made: cst.BaseExpression | None,
        cut: cst.BaseExpression | None,
        scaled: bool,
    ) -> None:
        """Takes into account what an assignment gives names."""
        reads = any(self._reads(one) for one in descendants(value, cst.Call))
        raw = reads or any(one.value in self.raw for one in self._names(value)) or (scaled and bool(bound & self.raw))
        if scaled and raw:
            self.floats.update(dict.fromkeys(bound & self.raw, value))
            return
        if is_drawn(value, self.drawn) and (asks_length(value) or (made is None and not raw)):
            self.drawn |= bound
        if asks_length(value):
            return
        given = raw or any(map(_is_to_tensor, descendants(value, cst.Call)))
        lost = cut is not None or (made is None and not given) or self._needs_whole(value)
        converted = made if made is not None or lost else self._conversion(value)
        self.raw -= bound
        for name in bound:
            self.floats.pop(name, None)
        if lost:
            return
        if converted is not None:
            self.floats.update(dict.fromkeys(bound, converted))
        else:
            self.raw |= bound

    def _names(self, node: cst.CSTNode) -> tuple[cst.Name, ...]:
        return tuple(descendants(node, cst.Name))

    def _holds(self, node: cst.CSTNode) -> bool:
        """Whether an expression mentions a picture."""
        known = any(one.value in self.raw or one.value in self.floats for one in self._names(node))
        return known or any(self._reads(one) for one in descendants(node, cst.Call))

    def _cut(self, value: cst.BaseExpression) -> cst.BaseExpression | None:
        """What of an expression keeps a piece of a picture."""
        for one in descendants(value, cst.Subscript, cst.Call):
            if isinstance(one, cst.Subscript) and self._holds(one.value) and is_random(one, self.drawn):
                return one
            if not isinstance(one, cst.Call):
                continue
            name = last_name(one.func.func if isinstance(one.func, cst.Call) else one.func)
            if not _CROPS.fullmatch(name) or _NO_CROPS.fullmatch(name):
                continue
            receiver = isinstance(one.func, cst.Attribute) and self._holds(one.func.value)
            if receiver or any(self._holds(arg.value) for arg in one.args):
                return one
        return None

    def _needs_whole(self, value: cst.BaseExpression) -> bool:
        """Whether a call may need all of a picture that is already converted."""
        for one in descendants(value, cst.Call):
            mentions = [name for arg in one.args for name in self._names(arg.value) if name.value in self.floats]
            if mentions and last_name(one.func) not in _SAME and self._conversion(one) is not one:
                return True
        return False

    def _reads(self, call: cst.Call) -> bool:
        """Whether a call reads a picture, by itself or in a function of the project."""
        return id(call) in self.readers or any(map(self._has_reader, self._called(call)))

    def _called(self, call: cst.Call) -> tuple[cst.CSTNode, ...]:
        """The functions of the project that a call may run."""
        return self.facts.call_graph.called_from(call)

    def _has_reader(self, function: cst.CSTNode, depth: int = _DEEPEST) -> bool:
        if id(function) in self.readers:
            return True
        inner = (called for call in descendants(function, cst.Call) for called in self._called(call))
        return depth > 0 and any(self._has_reader(one, depth - 1) for one in inner)

    def _conversion(self, value: cst.BaseExpression) -> cst.BaseExpression | None:
        """What of an expression converts a picture to floats."""
        for one in descendants(value, cst.Call, cst.BinaryOperation):
            if (self._holds(one) or _is_to_tensor(one)) and _is_conversion(one, self.facts.document):
                return one
            if isinstance(one, cst.Call) and self._holds(one) and self._converts(one):
                return one
        return None

    def _converts(self, call: cst.Call) -> bool:
        """Whether a function of the project that a call runs gives what it is given as floats."""
        asked = keywords_of(call).get("float32")
        if asked is not None:
            return dotted(asked) == "True"
        return self._gives_floats(call) and not self._resizes(call)

    def _resizes(self, call: cst.Call, depth: int = _DEEPEST) -> bool:
        """Whether what a call of the project runs gives pictures a size of their own."""
        for one in self._called(call):
            inner = tuple(descendants(one, cst.Call))
            if any(_RESIZES.search(last_name(each.func)) for each in inner):
                return True
            if depth and any(self._resizes(each, depth - 1) for each in inner):
                return True
        return False

    def _gives_floats(self, call: cst.Call, depth: int = _DEEPEST) -> bool:
        """Whether what a call of the project runs makes floats, by itself or in what it calls."""
        for one in self._called(call):
            home = self.facts.program.document_of(one)
            if home is not None and _has_conversion(one, home):
                return True
            body = one.body if isinstance(one, cst.FunctionDef) else None
            inner = descendants(body, cst.Call, but=_CHOICES) if body is not None else ()
            if depth and any(self._gives_floats(each, depth - 1) for each in inner):
                return True
        return False


def _targets(statement: cst.CSTNode, value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a statement gives a value to: what it assigns it to, or the list that it appends it to."""
    if isinstance(statement, cst.Assign):
        return [one.target for one in statement.targets]
    if isinstance(statement, cst.AugAssign):
        return [statement.target]
    func = value.func if isinstance(value, cst.Call) else None
    return [func.value] if isinstance(func, cst.Attribute) and func.attr.value == "append" else []


def _is_to_tensor(node: cst.CSTNode) -> bool:
    """Whether a call can be given nothing but a picture."""
    return isinstance(node, cst.Call) and last_name(node.func) == "to_tensor"


def _is_scale(one: cst.AugAssign) -> bool:
    return isinstance(one.operator, cst.DivideAssign) and _is_range(one.value)


def _is_range(node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.Integer, cst.Float)) and _WHOLE_RANGE.fullmatch(node.value) is not None


def _is_conversion(node: cst.BaseExpression, document: Document) -> bool:
    """Whether an expression of a document makes floats of an array of whole numbers."""
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, cst.Divide) and _is_range(node.right)
    if not isinstance(node, cst.Call):
        return False
    name = last_name(node.func)
    dtypes = [arg.value for arg in node.args if arg.keyword is not None and arg.keyword.value == "dtype"]
    if name == "astype":
        dtypes += [arg.value for arg in node.args[:1]]
    if name in ("astype", "array", "asarray"):
        return any(_is_float(one, document) for one in dtypes)
    return name in ("float32", "to_tensor", "img_as_float", "img_as_float32") or (name == "float" and not node.args)


def _is_float(dtype: cst.BaseExpression, document: Document) -> bool:
    if isinstance(dtype, cst.SimpleString):
        return dtype.evaluated_value in _FLOATS
    return dotted(dtype) == "float" or full_name(document.imported, dtype) in _DTYPES


@lru_cache(maxsize=1024)
def _has_conversion(function: cst.CSTNode, document: Document) -> bool:
    """Whether something in a function, under no condition that an argument decides, makes floats."""
    body = function.body if isinstance(function, cst.FunctionDef) else None
    if body is None:
        return False
    return any(_is_conversion(one, document) for one in descendants(body, cst.Call, cst.BinaryOperation, but=_CHOICES))
