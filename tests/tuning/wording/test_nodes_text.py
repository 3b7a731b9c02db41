"""What is said of a trial over several nodes."""

from __future__ import annotations

from dataclasses import replace

from accel_advisor.tuning.nodes.node_messages import NodeFacts
from accel_advisor.tuning.wording.nodes_text import nodes_notes

A = NodeFacts("a", "1.0", "tune train.py", 2, "train.py", "ab", 0, 4.0, 1 << 30, None)
B = replace(A, name="b", cores=2.0)


def test_a_note_says_where_the_ranks_were_and_what_each_node_may_take() -> None:
    assert nodes_notes([A, B], written=False) == [
        "the trial took place on 2 nodes, ranks 0 and 1 on node a, ranks 2 and 3 on node b; the settings are the same "
        "on all, and each may take what the smallest has: 2 cores (node b), 1,024 MiB of memory (node a)"
    ]


def test_what_was_verified_where_is_said_of_a_change_alone() -> None:
    _, note = nodes_notes([A, B], written=True)
    assert note.startswith("old and new source ran on all 2 nodes; the change was written on node a")


def test_nothing_is_said_of_one_node() -> None:
    assert nodes_notes([], written=True) == []
