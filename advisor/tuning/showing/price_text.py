"""What lines and findings cost, in words."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import LEAST_PRICE, per_cent
from accel_advisor.syntax.line_breaks import in_one_line
from accel_advisor.tuning.record.place_text import place_text
from accel_advisor.tuning.record.schema import FindingPrice, LinePrice, Prices
from accel_advisor.tuning.wording.figures import seconds_text

_LONGEST = 60


def price_lines(prices: Prices) -> Iterator[tuple[str, str]]:
    """All of it, line by line, each with its style."""
    counted = f"{prices.batches} batches of {seconds_text(prices.step)}, {prices.samples:,} samples"
    yield f"What the lines of a step cost ({counted})", "bold"
    yield from ((finding_sentence(one), "") for one in prices.findings if one.price.measurable)
    cheap = [one for one in prices.findings if not one.price.measurable]
    if cheap:
        most = max(LEAST_PRICE, *(one.price.high for one in cheap))
        places = ", ".join(f"{one.code} {place_text(one)}" for one in cheap)
        yield f"Nothing that could be measured here (less than {per_cent(most)} of each step): {places}.", ""
    if not prices.findings:
        yield "Lint finds nothing in the lines that ran.", ""
    if prices.elsewhere:
        where = "1 other finding is" if prices.elsewhere == 1 else f"{prices.elsewhere} other findings are"
        yield f"{where} about lines of these files that no step ran.", "dim"
    yield from ((line_sentence(one), "") for one in prices.lines)


def finding_sentence(finding: FindingPrice) -> str:
    """A finding with its price."""
    return f"{finding.code} {place_text(finding)} `{in_one_line(finding.text, _LONGEST)}`: {finding.price.words}."


def line_sentence(line: LinePrice) -> str:
    """A line without a finding, with its price."""
    return f"no finding {place_text(line)} `{in_one_line(line.calls, _LONGEST)}`: {line.price.words}."
