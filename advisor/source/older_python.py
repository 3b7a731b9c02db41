"""Python that no parser of today reads any more, as code that was written for an old PyTorch is: statements of Python 2
and names that became keywords, put as today's Python has them, so that the rest of the file can be understood."""

from __future__ import annotations

import bisect
import io
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from tokenize import TokenInfo

_ENDS = frozenset({tokenize.NEWLINE, tokenize.ENDMARKER})
_BEFORE_A_STATEMENT = frozenset({tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})
_PASSED_OVER = frozenset({tokenize.NL, tokenize.COMMENT})
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_AFTER_ASYNC = frozenset({"def", "for", "with"})
_PRINTABLE = frozenset({tokenize.NAME, tokenize.NUMBER, tokenize.STRING})
_OPERATORS = frozenset({"and", "or", "in", "is", "if", "for", "as"})
_Places = Callable[[tuple[int, int]], int]
"""The offset of a place that is given by row and column."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A stretch of the old text, by offsets, and what stands in its place."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as today's Python has it.

    Attributes:
        text: the new text; it has as many lines as the old one.
    """

    text: str
    _changes: tuple[_Change, ...]
    _starts: tuple[int, ...]

    def back(self, offset: int) -> int:
        """The offset in the old text of a character of the new one."""
        number = bisect.bisect_right(self._starts, offset) - 1
        if number < 0:
            return offset
        change, start = self._changes[number], self._starts[number]
        if offset < start + len(change.text):
            return min(change.start + offset - start, change.end)
        return change.end + offset - start - len(change.text)


def as_today(text: str) -> Reading | None:
    """A text as today's Python has it, so far as this is known; None where nothing of it is older, or where not even
    its words can be told apart. It may still be no Python."""
    try:
        tokens = [one for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.type not in _PASSED_OVER]
    except (tokenize.TokenError, SyntaxError):
        return None
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    changes = sorted(
        _changes(tokens, lambda place: starts[place[0] - 1] + place[1]), key=lambda one: (one.start, one.end)
    )
    if not changes or any(one.end > other.start for one, other in pairwise(changes)):
        return None
    pieces: list[str] = []
    begins: list[int] = []
    last = length = 0
    for one in changes:
        pieces += (text[last : one.start], one.text)
        begins.append(length + one.start - last)
        length = begins[-1] + len(one.text)
        last = one.end
    return Reading("".join((*pieces, text[last:])), tuple(changes), tuple(begins))


def _changes(tokens: Sequence[TokenInfo], at: _Places) -> Iterator[_Change]:
    for number, token in enumerate(tokens):
        if token.type != tokenize.NAME:
            continue
        if token.string == "async":
            following = tokens[number + 1].string
            if following not in _AFTER_ASYNC:  # as an argument, it is what `Tensor.cuda` called so until Python 3.7
                name = "non_blocking" if following == "=" else "async_"
                yield _Change(at(token.start), at(token.end), name)
        elif not number or tokens[number - 1].type in _BEFORE_A_STATEMENT or tokens[number - 1].string in (";", ":"):
            yield from _of_statement(_statement(tokens, number), at)


def _statement(tokens: Sequence[TokenInfo], number: int) -> list[tuple[int, TokenInfo]]:
    """The tokens of a statement from its first on, without its end, each with how deep in brackets it stands."""
    found: list[tuple[int, TokenInfo]] = []
    depth = 0
    for token in tokens[number:]:
        depth -= token.string in _CLOSING
        if token.type in _ENDS or (not depth and token.string == ";"):
            break
        found.append((depth, token))
        depth += token.string in _OPENING
    return found


def _of_statement(tokens: Sequence[tuple[int, TokenInfo]], at: _Places) -> Iterator[_Change]:
    first, second, last = tokens[0][1], tokens[min(1, len(tokens) - 1)][1], tokens[-1][1]
    if first.string in ("print", "exec") and second is not first:
        into = first.string == "print" and second.string == ">>"
        if into or (second.type in _PRINTABLE and second.string not in _OPERATORS):
            yield _Change(at(first.end), at(second.end if into else second.start), "(")
            yield _Change(at(last.end), at(last.end), ")")
    elif first.string in ("except", "raise"):
        outside = [token for depth, token in tokens if not depth]
        comma = next((one for one in outside if one.string == ","), None)
        colon = next((one for one in outside if one.string == ":"), None)
        if comma is not None and first.string == "raise":
            yield _Change(at(comma.start), at(last.end), "")
        elif comma is not None and colon is not None and comma.start < colon.start:
            given = [one for one in outside if comma.start < one.start < colon.start]
            if len(given) == 1 and given[0].string.islower():  # two classes are Python 3.14
                yield _Change(at(comma.start), at(given[0].start), " as ")
