"""Puts what was measured on a GPU into docs/costs.md: habits and copies, each as its script recorded it.

python -m benchmarks.gpu.costs_page
"""

from __future__ import annotations

import json
from typing import Any

from accel_advisor.editing.fixer import write_atomically
from benchmarks.gpu import habits
from benchmarks.gpu.claims import words
from benchmarks.gpu.copies import KINDS, PLAIN
from benchmarks.gpu.surroundings import RESULTS, ROOT, provenance
from benchmarks.recording import put

PAGE = ROOT / "docs" / "costs.md"
OTHERS = tuple(kind.name for kind in KINDS if kind is not PLAIN)


def page(text: str) -> str:
    """A text with the tables of the records between their marks."""
    for name, table in (("habits", habits.table), ("copies", copies), ("pinned training", training)):
        record = json.loads((RESULTS / ("habits.json" if name == "habits" else "pinning.json")).read_text())
        text = put(text, name, f"\n{table(record)}\n\n")
    return text


def copies(found: dict[str, Any]) -> str:
    """How fast copies to the device are, and how long they hold the host."""
    lines = [
        f"{provenance(found)}.",
        "",
        f"| batch | | {PLAIN.name} | {' | '.join(OTHERS)} |",
        f"|--:|---|--:|{'--:|' * len(OTHERS)}",
    ]
    for one in found["copies"]:
        kinds, size = one["kinds"], f"{one['bytes'] / (1 << 20):g} MiB"
        faster = [_without_claim(kinds[name]["transfer"]) for name in OTHERS]
        host = [f"{1e3 * kinds[name]['host']:.3g} ms" for name in OTHERS]
        lines += [
            f"| {size} | until it is there; how many times as fast | {1e3 * kinds[PLAIN.name]['device']:.3g} ms "
            f"| {' | '.join(faster)} |",
            f"| {size} | `.to()` holds the host for | {1e3 * kinds[PLAIN.name]['host']:.3g} ms | {' | '.join(host)} |",
        ]
    return "\n".join(lines)


def training(found: dict[str, Any]) -> str:
    """How many times as fast a training is with other kinds of copies."""
    lines = [
        f"| batch | workers | step without its copy | step, {PLAIN.name} | {' | '.join(OTHERS)} |",
        f"|--:|--:|--:|--:|{'--:|' * len(OTHERS)}",
    ]
    for one in found["training"]:
        kinds = one["kinds"]
        faster = [_without_claim(kinds[name]["training"]) for name in OTHERS]
        lines.append(
            f"| {one['bytes'] / (1 << 20):g} MiB | {one['workers']} | {1e3 * one['step_alone']:.3g} ms "
            f"| {1e3 * kinds[PLAIN.name]['step']:.3g} ms | {' | '.join(faster)} |"
        )
    return "\n".join(lines)


def _without_claim(found: dict[str, Any]) -> str:
    return words({**found, "claim": ""})


def main() -> None:
    """Writes the page."""
    write_atomically(PAGE, page(PAGE.read_text(encoding="utf-8")).encode())


if __name__ == "__main__":
    main()
