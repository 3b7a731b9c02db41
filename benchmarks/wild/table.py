"""Puts the recorded results into the README beside this file, as a table: ``python benchmarks/wild/table.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results" / "wild.json"
BEGIN, END = "<!-- results -->\n", "<!-- end of results -->"
_SHORT = {"num_workers": "workers", "prefetch_factor": "prefetch", "persistent_workers": "persistent"}


def table(results: dict[str, Any]) -> str:
    """The results in Markdown: the circumstances, then a row for each case."""
    machine, versions = results["machine"], results["versions"]
    commits = ", ".join(f"{name} at {commit[:7]}" for name, commit in results["repositories"].items())
    lines = [
        f"Recorded on {results['date']} at commit {results['commit'][:7]}: {machine['cores']:g} cores "
        f"({machine['processor']}), {machine['memory'] / 2**30:.0f} GiB, torch {versions['torch']}, torchvision "
        f"{versions['torchvision']}, {results['budget']:g} s for each search; {commits}.",
        "",
        "| script | seconds | waits | outcome |",
        "|---|--:|--:|---|",
    ]
    for case in results["cases"]:
        waits = f"{100 * case['shares']['wait']:.1f} %" if case.get("shares") else ""
        lines.append(f"| {case['case']} | {case['seconds']:.0f} | {waits} | {_outcome(case)} |")
    return "\n".join(lines) + "\n"


def _outcome(case: dict[str, Any]) -> str:
    if case["outcome"] in ("refused", "failed"):
        return f"{case['outcome']}: {case['refusal']}".replace("|", "\\|")
    if case["outcome"] == "nothing to gain":
        return f"{'not settled' if 'too short' in case['kept'] else case['outcome']}: {case['kept']}"
    words = f"{_settings(case['baseline'])} → {_settings(case['recommended'])}: {_interval(case['gain'])}"
    verification = case["verification"]
    if verification is None:
        return f"{case['outcome']}: {words}; {'; '.join(case['refusals'])}"
    measured = _interval(verification["gain"]) if verification["gain"] else verification["reason"]
    return f"{case['outcome']}: {words}; old against new source: {measured}"


def _settings(side: dict[str, Any]) -> str:
    parts = [f"{_SHORT.get(name, name)} {value}" for name, value in side["settings"].items() if value]
    return ", ".join(parts) or "workers 0"


def _interval(gain: dict[str, float | None]) -> str:
    if gain["low"] is None:
        return f"about {gain['ratio']:.2g}x"
    return f"{gain['ratio']:.2f}x ({gain['low']:.2f}-{gain['high']:.2f})"


def main() -> None:
    """Rewrites the part of the README between the two marks."""
    path = HERE / "README.md"
    page = path.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    tail = rest.partition(END)[2]
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    path.write_text(f"{head}{BEGIN}{table(results)}{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
