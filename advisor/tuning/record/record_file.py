"""Records as files: written, read again and checked, so that a page or a comparison can rely on what it gets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from accel_advisor.editing.fixer import write_atomically
from accel_advisor.finding import Price
from accel_advisor.tuning.record.json_validation import Unfit, build, parse
from accel_advisor.tuning.record.schema import SCHEMA, Parts, Record
from accel_advisor.tuning.record.turns_schema import Ratio


class RecordError(Exception):
    """A file is not what it was taken for; one sentence with its name."""


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        RecordError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path}: is not text in UTF-8, as `tune --json` writes it") from error


def plain(record: Record) -> dict[str, Any]:
    """A record as JSON has it."""
    data: dict[str, Any] = json.loads(json.dumps(asdict(record), allow_nan=False))
    return data


def write_record(record: Record, path: Path) -> None:
    """Writes a record in one step.

    Raises:
        OSError: the folder cannot be written to.
    """
    write_atomically(path, (json.dumps(asdict(record), indent=2, allow_nan=False) + "\n").encode())


def read_record(path: Path) -> Record:
    """The record that ``tune --json`` wrote.

    Raises:
        RecordError: it is none.
    """
    try:
        return record_of(parse(read_text(path)))
    except Unfit as error:
        raise RecordError(f"{path}: {error}; `accel-advisor tune --json FILE` writes what is wanted here") from error


def record_of(data: Any) -> Record:
    """A record from JSON.

    Raises:
        Unfit: a key is missing or wrong, and which.
    """
    check_schema(data, "loaders", "schema", SCHEMA)
    found = build(Record, data)
    for wrong in _flaws(found):
        raise Unfit(wrong)
    return found


def check_schema(data: Any, kind: str, key: str, version: int) -> None:
    """Whether data are of a kind, which is known by a key, and of the version that is read here.

    Raises:
        Unfit: they are not.
    """
    if not isinstance(data, dict) or kind not in data:
        raise Unfit("is not the record of a run")
    if data.get(key) != version:
        raise Unfit(f"has `{key}` {data.get(key)!r}, and this version of accel-advisor reads {version}")


def _flaws(record: Record) -> Iterator[str]:
    """What is of the right kind and cannot be, in words."""
    if not record.loaders:
        yield "names no loader"
        return
    if record.kept is None and record.trained.recommended is None:
        yield "has neither a recommendation nor a reason why there is none"
    if not is_moment(record.began):
        yield f"has a `began` that is no time: {record.began!r}"
    positive = [record.trained.baseline.rate, *(row.rate for row in record.tried), *(b.rate for b in record.blocks)]
    positive += [one for row in record.tried for one in _ends(row.gain)] + _ends(record.trained.gain)
    positive += [one for ratio in record.ceilings.values() for one in _ends(ratio)]
    if any(one is not None and one <= 0 for one in positive):
        yield "has a rate or a gain that is not above 0"
    if any(one is not None and one <= 0 for one in _joules(record)):
        yield "has an energy that is not above 0"
    steps = [record.shares, *(row.step for row in record.tried), *(block.step for block in record.blocks)]
    spans = [one for block in record.blocks for one in (block.began, block.seconds)]
    spans += [one.at for one in record.samples]
    if any(one < 0 for one in spans + [one for step in steps for one in _values(step)]):
        yield "has a time that is below 0"
    if not all(0 <= price.low <= price.share <= price.high <= 1 for price in _prices(record)):
        yield "has a price that is no share of a step"
    if any(block.tried is not None and not 0 <= block.tried < len(record.tried) for block in record.blocks):
        yield "has a block of a candidate that it does not list"


def _joules(record: Record) -> list[float | None]:
    devices = [*(row.device for row in record.tried), *(block.device for block in record.blocks)]
    found, whole = [one.joules for one in devices if one is not None], record.energy
    return found if whole is None else [*found, whole.now, whole.recommended, *_ends(whole.ratio)]


def _prices(record: Record) -> list[Price]:
    prices = record.prices
    if prices is None:
        return []
    found = [*(one.price for one in prices.findings), *(one.price for one in prices.lines)]
    listed = prices.listing.lines if prices.listing is not None else ()
    return found + [one.price for one in listed if one.price is not None]


def is_moment(text: str) -> bool:
    """Whether a text is a time as ISO 8601 has it; an empty one is none that is known."""
    try:
        return not text or bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def _ends(found: Ratio | None) -> list[float | None]:
    return [] if found is None else [found.ratio, found.low, found.high]


def _values(parts: Parts | None) -> list[float]:
    return list(parts.known.values()) if parts is not None else []
