"""How many passes a loop takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.given import Given


def passes_of(facts: Facts, loop: Loop) -> int | None:
    """The passes of a loop over a range, unless options of the command line ask for others; None where nothing is known
    of its end. Where a formula has one of them (``args.epochs + 1``), the number that it begins from."""
    return max(filter(None, map(_length, _iterated(facts, loop))), default=None)


def _iterated(facts: Facts, loop: Loop) -> Iterator[Given]:
    """What a loop goes over, and what calls around that are given first, as those that show how far it is."""
    inside = {id(one) for one in descendants(loop.node.iter, cst.Call)} if isinstance(loop.node, cst.For) else ()
    for known in facts.program:
        for operation in known.operations if known.document is loop.document else ():
            if operation.node is loop.node and operation.what is Act.GOES_OVER:
                yield from (context.subject for context in operation.contexts)
            elif id(operation.node) in inside:
                yield from (one for context in operation.contexts for one in context.positional[:1])


def _length(iterated: Given) -> int | None:
    """The numbers that a range has."""
    made = iterated.made_by
    if made != "range" and not (made.startswith("tqdm.") and made.endswith("trange")):
        return None
    limits = [_number(one) for one in iterated.positional[:2]]
    if not limits or limits[-1] is None:
        return None
    return limits[-1] - ((limits[0] or 0) if len(limits) > 1 else 0)


def _number(value: Given) -> int | None:
    """The largest whole number that something is by default, or that its formula begins with."""
    known = [one.default.literal for given in value.alternatives for one in (given, *given.positional[:1])]
    return max((one for one in known if isinstance(one, int)), default=None)
