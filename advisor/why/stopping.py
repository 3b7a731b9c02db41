"""Where a rule stopped that looked at a line and said nothing: its own last condition, as Python ran it.

Rules are plain loops over records. One is run once more under a trace function, which notes for each record of the
line the last line of the rule, or of a query that it asks, that ran while a variable there held the record.
"""

from __future__ import annotations

import ast
import inspect
import os
import sys
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from accel_advisor.finding import Finding
from accel_advisor.records import queries
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule

LONGEST = 160


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a rule left a record.

    Attributes:
        what: the last condition that ran, in words; where it was none, the last statement.
        file, row: where it stands.
        decided: whether it was a condition.
    """

    what: str
    file: str
    row: int
    decided: bool


@dataclass(frozen=True, slots=True)
class Watched:
    """What became of one rule.

    Attributes:
        findings: all that it reports in the file.
        stops: by the position of a record among those that were watched; one that the rule never held is missing.
        failed: what it raised, in words; empty where it ran to its end.
    """

    findings: tuple[Finding, ...]
    stops: dict[int, Stop]
    failed: str = ""


def watched(rule: Rule, facts: Facts, records: Collection[object]) -> Watched:
    """Runs a rule and notes where it left each of some records."""
    tracer = _Tracer(rule, records)
    findings: list[Finding] = []
    failed = ""
    before = sys.gettrace()
    sys.settrace(tracer.call)
    try:
        findings += rule.check(facts)
    except Exception as error:  # the lint itself reports it as ACC003
        failed = f"{type(error).__name__}: {error}"
    finally:
        sys.settrace(before)
    stops = {at: _source(file).stop(row) for at, (file, row) in tracer.last.items()}
    return Watched(tuple(findings), stops, failed)


class _Tracer:
    """Notes where each record was held last.

    Attributes:
        last: file and line, by the position of the record.
    """

    def __init__(self, rule: Rule, records: Collection[object]) -> None:
        self.last: dict[int, tuple[str, int]] = {}
        self._positions = {id(record): position for position, record in enumerate(records)}
        self._own = inspect.getsourcefile(type(rule)) or ""
        self._queries = os.path.dirname(queries.__file__ or "")
        self._head: dict[FrameType, int] = {}
        self._left: dict[tuple[FrameType, str], int] = {}

    def call(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        return self._line if self._is_watched(frame) else None

    def _is_watched(self, frame: FrameType) -> bool:
        file = frame.f_code.co_filename
        return file == self._own or file.startswith(self._queries)

    def _line(self, frame: FrameType, event: str, _argument: Any) -> Any:
        file, row = frame.f_code.co_filename, frame.f_lineno
        if event == "line":
            self._leave(frame, row)
            if row in _source(file).loops:
                # the head runs again when a record is left, and decides nothing about it
                self._head[frame] = row
            else:
                self._note(frame)
        elif event == "return" and frame.f_back is not None and self._is_watched(frame.f_back):
            # what the caller makes of the answer decides, not the last line of who gave it
            self._note(frame.f_back)
        return self._line

    def _note(self, frame: FrameType) -> None:
        for name, value in frame.f_locals.items():
            position = self._positions.get(id(value))
            if position is not None and self._left.get((frame, name)) != id(value):
                self.last[position] = (frame.f_code.co_filename, frame.f_lineno)

    def _leave(self, frame: FrameType, row: int) -> None:
        """After the head of a loop: its variables are bound again where its body runs; else they are left over."""
        head = self._head.pop(frame, None)
        if head is None:
            return
        loop = _source(frame.f_code.co_filename).loops[head]
        enters = loop.body[0].lineno <= row <= (loop.body[-1].end_lineno or row)
        for name in (one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)):
            if enters:
                self._left.pop((frame, name), None)
            elif name in frame.f_locals:
                self._left[frame, name] = id(frame.f_locals[name])


class _Source:
    """The source of a rule or a query.

    Attributes:
        loops: by the line of their heads.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._text = Path(file).read_text(encoding="utf-8")
        self._statements = [one for one in ast.walk(ast.parse(self._text)) if isinstance(one, ast.stmt)]
        self.loops = {one.lineno: one for one in self._statements if isinstance(one, ast.For)}

    def stop(self, row: int) -> Stop:
        """What was decided at a line."""
        inner = [one for one in self._statements if one.lineno <= row <= (one.end_lineno or row)]
        inner.sort(key=lambda one: (one.lineno, -(one.end_lineno or 0)))
        statement = inner[-1]
        if isinstance(statement, (ast.Continue, ast.Break, ast.Return)) and self._is_bare(statement):
            around = next((one for one in reversed(inner[:-1]) if isinstance(one, ast.If)), None)
            if around is not None:
                otherwise = any(statement is one for part in around.orelse for one in ast.walk(part))
                holds = "does not hold" if otherwise else "holds"
                return Stop(f"`{self._shown(around.test)}` {holds}", self._file, around.lineno, True)
        if isinstance(statement, (ast.If, ast.While)):
            return Stop(f"`{self._shown(statement.test)}` does not hold", self._file, row, True)
        parts = [one for one in ast.walk(statement) if isinstance(one, ast.comprehension)]
        tests = [test for part in parts for test in part.ifs]
        if len(parts) == 1 and tests:
            return Stop(f"`{' and '.join(map(self._shown, tests))}` does not hold", self._file, row, True)
        return Stop(f"`{self._shown(statement)}`", self._file, row, False)

    @staticmethod
    def _is_bare(statement: ast.stmt) -> bool:
        value = statement.value if isinstance(statement, ast.Return) else None
        return value is None or isinstance(value, (ast.Constant, ast.List, ast.Tuple, ast.Dict))

    def _shown(self, node: ast.AST) -> str:
        text = " ".join((ast.get_source_segment(self._text, node) or ast.unparse(node)).split())
        return text if len(text) <= LONGEST else f"{text[:LONGEST].rsplit(' ', 1)[0]} ..."


@cache
def _source(file: str) -> _Source:
    return _Source(file)
