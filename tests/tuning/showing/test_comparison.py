"""Two runs side by side."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.record.schema import Choice, Record
from accel_advisor.tuning.showing.comparison import lines, ratio, verdict

from ...conftest import RECORDED
from ..outcomes import call


def with_rate(record: Record, rate: float) -> Record:
    choice = Choice(Settings(), rate, 0.98 * rate, 1.02 * rate)
    return replace(record, loaders=(replace(record.trained, baseline=choice),), applied=False)


def test_two_records_are_compared(record: Record, tmp_path: Path) -> None:
    one, same, faster, slower = (with_rate(record, rate) for rate in (100, 101, 150, 50))
    assert "no difference beyond doubt" in verdict([one, same])
    assert verdict([one, faster]).startswith("The second run was 1.5 times as fast as the first (1.46-1.54)")
    assert verdict([one, slower]).startswith("The second run reached only 50 % of the rate of the first")
    found = ratio(one.trained.baseline, faster.trained.baseline)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < 1.5 < found.high
    assert {line.name for line in lines([one, faster]) if line.differs} == {"samples/s now"}
    paths = []
    for number, each in enumerate((one, faster)):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(asdict(each)))
    status, text, _ = call(*paths, "--html", tmp_path / "out.html")
    assert status == 0
    assert "1.5 times as fast" in text
    assert "1.5 times as fast" in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_what_cannot_be_compared_is_said(record: Record, tmp_path: Path) -> None:
    other, path = replace(record, script="other.py"), tmp_path / "b.json"
    path.write_text(json.dumps(asdict(other)))
    assert "These are different scripts." in call(RECORDED, path)[1]
