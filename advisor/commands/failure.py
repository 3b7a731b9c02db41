"""How the commands fail, and where they print to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console


class Failure(click.ClickException):
    """Wrong use, or a script that cannot be measured: one sentence on stderr, exit status 2."""

    exit_code = 2


def console_here() -> Console:
    """A terminal as it is; wide enough and without colour where the output goes elsewhere."""
    from rich.console import Console

    console = Console(highlight=False, emoji=False, markup=False)
    return console if console.is_terminal else Console(highlight=False, emoji=False, markup=False, width=160)
