"""The outcome as JSON; ``docs/json.md`` says what each key means."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from .. import __version__
from ..finding import Edit, Location
from ..fixer import write_atomically
from .outcome import Outcome, Row
from .probe.wire import LoaderInfo, Settings
from .rewrite import display_name, own_frame
from .settings import arguments
from .statistics import Interval


def write_record(outcome: Outcome, path: Path) -> None:
    """Writes the record in one step.

    Raises:
        OSError: the folder cannot be written to.
    """
    write_atomically(path, (json.dumps(record(outcome), indent=2, allow_nan=False) + "\n").encode())


def record(outcome: Outcome) -> dict[str, Any]:
    """The outcome as plain data, the trained loader first."""
    diagnosis, recommendation = outcome.diagnosis, outcome.recommendation
    shares = diagnosis.shares if diagnosis else None
    return {
        "version": __version__,
        "device": outcome.device,
        "torch": outcome.torch,
        "sentence": diagnosis.sentence if diagnosis else None,
        "loaders": [_loader(outcome, info, trained=number == 0) for number, info in enumerate(outcome.loaders)],
        "shares": {
            name: round(getattr(shares, name), 6) if shares else None
            for name in ("wait", "transfer", "compute", "host")
        },
        "ceilings": {name: _interval(found) for name, found in diagnosis.ceilings.items()} if diagnosis else {},
        "epoch_start": {"seconds": diagnosis.epoch_start, "share": diagnosis.epoch_share} if diagnosis else None,
        "tried": [_row(row) for row in outcome.rows],
        "kept": outcome.kept or None,
        "diff": recommendation.rewrite.diff if recommendation else "",
        "origin": (recommendation.origin or None) if recommendation else None,
        "refusals": list(recommendation.refusals) if recommendation else [],
        "notes": outcome.notes,
        "contained": list(outcome.contained),
        "leaked": list(outcome.leaked),
        "interrupted": outcome.interrupted,
        "applied": outcome.verified is True,
        "verified": outcome.verified,
        "verification": _verification(outcome),
        "seconds": round(outcome.seconds, 3),
    }


def _loader(outcome: Outcome, info: LoaderInfo, *, trained: bool) -> dict[str, Any]:
    frame = own_frame(info.stack, outcome.root)
    site = {"filename": display_name(frame.filename, outcome.root), "row": frame.row} if frame else None
    entry: dict[str, Any] = {
        "site": site,
        "role": info.role,
        "dataset": info.dataset,
        "batch_size": info.batch_size,
        "length": info.length,
        "baseline": {"settings": arguments(info.settings), "rate": outcome.baseline_rate if trained else None},
        "recommended": None,
        "gain": None,
        "edits": [],
    }
    if not trained:
        return entry
    found = outcome.recommendation
    if found is None:
        entry["recommended"] = entry["baseline"]
        entry["gain"] = {"ratio": 1.0, "low": 1.0, "high": 1.0}
    else:
        entry["recommended"] = {"settings": arguments(found.settings), "rate": outcome.recommended_rate}
        entry["gain"] = _interval(found.gain)
        entry["edits"] = [_edit(edit, outcome.root) for edit in found.edits]
    return entry


def _edit(edit: Edit, root: Path) -> dict[str, Any]:
    return {
        "filename": display_name(root / edit.filename, root),
        "content": edit.content,
        "location": _location(edit.span.start),
        "end_location": _location(edit.span.end),
    }


def _location(location: Location) -> dict[str, int]:
    return {"row": location.row, "column": location.column}


def _row(row: Row) -> dict[str, Any]:
    return {
        "settings": _settings(row.settings),
        "rate": row.rate,
        "gain": _interval(row.against) if row.against else None,
        "blocks": row.blocks,
        "failed": row.failed or None,
    }


def _settings(settings: Settings) -> dict[str, Any]:
    return dict(arguments(settings))


def _interval(found: Interval) -> dict[str, float | None]:
    """An open end is null: JSON has no infinity."""
    closed = found.low > 0 and math.isfinite(found.high)
    return {"ratio": found.ratio, "low": found.low if closed else None, "high": found.high if closed else None}


def _verification(outcome: Outcome) -> dict[str, Any] | None:
    result = outcome.verification
    if result is None:
        return None
    return {"holds": result.holds, "gain": _interval(result.gain) if result.gain else None, "reason": result.reason}
