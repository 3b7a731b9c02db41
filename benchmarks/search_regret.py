"""How far the search stays behind an exhaustive grid, on simulated loops, and how often it claims a gain that is none.

Regret is the share of the best rate in the grid that the settings left in place after the search give up. Next to the
search stand the choices that people make without measuring. The truth of every cell is a long quiet run of the same
simulated loop.

    python benchmarks/search_regret.py --runs 1000 --json benchmarks/results/search_regret.json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.readings import Loop
from accel_advisor.tuning.search.search import Search
from accel_advisor.tuning.search.settings import Limits
from tests.tuning.search.simulation import Simulation, Workload, drive, true_rate

WORKERS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
PREFETCH = (2, 8)
BATCHES = 150

RULES: dict[str, Callable[[Workload, Settings], Settings]] = {
    "as it was": lambda _, baseline: baseline,
    "no workers": lambda _, __: Settings(),
    "4 workers": lambda _, __: Settings(4),
    "half the cores": lambda workload, _: Settings(max(1, workload.cores // 2)),
    "all cores": lambda workload, _: Settings(workload.cores),
}


def workload(random: Random) -> Workload:
    """A loop of many kinds: storage or decoding, cheap or expensive, regular or not, on a quiet or a busy machine."""
    step = 10 ** random.uniform(-2.3, -0.9)
    fetch = step * 10 ** random.uniform(-1.5, 1.2)
    storage, host = random.choice([0, 0, 0.5, 0.9, 1]), random.choice([0.05, 0.3, 1.0])
    return Workload(
        fetch_cpu=fetch * (1 - storage),
        fetch_io=fetch * storage,
        step_cpu=step * host,
        step_device=step * (1 - host),
        handover=random.choice([0.0005, 0.002]),
        spread=random.choice([0, 0.1, 0.3]),
        slow_share=random.choice([0, 0, 0.05]),
        slow_times=4,
        cores=random.choice([2, 4, 8, 16]),
        jitter=0.02,
        wander=random.choice([0, 0.02, 0.05]),
        load=random.choice([0, 0, 0.3]),
        length=random.choice([None, 20, 200, 2000]),
        start_worker=0.02,
    )


def one_run(seed: int, budget: float) -> dict[str, Any]:
    random = Random(seed)
    loop = workload(random)
    baseline = random.choice([Settings(), Settings(), Settings(2), Settings(8)])
    search = Search(Loop(baseline, loop.length), Limits(cores=loop.cores), budget=budget, seed=seed)
    blocks = drive(search, Simulation(loop, baseline, seed))
    known: dict[Settings, float] = {}

    def truth(settings: Settings) -> float:
        if settings not in known:
            known[settings] = true_rate(loop, settings, BATCHES)
        return known[settings]

    keep = (False, True) if loop.length is not None and loop.length < 300 else (False,)
    for count in WORKERS:
        if count > search.limits.most_workers:
            continue
        for ahead in PREFETCH if count else (None,):
            for kept in keep if count else (False,):
                truth(Settings(count, ahead, kept))
    best = max(known.values())
    chosen = search.recommended or baseline
    regret = {name: 1 - truth(rule(loop, baseline)) / best for name, rule in RULES.items()}
    best = max(best, truth(chosen))
    regret["search"] = 1 - truth(chosen) / best
    predicted = search.gain.ratio if search.recommended is not None and search.gain is not None else 1.0
    return {
        "regret": {name: max(0.0, value) for name, value in regret.items()},
        "blocks": blocks,
        "spent": search.spent,
        "recommended": search.recommended is not None,
        "predicted": predicted,
        "realised": truth(chosen) / truth(baseline),
    }


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    def quantiles(values: list[float]) -> dict[str, float]:
        ordered = sorted(values)
        at = {"median": 0.5, "p95": 0.95, "worst": 1.0}
        found = {name: ordered[min(len(ordered) - 1, int(share * len(ordered)))] for name, share in at.items()}
        return {"mean": round(sum(ordered) / len(ordered), 4), **{name: round(v, 4) for name, v in found.items()}}

    won = [run for run in runs if run["recommended"]]
    return {
        "runs": len(runs),
        "regret": {name: quantiles([run["regret"][name] for run in runs]) for name in ("search", *RULES)},
        "blocks": quantiles([run["blocks"] for run in runs]),
        "spent": quantiles([run["spent"] for run in runs]),
        "recommended": len(won),
        "recommended_but_slower": sum(run["realised"] < 0.995 for run in won),
        "predicted_within_10_percent": sum(abs(run["predicted"] / run["realised"] - 1) <= 0.1 for run in won),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    began = time.monotonic()
    runs = [one_run(seed, options.budget) for seed in range(options.runs)]
    found = {"budget": options.budget, **summary(runs), "seconds": round(time.monotonic() - began, 1)}
    text = json.dumps(found, indent=2)
    print(text)
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
