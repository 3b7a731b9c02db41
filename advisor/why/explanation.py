"""The whole answer for one line: what is known of it, what is reported, what is held back, and where rules stopped."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator

import accel_advisor
from accel_advisor.analysis.project import Analysis
from accel_advisor.config import Config
from accel_advisor.configurations import Configurations
from accel_advisor.finding import Finding
from accel_advisor.linting.checker import Checker
from accel_advisor.linting.linter import lint
from accel_advisor.linting.report import Report
from accel_advisor.linting.ruleset import Ruleset
from accel_advisor.linting.seen_words import sentence
from accel_advisor.project.discovery import Found, near
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.seen_training import seen_training
from accel_advisor.rule import registry
from accel_advisor.source.document import Document, is_notebook
from accel_advisor.source.idle_branches import idle_branches
from accel_advisor.source.lines import Lines
from accel_advisor.source.suppressions import Suppressions, last_own_row
from accel_advisor.why.line_records import described, records_at
from accel_advisor.why.stopping import Watched, watched

_PLACE = re.compile(r"(?P<file>.+?)(?::cell +(?P<cell>[0-9]+))?:(?P<line>[0-9]+)(?::(?P<column>[0-9]+))?:?")
"""A file and a line, as people write them or copy them from what a lint prints."""


class WhyError(Exception):
    """A place is none, and why: one sentence."""


def explained(place: str, configurations: Configurations) -> Iterator[str]:
    """The answer for ``FILE:LINE``, or ``FILE:cell N:LINE`` in a notebook, line by line; a column behind the line, as
    a lint prints it, is skipped.

    Raises:
        WhyError: there is no such file or line.
        ConfigError: a configuration cannot be used.
    """
    filename, cell, line = _split(place)
    checker = _Keeping(filename)
    report = lint([Found(filename, named=True)], configurations, checker=checker)
    if not report.asked:
        yield f"{filename} mentions neither torch nor a framework on it, so no rule looks at it."
        return
    facts = checker.facts
    if facts is None:
        yield f"{filename} was not understood, so no rule looked at it:"
        yield from (f"  {one.filename}:{one.span.start}: {one.code} {one.message}" for one in report.findings)
        return
    row = _row(facts.document, filename, cell, line)
    config = configurations.of(filename)
    shown = f"{filename}:{line}" if cell is None else f"{filename}:cell {cell}:{line}"
    yield f"{shown}: {facts.document.line(row).strip()}"
    yield from _answer(facts, row, report, Ruleset(config), configurations)


def _answer(facts: Facts, row: int, report: Report, ruleset: Ruleset, configurations: Configurations) -> Iterator[str]:
    records = records_at(facts, row)
    yield ""
    if records:
        yield "What is known of it:"
        yield from (f"  {one}" for one in dict.fromkeys(described(facts, record) for record in records))
    else:
        yield "Nothing that rules ask about is seen on this line: no loader, no loop, no copy to a device, no call of a"
        yield "module and no operation of a library. Either it does none of these, or what it calls is not known."
    outcomes = {code: watched(rule, facts, records) for code, rule in registry().items()}
    reported: list[str] = []
    held: list[str] = []
    for outcome in outcomes.values():
        for one in outcome.findings:
            if _is_about(one, facts, row):
                why = _held_back(one, facts.document, ruleset, configurations)
                (held if why else reported).append(f"  {one.code} {one.name}: {why or one.message}")
    yield from _section("Reported at this line:", reported)
    yield from _section("Found, and not reported:", held)
    looked = {code: one for code, one in outcomes.items() if one.stops and not _speaks(one, facts, row)}
    stopped = {code: list(_stops(one)) for code, one in looked.items()}
    named = [f"  {code} {registry()[code].name}: {'; '.join(one)}" for code, one in stopped.items() if one]
    yield from _section("Looked at it, and stopped where:", named)
    passed = [code for code, one in stopped.items() if not one]
    yield from _section(
        "Took it into account, with no condition of its own:", [f"  {', '.join(passed)}"] if passed else []
    )
    failed = [f"  {code}: {one.failed}" for code, one in outcomes.items() if one.failed]
    yield from _section("Failed, which is a bug of accel-advisor:", failed)
    others = len(outcomes) - len(looked) - sum(_speaks(one, facts, row) for one in outcomes.values())
    yield ""
    who = "No rule" if others == len(outcomes) else f"None of the other {others} rules"
    yield f"{who} held anything of this line by itself."
    if report.hidden or ruleset.config.baseline:
        yield f"What the baseline {ruleset.config.baseline} holds is not shown by a lint."
    seen = seen_training(facts)
    if seen is not None and seen.gaps:
        yield f"Of the whole file: {sentence(seen)}."
    yield "`accel-advisor rule CODE` says when a rule is silent on purpose."
    if named:
        yield "The conditions are those of the rules' own code, in files of the package accel_advisor."


def _section(heading: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield heading
        yield from lines


def _speaks(outcome: Watched, facts: Facts, row: int) -> bool:
    return any(_is_about(one, facts, row) for one in outcome.findings)


def _is_about(finding: Finding, facts: Facts, row: int) -> bool:
    """Whether a finding stands on a line, or mentions it as another place."""
    spans = [one.span for one in finding.related if one.filename == facts.document.filename]
    return any(one.start.row <= row <= one.end.row for one in (finding.span, *spans))


def _stops(outcome: Watched) -> Iterator[str]:
    """The conditions at which a rule stopped, each once."""
    decided = (one for one in outcome.stops.values() if one.decided)
    yield from dict.fromkeys(f"{one.what} ({_short(one.file)}:{one.row})" for one in decided)


def _short(file: str) -> str:
    """A file of this package, such as ``rules/dataloader/num_workers_zero.py``; of a rule from elsewhere, its path."""
    own = f"{accel_advisor.__name__}."
    for name, module in sys.modules.items():
        if name.startswith(own) and module.__file__ == file:
            return f"{name.removeprefix(own).replace('.', '/')}.py"
    return file


def _held_back(finding: Finding, document: Document, ruleset: Ruleset, configurations: Configurations) -> str:
    """Why a finding is not shown; empty for one that is."""
    config: Config = ruleset.config
    if finding.code not in ruleset.on:
        rule = registry()[finding.code]
        how = "it is switched off" if rule.enabled else "it is off by default"
        return f"{how}; `--extend-select {finding.code}` shows it: {finding.message}"
    if finding.code in ruleset.off_in(document.filename):
        return "`per-file-ignores` switches it off in this file"
    if any(start <= finding.span.start.offset < end for start, end in idle_branches(document)):
        return "it stands under an `if` that asks for debugging, or in a branch that never runs"
    if finding.minor and finding.code not in ruleset.named and not config.minor:
        return f"it is of little consequence here; `--minor` shows it: {finding.message}"
    lines = Lines(document)
    for comment in Suppressions(document, ruleset.known):
        if comment.covers(finding, last_own_row(finding, lines)) and comment.match(finding) is not None:
            return f"the comment in {comment.span.start.line} silences it"
    if not configurations.shows(finding):
        least = f"min-severity is {config.min_severity} and min-confidence {config.min_confidence}"
        return f"it is {finding.confidence}, {finding.severity}, and {least}"
    return ""


class _Keeping(Checker):
    """Keeps what is known of one file."""

    def __init__(self, filename: str) -> None:
        super().__init__()
        self._path = os.path.realpath(filename)
        self.facts: Facts | None = None

    def understood(self, facts: Facts) -> None:
        if os.path.realpath(facts.document.filename) == self._path:
            self.facts = facts

    def finished(self, analysis: Analysis) -> None:
        pass  # it is asked more


def _split(place: str) -> tuple[str, int | None, int]:
    found = _PLACE.fullmatch(place)
    if found is None:
        raise WhyError(f"'{place}' is not FILE:LINE, such as train.py:42")
    filename, cell, line = found["file"], found["cell"], int(found["line"])
    if cell is None and found["column"] is not None and is_notebook(filename):
        raise WhyError(f"{filename} is a notebook: say '{filename}:cell {line}:{found['column']}'")
    if not os.path.isfile(filename):
        raise WhyError(f"{filename}: there is no such file{near(filename)}")
    return filename, None if cell is None else int(cell), line


def _row(document: Document, filename: str, cell: int | None, line: int) -> int:
    """The line of a document's text."""
    if is_notebook(filename) != (cell is not None):
        form = "FILE:cell N:LINE" if cell is None else "FILE:LINE"
        raise WhyError(f"{filename} is {'a' if cell is None else 'no'} notebook: say {form}")
    rows = document.text.count("\n") + 1
    if cell is None:
        if not 1 <= line <= rows:
            raise WhyError(f"{filename} has no line {line}: it has {rows}")
        return line
    cells = {one.number: one for one in document.notebook.cells} if document.notebook is not None else {}
    if cell not in cells:
        raise WhyError(f"cell {cell} of {filename} holds no Python; those that do are {', '.join(map(str, cells))}")
    last = cells[cell].text.count("\n") + 1
    if not 1 <= line <= last:
        raise WhyError(f"cell {cell} has no line {line}: it has {last}")
    return document.text.count("\n", 0, cells[cell].start) + line
