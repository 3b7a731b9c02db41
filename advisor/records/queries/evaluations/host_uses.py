"""What becomes of a value on the host: chosen from, counted, joined to what was kept, given to a loss."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.evaluations.computed_values import called_on, chosen_over, is_library
from accel_advisor.records.queries.gradients.fates import parameter_of
from accel_advisor.records.queries.gradients.flows import calls_in, flow_of
from accel_advisor.syntax.shapes import dotted

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.queries.gradients.data_flow import Binding, DataFlow

_COUNTS = frozenset("bincount histc histogram histogram2d histogramdd".split())
_JOINS = frozenset("append concatenate cat hstack vstack concat".split())
_MOST_CALLS = 3


COMES_BACK = (
    "brings back a part of the batch, which was on the host before{basis}",
    "keep the tensor that the loader gave",
)
"""What there is to say of a copy of a batch, whatever is done with it, and what to do."""


class Use(Enum):
    """What is done with a value on the host, and what to do instead, in words; first what costs most."""

    CHOSEN = (
        "copies all scores to the host{basis}, and `{name}` keeps the best of them there",
        "choose on the GPU, and copy what was chosen",
    )
    LOSS = (
        "copies predictions to the host{basis}, and `{name}` computes a loss there",
        "compute it on the GPU, add it up there, and read the sum behind the loop",
    )
    COUNTED = (
        "copies each predicted label to the host{basis}, and the GPU waits while `{name}` counts them",
        "count on the GPU (`torch.bincount`), and read the sums behind the loop",
    )
    JOINED = (
        "is joined to all that was kept so far{basis}, and `{name}` copies that once more",
        "append to a list, and join once behind the loop",
    )


@dataclass(frozen=True, slots=True)
class HostUse:
    """One thing that is done with a value, where, and in which function's text.

    Attributes:
        over: the dimension over which it is chosen.
    """

    use: Use
    node: cst.Call
    flow: DataFlow
    over: int | None = None

    @property
    def name(self) -> str:
        """What is called for it: ``np.argmax``, or the name of a method alone."""
        return dotted(self.node.func) or called_on(self.node)[0]

    @property
    def kept(self) -> str:
        """The name of what it is joined to, where that takes the result; or empty."""
        statement, first = self.flow.parent(self.node), self.node.args[0].value if self.node.args else None
        if not isinstance(statement, cst.Assign) or len(statement.targets) != 1 or first is None:
            return ""
        parts = [one.value for one in first.elements] if isinstance(first, (cst.List, cst.Tuple)) else []
        target = dotted(statement.targets[0].target)  # of a list alone, the parts are joined that it holds
        return target if target in map(dotted, [first] if called_on(self.node)[0] == "append" else parts) else ""


class Uses:
    """All that is done with the value of an expression, as far as it is followed: from what a function returns back to
    the call that the value came in by, and to all callers of the function that it began in."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._losses = {id(one.node) for each in facts.program for one in each.module_calls if one.loss}
        self._seen: set[tuple[int, int]] = set()
        self._way: list[tuple[DataFlow, cst.Call]] = []
        self.found: list[HostUse] = []

    def follow(self, flow: DataFlow, node: cst.CSTNode, depth: int = 0) -> None:
        """Follows the value of an expression of a function."""
        above = flow.parent(node)
        here = (id(node), id(self._way[-1][1]) if self._way else 0)
        if here in self._seen or above is None:
            return
        self._seen.add(here)
        if isinstance(above, cst.Arg):
            call = flow.parent(above)
            if isinstance(call, cst.Call):
                self._argument(flow, above, call, depth)
        elif isinstance(above, cst.Attribute):
            call = flow.parent(above)
            if isinstance(call, cst.Call) and call.func is above:
                self._done_by(flow, call, depth)
            elif above.attr.value not in ("shape", "dtype", "device", "ndim"):
                self.follow(flow, above, depth)
        elif isinstance(above, (cst.Assign, cst.AnnAssign, cst.AugAssign)):
            self._bound(flow, flow.bound_by(above), depth)
        elif isinstance(above, (cst.For, cst.CompFor)):
            if above.iter is node:
                self._bound(flow, flow.bound_by(above), depth)
        elif isinstance(above, cst.Return):
            self._returned(flow, depth)
        elif isinstance(above, (cst.Expr, cst.If, cst.While)):
            return
        elif not isinstance(above, (cst.Index, cst.Slice)):
            self.follow(flow, above, depth)

    def _returned(self, flow: DataFlow, depth: int) -> None:
        """What the callers of a function do with its result."""
        if self._way:
            if depth < _MOST_CALLS:
                outer, call = self._way.pop()
                self.follow(outer, call, depth + 1)
                self._way.append((outer, call))
            return
        graph = self._facts.call_graph
        callers = [one for one in graph.callers_of(flow.root) if one is not None and depth < _MOST_CALLS]
        for caller in callers:
            for call in calls_in(self._facts, caller):
                around = flow_of(self._facts, caller) if flow.root in graph.called_from(call) else None
                if around is not None:
                    self.follow(around, call, depth + 1)

    def _bound(self, flow: DataFlow, bindings: list[Binding], depth: int) -> None:
        for binding in bindings:
            for reading in flow.read(binding):
                self.follow(flow, reading, depth)

    def _done_by(self, flow: DataFlow, call: cst.Call, depth: int) -> None:
        """What a call does with what it is called on, or with its first argument."""
        over = chosen_over(call)
        name, _ = called_on(call)
        if over is not None:
            self.found.append(HostUse(Use.CHOSEN, call, flow, over[0]))
        elif name in _COUNTS:
            self.found.append(HostUse(Use.COUNTED, call, flow))
            return
        if not isinstance(flow.parent(call), cst.Expr):
            self.follow(flow, call, depth)

    def _argument(self, flow: DataFlow, argument: cst.Arg, call: cst.Call, depth: int) -> None:
        name, _ = called_on(call)
        if id(call) in self._losses:
            self.found.append(HostUse(Use.LOSS, call, flow))
        elif isinstance(call.func, cst.Attribute) and is_library(call.func.value) and name in _JOINS:
            joined = HostUse(Use.JOINED, call, flow)
            if joined.kept:
                self.found.append(joined)
            else:
                self.follow(flow, call, depth)
        elif functions := self._facts.call_graph.called_from(call):
            for one in functions:
                inner, taken = flow_of(self._facts, one), parameter_of(one, call, argument)
                if inner is not None and taken and depth < _MOST_CALLS:
                    self._way.append((flow, call))
                    self._bound(inner, inner.bound_at_start(taken), depth + 1)
                    self._way.pop()
        elif name in _COUNTS or isinstance(call.func, cst.Name) or is_library(getattr(call.func, "value", call.func)):
            self._done_by(flow, call, depth)
        else:
            statement = flow.parent(call)
            if isinstance(statement, cst.Expr):
                self._bound(flow, flow.bound_by(statement), depth)
            else:
                self.follow(flow, call, depth)
