"""Where the nodes of a trial meet: what torchrun's own options say, or what SLURM says of the job.

Options: https://pytorch.org/docs/stable/elastic/run.html. Variables of SLURM:
https://slurm.schedmd.com/srun.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

PORT = 29400
"""That torchrun takes where an endpoint names none."""
_PORTS = 1000
"""Jobs that share a node meet at different ports, by their numbers."""
_STATIC, _DYNAMIC = "static", "c10d"
_NODES = re.compile(r"[1-9]\d*(:[1-9]\d*)?")
_OUTSIDE = re.compile(r"(?:[^,\[]|\[[^\]]*\])+")
_RANGE = re.compile(r"\[([^\],-]+)[^\]]*\]")


class RendezvousError(ValueError):
    """Nodes cannot meet like that; the message is one sentence with the remedy."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options as they were given; None where one was not."""

    nodes: str = "1"
    backend: str | None = None
    endpoint: str | None = None
    name: str | None = None
    number: int | None = None
    host: str | None = None
    port: int | None = None

    def __bool__(self) -> bool:
        """Whether one was given that only several nodes need."""
        return any(
            one is not None for one in (self.backend, self.endpoint, self.name, self.number, self.host, self.port)
        )


@dataclass(frozen=True, slots=True)
class Rendezvous:
    """Where and how many.

    Attributes:
        nodes: how many there are.
        host, port: where the node that leads listens.
        name: of the run, as torchrun has it.
        number: of this node, if it is known; the node 0 leads.
        placed: whether that was said, and does not only follow from the order of a job's nodes: then this node leads
            or follows whatever host is named.
    """

    nodes: int
    host: str
    port: int
    name: str
    number: int | None = None
    placed: bool = False

    @property
    def endpoint(self) -> str:
        """As torchrun takes it."""
        return f"{self.host}:{self.port}"


def parse_nodes(text: str) -> int:
    """How many nodes ``--nnodes`` asks for.

    Raises:
        RendezvousError: it is no number, or a range, which only a training that goes on for long can use.
    """
    if _NODES.fullmatch(text) is None:
        raise RendezvousError(f"--nnodes {text}: give a number of nodes, as torchrun takes it")
    least, _, most = text.partition(":")
    if most and int(most) != int(least):
        raise RendezvousError(f"--nnodes {text}: the number of nodes stays the same for a trial: give one number")
    return int(least)


def rendezvous(asked: Asked, environment: Mapping[str, str], line: str) -> Rendezvous | None:
    """Where several nodes meet; None for a trial on one.

    Args:
        asked: the options.
        environment: of this process.
        line: how SLURM starts such a trial.

    Raises:
        RendezvousError: the options do not say it, or contradict each other.
    """
    nodes = parse_nodes(asked.nodes)
    if nodes == 1:
        return None
    backend = asked.backend or (_STATIC if asked.host is not None else _DYNAMIC)
    if backend not in (_STATIC, _DYNAMIC):
        raise RendezvousError(
            f"--rdzv-backend {asked.backend}: the nodes of a trial meet at one of themselves: give c10d or static, and "
            "its address with --rdzv-endpoint HOST:PORT"
        )
    if asked.number is not None and not 0 <= asked.number < nodes:
        raise RendezvousError(f"--node-rank {asked.number}: {nodes} nodes are counted from 0 to {nodes - 1}")
    if asked.host is not None and asked.endpoint is not None:
        raise RendezvousError("--master-addr and --rdzv-endpoint name the same place: give one of them")
    if backend == _STATIC and asked.number is None and "SLURM_NODEID" not in environment:
        raise RendezvousError("--rdzv-backend static: say with --node-rank which node this is; the first is 0")
    name = asked.name or environment.get("SLURM_JOB_ID") or "none"
    if asked.endpoint is not None or asked.host is not None:
        host, port = _endpoint(asked)
        placed = asked.number is not None
        number = asked.number if placed else _number(environment)
        return Rendezvous(nodes, host, port, name, number, placed or backend == _STATIC)
    return _of_slurm(asked, nodes, name, environment, line)


def _endpoint(asked: Asked) -> tuple[str, int]:
    if asked.endpoint is None:
        assert asked.host is not None
        return asked.host, asked.port or PORT
    host, colon, port = asked.endpoint.rpartition(":")
    if not colon or asked.endpoint.endswith("]"):
        host, port = asked.endpoint, str(PORT)
    host = host.strip("[]")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise RendezvousError(f"--rdzv-endpoint {asked.endpoint}: give HOST:PORT of the node that is to lead")
    return host, int(port)


def _of_slurm(asked: Asked, nodes: int, name: str, environment: Mapping[str, str], line: str) -> Rendezvous:
    """The first node of a job step leads."""
    listed = environment.get("SLURM_STEP_NODELIST", "")
    started = environment.get("SLURM_STEP_NUM_NODES", "")
    job, number = environment.get("SLURM_JOB_ID", ""), _number(environment)
    if not job:
        raise RendezvousError(
            f"--nnodes {nodes}: say where the nodes meet with --rdzv-endpoint HOST:PORT, a host and a free port of one "
            "of them, and run the same command on each; in a job of SLURM that is known"
        )
    if not listed or started != str(nodes) or number is None:
        found = f"{started} of them" if started else "one node"
        raise RendezvousError(f"--nnodes {nodes}: this runs on {found}: put `{line}` into the batch file")
    if environment.get("SLURM_STEP_NUM_TASKS") != str(nodes):
        raise RendezvousError(
            f"srun started {environment.get('SLURM_STEP_NUM_TASKS', 'several')} of these on {nodes} nodes, but each "
            f"node starts its ranks itself: put `{line}` into the batch file"
        )
    port = asked.port or PORT + (int(job) % _PORTS if job.isdigit() else 0)
    return Rendezvous(nodes, first_host(listed), port, name, number, True)


def _number(environment: Mapping[str, str]) -> int | None:
    text = environment.get("SLURM_NODEID", "")
    return int(text) if text.isdigit() else None


def first_host(listed: str) -> str:
    """The first of SLURM's list of hosts: ``gpu[07-12,15],login`` begins with ``gpu07``."""
    found = _OUTSIDE.match(listed)
    return _RANGE.sub(r"\1", found[0]) if found is not None else listed
