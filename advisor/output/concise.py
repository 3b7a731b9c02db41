"""One line for each finding."""

from __future__ import annotations

from accel_advisor.linting.report import Report
from accel_advisor.machine.cores import usable_cores
from accel_advisor.output import Screen
from accel_advisor.output._written_words import written_lines
from accel_advisor.output.text import printable, summary


def render(report: Report, screen: Screen) -> str:
    """``file:row:column: CODE message``, what was written that may change a run, and a summary."""
    lines = []
    for one in report.findings:
        mark = " [*]" if one.fix is not None and one.fix.applicability.value == "safe" else ""
        price = f" [{one.price.words}]" if one.price is not None else ""
        lines.append(f"{one.filename}:{one.span.start}: {one.code}{mark} {printable(one.message)}{price}")
    lines += map(printable, written_lines(report.fixed, usable_cores()))
    return "\n".join([*lines, summary(report)]) + "\n"
