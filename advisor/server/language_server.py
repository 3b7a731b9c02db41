"""The language server, ready to be started."""

from __future__ import annotations

from accel_advisor.server.advisor_server import TUNE, AdvisorServer
from accel_advisor.server.client_events import EVENTS
from accel_advisor.server.client_requests import ANSWERS


def language_server() -> AdvisorServer:
    """A server that knows all that a client may tell and ask."""
    server = AdvisorServer()
    for method, tell in EVENTS.items():
        server.feature(method)(tell)
    for method, (answer, options) in ANSWERS.items():
        server.feature(method, options)(answer)
    server.command(TUNE)(tune)
    return server


def tune(ls: AdvisorServer, script: str) -> None:
    """Starts a trial of a script."""
    ls.start_trial(script)
