"""Programs that are looked at through one rule: lines that it must report are marked ``# -> warning unsafe``."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from accel_advisor.finding import Finding

from .marked import findings_in

_MARK = re.compile(r"# -> (error|warning|info)(?: (safe|unsafe|none))?$")


def check_one(code: str, source: str, folder: Path, others: dict[str, str] | None = None) -> list[Finding]:
    """Asserts that what one rule says about a program is what is marked in it, and nothing else."""
    # rules that are off by default run where a program names them
    document, found = findings_in(f"{textwrap.dedent(source)}\n# {code}\n", folder, others)
    found = [one for one in found if one.code == code]
    wanted = []
    for row, line in enumerate(document.text.splitlines(), 1):
        mark = _MARK.search(line)
        if mark is not None:
            wanted.append((row, mark[1], mark[2]) if mark[2] else (row, mark[1]))
    got = []
    for one in found:
        row = (one.span.start.row, str(one.severity))
        length = next((len(mark) for mark in wanted if mark[:2] == row), 2)
        got.append((*row, str(one.fix.applicability) if one.fix else "none") if length == 3 else row)
    assert sorted(got) == sorted(wanted), "\n".join(f"{one.span.start.row}: {one.message}" for one in found)
    return found
