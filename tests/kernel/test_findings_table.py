"""The table of findings, for people who read HTML and for those who read text."""

from __future__ import annotations

import html5lib

from accel_advisor.finding import CellPlace, Finding, Location, Severity, Span
from accel_advisor.kernel.findings_table import FindingsTable
from accel_advisor.kernel.run_cells import RunCells

CELLS = RunCells(["a = 1", "if a < 2:\n    b('<i>')"], {2: 'x"><b>'})


def finding(number: int, row: int) -> Finding:
    place = Location(0, row, 1, CellPlace(number, row, 1, 1))
    said = "`b('<i>')` is called; write `c` <now>"
    return Finding("ACC208", "a-name", said, Severity.WARNING, "x.ipynb", Span(place, place))


def test_a_finding_is_shown_with_its_place_and_line() -> None:
    text = repr(FindingsTable([finding(2, 2)], CELLS))
    assert text == (
        "1 finding in the 2 cells run so far\n"
        "In [2], line 2: ACC208 warning: `b('<i>')` is called; write `c` <now>\n    b('<i>')"
    )


def test_what_was_written_in_cells_is_no_markup() -> None:
    markup = FindingsTable([finding(2, 2), finding(1, 1)], CELLS)._repr_html_()
    assert "<code>b(&#x27;&lt;i&gt;&#x27;)</code> is called; write <code>c</code> &lt;now&gt;" in markup
    assert 'href="#cell-id=x%22%3E%3Cb%3E"' in markup
    assert markup.count("<a href") == 1  # the first cell has no identity
    html5lib.HTMLParser(strict=True).parseFragment(markup)


def test_where_nothing_is_found_there_is_no_table() -> None:
    table = FindingsTable([], RunCells(["a = 1"], {}))
    assert repr(table) == "Nothing found: 1 cell run so far"
    assert "<table" not in table._repr_html_()


def test_colours_are_those_of_the_front_end_and_else_of_the_reader() -> None:
    light, dark = FindingsTable([], CELLS)._repr_html_().split("@media (prefers-color-scheme: dark)")
    for style, ink, paper in ((light, "#1f2328", "#ffffff"), (dark, "#e6edf3", "#0d1117")):
        colours = "--jp-content-font-color1, var(--colab-primary-text-color, var(--vscode-editor-foreground, " + ink
        assert f"color: var({colours})))" in style
        assert paper in style  # ink is never shown on the paper of another theme
