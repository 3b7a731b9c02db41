"""How the tensors of an attention lie: the equations of its products, and the call of the fused function that fits.

The fused function takes queries and keys as (..., length, channels) and gives its result so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

_EQUATION = re.compile(r"([^,>]+),([^,>]+)->([^,>]+)")
_FUSED = "F.scaled_dot_product_attention"
_RESHAPES = frozenset({"view", "reshape", "unflatten", "flatten"})
Dimensions = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Equation:
    """The dimensions of both factors and of their product."""

    first: Dimensions
    second: Dimensions
    product: Dimensions

    @property
    def is_of_scores(self) -> bool:
        """Whether each query meets each key: the last dimension of the product is the second factor's alone, and one
        that both have is gone."""
        gone = (set(self.first) & set(self.second)) - set(self.product)
        return len(self.product) > 1 and len(gone) == 1 and self.product[-1] in set(self.second) - set(self.first)


def operands(node: cst.Call) -> list[cst.BaseExpression]:
    """What an equation is about: beside its text, or in one list."""
    given = [one.value for one in node.args if _text(one.value) is None]
    listed = given[0] if len(given) == 1 else None
    return [one.value for one in listed.elements] if isinstance(listed, (cst.List, cst.Tuple)) else given


def reshapes(node: cst.BaseExpression) -> bool:
    """Whether an equation is about something that is given another shape where it stands: ``q.view(b * h, d, n)``."""
    given = operands(node) if isinstance(node, cst.Call) else ()
    calls = (one.func.attr.value for one in given if isinstance(one, cst.Call) and isinstance(one.func, cst.Attribute))
    return not _RESHAPES.isdisjoint(calls)


def equation(node: cst.Call) -> Equation | None:
    """What the text among the arguments of an einsum says of its two operands."""
    texts = [text for one in node.args if (text := _text(one.value)) is not None]
    found = _EQUATION.fullmatch(texts[0]) if len(texts) == 1 and len(operands(node)) == 2 else None
    return None if found is None else Equation(*map(_dimensions, found.groups()))


def fused_call(scores: Equation | None, values: Equation | None, mask: str) -> tuple[str, bool]:
    """The call of the fused function for what both equations say, or the plain one, and whether it fits as it is
    written: else queries, keys and values have to be brought into its order of dimensions first.

    Args:
        scores: the equation of queries and keys; None for a matrix product, whose factors are in order.
        values: the equation of weights and values; likewise.
        mask: what is given beside the three.
    """
    queries, keys = _inputs(scores) if scores is not None else ("", "")
    taken, given = _outputs(values) if values is not None else ("", "")
    if queries is None or keys is None or taken is None or given is None or (mask and not _is_in_order(scores)):
        return f"{_FUSED}(q, k, v{mask})", False
    return f"{_FUSED}(q{queries}, k{keys}, v{taken}{mask}){given}", True


def _inputs(scores: Equation) -> tuple[str | None, str | None]:
    """How queries and keys are brought into the order that the fused function takes."""
    alone = [one for one in scores.first if one not in scores.second]
    length = scores.product[-1]
    batch = [one for one in scores.product if one not in (*alone, length)]
    (channels,) = (set(scores.first) & set(scores.second)) - set(scores.product)
    return _moved(scores.first, (*batch, *alone, channels)), _moved(scores.second, (*batch, length, channels))


def _outputs(values: Equation) -> tuple[str | None, str | None]:
    """How values are brought into that order, and the result into that of the product."""
    length, channels = values.first[-1], [one for one in values.second if one not in values.first]
    alone = [one for one in values.first if one not in values.second]
    batch = [one for one in values.first if one not in (*alone, length)]
    if length in values.product or len(alone) != 1:
        return None, None
    return _moved(values.second, (*batch, length, *channels)), _moved((*batch, *alone, *channels), values.product)


def _moved(have: Dimensions, want: Dimensions) -> str | None:
    """The method that brings dimensions into an order; None where it takes more than that."""
    if sorted(have) != sorted(want) or len(set(have)) != len(have):
        return "" if have == want else None
    places = [have.index(one) for one in want]
    elsewhere = [at for at, place in enumerate(places) if at != place]
    if not elsewhere:
        return ""
    method, given = ("transpose", elsewhere) if len(elsewhere) == 2 else ("permute", places)
    return f".{method}({', '.join(map(str, given))})"


def _is_in_order(scores: Equation | None) -> bool:
    """Whether a mask of the scores is one of the fused function: its last two dimensions are the lengths."""
    return scores is None or scores.product[-2] not in scores.second


def _text(node: cst.BaseExpression) -> str | None:
    """The text that an expression is, also a formatted one into which nothing is put; None for others."""
    if isinstance(node, cst.SimpleString):
        return node.raw_value
    if not isinstance(node, cst.FormattedString):
        return None
    plain = [one.value for one in node.parts if isinstance(one, cst.FormattedStringText)]
    return "".join(plain) if len(plain) == len(node.parts) else None


def _dimensions(text: str) -> Dimensions:
    """The names of dimensions: of one letter each, or words with spaces in between, as in einops."""
    words = text.split()
    return tuple(words) if len(words) > 1 else tuple(text.strip())
