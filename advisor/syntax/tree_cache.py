"""What was made of the texts that were read last: files of one project are read by many of its programs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")

MOST_CHARACTERS = 4_000_000
"""Of the texts whose trees are kept, which take many times as many bytes."""
MOST_TEXTS = 2
"""Of one file, whose older texts are those before it was edited."""


class Recent(Generic[Made]):
    """Trees by their text and what it is the text of, the oldest of which are forgotten. Nothing may change a tree.

    Nodes stand for their places in a program, so that two files with the same text must not share them.

    Args:
        make: makes a tree.
    """

    def __init__(self, make: Callable[[str], Made]) -> None:
        self._make = make
        self._known: OrderedDict[tuple[str, str], Made] = OrderedDict()
        self._texts: dict[str, list[str]] = {}
        self._characters = 0

    def of(self, text: str, filename: str) -> Made:
        """The tree of a file's text. What making it raises is raised, and forgotten."""
        known = self._known.get((filename, text))
        if known is not None:
            self._known.move_to_end((filename, text))
            texts = self._texts[filename]
            texts.append(texts.pop(texts.index(text)))
            return known
        tree = self._make(text)
        if len(text) <= MOST_CHARACTERS:
            self._known[filename, text] = tree
            self._characters += len(text)
            self._texts.setdefault(filename, []).append(text)
            while len(self._texts[filename]) > MOST_TEXTS:
                self._forget(filename, self._texts[filename][0])
            while self._characters > MOST_CHARACTERS:
                self._forget(*next(iter(self._known)))
        return tree

    def _forget(self, filename: str, text: str) -> None:
        del self._known[filename, text]
        self._characters -= len(text)
        self._texts[filename].remove(text)
        if not self._texts[filename]:
            del self._texts[filename]
