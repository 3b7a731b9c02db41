"""The part of ``tune`` that belongs to several nodes: its options, the meeting, and how each node ends."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from accel_advisor.commands.failure import Failure
from accel_advisor.tuning.nodes.rendezvous import Asked, Rendezvous, RendezvousError, rendezvous
from accel_advisor.tuning.target.launcher import slurm_line

if TYPE_CHECKING:
    from accel_advisor.tuning.nodes.lead import Lead
    from accel_advisor.tuning.nodes.meeting import Follows, Leads
    from accel_advisor.tuning.record.outcome import Outcome
    from accel_advisor.tuning.target.command import Command
    from accel_advisor.tuning.trial.interrupts import Interrupts
    from accel_advisor.tuning.tuner import Options

_ASKED = "accel_advisor.nodes"
_RUN_SPARE = 120.0
"""Seconds that a run may take on a node beyond what the node that leads should need."""
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Interrupted(Failure):
    """The user cut the run short; the exit status is that of shells."""

    exit_code = 128 + signal.SIGINT


def _note(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    ctx.meta.setdefault(_ASKED, {})[parameter.name] = value


def _option(flag: str, name: str, metavar: str, words: str, **more: Any) -> Callable[[Decorated], Decorated]:
    return click.option(flag, name, metavar=metavar, help=words, callback=_note, expose_value=False, **more)


_PORTS = click.IntRange(1, 65535)
_OPTIONS = (
    _option("--nnodes", "nodes", "N", "Run the trial on N nodes; start this command on each of them.", default="1"),
    _option(
        "--rdzv-endpoint",
        "endpoint",
        "HOST:PORT",
        "Where the nodes meet; the node HOST leads. In a job step of SLURM its first node does, by itself.",
    ),
    _option("--rdzv-id", "name", "ID", "Of the run, as torchrun has it."),
    _option("--rdzv-backend", "backend", "NAME", "c10d, or static where --node-rank says which node this is."),
    _option("--node-rank", "number", "K", "Which node this is, from 0; the node 0 leads.", type=int),
    _option("--master-addr", "host", "HOST", "As --rdzv-endpoint, with --master-port."),
    _option("--master-port", "port", "PORT", "As --rdzv-endpoint, with --master-addr.", type=_PORTS),
)


def node_options(command: Decorated) -> Decorated:
    """The options of several nodes, by the names that torchrun has for them; :func:`asked_of` has what was given."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def asked_of(ctx: click.Context) -> Asked:
    """What the options of several nodes ask for."""
    return Asked(**ctx.meta[_ASKED])


def meeting_place(asked: Asked, own: list[str]) -> Rendezvous | None:
    """Where the nodes meet; None for a trial on one node.

    Args:
        own: the words of the command as they were given, without its name.

    Raises:
        Failure: the options do not say it.
    """
    try:
        nodes = asked.nodes
        line = slurm_line(own, int(nodes)) if nodes.isascii() and nodes.isdigit() else ""
        found = rendezvous(asked, os.environ, line)
    except RendezvousError as error:
        raise Failure(str(error)) from error
    if found is None and asked:
        raise Failure("nodes that meet are counted with --nnodes N: give it, too, or leave the rendezvous out")
    return found


@contextmanager
def together(
    ctx: click.Context,
    where: Rendezvous | None,
    command: Command,
    root: Path,
    options: Options,
    interrupts: Interrupts,
) -> Iterator[Lead | None]:
    """The other nodes, on the one that leads; None for a trial on one node. On a node that follows all that there is to
    do is done before this is open, and it never is.

    Raises:
        Failure: the nodes do not come together, or the one that leads failed.
    """
    if where is None:
        yield None
        return
    from accel_advisor.tuning.nodes.meeting import Follows, MeetingError, meet
    from accel_advisor.tuning.nodes.meeting_key import KeyFaultError
    from accel_advisor.tuning.nodes.node_facts import facts_of, least_text

    try:
        with terminable(), interrupts.heeded():
            met = meet(where, facts_of(command, _line(command, options), where.number), options.start_timeout, _say)
            if isinstance(met, Follows):
                _follow(ctx, command, root, where, met)
    except (MeetingError, KeyFaultError) as error:
        raise Failure(f"--nnodes {where.nodes}: {error}") from error
    except KeyboardInterrupt:
        raise Interrupted("interrupted; nothing was changed by this node") from None
    assert not isinstance(met, Follows)
    names = [one.name for one in met.nodes]
    _say(
        f"Nodes {', '.join(names[:-1])} and {names[-1]} have met. Each may take what the smallest has: "
        f"{least_text(met.nodes)}."
    )
    with _leading(met, where, root, options) as lead:
        yield lead


