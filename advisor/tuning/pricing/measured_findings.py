"""What a trial measured, back at the findings of a lint."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from accel_advisor.finding import Finding, Price
from accel_advisor.source.program_lines import place_of
from accel_advisor.tuning.pricing.line_prices import text_of
from accel_advisor.tuning.record.record_file import RecordError, read_record
from accel_advisor.tuning.record.schema import FindingPrice


class MeasuredPrices:
    """The prices of a record.

    Args:
        path: what ``tune --explain --json`` wrote.

    Raises:
        RecordError: it is no record, or one of a run without ``--explain``.
    """

    def __init__(self, path: Path) -> None:
        prices = read_record(path).prices
        if prices is None:
            raise RecordError(
                f"{path}: has no prices of lines; `accel-advisor tune SCRIPT --explain --json FILE` measures them"
            )
        self._prices = prices.findings

    def ranked(self, findings: Iterable[Finding]) -> list[Finding]:
        """Findings with their prices, the costliest first, and then those that have none, in their order."""
        priced = [replace(one, price=self._of(one)) for one in findings]
        return sorted(priced, key=lambda one: -1.0 if one.price is None else -one.price.share - 1.0)

    def _of(self, finding: Finding) -> Price | None:
        """The price of a finding: of the same code, in the file of that name, and as near as may be, since lines may
        have been added above meanwhile."""
        text, (_, row) = text_of(finding), place_of(finding.span.start)
        same = [one for one in self._prices if one.code == finding.code and one.text == text and _named(one, finding)]
        return min(same, key=lambda one: abs(one.row - row)).price if same else None


def _named(price: FindingPrice, finding: Finding) -> bool:
    """Whether a price is about the file of a finding: paths of a record are relative to a folder of its project."""
    path = os.path.realpath(finding.filename).replace(os.sep, "/")
    return path == price.filename or path.endswith(f"/{price.filename}")
