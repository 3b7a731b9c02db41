"""What is said of a trial that took place on several nodes."""

from __future__ import annotations

from collections.abc import Sequence

from accel_advisor.tuning.nodes.node_facts import least_text, ranks_of
from accel_advisor.tuning.nodes.node_messages import NodeFacts
from accel_advisor.tuning.trial.reason_text import ranks_text


def nodes_notes(nodes: Sequence[NodeFacts], *, written: bool) -> list[str]:
    """What a person must know of several nodes; nothing of one.

    Args:
        nodes: that which leads first.
        written: whether the source was changed.
    """
    if not nodes:
        return []
    places = [f"{ranks_text(ranks_of(number, one))} on node {one.name}" for number, one in enumerate(nodes)]
    notes = [
        f"the trial took place on {len(nodes)} nodes, {', '.join(places)}; the settings are the same on all, and each "
        f"may take what the smallest has: {least_text(nodes)}"
    ]
    if written:
        notes.append(
            f"old and new source ran on all {len(nodes)} nodes; the change was written on node {nodes[0].name}, and "
            "each node says whether it sees it"
        )
    return notes
