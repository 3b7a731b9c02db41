"""A race of two sources that run at once where the script lets them, and one after the other where it does not."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from accel_advisor.tuning.knobs.whole_runs import AS_IT_IS, BLOCKS, BLOCKS_BESIDE, WholeRuns
from accel_advisor.tuning.search.statistics import WORTH
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.session import Session
from accel_advisor.tuning.trial.timeline import START

pytest.importorskip("torch")

TRAIN = """\
import fcntl
import time
from pathlib import Path

LOCK = open("lock")
if Path("alone").exists():
    fcntl.flock(LOCK, fcntl.LOCK_EX | fcntl.LOCK_NB)

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
weight = torch.zeros(8, requires_grad=True)
loader = DataLoader(TensorDataset(torch.ones(640, 8)), batch_size=8)
while True:
    for (inputs,) in loader:
        (inputs @ weight).square().mean().backward()
        weight.grad = None
        time.sleep(0.002)
"""


def test_both_sides_run_at_once_or_in_turns(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAIN)
    (tmp_path / "lock").touch()
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    before = {script: TRAIN.encode()}
    after = {script: TRAIN.replace("0.002", "0.02").encode()}
    asked: list[list[bool]] = []
    with Session(Command(script, None, (), tmp_path), deadline=math.inf, start_timeout=120, restarts=1) as session:
        runs = WholeRuns(session, memory=1 << 40, block=0.02)
        runs.first()
        for _ in range(2):
            done = len(session.timeline)
            gain, moved, ran = runs.race(AS_IT_IS, alike=True, before=before, after=after, worth=WORTH, beside=True)
            assert gain.high < 1
            assert moved.reason == ""
            assert [len(side) for side in ran.values()] == [1, 1]
            asked.append([one.what == START for one in session.timeline[done:]])
            (tmp_path / "alone").touch()
    at_once, apart = asked
    blocks = len(at_once) // 2 - 2
    assert at_once == [True, True, *[False] * 2 * (blocks + 1)]
    assert blocks in range(BLOCKS_BESIDE[0], BLOCKS_BESIDE[1] + 1, 2)
    assert apart == [True, True, *[True, *[False] * (BLOCKS + 1)] * 2]
    assert not session.leaked
