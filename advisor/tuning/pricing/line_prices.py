"""What the lines of a step cost: where the loop was found, joined with what lint says of these lines. Pure code.

A finding is charged with all that is done where it stands, functions that are called there included, and with the rest
of its statement but for what is the training itself: where one is about the copy in `criterion(model(x.to(device)), y)`
it is charged with the copy alone, and one about the batch in `sort(x.numpy())` with all of it. A line without a finding
is charged with what it does itself, and what libraries do for it. What is done for a batch below the loop's own `for`
line is waiting for data there.

Where the loop waits for an accelerator, it waits for work that is to be done anyway. Without waiting it could prepare
what comes next meanwhile: a step would take as long as the device is busy, or as long as the host is without its waits,
whichever is longer.
"""

from __future__ import annotations

import ast
import os
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from accel_advisor.finding import Finding, Price
from accel_advisor.source.program_lines import line_at, place_of, python_lines, row_for_people
from accel_advisor.tuning.applying.project_code import display_name
from accel_advisor.tuning.pricing.sampled_shares import Shares
from accel_advisor.tuning.probe.channel.wire import Block, Frame, LoopStack
from accel_advisor.tuning.record.schema import FindingPrice, LinePrice, ListedLine, Listing, Prices
from accel_advisor.tuning.showing.advice import expression

DATA, DEVICE = "data", "device"
LEAST_SHARE = 0.03
"""A line without a finding that takes less of a step is not named."""
_MOST_LINES = 8
_LONGEST_LOOP = 200
LOOPS = (ast.For, ast.AsyncFor, ast.While)
_WAITING = frozenset("item tolist cpu numpy nonzero synchronize to cuda float int bool print all any".split())
"""Methods and functions in which the host waits for a device, where they are given something that is there."""


def priced(block: Block, findings: Sequence[Finding], root: Path, *, device: str = "cpu") -> Prices | None:
    """What one watched block shows of the lines of a step; None where nothing was seen.

    Args:
        findings: what lint says of the files, under their absolute names, each place by itself.
        device: the kind of device that trains, such as ``cuda``.
    """
    if block.lines is None or not block.lines.samples:
        return None
    # Beside a device the clock counts waiting only as far as the device is idle meanwhile; prices are the host's time.
    shares = Shares(block.lines, block.wait / block.seconds if device == "cpu" else None)
    waiting = _Waiting(shares, block, device)
    ran = {*block.lines.ran, *((frame.filename, frame.row) for stack in shares.stacks for frame in stack.frames)}
    reached = [one for one in findings if any((one.filename, row) in ran for row in _rows(one))]
    places = [_Place(one) for one in reached]
    costly = [_finding(one, shares, waiting, root) for one in places]
    costly.sort(key=lambda one: (-one.price.share, one.filename, one.row, one.code))
    return Prices(
        batches=block.batches,
        step=block.seconds / block.batches,
        samples=shares.count,
        findings=tuple(costly),
        lines=_lines(places, shares, waiting, root),
        elsewhere=len(findings) - len(reached),
        listing=_listing(block.lines.asks, shares, waiting, root),
    )


class _Waiting:
    """In which stacks the loop waits for the device, and what a step would be shorter by without."""

    def __init__(self, shares: Shares, block: Block, device: str) -> None:
        self._shares = shares
        self._on_device = device != "cpu"
        self.stacks = shares.where(self._waits) if self._on_device else set()
        whole = shares.of(self.stacks)
        idle = (block.wait + block.host) / block.seconds
        self._saved = min(whole, idle) / whole if whole else 0.0

    @staticmethod
    def _waits(stack: LoopStack) -> bool:
        return stack.fetching is None and bool(stack.frames) and _called(expression(stack.frames[-1])) in _WAITING

    def price(self, stacks: set[int], *, data: bool = False) -> Price:
        """The price of some stacks; it is that of a wait where most of it is one."""
        waits = stacks & self.stacks
        if not waits or 2 * self._shares.of(waits) < self._shares.of(stacks):
            return self._shares.price(stacks, DATA if data else "")
        return self._shares.price(stacks, DEVICE, self._shares.of(waits) * self._saved)


def _finding(place: _Place, shares: Shares, waiting: _Waiting, root: Path) -> FindingPrice:
    finding, start = place.finding, place.finding.span.start
    cell, row = place_of(start)
    return FindingPrice(
        finding.code,
        finding.name,
        finding.message,
        display_name(finding.filename, root),
        row,
        start.column,
        text_of(finding),
        waiting.price(shares.where(place.charged)),
        cell,
    )


