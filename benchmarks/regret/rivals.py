"""train-doctor 0.2.0 and loadtune 0.3.0, run as their READMEs say, in an environment of their own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.settings import arguments

from .project import Project
from .workloads import LAUNCHES, Workload

PACKAGES = ("torch==2.13.0", "train-doctor==0.2.0", "loadtune==0.3.0")
LIMIT = 300.0
"""Seconds after which a rival is ended, with what it has said by then."""

LOADTUNE_WORKLOAD = """\
import torch
from loadtune import Workload

import train


def train_step(model, optimizer, batch, device):
    return train.train_step(model, optimizer, batch)


def get_workload():
    return Workload(
        name="{name}",
        make_dataset=train.Data,
        make_model=lambda: torch.nn.Linear(16, 2),
        train_step=train_step,
        make_optimizer=lambda model: torch.optim.SGD(model.parameters(), lr=0.01),
        default_batch_size={batch},
        collate_fn={collate},
    )
"""
"""What loadtune needs in place of the script. It takes the data set, the step and the collate function from the script
itself, so that nothing is lost; a loop, a sampler or a start method it has no place for."""


def environment(folder: Path) -> Path:
    """The interpreter of an environment with the rivals, which is made where it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES, "pillow"], check=True)
    return python


def train_doctor(workload: Workload, startup: float, python: Path) -> dict[str, Any]:
    """``train-doctor fix --keep -- python train.py``: what is in the script afterwards."""
    with Project(workload) as project:
        command = [str(python.with_name("train-doctor")), "fix", "--keep", "--", str(python), "train.py"]
        ran = project.run(command, LIMIT)
        found = _account(project, ran.seconds, startup) | {"settings": arguments(project.settings())}
        reports = sorted(project.folder.glob(".train-doctor/runs/*/fix.json"))
        if not reports:
            return found | {"failed": _unfinished(ran.status, ran.last_words)}
        said = json.loads(reports[-1].read_text())
        proven = said.get("proven")
        return found | {
            "words": said["headline"],
            "predicted": proven
            and {key: proven["ratio"][name] for key, name in (("ratio", "point"), ("low", "low"), ("high", "high"))},
        }


def loadtune(workload: Workload, startup: float, python: Path) -> dict[str, Any]:
    """``loadtune tune workload.py --apply``: what it calls best, as if a person had carried that over into the script.

    It starts from no workers unless a number is given, so it is given.
    """
    with Project(workload) as project:
        collate = "train.collate" if "collate_fn=" in workload.arguments else "None"
        path = project.folder / "workload.py"
        path.write_text(LOADTUNE_WORKLOAD.format(name=workload.name, batch=workload.batch, collate=collate))
        # It never launches the script, so a launch is a run of the workload.
        path.write_text(path.read_text() + COUNTED.format(launches=LAUNCHES))
        raw = project.outside / "raw.json"
        command = [str(python.with_name("loadtune")), "tune", "workload.py", "--apply", "--save-raw", str(raw)]
        command += ["--workers", str(workload.baseline.num_workers)] if workload.baseline.num_workers else []
        ran = project.run(command, LIMIT)
        found = _account(project, ran.seconds, startup)
        found["changed"] = [name for name in found["changed"] if name != "workload.py"]
        if not raw.exists():
            words = re.findall(r"^(\w*(?:Error|Exception)\b.*)$", ran.output, re.MULTILINE)
            words += [line for line in ran.output.splitlines() if "proposed no trials" in line]
            return found | {
                "settings": arguments(workload.baseline),
                "failed": _unfinished(ran.status, words[-1] if words else ran.last_words),
            }
        said = json.loads(raw.read_text())
        ratio, knobs = _best(said)
        return found | {
            "settings": arguments(_settings(knobs, workload.baseline)),
            "words": next(
                (line for line in reversed(ran.output.splitlines()) if "best overall" in line), ran.last_words
            ),
            "predicted": {"ratio": ratio, "low": None, "high": None},
            "beside": {name: knobs[name] for name in ("num_threads", "compile", "amp") if knobs.get(name)},
        }


COUNTED = """

def _launched():
    import os
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as launches:
        launches.sendto(b".", os.environ["{launches}"])


_launched()
"""

RIVALS: dict[str, Callable[[Workload, float, Path], dict[str, Any]]] = {
    "train-doctor": train_doctor,
    "loadtune": loadtune,
}


def _account(project: Project, seconds: float, startup: float) -> dict[str, Any]:
    return {
        "launches": project.launches,
        "seconds": round(seconds, 1),
        "beyond_startup": round(seconds - startup, 1),
        "changed": project.changed(),
    }


def _unfinished(status: int | None, words: str) -> str:
    return f"ended after {LIMIT:.0f} s" if status is None else words or f"exit status {status}"


def _best(said: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    """The gain and the knobs of the fastest trial; 1 and the baseline's where none is faster."""
    baseline = said["baseline"]
    best, knobs = float(baseline["throughput"]), dict(baseline["knobs"])
    for trial in said["trials"]:
        rate = (trial["result"] or {}).get("throughput") or 0.0
        if rate > best:
            best, knobs = rate, dict(trial["knobs"])
    return round(best / float(baseline["throughput"]), 4), knobs


def _settings(knobs: dict[str, Any], baseline: Settings) -> Settings:
    count = int(knobs["num_workers"])
    if count == baseline.num_workers and not knobs["persistent_workers"] and knobs["prefetch_factor"] is None:
        return baseline
    return Settings(count, knobs["prefetch_factor"] if count else None, bool(knobs["persistent_workers"] and count))
