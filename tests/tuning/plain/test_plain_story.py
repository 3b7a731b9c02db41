"""A script that takes its batches from a function, tuned for real once."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from rich.console import Console

from accel_advisor.tuning.page.page import trial_page
from accel_advisor.tuning.plain.plain_text import DISAGREE
from accel_advisor.tuning.record.outcome import Outcome
from accel_advisor.tuning.record.outcome_record import recorded
from accel_advisor.tuning.record.record_file import plain, record_of
from accel_advisor.tuning.record.schema import Record
from accel_advisor.tuning.search.stops import Verdict
from accel_advisor.tuning.showing.summary import print_report
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.tuner import Options, tune

pytest.importorskip("torch")
pytestmark = pytest.mark.alone

SCRIPT = """\
import time

import numpy as np
import torch

torch.set_num_threads(1)
data = np.arange(20_000, dtype=np.uint16)


def get_batch(split):
    at = torch.randint(len(data) - 16, (4,))
    x = torch.stack([torch.from_numpy(data[i : i + 16].astype(np.float32)) for i in at])
    time.sleep(0.01)
    return x.to("cpu"), torch.zeros(4, 1)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 1)

    def forward(self, x, y):
        time.sleep(0.01)
        return (self.layer(x) - y).square().mean()


@torch.no_grad()
def estimate_loss():
    time.sleep(0.2)
    return sum(model(*get_batch("val")).item() for _ in range(4)) / 4


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
x, y = get_batch("train")
step = 0
while True:
    if step % 10 == 0:
        estimate_loss()
    for micro in range(2):
        loss = model(x, y)
        x, y = get_batch("train")
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    step += 1
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    folder = tmp_path_factory.mktemp("plain")
    (folder / "train.py").write_text(SCRIPT)
    return tune(Command(Path("train.py"), None, (), folder), Options(budget=8, apply=True), root=folder)


@pytest.fixture(scope="module")
def record(outcome: Outcome) -> Record:
    return recorded(outcome)


def test_the_function_is_named_with_its_share(record: Record) -> None:
    loop = record.loop
    assert loop is not None
    assert loop.fetch is not None
    assert (loop.function, loop.filename, loop.row, loop.calls) == ("get_batch", "train.py", 10, 2)
    assert loop.optimizer == "AdamW"
    assert loop.fetch.low <= loop.fetch.share <= loop.fetch.high
    assert list(loop.parts) == ["fetch", "forward", "backward", "optimizer", "other"]
    assert sum(one.share for one in loop.parts.values()) == pytest.approx(1, abs=1e-6)
    # Half of it sleeps for its data, half in the model, and both are of one clock.
    assert loop.parts["fetch"].share == pytest.approx(loop.parts["forward"].share, abs=0.2)
    assert record.sentence is not None
    assert record.sentence.startswith("`get_batch`, train.py:10, takes ")


def test_the_ceiling_is_measured(record: Record) -> None:
    assert {block.what for block in record.blocks} >= {"baseline", "no-wait"}
    assert record.loop is not None
    ceiling = record.ceilings.get("no-wait")
    if ceiling is None:  # other work on the machine came and went, and the two ways of measuring it differ for that
        assert record.loop.unreplayed == DISAGREE
    else:
        assert record.loop.unreplayed is None
        assert ceiling.ratio > 1.2


def test_an_evaluation_is_no_part_of_a_step(record: Record) -> None:
    assert record.loop is not None
    # An evaluation every ten steps takes longer than the sleep of 0.2 s: as much as 0.02 s of each step.
    assert record.loop.parts["other"].share * record.loop.step < 0.02


def test_there_is_a_verdict_and_nothing_is_written(outcome: Outcome, record: Record) -> None:
    assert outcome.verdict in (Verdict.BY_HAND, Verdict.UNDECIDED)
    assert not outcome.left_on_the_table
    assert record.kept is not None
    assert "no DataLoader" in record.kept
    assert (record.diff, record.changed, record.applied) == ("", (), False)
    assert (outcome.root / "train.py").read_text() == SCRIPT
    assert outcome.leaked == ()


def test_lines_have_prices_and_the_listing_is_of_the_loop(record: Record) -> None:
    assert record.prices is not None
    assert record.prices.listing is not None
    rows = [line.row for line in record.prices.listing.lines]
    assert SCRIPT.splitlines().index('        x, y = get_batch("train")') + 1 in rows
    assert any("sleep" in line.calls for line in record.prices.lines)


def test_it_is_shown(outcome: Outcome, record: Record) -> None:
    shown = io.StringIO()
    print_report(outcome, Console(file=shown, width=160))
    text = shown.getvalue()
    assert "Each step     fetch" in text
    assert "num_workers" not in text
    assert "DataLoader" in text
    assert record.loop is not None
    assert all(words in " ".join(text.split()) for words in record.loop.advice)


def test_the_record_can_be_read_again(record: Record) -> None:
    assert record_of(json.loads(json.dumps(plain(record)))) == record
    assert asdict(record)["loaders"][0]["role"] == "plain"


def test_the_page_is_about_the_function(record: Record) -> None:
    pytest.importorskip("jinja2")
    page = trial_page(record)
    assert "get_batch" in page
    assert "part-fetch" in page
    assert "num_workers" not in page
    assert "What was tried" not in page