class _Place:
    """Where a finding stands: its own code, and the statement around it."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        self._rows = _statement(finding.filename, finding.span.start.row, finding.span.end.row)

    def charged(self, stack: LoopStack) -> bool:
        """Whether what is done in a stack is done for this place."""
        return any(self.holds(frame) or self.beside(stack, depth) for depth, frame in enumerate(stack.frames))

    def holds(self, frame: Frame) -> bool:
        """Whether what a frame was doing begins in the code of the finding."""
        if frame.filename != self.finding.filename:
            return False
        start, end = self.finding.span.start, self.finding.span.end
        if not frame.column:
            return start.row <= frame.row <= end.row
        return (start.row, start.column) <= (frame.row, frame.column) < (end.row, end.column)

    def beside(self, stack: LoopStack, depth: int) -> bool:
        """Whether a frame was elsewhere in the statement, and neither trained nor fetched."""
        frame = stack.frames[depth]
        if frame.filename != self.finding.filename or frame.row not in self._rows:
            return False
        return stack.computing <= depth and (stack.fetching is None or stack.fetching <= depth)


@cache
def tree_of(filename: str) -> ast.Module:
    """What a file holds as it is known at run time; nothing where this Python cannot read it."""
    try:
        return ast.parse("".join(python_lines(filename)))
    except (SyntaxError, ValueError):  # a newer Python's, or no text
        return ast.Module([], [])


def _statement(filename: str, first: int, last: int) -> range:
    """The lines of the smallest statement that holds some lines; of one with a body, those before the body."""
    around = [
        node
        for node in ast.walk(tree_of(filename))
        if isinstance(node, ast.stmt) and node.lineno <= first and last <= (node.end_lineno or node.lineno)
    ]
    if not around:
        return range(first, last + 1)
    least = min(around, key=_length)
    body = getattr(least, "body", None)
    end = max(body[0].lineno - 1, least.lineno) if body else (least.end_lineno or least.lineno)
    return range(least.lineno, end + 1)


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno


def _rows(finding: Finding) -> range:
    return range(finding.span.start.row, finding.span.end.row + 1)


def text_of(finding: Finding) -> str:
    """The code that a finding is about, up to the end of its first line."""
    start, end = finding.span.start, finding.span.end
    line = line_at(os.path.abspath(finding.filename), start.row).rstrip()
    return (line[start.column - 1 : end.column - 1] if start.row == end.row else line[start.column - 1 :]).strip()


def _lines(places: Sequence[_Place], shares: Shares, waiting: _Waiting, root: Path) -> tuple[LinePrice, ...]:
    """The costly lines that nothing is found at, the costliest first."""
    stacks: dict[tuple[str, int, bool], set[int]] = defaultdict(set)
    at: dict[tuple[str, int, bool], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for number, stack in enumerate(shares.stacks):
        frames = stack.frames if stack.fetching is None else stack.frames[: stack.fetching]
        if not frames or any(_named(one, stack) for one in places):
            continue
        key = frames[-1].filename, frames[-1].row, stack.fetching is not None
        stacks[key].add(number)
        at[key][expression(frames[-1])] += shares.of({number})
    found = [
        LinePrice(
            display_name(key[0], root),
            row,
            max(at[key], key=at[key].__getitem__) or line_at(*key[:2]).strip(),
            waiting.price(numbers, data=key[2]),
            cell,
        )
        for key, numbers in stacks.items()
        for cell, row in [row_for_people(*key[:2])]
    ]
    found.sort(key=lambda one: -one.price.share)
    return tuple(one for one in found if one.price.share >= LEAST_SHARE and one.price.measurable)[:_MOST_LINES]


def _named(place: _Place, stack: LoopStack) -> bool:
    """Whether the line that a stack was at is the finding's own."""
    innermost = len(stack.frames) - 1
    return stack.fetching is None and (place.holds(stack.frames[-1]) or place.beside(stack, innermost))


def _listing(asks: Sequence[Frame], shares: Shares, waiting: _Waiting, root: Path) -> Listing | None:
    """The loop that asks for batches, each line with all that is done there; None where it is not known."""
    rows = _loop(asks[-1]) if asks else None
    if rows is None:
        return None
    filename, depth = asks[-1].filename, len(asks) - 1
    stacks: dict[int, set[int]] = defaultdict(set)
    for number, stack in enumerate(shares.stacks):
        if depth < len(stack.frames) and stack.frames[depth].filename == filename:
            stacks[stack.frames[depth].row].add(number)
    return Listing(
        display_name(filename, root),
        tuple(
            ListedLine(
                row_for_people(filename, row)[1],
                line_at(filename, row).rstrip("\n"),
                waiting.price(stacks[row], data=row == asks[-1].row) if row in stacks else None,
            )
            for row in rows
        ),
        row_for_people(filename, rows.start)[0],
    )


def _loop(frame: Frame) -> range | None:
    """The lines of the innermost loop around the place where a batch is asked for, or of its function."""
    around = [
        node
        for node in ast.walk(tree_of(frame.filename))
        if isinstance(node, (*LOOPS, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.lineno <= frame.row <= (node.end_lineno or node.lineno)
    ]
    around = [node for node in around if isinstance(node, LOOPS)] or around
    if not around:
        return None
    least = min(around, key=_length)
    return range(least.lineno, least.lineno + min(_length(least) + 1, _LONGEST_LOOP))


def _called(text: str) -> str:
    """The last part of the name of what an expression calls; empty where it is no call."""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
