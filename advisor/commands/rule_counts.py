"""How often each rule reported something: what ``--statistics`` prints."""

from __future__ import annotations

import json
from collections import Counter

from accel_advisor.finding import Applicability
from accel_advisor.linting.report import Report


def render(report: Report, *, as_json: bool = False) -> str:
    """A line a rule, the most frequent first; or a JSON list of the same."""
    counts = Counter((one.code, one.name) for one in report.findings)
    fixable = Counter(
        one.code for one in report.findings if one.fix and one.fix.applicability is not Applicability.DISPLAY
    )
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if as_json:
        rows = [
            {"code": code, "name": name, "count": count, "fixable": fixable[code]} for (code, name), count in ordered
        ]
        return json.dumps(rows, indent=2) + "\n"
    width = max((len(str(count)) for _, count in ordered), default=1)
    return "".join(
        f"{count:{width}}  {code}  {name}" + (f"  ({fixable[code]} fixable)" if fixable[code] else "") + "\n"
        for (code, name), count in ordered
    )
