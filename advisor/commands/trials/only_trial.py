"""One trial at a time, as the command has it: refuse or wait, and say so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

from accel_advisor.commands.failure import Failure
from accel_advisor.commands.trials.tuning_nodes import Interrupted

if TYPE_CHECKING:
    from accel_advisor.tuning.trial.interrupts import Interrupts


@contextmanager
def only_trial(wait: bool, interrupts: Interrupts) -> Iterator[None]:
    """While no other trial runs on this machine.

    Raises:
        Failure: one does, and this one is not to ``wait`` for it.
        Interrupted: it was to, and Ctrl-C came.
    """
    from accel_advisor.tuning.trial.machine_lock import MachineBusy, machine_lock

    def waiting(busy: MachineBusy) -> None:
        click.echo(f"{busy}: waiting until it has ended.", err=True)

    with ExitStack() as held:
        try:
            with interrupts.heeded():
                held.enter_context(machine_lock(waiting if wait else None))
        except MachineBusy as busy:
            spoiled = "each would take the other's cores and spoil both answers"
            remedy = "try again when it has ended, or let this one wait with --wait"
            raise Failure(f"{busy}, and {spoiled}: {remedy}") from busy
        except KeyboardInterrupt:
            raise Interrupted("interrupted while it waited for another trial; nothing was changed") from None
        yield
