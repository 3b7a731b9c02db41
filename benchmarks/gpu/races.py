"""Fixes of lint, raced on a GPU on a script where one of them must pay: a matrix is made on the host in each step."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from accel_advisor.machine.machine import inspect_machine
from accel_advisor.tuning.racing.fix_races import FixRaces
from accel_advisor.tuning.record.turns_record import fixes_record
from accel_advisor.tuning.showing.race_text import fix_sentence
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.session import Session

NAME = "fixes"
PAYS = "ACC205"
SCRIPT = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(SIZE, SIZE).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-12)  # a sum of so many numbers is large
loader = DataLoader(TensorDataset(torch.randn(1024, SIZE)), batch_size=16, pin_memory=True)
for epoch in range(10_000):
    for (inputs,) in loader:
        inputs = inputs.to(device)
        mask = torch.ones(SIZE, SIZE).to(device)
        loss = (model(inputs) @ mask).square().mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
"""


def race(folder: Path, *, quick: bool, rules: tuple[str, ...] = ()) -> dict[str, Any]:
    """What became of each fix, or of those of some rules; on the processor with small matrices, where none need pay.

    Raises:
        TrialError: the script could not be run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "raced"\nversion = "1"\n')
    path = folder / "train.py"
    path.write_text(SCRIPT.replace("SIZE", "64" if quick else "4096"))
    with Session(Command(path, None, (), folder), deadline=math.inf, start_timeout=120.0, restarts=1) as session:
        memory = inspect_machine().memory_total
        races = FixRaces(session, root=folder, rules=rules, memory=memory, block=0.05 if quick else 0.5)
        record = fixes_record(races.run(safe=False, unsafe=False), folder)
    for one in record.raced:
        print(f"    {fix_sentence(one)}", flush=True)
    paid = [one for one in record.raced if one.verdict == "pays" and any(each.code == PAYS for each in one.places)]
    return {"pays": bool(paid), "raced": [{"sentence": fix_sentence(one), **asdict(one)} for one in record.raced]}
