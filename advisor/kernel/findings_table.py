"""What was found in the cells of a kernel: a table for front ends that show HTML, lines of text for the others."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from accel_advisor.finding import Finding
from accel_advisor.kernel.run_cells import RunCells
from accel_advisor.kernel.theme import marked, themed


@dataclass(frozen=True, slots=True)
class FindingsTable:
    """Findings, and the runs that they are about. IPython shows it in the form that the front end can show."""

    findings: Sequence[Finding]
    cells: RunCells

    @property
    def _title(self) -> str:
        ran = f"{_counted(len(self.cells.texts), 'cell')} run so far"
        return f"{_counted(len(self.findings), 'finding')} in the {ran}" if self.findings else f"Nothing found: {ran}"

    def __repr__(self) -> str:
        lines = [self._title]
        for finding in self.findings:
            number, row = _place(finding)
            lines += [
                f"In [{number}], line {row}: {finding.code} {finding.severity.value}: {finding.message}",
                f"    {self.cells.line(number, row)}",
            ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(map(self._row, self.findings))
        head = "<thead><tr><th>Cell</th><th>Rule</th><th>What was found</th></tr></thead>"
        table = f"<table>{head}<tbody>{rows}</tbody></table>" if rows else ""
        return themed(f"<b>{self._title}</b>{table}")

    def _row(self, finding: Finding) -> str:
        number, row = _place(finding)
        cell = f"In&nbsp;[{number}]"
        if number in self.cells.ids:  # JupyterLab and Notebook 7 follow it
            cell = f'<a href="#cell-id={quote(self.cells.ids[number])}">{cell}</a>'
        severity = finding.severity.value
        line = html.escape(self.cells.line(number, row))
        message = marked(finding.message)
        return (
            f'<tr><td>{cell}, line {row}</td><td>{finding.code} <span class="{severity}">{severity}</span></td>'
            f"<td><pre>{line}</pre>{message}</td></tr>"
        )


def _place(finding: Finding) -> tuple[int, int]:
    """The number of the run and the line in it."""
    cell = finding.span.start.cell
    if cell is None:
        raise ValueError(f"{finding.code} is about no cell")
    return cell.number, cell.row


def _counted(count: int, name: str) -> str:
    return f"{count} {name}" if count == 1 else f"{count} {name}s"
