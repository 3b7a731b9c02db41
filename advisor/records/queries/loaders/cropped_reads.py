"""Files that are read whole for each sample, of which a short piece at a random place is kept."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import calls
from accel_advisor.records.queries.loaders.random_cuts import DRAWS, asks_length, is_drawn, is_random
from accel_advisor.syntax.shapes import dotted, keywords_of, last_name, methods_of
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.values import Bound, Function, Instance, options_of

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.loaders import LoaderCall
    from accel_advisor.records.operations import OperationContext
    from accel_advisor.source.document import Document

READS = {
    "torchaudio.load": "`frame_offset` and `num_frames`",
    "librosa.load": "`offset` and `duration`",
    "librosa.core.load": "`offset` and `duration`",
    "soundfile.read": "`start` and `frames`",
    "scipy.io.wavfile.read": "`mmap=True`, and cut before anything else is done with it",
    "numpy.load": '`mmap_mode="r"`, and cut before anything else is done with it',
}
"""What reads a whole file, and how it reads a piece."""
_PIECE = frozenset({"frame_offset", "num_frames", "offset", "duration", "start", "frames", "stop", "mmap", "mmap_mode"})
_PICKLED = frozenset({"allow_pickle"})
_SAMPLES = re.compile(r"__getitem__|collat", re.IGNORECASE)
_EACH = frozenset(
    {"from_numpy", "tensor", "as_tensor", "FloatTensor", "Tensor", "astype", "float", "array", "asarray", "float32"}
    | {"squeeze", "unsqueeze", "reshape", "view", "to", "type", "numpy", "clip", "clamp", "abs", "T", "transpose"}
    | {"pad", "len", "size", "max", "min", "dim", "mean", "normalize", "print", "int", "isinstance", "copy", "item"}
    | {"ascontiguousarray", "expand_dims", "contiguous", "append", "permute", "ValueError", "format", "str", "range"}
)
"""Functions and methods that do the same to each number, or ask for little: after the cut they do as well."""
_SCOPES: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})
_DEEPEST = 2


@dataclass(frozen=True, slots=True)
class CroppedRead:
    """A call that reads a whole file.

    Attributes:
        node: the call: of the library, or of a function of the project that returns what it reads.
        document, cut: where a piece of it is kept.
        collated: whether the function that makes batches cuts.
        remedy: the arguments that read no more than a piece, in words.
    """

    node: cst.Call
    document: Document
    cut: cst.Subscript
    collated: bool
    remedy: str


def cropped_reads(facts: Facts) -> Iterator[CroppedRead]:
    """Such calls of a document whose samples are for a training, in the order in which they were met."""
    if not (facts.trains or facts.frameworks):
        return
    for operation in facts.program.operations_of(*calls(*READS)):
        node, function = operation.node, operation.function
        if not isinstance(node, cst.Call) or not isinstance(function, cst.FunctionDef) or not _is_whole(node):
            continue
        if not any(_makes_samples(one) for one in operation.contexts) or any(map(_is_kept, operation.contexts)):
            continue
        for found in _cuts_of(facts, operation.document, function, node):
            if found[0] is facts.document:
                yield CroppedRead(*found[1:], READS[operation.what.full])


def _is_whole(call: cst.Call) -> bool:
    """Whether a call is not told to read a piece, nor reads objects that cannot be cut."""
    return keywords_of(call).keys().isdisjoint(_PIECE | _PICKLED) and not any(arg.star for arg in call.args)


def _makes_samples(context: OperationContext) -> bool:
    return any(_SAMPLES.search(name) for name in context.functions)


def _is_kept(context: OperationContext) -> bool:
    """Whether a condition asks whether it was read before."""
    return any("cache" in dotted(one).lower() for each in context.conditions for one in _names_of(each.test))


def _names_of(test: cst.BaseExpression | None) -> Iterator[cst.CSTNode]:
    if test is not None:
        yield from descendants(test, cst.Name, cst.Attribute)


def _cuts_of(
    facts: Facts, document: Document, function: cst.FunctionDef, call: cst.Call, depth: int = _DEEPEST
) -> Iterator[tuple[Document, cst.Call, Document, cst.Subscript, bool]]:
    """What keeps a piece of what a call in a function gives: the call nearest to that and its document, the piece and
    its document, and whether it is where batches are made."""
    piece = _Piece(call)
    for statement in descendants(function.body, cst.Assign, cst.AugAssign, cst.Return, cst.Expr, but=_SCOPES):
        piece.follow(statement)
        if piece.cut is not None:
            yield document, call, document, piece.cut, False
        if piece.cut is not None or piece.used_whole:
            return
    if piece.returned and function.name.value == "__getitem__":
        for home, cut in itertools.islice(_collated_cuts(facts, function), 1):
            yield document, call, home, cut, True
    elif piece.returned and depth:
        for site, caller in facts.call_graph.calls_of(function):
            around = facts.program.document_of(caller)
            if around is not None and isinstance(caller, cst.FunctionDef):
                yield from _cuts_of(facts, around, caller, site, depth - 1)


def _collated_cuts(facts: Facts, function: cst.FunctionDef) -> Iterator[tuple[Document, cst.Subscript]]:
    """The cuts at random places in what makes batches of the samples of a data set, by its ``__getitem__``."""
    loaders = [one for each in facts.program for one in each.loaders if _reads_with(one, function)]
    for collate in (option for one in loaders for value in one.each("collate_fn") for option in options_of(value)):
        made = collate.function if isinstance(collate, Bound) else collate
        if isinstance(made, Function) and isinstance(made.node, cst.FunctionDef):
            drawn = _drawn_in(made.node)
            for one in descendants(made.node.body, cst.Subscript):
                if is_random(one, drawn):
                    yield made.document, one


def _reads_with(loader: LoaderCall, function: cst.FunctionDef) -> bool:
    """Whether a loader's data set makes its samples by this method."""
    known = loader.dataset.value if loader.dataset is not None else None
    return any(
        isinstance(one, Instance) and any(function in methods_of(cls.node).values() for cls in one.cls.lineage())
        for one in (options_of(known) if known is not None else ())
    )


