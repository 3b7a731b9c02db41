"""The waits of a training's steps for the GPU, what they wait for, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.values.evidence import Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.call_graph import CallSite
    from accel_advisor.records.loops import Loop
    from accel_advisor.records.operations import Operation

_MOST_WAYS = 8
"""Calls in a loop that are named as leading to its waits."""
MANY = 3
"""Waits in a step from which on they are worth a warning, and a remark where each pass is called an epoch."""


_HOST = "the host computes with it and the step needs the result: "
_AT_ONCE = f"{_HOST}compute that on the GPU, or copy all that is read for it at once"


class Need(Enum):
    """What a step waits for: values, or those that a ``forward`` goes on with, be they drawn at random, once or again
    and again, or added up over processes, or that the host works on for the step; what a module keeps for itself; how
    many there are; the sum of counts; the answer to a condition; a size, or the end of a slice; another number for
    Python, where a tensor would do; or whether a function failed. Each with what to do instead, in words."""

    VALUES = "keep the value as a tensor (`.detach()`) and read it once an epoch or every few hundred steps"
    FORWARD = "take the value from the batch before it is copied, or compute with it as a tensor"
    DRAWN = "draw it on the host, or compute with it as a tensor"
    DRAWN_EACH = "draw for the whole batch at once, and index with the tensor"
    REDUCED = "compute with it as a tensor, since the other processes had a part in it"
    HOST = f"{_HOST}only computing that on the GPU spares the wait"
    STATE = "ask a Python attribute beside the buffer, set wherever that changes, `_load_from_state_dict` included"
    EVEN = "of each row it picks as many: index with their numbers (`torch.gather`), which need no counting"
    SIZE = "only the GPU knows how large the result is: keep the size fixed, as `torch.where` and masks do"
    PART = "a model is called on what it picks: only a mask of values that the host has, or a fixed number, spares that"
    COUNTS = "pass `output_size`"
    ANSWER = "let the GPU decide, as `torch.where` does, or ask every few hundred steps"
    FAILURE = "it asks whether it failed: `torch.linalg.inv_ex`, `solve_ex` and their like do not"
    BOUND = "Python needs a number here: take it from a shape, or from what the host has, or index with a tensor"
    NUMBER = "Python needs a number here: let tensors compute it (`torch.sqrt`, `index_select`, `torch.minimum`)"


@dataclass(frozen=True, slots=True)
class Wait:
    """A place where a step waits for the GPU.

    Attributes:
        operation: what waits.
        need: what it waits for.
        basis: what shows that it does.
        each: what it happens for one by one in a step: ``parameter`` or ``sample``; empty where it happens once.
        late: whether every step reads the value, but only one in so many uses it.
        checks: whether the value is read to see whether it is finite.
        guards: whether the rest of the step is skipped where it is not.
        instead: whether it stands in a branch that excludes another one that waits.
        again: whether another one reads the same value before it, and waits in its place.
        follows: whether the text of the loop reads something else right before it, so that little is left to wait for.
        beside: what waits in the same part of a step in any case, so that next to nothing is left to wait for.
    """

    operation: Operation
    need: Need
    basis: Evidence
    late: bool
    checks: bool
    each: str = ""
    guards: bool = False
    instead: bool = False
    again: bool = False
    follows: bool = False
    beside: Operation | None = None


@dataclass(frozen=True, slots=True)
class LoopWaits:
    """The places of one document where each step of a training loop waits for the GPU: first those in the text of the
    loop, then those in what it calls, in the order of the text, and last those where the step needs the values."""

    loop: Loop
    waits: tuple[Wait, ...]

    @property
    def first(self) -> Wait:
        """The first that is not beside one which stays, nor such a one that guards the step, or else the first of
        all."""
        return next((one for one in self.waits if one.beside is None and not one.guards), self.waits[0])

    @property
    def clause(self) -> str:
        """What the first of them is beside, and how the others stand to it, as a part of a sentence; or empty."""
        stays = self.first.beside
        apart = [one for one in self.waits if not one.follows]
        near = ", where the reads stand together, so that little is left to wait for after the first"
        together = near if self.count > 1 and _count(apart) == 1 else ""
        beside = f", though the step waits at `{stays.document.code(stays.node)}` in any case" if stays else ""
        return f"{together}{beside}"

    @property
    def basis(self) -> Evidence:
        """What the first of them rests on."""
        return self.first.basis

    @property
    def count(self) -> int:
        """How often a step waits at least: of branches that exclude each other, and of functions that the program
        chooses from, one is taken, and what is read twice is waited for once."""
        return _count(self.waits)

    @property
    def ways(self) -> tuple[cst.Call, ...]:
        """The calls in the text of the loop that lead to waits elsewhere, as far as they are known, in order."""
        chains = [way for one in self.waits if not self._is_inside(one) for way in one.operation.ways]
        first = (next((site for site in way if self.loop.holds(site.document, site.node)), None) for way in chains)
        calls = {id(site.node): site.node for site in first if site is not None}
        return tuple(sorted(calls.values(), key=lambda one: self.loop.document.span(one).start.offset)[:_MOST_WAYS])

    @property
    def callers(self) -> tuple[CallSite, ...]:
        """Where functions are called that do nothing but wait, outside of the text of the loop, in the order in which
        they were met: what they are given decides what can be done."""
        found: dict[int, CallSite] = {}
        for one in self.waits:
            if _only_returns(one.operation.function):
                for *_, site in one.operation.ways:
                    if not self.loop.holds(site.document, site.node):
                        found.setdefault(id(site.node), site)
        return tuple(found.values())[:_MOST_WAYS]

    @property
    def remedy(self) -> str:
        """What to do about the first of them, in words."""
        first, need = self.first, self.first.need
        if first.checks:
            return "check that the value is finite every few hundred steps"
        if first.late:
            return "read the value in the steps that use it, and keep it as a tensor (`.detach()`) until then"
        if self.loop.goes_over_epochs and need in (Need.VALUES, Need.ANSWER, Need.BOUND, Need.NUMBER):
            return "each pass is one step here: read the values every ten or hundred passes"
        once = [one for one in self.waits if one.need is need and not one.again]
        beside = [one for one in once if one.operation.function is first.operation.function]
        return _AT_ONCE if need is Need.HOST and len(beside) > 1 else need.value

    @property
    def since(self) -> tuple[int, int] | None:
        """The version of torch that what to do came with; None where something can be done with any."""
        return (1, 13) if all(one.need is Need.FAILURE for one in self.waits) else None

    def _is_inside(self, wait: Wait) -> bool:
        return self.loop.holds(wait.operation.document, wait.operation.node)

    @property
    def costly(self) -> bool:
        """Whether it is worth a warning: a step waits often, or late, or for each of many things, other than for what
        the host computes or beside another that stays, and it is not that of an optimizer which nothing in the program
        is seen to use. What stands together waits once."""
        spared = [one for one in self.waits if one.need is not Need.HOST and one.beside is None]
        apart = [one for one in spared if not one.follows]
        many = _count(apart) >= MANY and not self.loop.goes_over_epochs
        unused = Ground.OPTIMIZER in self.basis.grounds
        return not unused and (many or any(one.late or one.each for one in spared))


def _count(waits: Sequence[Wait]) -> int:
    """How often a step waits at these places at least, as :attr:`LoopWaits.count` says."""
    counted = [one for one in waits if not (one.instead or one.again)]
    chosen = Counter(id(one.operation.function) for one in counted if Ground.CHOICE in one.basis.grounds)
    return len(counted) - chosen.total() + max(chosen.values(), default=0)


def _only_returns(function: cst.CSTNode | None) -> bool:
    """Whether a function is one statement, which returns something, besides its docstring."""
    body = function.body.body if isinstance(function, cst.FunctionDef) else ()
    lines = [one for line in body for one in (line.body if isinstance(line, cst.SimpleStatementLine) else (line,))]
    if lines and isinstance(lines[0], cst.Expr) and isinstance(lines[0].value, cst.SimpleString):
        lines = lines[1:]
    return len(lines) == 1 and isinstance(lines[0], cst.Return)
