"""What was found in the cells of a kernel: a table for front ends that show HTML, lines of text for the others."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import Template
from urllib.parse import quote

from accel_advisor.finding import Finding
from accel_advisor.kernel.run_cells import RunCells

_CODE = re.compile(r"`([^`]+)`")
_STYLE = Template(
    """\
.accel-advisor { color: $ink; background: $paper; padding: 8px; overflow-x: auto; font-size: 13px; }
.accel-advisor table { border-collapse: collapse; width: 100%; max-width: 100%; margin: 8px 0 0; }
.accel-advisor tbody tr:nth-child(n), .accel-advisor tbody tr:nth-child(n):hover { background: none; }
.accel-advisor th, .accel-advisor td { color: $ink; text-align: left; vertical-align: top; white-space: normal;
  max-width: none; padding: 5px 14px 5px 0; border: 0; border-bottom: 1px solid $line; }
.accel-advisor td:not(:last-child) { white-space: nowrap; }
.accel-advisor a { color: $link; }
.accel-advisor pre, .accel-advisor code { color: inherit; background: none; padding: 0; margin: 0;
  font-family: ui-monospace, monospace; font-size: 12px; }
.accel-advisor pre { margin-bottom: 3px; white-space: pre-wrap; }
.accel-advisor .error, .accel-advisor .warning { font-weight: 600; }
"""
)
_NAMES = {
    "ink": "--jp-content-font-color1 --colab-primary-text-color --vscode-editor-foreground",
    "paper": "--jp-layout-color0 --colab-primary-surface-color --vscode-editor-background",
    "line": "--jp-border-color2 --colab-border-color --vscode-panel-border",
    "link": "--jp-content-link-color --colab-anchor-color --vscode-textLink-foreground",
}
"""What front ends call the colours of their themes. Where none does, those of the reader's system are used."""
_LIGHT = {"ink": "#1f2328", "paper": "#ffffff", "line": "#d0d7de", "link": "#0550ae"}
_DARK = {"ink": "#e6edf3", "paper": "#0d1117", "line": "#3d444d", "link": "#6cb6ff"}


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
        style = f"{_styled(_LIGHT)}@media (prefers-color-scheme: dark) {{\n{_styled(_DARK)}}}\n"
        return f'<style>\n{style}</style>\n<div class="accel-advisor"><b>{self._title}</b>{table}</div>'

    def _row(self, finding: Finding) -> str:
        number, row = _place(finding)
        cell = f"In&nbsp;[{number}]"
        if number in self.cells.ids:  # JupyterLab and Notebook 7 follow it
            cell = f'<a href="#cell-id={quote(self.cells.ids[number])}">{cell}</a>'
        severity = finding.severity.value
        line = html.escape(self.cells.line(number, row))
        message = _CODE.sub(r"<code>\1</code>", html.escape(finding.message))
        return (
            f'<tr><td>{cell}, line {row}</td><td>{finding.code} <span class="{severity}">{severity}</span></td>'
            f"<td><pre>{line}</pre>{message}</td></tr>"
        )


def _styled(fallback: dict[str, str]) -> str:
    colours = {}
    for name, colour in fallback.items():
        for variable in reversed(_NAMES[name].split()):
            colour = f"var({variable}, {colour})"
        colours[name] = colour
    return _STYLE.substitute(colours)


def _place(finding: Finding) -> tuple[int, int]:
    """The number of the run and the line in it."""
    cell = finding.span.start.cell
    if cell is None:
        raise ValueError(f"{finding.code} is about no cell")
    return cell.number, cell.row


def _counted(count: int, name: str) -> str:
    return f"{count} {name}" if count == 1 else f"{count} {name}s"
