"""The cells that a kernel has run so far, as one program."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accel_advisor.source.magics import masked
from accel_advisor.source.parsing import syntax_error


@dataclass(frozen=True, slots=True)
class RunCells:
    """What was run, in the order in which it was.

    Attributes:
        texts: of each run, the first being ``In [1]``.
        ids: of the cells, by the number of the run, as far as the front end tells them.
    """

    texts: Sequence[str]
    ids: Mapping[int, str]

    def notebook(self) -> str:
        """A notebook whose cell 7 is ``In [7]``, as JSON. What Python could not read was not run, and is left out."""
        cells = [
            {
                "cell_type": "code",
                "execution_count": number,
                "metadata": {},
                "outputs": [],
                "source": text if syntax_error(text) is None or syntax_error(masked(text)) is None else "",
            }
            for number, text in enumerate(self.texts, 1)
        ]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    def line(self, number: int, row: int) -> str:
        """A line of ``In [number]``, without the space around it."""
        return self.texts[number - 1].split("\n")[row - 1].strip()

    @property
    def latest(self) -> frozenset[int]:
        """The runs that no later run of the same cell replaces. Where a cell has no identity, its text is one."""
        kept: list[int] = []
        for number in range(len(self.texts), 0, -1):
            if not any(self._same(number, later) for later in kept):
                kept.append(number)
        return frozenset(kept)

    def _same(self, one: int, other: int) -> bool:
        if one in self.ids and other in self.ids:
            return self.ids[one] == self.ids[other]
        return self.texts[one - 1].strip() == self.texts[other - 1].strip()
