"""Where a run of the command stands among those of the other nodes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """What torchrun's agent of a node is given, by the names of its own options.

    The ranks stay the same from run to run, so that what a rank is like can be seen over all of them: the rendezvous is
    the static one, which takes the numbers of nodes that it is given.

    Attributes:
        number: of the node; the ranks of the node 0 come first.
        nodes: how many there are.
        endpoint: where the agents meet, ``HOST:PORT``.
        name: of the run.
    """

    number: int
    nodes: int
    endpoint: str
    name: str
