"""The trees of the texts that were parsed last: files of one project are read by many of its programs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

MOST_CHARACTERS = 1_000_000
"""Of the texts whose trees are kept, which take forty times as many bytes, and more where code is dense."""


class Trees:
    """Trees by their text, the oldest of which are forgotten. Nothing may change a tree.

    Args:
        parse: makes a tree.
    """

    def __init__(self, parse: Callable[[str], cst.Module]) -> None:
        self._parse = parse
        self._known: OrderedDict[str, cst.Module] = OrderedDict()
        self._characters = 0

    def of(self, text: str) -> cst.Module:
        """The tree of a text. What parsing raises is raised, and forgotten."""
        known = self._known.get(text)
        if known is not None:
            self._known.move_to_end(text)
            return known
        tree = self._parse(text)
        if len(text) <= MOST_CHARACTERS:
            self._known[text] = tree
            self._characters += len(text)
            while self._characters > MOST_CHARACTERS:
                oldest, _ = self._known.popitem(last=False)
                self._characters -= len(oldest)
        return tree
