"""The cells of a notebook as Python that runs: what is IPython's own becomes a call of it, on the lines where it
stood."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from accel_advisor.source.magics import blank, is_foreign, replaced
from accel_advisor.source.notebook import Notebook
from accel_advisor.source.parsing import syntax_error
from accel_advisor.syntax.line_breaks import NEWLINE

_INSTALLS = re.compile(
    r"\b(?:pip3?|conda|mamba|micromamba|apt|apt-get|uv|poetry|npm)\s+(?:-\S+\s+|pip\s+)*"
    r"(?:install|uninstall|remove|update|upgrade|add|sync)\b"
)
_UNSEEN = re.compile(
    r"[^!%].*\?\s*(?:#.*)?\Z|\?|%(?:accel|tensorboard|(?:re)?load_ext\s+(?:accel_advisor|tensorboard))\b"
)
"""What only shows something to a reader, or would begin a trial within the trial."""


@dataclass(frozen=True, slots=True)
class RunnableCell:
    """A code cell; ``row`` is the line of the notebook's program that it begins at, from 1."""

    row: int
    python: str


@dataclass(frozen=True, slots=True)
class Magic:
    """What is IPython's own, as it stands, and the number of its cell."""

    cell: int
    text: str


@dataclass(slots=True)
class RunnableCells:
    """What runs of a notebook, in the order of its cells.

    Attributes:
        cells: their lines are those of :attr:`Notebook.text`.
        magics: what IPython must run.
        left_out: what would install or remove packages.
    """

    cells: list[RunnableCell] = field(default_factory=list)
    magics: list[Magic] = field(default_factory=list)
    left_out: list[Magic] = field(default_factory=list)

    @classmethod
    def of(cls, notebook: Notebook) -> RunnableCells:
        """Those of a notebook. A cell that is not Python stays as it is, and raises a SyntaxError where it is run."""
        found = cls()
        for cell in notebook.cells:
            row = 1 + len(NEWLINE.findall(notebook.text, 0, cell.start))
            found.cells.append(RunnableCell(row, found._python(cell.text, cell.number)))
        return found

    def _python(self, text: str, number: int) -> str:
        if syntax_error(text) is None:
            return text
        if is_foreign(text):
            return self._call(text, number)
        return replaced(text, lambda magic: self._call(magic, number), lambda magic: self._value(magic, number))

    def _call(self, magic: str, number: int) -> str:
        words = magic.strip()
        if _INSTALLS.search(words):
            self.left_out.append(Magic(number, words))
        elif not _UNSEEN.match(words):
            self.magics.append(Magic(number, words))
            return _filled(f"exec(get_ipython().transform_cell({words!r}))", magic)
        return blank(magic, "0")

    def _value(self, magic: str, number: int) -> str:
        words = magic.strip()
        self.magics.append(Magic(number, words))
        if words.startswith("!"):
            return _filled(f"get_ipython().getoutput({words[1:]!r})", magic)
        name, _, rest = words[1:].partition(" ")
        return _filled(f"get_ipython().run_line_magic({name!r}, {rest.strip()!r})", magic)


def _filled(call: str, magic: str) -> str:
    """A call, with the newlines of what it stands for."""
    return call + "".join(NEWLINE.findall(magic))
