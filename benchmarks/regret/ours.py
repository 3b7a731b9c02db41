"""What `accel-advisor tune --apply` leaves in the source, and how well it knew what that would bring."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from accel_advisor.tuning.search.settings import arguments

from .project import Project
from .workloads import Workload

LIMIT = 600.0
"""Seconds after which a run that hangs is ended."""


def ours(workload: Workload, startup: float, *, quick: bool) -> dict[str, Any]:
    """One run on a project of its own. ``startup`` is what the script takes to its first step, in seconds."""
    with Project(workload) as project:
        report = project.outside / "record.json"
        command = [str(Path(sys.executable).with_name("accel-advisor")), "tune", "train.py", "--apply"]
        command += ["--json", str(report), *(["--budget", "12"] if quick else [])]
        ran = project.run(command, LIMIT)
        found: dict[str, Any] = {
            "settings": arguments(project.settings()),
            "launches": project.launches,
            "seconds": round(ran.seconds, 1),
            "beyond_startup": round(ran.seconds - startup, 1),
            "changed": project.changed(),
            "words": ran.last_words,
        }
        if not report.exists():
            return found | {"failed": ran.last_words or f"exit status {ran.status}"}
        said = json.loads(report.read_text())
        trained = said["loaders"][0]
        verification = said["verification"]
        return found | {
            "words": said["sentence"],
            "recommended": trained["recommended"]["settings"],
            "predicted": trained["gain"],
            "verified": said["verified"],
            "verification": verification and verification["gain"],
            "refused": verification["reason"] if verification else said["kept"],
            "notes": said["notes"],
            "tried": [
                [row["settings"]["num_workers"], row["settings"]["prefetch_factor"], row["rate"], row["blocks"]]
                for row in said["tried"]
            ],
        }
