"""``accel-advisor server``."""

from __future__ import annotations

import gc
import os
from importlib.util import find_spec

import click

from accel_advisor.commands.failure import Failure


@click.command(short_help="Serve editors: findings, fixes and measured figures as you type.")
def server() -> None:
    """Speak the Language Server Protocol over stdin and stdout. Editors start this; docs/editors.md says how."""
    if find_spec("pygls") is None:
        raise Failure(
            "the language server needs pygls, which is not installed: install accel-advisor with its extra [server], "
            "in a clone of it with `pip install '.[server]'`"
        )
    gc.disable()  # it collects garbage itself, when an answer was given; what is imported is none
    from accel_advisor.server.language_server import language_server

    serving = language_server()
    serving.start_io()
    serving.stop()
    os._exit(0)  # without waiting for an answer that nobody will read
