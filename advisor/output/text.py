"""For people: each finding with its source lines, the reason and the remedy, then what to do first, and a summary."""

from __future__ import annotations

import os
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

import click

from accel_advisor.finding import Applicability, Finding, Frequency, Related, Severity, Span
from accel_advisor.linting.priorities import Priority, priorities
from accel_advisor.linting.report import Report
from accel_advisor.linting.seen_words import count_of, seen_lines
from accel_advisor.machine.cores import usable_cores
from accel_advisor.output import Screen
from accel_advisor.output._written_words import written_lines
from accel_advisor.selection import TOOL_CODES
from accel_advisor.source.document import Document

TAB = 4
MOST_LINES = 6
"""Of a finding that spans more lines, the first ones and the last one are shown."""
MOST_PLACES = 8
"""Of places about which the same is said, so many are listed; the JSON has all."""
MOST_COLUMNS = 150
LONGEST_REMEDY = 100
MOST_FOLDERS = 3
OFTEN = {
    Frequency.STEP: "at every step",
    Frequency.EPOCH: "once an epoch",
    Frequency.ONCE: "",
}
COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
APPLICABILITY = {
    Applicability.SAFE: "safe, --fix makes it",
    Applicability.UNSAFE: "unsafe, --fix --unsafe-fixes makes it",
    Applicability.DISPLAY: "only shown",
}


def render(report: Report, screen: Screen) -> str:
    """The findings of a report, what to do first about them, what was seen where there are none, and a
    summary."""
    documents: dict[str, Document | None] = {}
    parts: list[str] = []
    for finding in report.findings:
        if finding.filename not in documents:
            documents[finding.filename] = report.document(finding.filename)
        parts.append(_finding(finding, documents[finding.filename], screen))
    first = priorities(report.findings)
    if first:
        lines = [f"  {number}. {_priority(one)}" for number, one in enumerate(first, 1)]
        parts.append("\n".join(["What to do first:", *lines, ""]))
    seen = list(seen_lines(report.seen))
    if seen:
        parts.append(
            "\n".join(
                [
                    "Files that train, and of which no rule says anything:",
                    *(f"  {printable(one)}" for one in seen),
                    f"  `accel-advisor lint --why {printable(report.seen[0].filename)}:LINE` says why, line by line.",
                    "",
                ]
            )
        )
    written = list(written_lines(report.fixed, usable_cores()))
    if written:
        parts.append("\n".join([*map(printable, written), ""]))
    if report.findings:
        parts.append(_page(first[0].finding if first else max(report.findings, key=_matters)))
    parts.append(summary(report))
    return "\n".join(parts) + "\n"


def summary(report: Report) -> str:
    """One line: how much was found, and how much of it can be fixed."""
    done = f"Made {len(report.fixed):,} fix{'' if len(report.fixed) == 1 else 'es'}. " if report.fixed else ""
    held = [f"{count_of(report.hidden, 'finding')} in the baseline"] if report.hidden else []
    held += [f"{count_of(report.unchanged, 'finding')} on lines that did not change"] if report.unchanged else []
    less = [f"{report.minor} of little consequence not shown (--minor shows them)"] if report.minor else []
    less += [_left_out(report.left_out)] if report.left_out else []
    end = "; ".join(["", *held, *less]) + "."
    findings = report.findings
    if not findings:
        found = "left" if report.fixed else "new" if held else "found"
        if not report.asked and not report.fixed and not held and report.checked:
            end = f": {'it does not mention' if report.checked == 1 else 'none of them mentions'} torch{end}"
        return f"{done}{count_of(report.checked, 'file')} checked, nothing {found}{end}"
    severities = Counter(one.severity for one in findings)
    counted = ", ".join(
        one.value if number == len(findings) == 1 else _severity_count(one, number)
        for one, number in sorted(severities.items(), key=lambda item: -item[0].rank)
    )
    files = len({one.filename for one in findings})
    line = f"{done}{count_of(len(findings), 'finding')} ({counted}) in {files} of {count_of(report.checked, 'file')}"
    safe = sum(1 for one in findings if one.fix and one.fix.applicability is Applicability.SAFE)
    unsafe = sum(1 for one in findings if one.fix and one.fix.applicability is Applicability.UNSAFE)
    if safe and unsafe:
        return f"{line}; {safe} fixable with --fix, {unsafe} more with --fix --unsafe-fixes{end}"
    if safe or unsafe:
        return f"{line}; {safe or unsafe} fixable with --fix{'' if safe else ' --unsafe-fixes'}{end}"
    return f"{line}{end}"


def _left_out(files: Mapping[str, str]) -> str:
    """How many files were not checked because their names, or those of folders, say that they were given up."""
    named = [what for path, what in files.items() if os.path.basename(what) == os.path.basename(path)]
    folders = list(dict.fromkeys(what for what in files.values() if what not in named))
    counted, places = [], []
    if folders:
        more = len(folders) - MOST_FOLDERS
        shown = ", ".join(map(printable, folders[:MOST_FOLDERS]))
        shown += f" and {count_of(more, 'folder')} more" if more > 0 else ""
        counted.append(f"{count_of(len(files) - len(named), 'file')} in {shown}")
        places.append("the folder" if len(folders) == 1 else "a folder")
    if named:
        first = printable(named[0])
        counted.append(f"1 file called {first}" if len(named) == 1 else f"{len(named):,} files such as {first}")
        places.append("the file" if len(named) == 1 else "a file")
    return f"{' and '.join(counted)} not checked, as given up (name {' or '.join(places)} to check it)"


def _matters(finding: Finding) -> tuple[bool, int]:
    return finding.code not in TOOL_CODES, finding.severity.rank


