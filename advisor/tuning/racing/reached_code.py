"""Which code a training loop was seen to run, and which acts on it although it ran before: what builds the model, the
optimizer and the loader. Pure code."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from accel_advisor.finding import Finding, Frequency
from accel_advisor.tuning.pricing.line_prices import LOOPS
from accel_advisor.tuning.probe.channel.wire import Frame, LoopSamples

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class ReachedCode:
    """What is known to have run.

    Args:
        samples: what was seen of the loop.
        loader: the stack that built the loader that trains.
        sources: the files by name, as they are read by lint.
    """

    def __init__(self, samples: LoopSamples, loader: Sequence[Frame], sources: Mapping[str, bytes]) -> None:
        self._ran: dict[str, set[int]] = defaultdict(set)
        for name, row in samples.ran:
            self._ran[name].add(row)
        self._known: dict[str, set[int]] = defaultdict(set)
        frames = [frame for stack in samples.stacks for frame in stack.frames]
        for frame in (*frames, *samples.asks, *loader):
            self._known[frame.filename].add(frame.row)
        for name, rows in self._ran.items():
            self._known[name] |= rows
        self._sources = sources
        self._trees: dict[str, ast.Module] = {}

    def holds(self, finding: Finding) -> bool:
        """Whether what a finding is about runs in the loop, or ran before it and acts on each of its steps."""
        name, rows = finding.filename, range(finding.span.start.row, finding.span.end.row + 1)
        if not self._ran[name].isdisjoint(rows):
            return True
        if finding.frequency is not Frequency.STEP or not self._known[name]:
            return False
        return self._ran_before(name, finding.span.start.row)

    def _ran_before(self, name: str, row: int) -> bool:
        """Whether a line that the loop does not run is one of code that ran before, and is passed once there."""
        around = [node for node in ast.walk(self._tree(name)) if _around(node, row)]
        around.sort(key=_length)
        for place, node in enumerate(around):
            if isinstance(node, LOOPS):
                return False
            if isinstance(node, _FUNCTIONS):
                return self._called(name, node, around[place + 1 :])
        return True

    def _called(self, name: str, function: ast.AST, around: Sequence[ast.AST]) -> bool:
        """Whether a function is known to have been called, as the one that makes an object is whose methods are."""
        if self._seen_in(name, function):
            return True
        maker = getattr(function, "name", "") == "__init__"
        owner = next((node for node in around if isinstance(node, (ast.ClassDef, *_FUNCTIONS))), None)
        return maker and isinstance(owner, ast.ClassDef) and self._seen_in(name, owner)

    def _seen_in(self, name: str, node: ast.AST) -> bool:
        """Whether a line within a definition is known to have run, its head aside."""
        body = getattr(node, "body", None)
        first = body[0].lineno if isinstance(body, list) else node.lineno  # type: ignore[attr-defined]
        return any(first <= row <= node.end_lineno for row in self._known[name])  # type: ignore[attr-defined]

    def _tree(self, name: str) -> ast.Module:
        if name not in self._trees:
            self._trees[name] = _parsed(self._sources.get(name, b""))
        return self._trees[name]


def _parsed(source: bytes) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):  # a newer Python's, or no text
        return ast.Module([], [])


def _around(node: ast.AST, row: int) -> bool:
    """Whether a node has a line within it; of a loop, its head belongs to it."""
    first = getattr(node, "lineno", row + 1)
    return (first < row or (first == row and isinstance(node, LOOPS))) and row <= (getattr(node, "end_lineno", 0) or 0)


def _length(node: ast.AST) -> int:
    return int(node.end_lineno - node.lineno)  # type: ignore[attr-defined]


def files_of(samples: LoopSamples, loader: Iterable[Frame]) -> tuple[str, ...]:
    """The files that code of the loop, or of its loader, lies in."""
    names = {name for name, _ in samples.ran} | {frame.filename for frame in loader}
    return tuple(sorted(names | {frame.filename for stack in samples.stacks for frame in stack.frames}))
