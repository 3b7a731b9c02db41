"""What the nodes of a trial say to each other: plain frozen data, of which no field is code.

The node that leads decides, and the others follow: each of them starts its own command, on its own files. What they are
sent is which settings to measure, never what to run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from accel_advisor.tuning.probe.channel.wire import Settings


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """The first word of a node: what must be the same on all of them, and what its own limits are.

    Attributes:
        name: of the node, for people.
        version: of accel-advisor.
        line: what it was asked to run and to find out, as words of a command line.
        ranks: processes of the training on it.
        script: name of the file that is run, and ``text`` the SHA-256 of it; empty where the file is not known.
        number: of the node, where SLURM or the user gave one.
        cores: usable cores.
        memory: bytes that are free.
        shared_memory: bytes that are free in /dev/shm; None where there is none.
    """

    name: str
    version: str
    line: str
    ranks: int
    script: str
    text: str
    number: int | None
    cores: float
    memory: int
    shared_memory: int | None


@dataclass(frozen=True, slots=True)
class Met:
    """All nodes are there and fit together: their names by number, that of the node that leads first."""

    names: tuple[str, ...]
    number: int


@dataclass(frozen=True, slots=True)
class FileText:
    """A file of the script as one node has it.

    Attributes:
        name: relative to the project.
        before, after: the SHA-256 of what it holds, and of what a rewrite makes of it.
        stamp: its number and the time of its last change, which are the same where nodes see the same file.
    """

    name: str
    before: str
    after: str
    stamp: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Rewriting:
    """From now on runs may be shown the source with other settings: each node makes the change to its own files, and
    sees whether they become what those of the node that leads become."""

    baseline: Settings
    settings: Settings
    files: tuple[FileText, ...]


@dataclass(frozen=True, slots=True)
class Agreed:
    """The answer to :class:`Rewriting`: empty where it can be done, else why not, in words."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class StartRun:
    """Start the command.

    Attributes:
        port: on the host of the rendezvous, where torchrun's own agents meet.
        extend: never end an epoch.
        shown: the files to be shown in place of those on the disk: name relative to the project, and SHA-256.
        seconds: after which it is ended in any case.
    """

    port: int
    extend: bool
    shown: tuple[tuple[str, str], ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class FromRank:
    """What a rank of a node says, to be heard by the node that leads."""

    rank: int
    message: Any


@dataclass(frozen=True, slots=True)
class ToRank:
    """A message to a rank."""

    rank: int
    message: Any


@dataclass(frozen=True, slots=True)
class RankGone:
    """The connection of a rank has ended."""

    rank: int


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The command of a node has ended: its exit status, why it could not be started at all, and the end of what it
    wrote to stderr."""

    status: int | None
    failure: str
    errors: str


@dataclass(frozen=True, slots=True)
class RunRefused:
    """A node cannot go on with a run, and why, in words."""

    reason: str


@dataclass(frozen=True, slots=True)
class EndRun:
    """End the command, with all that came from it."""


@dataclass(frozen=True, slots=True)
class RunClosed:
    """Nothing of the run is left on a node; paths as a trial has them."""

    contained: tuple[str, ...]
    leaked: tuple[str, ...]
    restored: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Over:
    """The last word of the node that leads.

    Attributes:
        status: the exit status of all nodes.
        sentence: what came out, or why nothing did.
        failed: whether the sentence is of an error.
        changed: whether the files of the last :class:`Rewriting` were changed on the disk of the node that leads.
    """

    status: int
    sentence: str
    failed: bool = False
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Leaving:
    """A node that follows leaves, and why, in words."""

    reason: str


@dataclass(frozen=True, slots=True)
class Alive:
    """A node is there, although it has nothing to say."""
