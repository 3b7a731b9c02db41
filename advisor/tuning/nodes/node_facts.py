"""What the nodes of a trial must have in common, and what the smallest of them has."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import accel_advisor
from accel_advisor.machine.machine import inspect_machine, mebibytes
from accel_advisor.tuning.nodes.node_messages import NodeFacts
from accel_advisor.tuning.search.settings import Limits
from accel_advisor.tuning.target.command import Command


def facts_of(command: Command, line: str, number: int | None) -> NodeFacts:
    """The facts of this node.

    Args:
        command: what is run.
        line: what is run and what is to be found out, in words.
        number: of this node, if it is known.
    """
    machine = inspect_machine()
    file = command.file
    return NodeFacts(
        name=os.environ.get("SLURMD_NODENAME") or socket.gethostname(),
        version=accel_advisor.__version__,
        line=line,
        ranks=command.ranks or 1,
        script=file.name,
        text=text_of(file),
        number=number,
        cores=float(machine.cores),
        memory=machine.memory_free,
        shared_memory=machine.shared_memory_free,
    )


def text_of(path: Path) -> str:
    """The SHA-256 of a file; empty where it cannot be read."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def stamp_of(path: Path) -> tuple[int, int]:
    """What two nodes see alike of one and the same file, and hardly ever of two."""
    try:
        state = path.stat()
    except OSError:
        return 0, 0
    return state.st_ino, state.st_mtime_ns


def distinct(nodes: Sequence[NodeFacts]) -> list[NodeFacts]:
    """The nodes under names that tell them apart: two may run on one machine."""
    names = [one.name for one in nodes]
    return [
        replace(one, name=f"{one.name} ({number})") if names.count(one.name) > 1 else one
        for number, one in enumerate(nodes)
    ]


def difference(nodes: Sequence[NodeFacts]) -> str:
    """In what nodes differ that must be the same, with the remedy, in one sentence; empty where they fit together."""
    first = nodes[0]
    for other in nodes[1:]:
        if other.version != first.version:
            return (
                f"node {first.name} runs accel-advisor {first.version} and node {other.name} {other.version}: install "
                "the same version on all nodes"
            )
        if other.ranks != first.ranks:
            return (
                f"node {first.name} starts {first.ranks} processes and node {other.name} {other.ranks}: give "
                "--nproc-per-node the same number on all nodes"
            )
        if other.line != first.line:
            return (
                f"the command lines of nodes {first.name} (`{first.line}`) and {other.name} (`{other.line}`) differ: "
                "run the same command on all nodes"
            )
        if other.text != first.text:
            return (
                f"{first.script} has one text on node {first.name} and another on node {other.name}: bring all nodes "
                "to the same, and start again"
            )
    return ""


def ranks_of(number: int, facts: NodeFacts) -> tuple[int, ...]:
    """The ranks of a node, by its number."""
    return tuple(range(number * facts.ranks, (number + 1) * facts.ranks))


def least(limits: Limits, nodes: Sequence[NodeFacts]) -> Limits:
    """The least that any of the nodes allows: the settings are the same on all, and must fit on each."""
    memory = [one for one in (limits.memory, *(each.memory for each in nodes)) if one is not None]
    shared = [one for one in (limits.shared_memory, *(each.shared_memory for each in nodes)) if one is not None]
    return replace(
        limits,
        cores=min(limits.cores, *(each.cores for each in nodes)),
        memory=min(memory),
        shared_memory=min(shared, default=None),
    )


def least_text(nodes: Sequence[NodeFacts]) -> str:
    """What each node may take, and of which of them that is the most."""
    cores = min(nodes, key=lambda one: one.cores)
    memory = min(nodes, key=lambda one: one.memory)
    parts = [f"{cores.cores:g} cores (node {cores.name})", f"{mebibytes(memory.memory)} of memory (node {memory.name})"]
    having = [one for one in nodes if one.shared_memory is not None]
    if having:
        shared = min(having, key=lambda one: one.shared_memory or 0)
        parts.append(f"{mebibytes(shared.shared_memory or 0)} of /dev/shm (node {shared.name})")
    return ", ".join(parts)
