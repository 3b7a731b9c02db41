"""How well the time of a loader is attributed: known sleeps in decoding, augmentation and the collate function, against
the shares that are reported.

    python benchmarks/explain.py --json benchmarks/results/explain.json
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.recording import commit
from tests.tuning.showing.test_explain import Samples, Stream, join, watch

INJECTED = {"decode": 32 / 60, "augment": 8 / 60, "join": 20 / 60}


def main() -> None:
    """Run all, print, and record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--batches", type=int, default=48)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name, dataset, workers in (("map", Samples(), 0), ("map", Samples(), 2), ("iterable", Stream(), 1)):
        found = watch(dataset, workers, join, options.batches)
        shares = {one.function.rpartition(".")[2]: one.share for one in found.functions}
        errors = {key: round(100 * (shares.get(key, 0.0) - share), 2) for key, share in INJECTED.items()}
        rows.append({"data set": name, "workers": workers, "batches": found.batches, "error in points": errors})
        print(rows[-1])
    result = {
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}, shared with other work",
        "injected": {key: round(share, 4) for key, share in INJECTED.items()},
        "runs": rows,
    }
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
