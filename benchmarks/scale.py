"""What a lint of a large project costs: from nothing, on two cores, after an edit from the shell and in memory, and in
projects of ten to thousands of modules.

    python -m benchmarks.scale FOLDER --json benchmarks/results/scale.json

FOLDER is where huggingface/peft is cloned to, or stands already as ``huggingface+peft`` at the recorded commit. It is
copied, and each edit is made in the copy. Figures are medians; processor time is that of the command and of all its
processes; one core and two are compared in turns. Recorded beside each figure is whether it holds what was aimed at.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from accel_advisor.library.engine import Engine
from benchmarks.checkouts import clone, folder_of
from benchmarks.recording import keep, machine

REPOSITORY, COMMIT = "huggingface/peft", "5d602fdbff04c33c1c4de55cda9d4ae1d7cb7e40"
LEAF = Path("examples", "feature_extraction", "peft_lora_embedding_semantic_search.py")
IMPORTED = Path("src", "peft", "utils", "other.py")
EDIT = "\nedited_{number} = {number}\n"
IMPORTS = 3
"""Other modules that a module of a generated project imports."""
MODULE = '''\
"""Module {number} of a generated project."""

import torch
from torch import nn
{imports}

class Block{number}(nn.Module):
    def __init__(self, width={width}):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, values):
        return self.second(torch.relu(self.first(values))){calls}


def scaled_{number}(values, factor={number}):
    total = 0
    for index, value in enumerate(values):
        if index % 2:
            total += value * factor
        else:
            total -= value
    return total


def train_{number}(model, loader, optimizer, device):
    for inputs, targets in loader:
        outputs = model(inputs.to(device))
        loss = nn.functional.mse_loss(outputs, targets.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
'''


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of the command took.

    Attributes:
        elapsed: seconds from its start to its end.
        cpu: seconds of processor time, its processes included.
        peak: the most memory that one of them held, in MiB.
    """

    elapsed: float
    cpu: float
    peak: float


def lint(folder: Path, *options: str) -> Cost:
    """Lints a folder from a process of its own, as the shell does.

    Raises:
        subprocess.CalledProcessError: the command failed.
    """
    command = [sys.executable, "-m", "accel_advisor", "lint", "--exit-zero", *options, "."]
    began = time.monotonic()
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return Cost(time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def median(costs: Iterable[Cost], what: str) -> float:
    """The median of one figure of several runs."""
    return round(statistics.median(getattr(one, what) for one in costs), 3)


def from_nothing(project: Path, rounds: int) -> dict[str, Any]:
    """A lint without a cache, on one core and on two, in turns."""
    one, two = [], []
    for _ in range(rounds):
        one.append(lint(project, "--no-cache", "--jobs", "1"))
        two.append(lint(project, "--no-cache", "--jobs", "2"))
    ratios = [alone.elapsed / both.elapsed for alone, both in zip(one, two, strict=True)]
    return {
        "cpu_seconds": median(one, "cpu"),
        "peak_mib": median(one, "peak"),
        "two_cores_times_as_fast": round(statistics.median(ratios), 3),
    }


def after_edits(project: Path, file: Path | None, rounds: int) -> dict[str, float]:
    """A lint of the whole project from the shell, after a line was added to one of its files; to none where none is
    given."""
    lint(project)
    costs = []
    for number in range(rounds):
        if file is not None:
            with open(project / file, "a", encoding="utf-8") as text:
                text.write(EDIT.format(number=number))
        costs.append(lint(project))
    return {"elapsed_seconds": median(costs, "elapsed"), "cpu_seconds": median(costs, "cpu")}


def in_memory(project: Path, edited: Path, opened: Path, rounds: int) -> float:
    """Milliseconds from an edit of one file to the findings of another, or the same, that is open."""
    engine = Engine(project)
    engine.update(opened, (project / opened).read_text(encoding="utf-8"))
    engine.findings(opened)
    before, taken = (project / edited).read_text(encoding="utf-8"), []
    for number in range(rounds):
        engine.update(edited, before + EDIT.format(number=number))
        began = time.monotonic()
        engine.findings(opened)
        taken.append(1000 * (time.monotonic() - began))
    return round(statistics.median(taken), 1)


def generate(folder: Path, modules: int, seed: int = 0) -> int:
    """Writes a project whose modules import earlier ones, popular ones most, as those of real packages do.

    Returns:
        How many lines it has.
    """
    drawn, popular, lines = random.Random(seed), [0], 0
    for number in range(modules):
        wanted = sorted({one for one in drawn.choices(popular, k=IMPORTS) if one < number})
        popular += [number, *wanted]
        imports = "".join(f"from module_{one} import Block{one}, scaled_{one}\n" for one in wanted)
        calls = "".join(f" + scaled_{one}(values)" for one in wanted)
        text = MODULE.format(number=number, imports=imports, calls=calls, width=8 + number % 64)
        (folder / f"module_{number}.py").write_text(text, encoding="utf-8")
        lines += text.count("\n")
    return lines


def growth(sizes: Iterable[int]) -> list[dict[str, float]]:
    """What a line costs in generated projects of so many modules."""
    found = []
    for modules in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "pyproject.toml").write_text("[project]\nname = 'generated'\nversion = '1'\n", encoding="utf-8")
            lines = generate(folder, modules)
            empty = lint(folder, "--no-cache", "--jobs", "1", "--select", "ACC001")
            cold = lint(folder, "--jobs", "1")
            again = lint(folder, "--jobs", "1")
        found.append(
            {
                "modules": modules,
                "lines": lines,
                "cpu_seconds": round(cold.cpu, 2),
                "microseconds_a_line": round(1e6 * (cold.cpu - min(empty.cpu, cold.cpu)) / lines, 1),
                "peak_mib": round(cold.peak),
                "unchanged_elapsed_seconds": round(again.elapsed, 2),
            }
        )
    return found


