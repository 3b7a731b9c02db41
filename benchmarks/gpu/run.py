"""Scores what `tune` chooses on a GPU against a grid, and puts the claims about pinned memory to the test.

    python benchmarks/gpu/run.py            with a GPU: under ten minutes, writes benchmarks/results/gpu.json
    python benchmarks/gpu/run.py --quick    small, on whatever machine: proves that it runs, and records nothing

It needs torch, Pillow and what accel-advisor depends on, and no network. Where accel-advisor is not installed, it is
found beside this file.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "gpu.json"
MINUTES = 8.5
"""For everything, so that ten are not reached."""
PATIENCE = 40.0
"""Seconds that a workload may take beyond its share of them; then whatever it started is ended."""
SAID = 200


def find_ourselves(folder: Path) -> None:
    """Lets this process, and those that it starts, import accel-advisor where it is not installed."""
    paths = [str(ROOT)]
    if find_spec("accel_advisor") is None:
        package = folder / "accel_advisor"  # laid out as pyproject.toml has it
        package.mkdir()
        for part in (*(ROOT / "advisor").iterdir(), ROOT / "rules"):
            (package / part.name).symlink_to(part)
        paths.append(str(folder))
    sys.path[:0] = paths
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])])


def overdue(*_: object) -> None:
    """Something hangs: ends it.

    Raises:
        TimeoutError: always.
    """
    import psutil

    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    raise TimeoutError("it took too long, and was ended")


def about(kind: str) -> dict[str, Any]:
    """Where, when and with what."""
    import torch

    from accel_advisor.machine.gpus import gpus
    from accel_advisor.machine.machine import inspect_machine
    from benchmarks.recording import commit, processor, today

    machine = inspect_machine()
    here = {"cpu": processor(), "cores": machine.cores, "system": platform.system()}
    found = [{"name": gpu.name, "driver": gpu.driver, "memory": gpu.memory} for gpu in gpus()]
    try:
        torch_version = version("torch")
    except PackageNotFoundError:
        torch_version = torch.__version__
    return {
        "machine": here | {"device": kind, "gpus": found, "shared_memory": machine.shared_memory_total},
        "date": today(),
        "commit": commit(),
        "versions": {"python": platform.python_version(), "torch": torch_version, "cuda": torch.version.cuda},
    }


def run(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Everything, within the time; what there is of it is written after each workload."""
    import torch

    from accel_advisor.machine.bandwidth import measure
    from accel_advisor.machine.machine import inspect_machine
    from accel_advisor.tuning.trial.trial_errors import TrialError
    from benchmarks.gpu import fetches, races
    from benchmarks.gpu.scoring import score
    from benchmarks.gpu.workloads import make_data, trainings

    signal.signal(signal.SIGALRM, overdue)
    deadline = time.monotonic() + 60 * options.minutes
    device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    found = about(device.type if device is not None else "cpu") | {"quick": options.quick, "workloads": {}}
    print("making data", flush=True)
    make_data(folder, photos=48 if options.quick else 512, documents=100 if options.quick else 2000)
    copies = measure()
    found["copies"] = copies if isinstance(copies, str) else copies.sentence
    print(found["copies"], flush=True)
    write = partial(_write, options.json, found)
    for name, measured in ((races.NAME, races.race), (fetches.NAME, fetches.fetches)):
        if options.only and name not in options.only:
            continue
        print(name, flush=True)
        try:
            found[name] = measured(folder / name, quick=options.quick)
        except TrialError as error:
            found[name] = {"failed": error.reason[:SAID]}
            print(f"    failed: {error}", flush=True)
        write()
    workloads = trainings(folder, int(inspect_machine().cores), quick=options.quick)
    workloads = tuple(one for one in workloads if not options.only or one.name in options.only)
    for number, workload in enumerate(workloads):
        print(workload.name, flush=True)
        began = time.monotonic()
        share = max(0.0, deadline - began) / (len(workloads) - number)
        signal.setitimer(signal.ITIMER_REAL, share + PATIENCE)
        try:
            result = score(workload, began + share, quick=options.quick)
        except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as error:
            result = {"about": workload.about, "failed": str(error)[:SAID]}  # the others are worth having
            print(f"    failed: {error}", flush=True)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        found["workloads"][workload.name] = result | {"seconds": round(time.monotonic() - began, 1)}
        write()
    return found


def _write(path: Path | None, found: dict[str, Any]) -> None:
    """What there is so far."""
    from accel_advisor.editing.fixer import write_atomically

    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, (json.dumps(found, indent=1, allow_nan=False) + "\n").encode())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small, for a proof; written only with --json")
    parser.add_argument("--json", type=Path, metavar="FILE", help="what to write; else the recorded result")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="only this workload, fixes, or fetches"
    )
    parser.add_argument("--minutes", type=float, default=MINUTES, help="for everything")
    options = parser.parse_args()
    for name in ("torch", "PIL"):
        if find_spec(name) is None:
            print(f"{name} is missing here, and the scripts that are timed need it", file=sys.stderr)
            return 2
    import torch

    if not options.quick:
        if not torch.accelerator.is_available():
            print("there is no accelerator here: --quick proves that the benchmark runs", file=sys.stderr)
            return 2
        options.json = options.json or RESULTS
    with tempfile.TemporaryDirectory(prefix="gpu-benchmark-") as name:
        find_ourselves(Path(name))
        from benchmarks.gpu.scoring import tables

        found = run(options, Path(name) / "data")
        print(f"\n{tables(found)}")
    return 1 if any("failed" in one for one in (*found["workloads"].values(), found.get("fixes", {}))) else 0


if __name__ == "__main__":
    sys.exit(main())
