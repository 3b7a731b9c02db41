"""The places of a document that a trial measures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.finding import Landmark, Sight

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts


def landmarks(facts: Facts) -> Iterator[Landmark]:
    """The calls that build loaders, and the loops whose own passes train."""
    document = facts.document
    for loader in dict.fromkeys(facts.loaders):
        if loader.basis.proven and loader.document is document:  # of another, no call is in sight
            yield Landmark(Sight.LOADER, document.filename, document.span(loader.node), loader.name)
    for loop in facts.loops:
        if loop.learns and isinstance(loop.node, cst.For) and loop.document is document:
            yield Landmark(Sight.LOOP, document.filename, document.span(loop.node))
