"""How many runs found what the grid says is there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import Any

from accel_advisor.tuning.probe.channel.wire import Settings
from benchmarks.regret.grid import Grid, recorded, spelled
from benchmarks.regret.workloads import WORKLOADS, Workload

NAMES = ("small-reads", "jpeg-decode", "tiny-epochs")
"""A workload that sleeps for its data, one that decodes, and one of short epochs."""
PAYS, NOTHING = 1.25, 1.05
"""A gain of the grid that has to be found, and one that must not be claimed."""


@dataclass(frozen=True)
class Load:
    """A neighbour that takes the share ``busy`` of one core, and the share of runs that must find what pays there."""

    busy: float
    asked: float


LOADS = {
    "quiet": Load(0.0, 0.95),
    "one core busy half of the time": Load(0.5, 0.85),
    "one core busy all the time": Load(1.0, 0.75),
}


@dataclass(frozen=True)
class Score:
    """The runs of one workload beside one neighbour.

    Attributes:
        gain: that of the best cell over the settings that the script came with, on the grid.
        applied: runs whose settings in the source bring at least half of that gain (on a scale of ratios).
        missed: runs that changed the settings and brought less.
        shares: of each run, the rate of what stands in the source as a share of the best rate.
        seconds: of each run, its wall time.
    """

    best: Settings
    gain: float
    runs: int
    applied: int
    missed: int
    shares: tuple[float, ...]
    seconds: tuple[float, ...]

    def holds(self, asked: float) -> bool | None:
        """Whether as many runs as asked for found what pays, and none claimed what is not there; None where the gain
        lies between both."""
        if self.gain >= PAYS:
            return self.applied >= math.ceil(asked * self.runs - 1e-9)
        return self.applied + self.missed == 0 if self.gain < NOTHING else None


def scored(workload: Workload, result: dict[str, Any]) -> Score:
    """What is recorded of a workload beside a neighbour."""
    grid = Grid(workload, recorded(result["cells"]))
    baseline = workload.cell(workload.baseline)
    left = [workload.cell(Settings(**one["settings"])) for one in result["runs"]]
    gain = grid.gain(baseline)
    enough = [grid.rate(cell) / grid.rate(baseline) >= math.sqrt(gain) for cell in left if cell != baseline]
    return Score(
        best=grid.best,
        gain=gain,
        runs=len(left),
        applied=sum(enough),
        missed=len(enough) - sum(enough),
        shares=tuple(grid.rate(cell) / grid.rate(grid.best) for cell in left),
        seconds=tuple(float(one["seconds"]) for one in result["runs"]),
    )


def table(record: dict[str, Any]) -> str:
    """Everything that the note shows, as Markdown."""
    at = record["machine"]
    lines = [
        f"{at['date']}, {at['commit']}, {at['cores']} cores of {at['processor']}, Python {at['python']}, "
        f"torch {at['torch']}.",
        "",
        "| workload | neighbour | best of the grid | its gain | found and applied | applied, and less | "
        "share of the best: median, worst | seconds: median, most | as asked |",
        "|---|---|---|--:|--:|--:|--:|--:|---|",
    ]
    by_name = {workload.name: workload for workload in WORKLOADS}
    for name in NAMES:
        for load, asked in LOADS.items():
            result = record["results"].get(f"{name}, {load}")
            if result is None or not result["runs"]:
                continue
            own = scored(by_name[name], result)
            verdict = {True: "yes", False: "**no**", None: "between"}[own.holds(asked.asked)]
            cells = (
                name,
                load,
                spelled(own.best),
                f"{own.gain:.2f}",
                f"{own.applied} of {own.runs}",
                str(own.missed),
                f"{100 * median(own.shares):.0f} %, {100 * min(own.shares):.0f} %",
                f"{median(own.seconds):.0f}, {max(own.seconds):.0f}",
                verdict,
            )
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
