"""Which lines of a training loop make its batches, where no function does: what the model is given, traced backwards
through the assignments in the loop. Pure code over the source and the samples of the loop's stack."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from accel_advisor.finding import Price
from accel_advisor.source.program_lines import line_at
from accel_advisor.tuning.pricing.line_prices import LOOPS, tree_of
from accel_advisor.tuning.pricing.sampled_shares import Shares
from accel_advisor.tuning.probe.channel.wire import Frame, LoopSamples, LoopStack

_STRAY = 0.05
"""A sample in so many may belong to the line before or after, since the loop goes on while its stack is read."""


@dataclass(frozen=True, slots=True)
class DataLines:
    """The lines of a file that make batches, with what they take together; ``row`` and ``text`` are the costliest."""

    filename: str
    row: int
    text: str
    rows: frozenset[int]
    price: Price


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a statement reads and what it sets; of a loop or block, its head alone."""

    rows: range
    reads: frozenset[str]
    sets: frozenset[str]


def data_lines(samples: LoopSamples) -> DataLines | None:
    """The lines that make the batches of the loop that steps; None where there are none to be seen."""
    shares = Shares(samples)
    for depth in range(len(samples.asks) - 1, -1, -1):
        frame = samples.asks[depth]
        loop = _loop(frame)
        if loop is not None:
            return _found(loop, frame.filename, depth, shares)
    return None


def _found(loop: ast.stmt, filename: str, depth: int, shares: Shares) -> DataLines | None:
    statements = list(_statements(loop))

    def spent(rows: range, *, computing: bool) -> float:
        def here(stack: LoopStack) -> bool:
            frame = stack.frames[depth] if depth < len(stack.frames) else None
            within = frame is not None and frame.filename == filename and frame.row in rows
            return within and (stack.computing > depth or not computing)

        return shares.of(shares.where(here))

    trains = [one for one in statements if spent(one.rows, computing=True) > _STRAY * spent(one.rows, computing=False)]
    others = [one for one in statements if one not in trains]
    after = set().union(*(one.sets for one in trains))
    later: list[_Statement] = []
    while more := [one for one in others if one not in later and not after.isdisjoint(one.reads)]:
        later += more
        after = after.union(*(one.sets for one in more))
    wanted: set[str] = set().union(*(one.reads for one in trains))
    made: list[_Statement] = []
    while more := [one for one in others if one not in later + made and not wanted.isdisjoint(one.sets)]:
        made += more
        wanted = wanted.union(*(one.reads for one in more))
    rows = frozenset(row for one in made for row in one.rows)

    def at(stack: LoopStack, among: frozenset[int]) -> bool:
        if depth >= len(stack.frames) or stack.computing > depth:
            return False
        return stack.frames[depth].filename == filename and stack.frames[depth].row in among

    prices = {
        one.rows.start: shares.price({number for number, stack in enumerate(shares.stacks) if at(stack, mine)})
        for one in made
        for mine in [frozenset(one.rows)]
    }
    if not prices:
        return None
    costliest = max(prices, key=lambda row: prices[row].share)
    text = line_at(filename, costliest).strip()
    return DataLines(filename, costliest, text, rows, shares.price(shares.where(lambda stack: at(stack, rows))))


def _loop(frame: Frame) -> ast.stmt | None:
    """The innermost loop around a frame's line."""
    around = [
        node
        for node in ast.walk(tree_of(frame.filename))
        if isinstance(node, LOOPS) and node.lineno <= frame.row <= (node.end_lineno or node.lineno)
    ]
    return max(around, key=lambda node: node.lineno, default=None)


def _statements(loop: ast.stmt) -> Iterator[_Statement]:
    for node in ast.walk(loop):
        if isinstance(node, (ast.For, ast.AsyncFor)):
            yield _Statement(_head(node), _reads([node.iter]), _sets([node.target]))
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            sets = _sets([one for one in targets if one is not None])
            parts = [] if node.value is None else [node.value]
            inner = {one.target.id for part in parts for one in ast.walk(part) if isinstance(one, ast.NamedExpr)}
            yield _Statement(range(node.lineno, (node.end_lineno or node.lineno) + 1), _reads(parts), sets | inner)


def _head(node: ast.For | ast.AsyncFor) -> range:
    return range(node.lineno, max(node.body[0].lineno, node.lineno + 1))


def _reads(nodes: Sequence[ast.expr]) -> frozenset[str]:
    return frozenset(name for node in nodes for one in ast.walk(node) for name in _names(one))


def _sets(nodes: Sequence[ast.expr]) -> frozenset[str]:
    """What is assigned to; of ``batch["x"]`` the batch."""
    return frozenset(
        name
        for node in nodes
        for one in ast.walk(node)
        if isinstance(one, (ast.Name, ast.Attribute)) and not isinstance(getattr(one, "ctx", None), ast.Del)
        for name in _names(one)
    )


def _names(node: ast.AST) -> Iterator[str]:
    """A variable by its name, an attribute of one by both."""
    if isinstance(node, ast.Name) and node.id != "self":
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        yield f"self.{node.attr}"
