"""Loaders of torch_geometric that take their batches out of one large graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.values import ABSENT, Constant, Module

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.loaders import LoaderCall


def are_gathered_elsewhere(facts: Facts, loader: LoaderCall) -> bool:
    """Whether what a loader's workers and its pinning thread see are no whole batches, or may be none: the program
    itself takes the features out of the graph, or the graph, or a part of it, is on an accelerator."""
    constructor = loader.constructor
    if not constructor.name.startswith("torch_geometric.loader.") or constructor.positional[0] == "dataset":
        return False
    return loader.get("filter_per_worker") not in (ABSENT, Constant(True)) or _is_moved(facts, loader)


def _is_moved(facts: Facts, loader: LoaderCall) -> bool:
    """Whether a statement outside of loops that mentions the loader's graph moves something that is no module."""
    given = (context.arguments.get(loader.constructor.positional[0]) for context in loader.contexts)
    graphs = {dotted(one.node.value) for one in given if one is not None and one.node is not None} - {""}
    return any(
        dotted(named) in graphs
        for transfer in facts.transfers
        if any(one.loop is None and not isinstance(one.receiver, Module) for one in transfer.contexts)
        for named in descendants(transfer.statement, cst.Name, cst.Attribute)
    )
