"""Puts the child together: the wire, the overlay, the hooks, and the user's command between them."""

from __future__ import annotations

import os
import sys
from multiprocessing.connection import Client, Connection
from typing import Any, NoReturn

from accel_advisor.tuning.probe.channel.connection import ParentLink
from accel_advisor.tuning.probe.channel.reasons import KnobRefused
from accel_advisor.tuning.probe.channel.wire import Refused, ScriptEnded
from accel_advisor.tuning.probe.containment.other_processes import Elsewhere
from accel_advisor.tuning.probe.containment.overlay import Overlay
from accel_advisor.tuning.probe.containment.patches import Containment
from accel_advisor.tuning.probe.hooks import STATEFUL, Hooks
from accel_advisor.tuning.probe.knobs.training_knobs import Plan
from accel_advisor.tuning.probe.measuring.meter import Meter
from accel_advisor.tuning.probe.measuring.seen_loaders import Records
from accel_advisor.tuning.probe.script import runner
from accel_advisor.tuning.probe.script.import_watch import TORCH, ImportHook, import_without_collection
from accel_advisor.tuning.probe.server import Server
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining


class Child:
    """The user's process, under the probe.

    Args:
        plan: what the parent wants, as :mod:`accel_advisor.tuning.trial.child_process` writes it.
    """

    def __init__(self, plan: dict[str, Any]) -> None:
        self._plan = plan
        address = plan["address"]  # JSON made a list of a host and its port
        connection = Client(address if isinstance(address, str) else tuple(address), authkey=bytes.fromhex(plan["key"]))
        assert isinstance(connection, Connection)
        ranks = plan["ranks"]
        overlay = Overlay(plan["scratch"], fresh=ranks is None)
        if ranks is None:
            self._session = ParentLink(connection, overlay.contained)
        else:
            self._session = ParentLink(connection, overlay.contained, rank=int(os.environ["RANK"]), ranks=plan["world"])
        self._records = Records()
        meter = Meter()
        server = Server(
            self._session,
            self._records,
            meter,
            Elsewhere(plan["scratch"]),
            extend_epochs=plan["extend_epochs"],
            awaits_loader=plan["awaits_loader"],
        )
        self._server = server
        if not plan["ranks"]:  # ranks are processes that train, each under a probe of its own
            self._session.beats = server.look_elsewhere
        import_without_collection(*TORCH)
        Containment(overlay).install()
        hooks = Hooks(server, self._records, meter)
        ImportHook("torch", hooks.install).install()
        if plan["knob"] is not None:
            comparison = Plan.from_json(plan["knob"])
            training = ComparedTraining(self._refuse, comparison.loader)
            self._session.turned = training.outcome
            ImportHook("torch", lambda: comparison.install(training)).install()
        ImportHook(STATEFUL, hooks.install_stateful).install()

    def _refuse(self, reason: str) -> NoReturn:
        self._session.refuse(Refused(KnobRefused(reason)))

    def run(self) -> None:
        """Run the user's command to its end, and report it."""
        plan = self._plan
        ending = runner.run(plan["script"], plan["module"], plan["args"], plan["cwd"], plan["notebook"])
        trained = self._server.plain is not None or any(record.credits for record in self._records.all)
        self._session.send(
            ScriptEnded(
                status=ending.status, traceback=ending.traceback, batches=self._session.batches, trained=trained
            )
        )
        sys.exit(ending.status)