@contextmanager
def _leading(met: Leads, where: Rendezvous, root: Path, options: Options) -> Iterator[Lead]:
    """The other nodes, which are sent the result at the end."""
    from accel_advisor.tuning.nodes.lead import Lead
    from accel_advisor.tuning.nodes.node_messages import Over
    from accel_advisor.tuning.search.allowance import whole

    lead = Lead(met, where, root, options.start_timeout + whole(options.budget) + _RUN_SPARE)
    over = Over(Failure.exit_code, f"node {met.nodes[0].name}, which leads, was ended", True)
    try:
        yield lead
        over = Over(0, lead.answer, False, lead.changed)
    except Failure as error:
        over = Over(error.exit_code, f"node {met.nodes[0].name}: {error.message}", True, lead.changed)
        raise
    except click.exceptions.Exit as error:
        over = Over(error.exit_code, lead.answer, False, lead.changed)
        raise
    finally:
        lead.close(over)


def _follow(ctx: click.Context, command: Command, root: Path, where: Rendezvous, met: Follows) -> None:
    """Follows to the end, and ends this process as the node that leads ends.

    Raises:
        Failure: that node failed, or is gone.
    """
    from accel_advisor.tuning.follower import Follower

    _say(f"Node {met.name} follows node {met.names[0]}.")
    with Follower(command, root, where, met) as follower:
        verdict = follower.follow()
    if verdict.failed:
        raise (Interrupted if verdict.status == Interrupted.exit_code else Failure)(verdict.sentence)
    click.echo(verdict.sentence)
    ctx.exit(verdict.status)


def answer_of(outcome: Outcome) -> str:
    """What came out, in a sentence for the nodes that follow."""
    from accel_advisor.tuning.record.outcome_record import recorded
    from accel_advisor.tuning.search.settings import describe
    from accel_advisor.tuning.showing.summary import verdict
    from accel_advisor.tuning.wording.figures import interval_text
    from accel_advisor.tuning.wording.kept_text import verdict_text

    record = recorded(outcome)
    choice, gain = record.trained.recommended, record.trained.gain
    if record.kept is not None or choice is None:
        return verdict_text(record.verdict, record.kept or "")
    measured = f", {interval_text(gain)} as fast" if gain is not None else ""
    result = record.verification
    done = f" {verdict(record, result)}" if result is not None else ""
    return f"{describe(choice.settings)}{measured}.{done}"


def _line(command: Command, options: Options) -> str:
    """What is run and what is to be found out: the same on all nodes."""
    words = ["accel-advisor", "tune", "--knobs", ",".join(sorted(options.knobs)), "--budget", f"{options.budget:g}"]
    words += ["--seed", str(options.seed)]
    words += [f"--{name}" for name in ("apply", "explain") if getattr(options, name)]
    if command.module is not None:
        words += ["-m", command.module]
    elif command.script is not None:
        script = command.cwd / command.script
        words.append(str(script.relative_to(command.cwd)) if script.is_relative_to(command.cwd) else str(script))
    return shlex.join([*words, *(["--", *command.args] if command.args else [])])


def _say(words: str) -> None:
    click.echo(words, err=True)


@contextmanager
def terminable() -> Iterator[None]:
    """A polite request to end unwinds the stack, so that trials end and files go back."""

    def end(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    # A signal that whoever started this chose to ignore, as nohup does, stays ignored.
    found = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [number for number in found if signal.getsignal(number) == signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
