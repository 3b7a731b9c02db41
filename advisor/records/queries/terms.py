"""What is known of the terms of an attention: numbers, tensors with so many dimensions, scores and weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import libcst as cst

HEADS = 4
"""Dimensions of queries that have heads: fused kernels take no others."""


@dataclass(eq=False, slots=True)
class Attention:
    """One attention that is computed step by step.

    Attributes:
        scores: the product of queries and keys.
        masked: whether some scores are replaced before the softmax.
        softmaxes, products: how often the scores, and the weights, are used so.
        seen: whether they are used for anything else.
    """

    scores: cst.BaseExpression
    masked: bool = False
    softmaxes: int = 0
    products: int = 0
    seen: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether nothing comes of the scores and weights but one product with values."""
        return self.softmaxes == self.products == 1 and not self.seen


@dataclass(frozen=True, slots=True)
class Number:
    """A number of Python."""


@dataclass(frozen=True, slots=True)
class Shaped:
    """A tensor of so many dimensions, None where they are not known; ``crossed`` where the last two are exchanged."""

    rank: int | None
    crossed: bool = False


@dataclass(frozen=True, slots=True)
class Scores:
    attention: Attention


@dataclass(frozen=True, slots=True)
class Weights:
    attention: Attention


@dataclass(frozen=True, slots=True)
class Each:
    """Something that gives ``item`` again and again."""

    item: Known


@dataclass(frozen=True, slots=True)
class Parts:
    """A tuple or list."""

    items: tuple[Known, ...]


Known: TypeAlias = Number | Shaped | Scores | Weights | Each | Parts | None
Names: TypeAlias = dict[str, Known]


def leave(value: Known) -> None:
    """A value goes where it is not followed."""
    if isinstance(value, (Scores, Weights)):
        value.attention.seen = True
    elif isinstance(value, Parts):
        for one in value.items:
            leave(one)


def either(values: Iterable[Known]) -> Known:
    """A value that is one of several: where they differ, scores and weights among them are only known to be there."""
    found = list(dict.fromkeys(values))
    if len(found) == 1:
        return found[0]
    kept = tuple(one for one in found if isinstance(one, (Scores, Weights, Parts)))
    return Parts(kept) if kept else None


def item(value: Known, index: int) -> Known:
    if isinstance(value, Each):
        return value.item
    if isinstance(value, Parts):
        return value.items[index] if index < len(value.items) else None
    if isinstance(value, Shaped) and value.rank is not None and value.rank > 1:
        return Shaped(value.rank - 1, value.crossed)
    leave(value)
    return None


def crossed(value: Known) -> Known:
    return Shaped(value.rank, not value.crossed) if isinstance(value, Shaped) else Shaped(None, True)


def rearranged(pattern: cst.BaseExpression) -> Known:
    """A tensor with as many dimensions as stand to the right of the arrow; an ellipsis stands for any number."""
    text = pattern.evaluated_value if isinstance(pattern, cst.SimpleString) else None
    if not isinstance(text, str) or "..." in text:
        return None
    depth = rank = 0
    for word in text.rpartition("->")[2].replace("(", " ( ").replace(")", " ) ").split():
        rank += depth == 0 and word != ")"
        depth += (word == "(") - (word == ")")
    return Shaped(rank)


def integer(node: cst.BaseExpression) -> int | None:
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = integer(node.expression)
        return -inner if inner is not None else None
    return int(node.value, 0) if isinstance(node, cst.Integer) else None