def _page(finding: Finding) -> str:
    """Where more is said about a finding."""
    more = "more about it" if finding.code in TOOL_CODES else "why, what to write instead, and when to ignore it"
    return f"`accel-advisor rule {finding.code}` says {more}."


def _priority(priority: Priority) -> str:
    one = priority.finding
    said = [one.code, OFTEN[one.frequency], count_of(priority.count, "finding") if priority.count > 1 else ""]
    remedy = printable(one.remedy)
    if len(remedy) > LONGEST_REMEDY:
        remedy = f"{remedy[:LONGEST_REMEDY].rsplit(' ', 1)[0]} ..."
    return f"{one.filename}:{one.span.start}: {remedy[:1].upper()}{remedy[1:]} ({', '.join(filter(None, said))})"


def _finding(finding: Finding, document: Document | None, screen: Screen) -> str:
    def paint(text: str, **style: str | bool) -> str:
        return click.style(text, **style) if screen.colour else text  # type: ignore[arg-type]

    start = finding.span.start
    place = paint(f"{finding.filename}:{start}", bold=True)
    code = paint(f"{finding.code} {finding.name}", fg=COLOURS[finding.severity], bold=True)
    lines = [f"{place}: {code} ({finding.severity})", *_wrapped(printable(finding.message), screen.width)]
    rows = list(_rows(finding.span, document)) if document is not None else []
    above = start.row - start.cell.row if start.cell else 0
    width = len(str(rows[-1][0] - above)) if rows else 1
    bar = paint("|", fg="blue")
    if rows:
        lines.append(f"  {'':{width}} {bar}")
    previous = None
    for row, text, caret in rows:
        if previous is not None and row > previous + 1:
            lines.append(f"  {'':{width}} {bar} ...")
        previous = row
        lines.append(f"  {paint(f'{row - above:{width}}', fg='blue')} {bar} {text}".rstrip())
        if caret:
            lines.append(f"  {'':{width}} {bar} {paint(caret, fg=COLOURS[finding.severity])}")
    if finding.price is not None:
        lines.append(f"  {'':{width}} = {paint('measured', fg='magenta')}: {finding.price.words}")
    lines += [f"  {'':{width}} = {one}" for one in _related(finding.related)]
    if finding.fix is not None:
        note = APPLICABILITY[finding.fix.applicability]
        lines.append(f"  {'':{width}} = {paint('fix', fg='green')}: {printable(finding.fix.title)} ({note})")
    return "\n".join(lines) + "\n"


def _related(related: Iterable[Related]) -> Iterable[str]:
    """Further places, each once: those of one file about which the same is said stand together."""
    places: dict[tuple[str, str], dict[str, None]] = {}
    for one in related:
        places.setdefault((one.filename, one.message), {})[str(one.span.start)] = None
    for (filename, message), found in places.items():
        shown = list(found)[:MOST_PLACES]
        more = f" and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
        yield f"{filename}:{', '.join(shown)}{more}: {printable(message)}"


def _rows(span: Span, document: Document) -> Iterable[tuple[int, str, str]]:
    """The lines of a span: row, text as it is shown, and the carets below it."""
    first, last = span.start.row, max(span.start.row, span.end.row - (span.end.column == 1))
    rows = list(range(first, last + 1))
    if len(rows) > MOST_LINES:
        rows = [*rows[: MOST_LINES - 2], rows[-1]]
    for row in rows:
        try:
            line = document.line(row)
        except IndexError:  # the finding is about a place after the last line
            return
        start = span.start.column - 1 if row == first else len(line) - len(line.lstrip())
        end = span.end.column - 1 if row == span.end.row else len(line.rstrip())
        text, edges = _shown(line, start, max(end, start))
        marked = row == first or line.strip()
        yield row, text, " " * edges[0] + "^" * max(1, edges[1] - edges[0]) if marked else ""
        if row == first and line.rstrip().endswith(":"):
            return  # the head of a loop or function tells which it is


def _shown(line: str, start: int, end: int) -> tuple[str, tuple[int, int]]:
    """A line as a terminal shows it, and the columns of its characters ``start`` and ``end`` there."""
    cells: list[tuple[str, int]] = []
    column = 0
    for character in line:
        if character == "\t":
            shown, width = " " * (TAB - column % TAB), TAB - column % TAB
        elif unicodedata.combining(character):
            shown, width = character, 0
        elif not character.isprintable():
            shown, width = "\N{REPLACEMENT CHARACTER}", 1
        else:
            shown, width = character, 2 if unicodedata.east_asian_width(character) in "WF" else 1
        cells.append((shown, width))
        column += width
    left = sum(width for _, width in cells[:start])
    right = sum(width for _, width in cells[:end])
    skipped = 0
    mark = "..."
    if left > MOST_COLUMNS // 2 and column > MOST_COLUMNS:
        while cells and skipped < left - MOST_COLUMNS // 4:
            skipped += cells.pop(0)[1]
        left, right = left - skipped + len(mark), right - skipped + len(mark)
    text = "".join(shown for shown, _ in cells)
    text = mark + text if skipped else text
    if len(text) > MOST_COLUMNS:
        text = text[:MOST_COLUMNS] + mark
        right = min(right, MOST_COLUMNS)
    return text, (left, right)


def _wrapped(message: str, columns: int | None) -> list[str]:
    if columns is None:
        return [f"  {message}"]
    width = max(columns, 40)
    return textwrap.wrap(
        message,
        width,
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def printable(text: str) -> str:
    """Text without characters that would steer a terminal: the user's own names stand in messages."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


def _severity_count(severity: Severity, number: int) -> str:
    return f"{number} {severity}" if severity is Severity.INFO else count_of(number, severity.value)
