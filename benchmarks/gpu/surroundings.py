"""What all scripts of this folder need around them: accel-advisor itself, a GPU or a word that there is none, what is
said of the machine, and the file of the record."""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"


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


def provenance(found: dict[str, Any]) -> str:
    """When, at which commit and on what a record was measured, in words."""
    machine, versions = found["machine"], found["versions"]
    gpus = ", ".join(f"{gpu['name']} (driver {gpu['driver']})" for gpu in machine["gpus"]) or machine["device"]
    cores = f"{machine['cores']:g} cores of {machine['cpu']}"
    return f"{found['date']}, {found['commit']}, {gpus}, {cores}, torch {versions['torch']}"


def without_gpu(*, quick: bool, any_accelerator: bool = False) -> bool:
    """Whether there is no GPU for what is no quick proof; then it says so on stderr."""
    import torch

    there = torch.accelerator.is_available() if any_accelerator else torch.cuda.is_available()
    if quick or there:
        return False
    kind = "accelerator" if any_accelerator else "CUDA device"
    print(f"there is no {kind} here: --quick proves that the benchmark runs", file=sys.stderr)
    return True


def keep(path: Path | None, found: dict[str, Any]) -> None:
    """Writes what there is of a record so far, if it is to be written."""
    from accel_advisor.editing.fixer import write_atomically

    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, (json.dumps(found, indent=1, allow_nan=False) + "\n").encode())
