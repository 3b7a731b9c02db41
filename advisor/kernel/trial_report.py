"""What a trial found, for front ends that show HTML, and as the command prints it for the others."""

from __future__ import annotations

import html
import io
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console

from accel_advisor.kernel.theme import marked, themed
from accel_advisor.tuning.record.schema import Record
from accel_advisor.tuning.showing.energy_text import energy_text
from accel_advisor.tuning.showing.price_text import price_lines
from accel_advisor.tuning.showing.summary import built, print_record, tried_cells, verdict
from accel_advisor.tuning.wording.kept_text import verdict_text

_WIDTH = 120


@dataclass(frozen=True, slots=True)
class TrialReport:
    """A trial. IPython shows it in the form that the front end can show.

    Attributes:
        asked: the line of the kernel that asked for it, as in ``%accel tune train.ipynb``.
    """

    record: Record
    asked: str

    def __repr__(self) -> str:
        said = io.StringIO()
        print_record(
            self.record, Console(file=said, width=_WIDTH, no_color=True, force_terminal=False, force_jupyter=False)
        )
        return said.getvalue().rstrip("\n")

    def _repr_html_(self) -> str:
        title = f"<b>{html.escape(self.record.sentence)}</b>" if self.record.sentence is not None else ""
        said = "".join(f"<p>{marked(one)}</p>" for one in self._sentences())
        diff = f"<p></p><pre>{html.escape(self.record.diff)}</pre>" if self.record.diff else ""
        return themed(f"{title}{self._table()}{diff}{said}")

    def _table(self) -> str:
        rows = []
        for number, cells in enumerate(tried_cells(self.record)):
            kind = ' class="best"' if number == self.record.recommended else ""
            rows.append(f"<tr{kind}>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>")
        head = "<th>Tried</th><th>samples/s</th><th>against now (95 %)</th><th></th>"
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
            if rows and self.record.loop is None
            else ""
        )

    def _sentences(self) -> Iterator[str]:
        record = self.record
        yield from (f"{one}." for one in (record.loop.advice if record.loop is not None else ()))
        yield from (text for text, _ in (price_lines(record.prices) if record.prices is not None else ()))
        if record.energy is not None:
            yield f"Energy: {energy_text(record.energy)}."
        if record.kept is not None:
            yield verdict_text(record.verdict, record.kept)
        else:
            if record.built is not None:
                yield f"Loader: {built(record)}."
            if record.verification is not None:
                yield verdict(record, record.verification)
            elif record.diff:
                yield f"Run `{self.asked} --apply` to write this and verify it."
            yield from (f"{one}." for one in record.refusals)
        if record.applied:
            yield "The file was changed: reload the notebook from disk."
        yield from (f"Note: {one}." for one in record.notes)
        if record.explained and record.explained[-1].next:
            yield f"Next: {record.explained[-1].next}."
