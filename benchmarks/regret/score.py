"""How fast the recorded choices are on the recorded grids."""

from __future__ import annotations

from statistics import median
from typing import Any

from accel_advisor.tuning.probe.channel.wire import Settings

from .formulas import choices
from .grid import Grid, recorded, spelled
from .workloads import WORKLOADS, Workload

OURS, RIVALS = "accel-advisor", ("train-doctor", "loadtune")
BY_NAME = {workload.name: workload for workload in WORKLOADS}


def choices_of(workload: Workload, result: dict[str, Any], cores: int) -> dict[str, Settings]:
    """The cell that each tool and formula chose."""
    found = {}
    for name in (OURS, *RIVALS):
        if name in result:
            found[name] = Settings(**result[name]["settings"])
    found |= choices(workload.baseline, cores)
    return {name: workload.cell(settings) for name, settings in found.items()}


def shares(workload: Workload, result: dict[str, Any], cores: int) -> dict[str, float]:
    """By tool or formula, the rate of its choice as a share of the best rate; without those that were not timed."""
    grid = Grid(workload, recorded(result["cells"]))
    best = grid.rate(grid.best)
    found = choices_of(workload, result, cores)
    return {name: grid.rate(cell) / best for name, cell in found.items() if cell in grid.readings}


def gains(workload: Workload, result: dict[str, Any]) -> tuple[float, float | None, float] | None:
    """Of what `tune` recommended: the gain that its search predicted, that of its verification, that of the grid; None
    where it recommended nothing."""
    own = result[OURS]
    if own.get("refused") and not own.get("verification"):
        return None
    if "failed" in own or not own["predicted"] or own["predicted"]["ratio"] == 1:
        return None
    grid = Grid(workload, recorded(result["cells"]))
    cell = workload.cell(Settings(**own["recommended"]))
    realised = grid.rate(cell) / grid.rate(workload.cell(workload.baseline))
    verified = own["verification"]["ratio"] if own["verification"] else None
    return float(own["predicted"]["ratio"]), verified, realised


def tables(record: dict[str, Any]) -> str:
    """Everything that the note shows, as Markdown."""
    results = {name: record["workloads"][name] for name in BY_NAME if name in record["workloads"]}
    results = {name: result for name, result in results.items() if OURS in result}
    cores = int(record["machine"]["cores"])
    versions = record["versions"]
    words = (
        f"{record['date']}, {record['commit']}, {cores} cores of {record['machine']['cpu']}, "
        f"Python {versions['python']}, torch {versions['torch']}; {len(results)} workloads."
    )
    parts = (words, _totals(results, cores), _choices(results, cores), _predictions(results))
    return "\n\n".join(part for part in parts if part)


def _totals(results: dict[str, Any], cores: int) -> str:
    scored = {name: shares(BY_NAME[name], result, cores) for name, result in results.items()}
    lines = [
        "| | median share of the best | worst | at least 97 % | launches | seconds beyond startup | files changed |",
        "|---|--:|--:|--:|--:|--:|---|",
    ]
    names = list(dict.fromkeys(name for found in scored.values() for name in found))
    for name in names:
        values = [found[name] for found in scored.values() if name in found]
        cells = [
            name,
            f"{median(values):.3f}",
            f"{min(values):.3f}",
            f"{sum(v >= 0.97 for v in values)} of {len(values)}",
        ]
        runs = [result[name] for result in results.values() if name in result]
        if runs:
            launches = [run["launches"] for run in runs]
            seconds = [run["beyond_startup"] for run in runs]
            files = [
                sum("failed" not in run and bool(run["changed"]) for run in runs),
                max(len(run["changed"]) for run in runs),
            ]
            cells += [
                f"{median(launches):.0f}, at most {max(launches)}",
                f"{median(seconds):.0f}, at most {max(seconds):.0f}",
                f"up to {files[1]}, in {files[0]} of {len(runs)}",
            ]
        else:
            cells += ["0", "0", ""]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _choices(results: dict[str, Any], cores: int) -> str:
    names = [OURS, *RIVALS, *choices(Settings(), cores)]
    names = [name for name in names if any(name in choices_of(BY_NAME[n], r, cores) for n, r in results.items())]
    lines = ["| workload | best | " + " | ".join(names) + " |", "|---|---|" + "---|" * len(names)]
    for name, result in results.items():
        workload = BY_NAME[name]
        grid = Grid(workload, recorded(result["cells"]))
        found, scored = choices_of(workload, result, cores), shares(workload, result, cores)
        cells = [name, spelled(grid.best)]
        for tool in names:
            share = f" ({100 * scored[tool]:.0f} %)" if tool in scored else ""
            mark = "†" if "failed" in result.get(tool, {}) else ""
            cells.append(f"{spelled(found[tool])}{share}{mark}" if tool in found else "")
        lines.append("| " + " | ".join(cells) + " |")
    failed = [
        f"† {tool} on {name}: {result[tool]['failed']}"
        for name, result in results.items()
        for tool in (OURS, *RIVALS)
        if "failed" in result.get(tool, {})
    ]
    return "\n".join(lines) + ("\n\n" + "\n".join(f"{line}  " for line in failed) if failed else "")


def _predictions(results: dict[str, Any]) -> str:
    lines = ["| workload | predicted | verification | grid | predicted against grid |", "|---|--:|--:|--:|--:|"]
    close = {"verification": 0, "grid": 0}
    count = 0
    for name, result in results.items():
        found = gains(BY_NAME[name], result)
        if found is None:
            continue
        predicted, verified, realised = found
        count += 1
        close["grid"] += abs(predicted / realised - 1) <= 0.1
        close["verification"] += verified is not None and abs(predicted / verified - 1) <= 0.1
        shown = "" if verified is None else f"{verified:.2f}"
        lines.append(
            f"| {name} | {predicted:.2f} | {shown} | {realised:.2f} | {100 * (predicted / realised - 1):+.0f} % |"
        )
    words = (
        f"Within 10 %: {close['grid']} of {count} against the grid, {close['verification']} against the verification."
    )
    return "\n".join([*lines, "", words]) if count else ""