def measure(checkouts: Path, rounds: int, sizes: Iterable[int]) -> dict[str, Any]:
    """All figures, with the machine, the repository and its commit."""
    clone(REPOSITORY, COMMIT, checkouts)
    with tempfile.TemporaryDirectory() as name:
        project = Path(name, "project")
        shutil.copytree(
            folder_of(REPOSITORY, checkouts), project, ignore=shutil.ignore_patterns(".accel_advisor_cache")
        )
        figures = {
            "from_nothing": from_nothing(project, rounds),
            "unchanged": after_edits(project, None, rounds),
            "edited_leaf": after_edits(project, LEAF, rounds),
            "edited_module": after_edits(project, IMPORTED, rounds),
            "in_memory_leaf_milliseconds": in_memory(project, LEAF, LEAF, rounds),
            "in_memory_module_milliseconds": in_memory(project, IMPORTED, LEAF, rounds),
        }
    result = {"machine": machine(), "load": round(os.getloadavg()[0], 1), "repository": REPOSITORY, "commit": COMMIT}
    return result | {"rounds": rounds} | figures | {"generated": growth(sizes)}


def aims(result: dict[str, Any]) -> dict[str, bool]:
    """Whether each figure holds what was aimed at."""
    a_line = [one["microseconds_a_line"] for one in result["generated"]]
    return {
        "from nothing in 8 s of processor time": result["from_nothing"]["cpu_seconds"] <= 8,
        "two cores 1.7 times as fast as one": result["from_nothing"]["two_cores_times_as_fast"] >= 1.7,
        "a leaf edited in 0.6 s": result["edited_leaf"]["elapsed_seconds"] <= 0.6,
        "a module that many import edited in 2 s": result["edited_module"]["elapsed_seconds"] <= 2,
        "an edit in memory in 150 ms": result["in_memory_leaf_milliseconds"] <= 150,
        "an edit of an imported module in memory in 500 ms": result["in_memory_module_milliseconds"] <= 500,
        "the same a line in all generated projects, within 30 %": max(a_line) <= 1.3 * min(a_line),
        "less than 1.5 GB": all(one["peak_mib"] < 1500 for one in result["generated"]),
        "no change in less than 2 s": all(one["unchanged_elapsed_seconds"] < 2 for one in result["generated"]),
    }


def main() -> int:
    """Measures, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the checkout stands or is cloned to")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each kind")
    parser.add_argument("--modules", type=int, nargs="+", default=[10, 100, 1_000], help="of the generated projects")
    parser.add_argument("--json", type=Path, help="the record to write")
    given = parser.parse_args()
    result = measure(given.folder, given.rounds, given.modules)
    result["aims"] = aims(result)
    print(json.dumps(result, indent=1))
    keep(given.json, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
