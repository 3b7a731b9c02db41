"""Models of a program with several processes that all of them move to the first GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from accel_advisor.records.actions import AnyCall
from accel_advisor.syntax.shapes import main_guards

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.transfers import Transfer


def moved_to_the_first(facts: Facts, beginning: Operation) -> Iterator[Transfer]:
    """The moves of models to a CUDA device that is not numbered, or to the first one, in a program that begins a
    process group; those of other scripts, from which nothing is seen to lead there, aside."""
    ways = {site.document for way in beginning.ways for site in way} | {beginning.document}
    for each in facts.program:
        if each.document in ways or not main_guards(each.document.tree):
            done = {id(one.node): one for one in each.operations_of(AnyCall("cuda"), AnyCall("to"))}
            for move in filter(_goes_to_the_first, each.transfers):
                known = done.get(id(move.node))
                if known is None or not _is_for_those_without(beginning, known):
                    yield move


def _is_for_those_without(beginning: Operation, move: Operation) -> bool:
    """Whether a model is only moved where no process group is begun, as in the ``else`` of what asks for one."""
    begun, moved = ([one.conditions for one in each.contexts] for each in (beginning, move))
    top = beginning.function is None and move.function is None and beginning.document is move.document
    return bool(begun and moved) and all(
        any(one.excludes(other, top=top) for one in before for other in after) for before in begun for after in moved
    )


def _goes_to_the_first(transfer: Transfer) -> bool:
    if transfer.method not in ("to", "cuda") or not transfer.contexts:
        return False
    unnumbered = transfer.method == "cuda" and not transfer.node.args
    return all(
        context.moved.module is not None and (unnumbered or context.device.is_first_device)
        for context in transfer.contexts
    )
