"""What lines and findings cost, in words."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.tuning.record.schema import FindingPrice, LinePrice, Price, Prices
from accel_advisor.tuning.wording.figures import seconds_text

MEASURABLE = 0.005
"""A place that takes less of a step costs nothing that could be told from the noise."""
_LONGEST = 60
_TAKES = {"": "takes", "data": "waits for data here", "device": "the host waits here"}


def price_lines(prices: Prices) -> Iterator[tuple[str, str]]:
    """All of it, line by line, each with its style."""
    counted = f"{prices.batches} batches of {seconds_text(prices.step)}, {prices.samples:,} samples"
    yield f"What the lines of a step cost ({counted})", "bold"
    dear = [one for one in prices.findings if measurable(one.price)]
    for finding in dear:
        yield finding_sentence(finding), ""
    cheap = [one for one in prices.findings if not measurable(one.price)]
    if cheap:
        most = max(one.price.high for one in cheap)
        places = ", ".join(f"{one.code} {one.filename}:{one.row}" for one in cheap)
        yield (
            f"Nothing that could be measured here (less than {_share(max(most, MEASURABLE))} of each step): {places}.",
            "",
        )
    if not prices.findings:
        yield "Lint finds nothing in the lines that ran.", ""
    if prices.elsewhere:
        where = "1 other finding is" if prices.elsewhere == 1 else f"{prices.elsewhere} other findings are"
        yield f"{where} about lines of these files that no step ran.", "dim"
    for line in prices.lines:
        yield line_sentence(line), ""


def measurable(price: Price) -> bool:
    """Whether a price can be told from nothing."""
    return price.share >= MEASURABLE and price.low > 0


def finding_sentence(finding: FindingPrice) -> str:
    """A finding with its price."""
    return f"{finding.code} {finding.filename}:{finding.row} `{_short(finding.text)}`: {price_text(finding.price)}."


def line_sentence(line: LinePrice) -> str:
    """A line without a finding, with its price."""
    return f"no finding {line.filename}:{line.row} `{_short(line.calls)}`: {price_text(line.price)}."


def price_text(price: Price) -> str:
    """A price in words, such as ``the host waits here 11 % (9-13) of each step``."""
    said = f"{_TAKES[price.waits]} {share_text(price)} of each step"
    if price.saves is None:
        return said
    if price.saves < MEASURABLE:
        return f"{said}, for work of the device that would have to be waited for anyway"
    return f"{said}; without the wait a step would be {_share(price.saves)} shorter, the rest is work of the device"


def share_text(price: Price) -> str:
    """A share with its interval, in per cent: ``11 % (9-13)``."""
    ends = (price.low, price.high)
    low, high = (f"{100 * one:.{0 if price.share >= 0.05 else 1}f}" for one in ends)
    return f"{_share(price.share)} ({low}-{high})"


def _share(share: float) -> str:
    return f"{100 * share:.{0 if share >= 0.05 else 1}f} %"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