def _drawn_in(function: cst.FunctionDef) -> set[str]:
    """The names of a function that stand for what chance decides."""
    drawn: set[str] = set()
    for one in descendants(function.body, cst.Assign, but=_SCOPES):
        if is_drawn(one.value, drawn):
            drawn |= {dotted(each.target) for each in one.targets if isinstance(each.target, cst.Name)}
    loops: list[cst.For | cst.CompFor] = [*descendants(function.body, cst.For)]
    loops += descendants(function.body, cst.CompFor)
    for loop in loops:
        drawn |= {name for name, value in _passes(loop) if is_drawn(value, drawn)}
    return drawn


def _passes(loop: cst.For | cst.CompFor) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The names that a loop binds in each pass, with what it takes their values from."""
    named = [one.value for one in loop.target.elements] if isinstance(loop.target, cst.Tuple) else [loop.target]
    zipped = isinstance(loop.iter, cst.Call) and dotted(loop.iter.func) == "zip"
    values = [arg.value for arg in loop.iter.args] if isinstance(loop.iter, cst.Call) and zipped else [loop.iter]
    for target, value in zip(named, values, strict=False):
        if isinstance(target, cst.Name):
            yield target.value, value


class _Piece:
    """Follows what a call gives through the statements of a function, in source order.

    Attributes:
        cut: what keeps a piece of it, once it is met.
        used_whole: whether something else needs all of it.
        returned: whether the function returns it whole.
    """

    def __init__(self, call: cst.Call) -> None:
        self.cut: cst.Subscript | None = None
        self.used_whole = False
        self.returned = False
        self._call = call
        self._names: set[str] = set()
        self._drawn: set[str] = set()

    def follow(self, statement: cst.CSTNode) -> None:
        """Takes one statement into account."""
        value = getattr(statement, "value", None)
        if not isinstance(value, cst.BaseExpression):
            return
        targets = [each.target for each in statement.targets] if isinstance(statement, cst.Assign) else []
        bound = {one.value for target in targets for one in descendants(target, cst.Name)}
        if not self._mentions(value):
            if targets and is_drawn(value, self._drawn):
                self._drawn |= bound
            return
        for one in descendants(value, cst.Subscript):
            if self._mentions(one.value) and is_random(one, self._drawn):
                self.cut = one
                return
        if any(self._takes_whole(one) for one in descendants(value, cst.Call)):
            self.used_whole = True
        elif isinstance(statement, cst.Return):
            self.returned = True
        elif is_drawn(value, self._drawn):
            self._drawn |= bound  # where a piece begins depends on how long the whole is
        elif not asks_length(value):
            self._names |= bound

    def _mentions(self, node: cst.CSTNode) -> bool:
        return any(
            one is self._call or (isinstance(one, cst.Name) and one.value in self._names)
            for one in descendants(node, cst.Call, cst.Name)
        )

    def _takes_whole(self, call: cst.Call) -> bool:
        """Whether a call is given all of it and may need all of it."""
        if call is self._call or not any(self._hands_over(arg.value) for arg in call.args):
            return False
        name = last_name(call.func)
        return name not in _EACH and not DRAWS.fullmatch(name) and not name.endswith("_like")

    def _hands_over(self, node: cst.BaseExpression) -> bool:
        return self._mentions(node) and not asks_length(node)
