"""The training loop with what its lines cost in the margin, and the sentences about them."""

from __future__ import annotations

from dataclasses import dataclass

from accel_advisor.finding import Price
from accel_advisor.tuning.page.scale import Scale
from accel_advisor.tuning.record.schema import Listing, Prices, Record
from accel_advisor.tuning.showing.price_text import price_lines
from accel_advisor.tuning.wording.figures import seconds_text


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the loop: its price in words and as a bar, both empty where it costs nothing that could be measured,
    and the codes of what lint finds there."""

    row: int
    text: str
    price: str
    width: float
    codes: str


@dataclass(frozen=True, slots=True)
class Costs:
    """What there is to show: ``lines`` of ``filename``, none where the loop is not known; ``said`` are sentences."""

    counted: str
    said: tuple[str, ...]
    filename: str
    lines: tuple[Line, ...]


def line_costs(record: Record) -> Costs | None:
    """What the lines of a step cost; None where nobody asked."""
    prices = record.prices
    if prices is None:
        return None
    counted = f"{prices.batches} batches of {seconds_text(prices.step)}, {prices.samples:,} samples"
    _, *said = (text for text, _ in price_lines(prices))
    listing = prices.listing
    if listing is None:
        return Costs(counted, tuple(said), "", ())
    name = f"{listing.filename}:cell {listing.cell}" if listing.cell is not None else listing.filename
    return Costs(counted, tuple(said), name, _lines(prices, listing))


def _lines(prices: Prices, listing: Listing) -> tuple[Line, ...]:
    scale = Scale(max((line.price.share for line in listing.lines if line.price), default=0.0))
    margin = min((len(one.text) - len(one.text.lstrip()) for one in listing.lines if one.text.strip()), default=0)
    codes: dict[int, list[str]] = {}
    for one in prices.findings:
        if (one.filename, one.cell) == (listing.filename, listing.cell):
            codes.setdefault(one.row, []).append(one.code)
    return tuple(
        Line(
            line.row,
            line.text[margin:].expandtabs(),
            _margin(line.price) if line.price and line.price.measurable else "",
            scale.at(line.price.share) if line.price and line.price.measurable else 0.0,
            ", ".join(dict.fromkeys(codes.get(line.row, []))),
        )
        for line in listing.lines
    )


def _margin(price: Price) -> str:
    return f"{price.figures} waits" if price.waits else price.figures
