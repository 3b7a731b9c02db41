"""Where a wait more costs next to nothing: in evaluations whose every pass waits for the GPU anyway."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from accel_advisor.records.queries.steps.host_waits import reads_in_each_pass

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.values.tensors import BatchSource


def evaluates_and_waits(facts: Facts, loops: Iterable[Loop | None]) -> bool:
    """Whether there are loops, and each is one over batches that trains nothing and reads what the GPU computed in
    every pass, as evaluations do that count on the host: what else waits there moves the wait, and adds none."""
    found = list(dict.fromkeys(loops))
    return bool(found) and all(one is not None and _evaluates(one) and reads_in_each_pass(facts, one) for one in found)


def takes_few(facts: Facts, loops: Iterable[Loop | None]) -> bool:
    """Whether there are loops, and each is one over some batches alone that trains nothing, in a program that trains
    elsewhere: it gathers statistics between epochs, say."""
    found = list(dict.fromkeys(loops)) if facts.trains else []
    return bool(found) and all(one is not None and one.takes_some and _evaluates(one) for one in found)


def pass_over(loader: BatchSource | None, inner: Loop | None) -> Loop | None:
    """The outermost of a loop and those around it that takes the batches of a loader: what goes over the parts of a
    batch within it is no pass of its own."""
    around = (inner, *inner.outer) if inner is not None else ()
    return next((one for one in reversed(around) if one is not None and loader in one.loaders), inner)


def _evaluates(loop: Loop) -> bool:
    return bool(loop.loaders) and not loop.backward
