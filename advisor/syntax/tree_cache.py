"""What was made of the texts that were read last: files of one project are read by many of its programs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")

MOST_CHARACTERS = 1_000_000
"""Of the texts whose trees are kept, which take many times as many bytes."""


class Recent(Generic[Made]):
    """Trees by their text, the oldest of which are forgotten. Nothing may change a tree.

    Args:
        make: makes a tree.
    """

    def __init__(self, make: Callable[[str], Made]) -> None:
        self._make = make
        self._known: OrderedDict[str, Made] = OrderedDict()
        self._characters = 0

    def of(self, text: str) -> Made:
        """The tree of a text. What making it raises is raised, and forgotten."""
        known = self._known.get(text)
        if known is not None:
            self._known.move_to_end(text)
            return known
        tree = self._make(text)
        if len(text) <= MOST_CHARACTERS:
            self._known[text] = tree
            self._characters += len(text)
            while self._characters > MOST_CHARACTERS:
                oldest, _ = self._known.popitem(last=False)
                self._characters -= len(oldest)
        return tree
