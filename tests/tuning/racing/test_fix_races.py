"""Fixes of lint on a real script that looks at its own source: one race, whose outcome the tests read."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import pytest

from accel_advisor.machine.machine import inspect_machine
from accel_advisor.tuning.knobs.raced_fixes import RacedFixes, RaceVerdict
from accel_advisor.tuning.racing.fix_races import FixRaces
from accel_advisor.tuning.record.turns_record import fixes_record
from accel_advisor.tuning.showing.race_text import race_lines, raced_ending
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.session import Session

from ...source import notebooks

torch = pytest.importorskip("torch")

TRAIN = """\
import importlib.util
import sys
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader, TensorDataset

import parts

torch.autograd.set_detect_anomaly(True)
torch.set_num_threads(1)
SOURCE = Path(__file__).read_text()
spec = importlib.util.spec_from_file_location("again", parts.__file__)
again = sys.modules["again"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(again)
assert again.FIXED == parts.FIXED


def evaluate(model, loader):
    model.eval()
    for inputs, targets in loader:
        print(model(inputs.to("cpu")).sum().item())


def main():
    model = parts.Model()
    data = torch.utils.data.TensorDataset(torch.randn(640, 8), torch.randn(640, 8))
    loader = DataLoader(data, batch_size=16, shuffle=True)
    for epoch in range(1000):
        for inputs, targets in loader:
            loss = (model(inputs) - targets).square().mean()
            model.zero_grad()
            (loss if "retain" "_graph=True" in SOURCE else 2 * loss).backward(retain_graph=True)
            with torch.no_grad():  # by hand: with its first optimizer torch imports its compiler, in each run
                for parameter in model.parameters():
                    parameter -= 1e-3 * parameter.grad
            time.sleep(0.01 if torch.is_anomaly_enabled() else 0.002)
            time.sleep(0.01 if parts.FIXED else 0)
        if epoch == 999:
            evaluate(model, loader)


if __name__ == "__main__":
    main()
"""
PARTS = """\
import inspect

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, inputs):
        offset = torch.ones(8).to(inputs.device)
        return self.layer(inputs) + offset


# The source of the module: to find that of a class, all modules are looked through for its file.
FIXED = ".to" "(inputs" not in inspect.getsource(__import__(__name__))
"""


@dataclass(frozen=True)
class Raced:
    """What was raced, in a folder, by a command whose files were these."""

    folder: Path
    result: RacedFixes
    before: dict[str, str]

    @property
    def said(self) -> list[str]:
        """What is printed."""
        return [line for line, _ in race_lines(fixes_record(self.result, self.folder))]


def write(folder: Path) -> Command:
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    (folder / "train.py").write_text(TRAIN)
    (folder / "parts.py").write_text(PARTS)
    return Command(folder / "train.py", None, (), folder)


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def row(text: str) -> int:
    return next(number for number, line in enumerate(TRAIN.splitlines(), 1) if text in line)


def races(session: Session, folder: Path, *rules: str) -> FixRaces:
    return FixRaces(session, root=folder, rules=rules, memory=inspect_machine().memory_total, block=0.1)


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Raced:
    folder = tmp_path_factory.mktemp("raced")
    command = write(folder)
    before = files(folder)
    with Session(command, deadline=math.inf, start_timeout=120, restarts=1) as session:
        result = races(session, folder).run(safe=True, unsafe=True)
    assert not session.leaked
    return Raced(folder, result, before)


def test_a_fix_that_pays_is_written_and_verified(raced: Raced) -> None:
    anomaly = next(one for one in raced.result.raced if one.findings[0].code == "ACC412")
    assert anomaly.verdict is RaceVerdict.PAYS
    assert anomaly.gain is not None
    assert anomaly.gain.wins
    assert anomaly.loss == pytest.approx(0, abs=1e-6)
    assert anomaly.written
    assert raced.result.verification is not None
    assert raced.result.verification.holds
    after = TRAIN.replace("set_detect_anomaly(True)", "set_detect_anomaly(False)")
    assert files(raced.folder) == {**raced.before, "train.py": after}
    assert raced.result.remaining == ()


def test_a_fix_in_a_module_that_reads_itself_and_has_two_names_is_slower(raced: Raced) -> None:
    created = raced.result.raced[0]
    assert [one.code for one in created.findings] == ["ACC205"]
    assert created.safe
    assert created.verdict is RaceVerdict.SLOWER
    assert not created.written


def test_a_fix_that_changes_the_loss_is_refused(raced: Raced) -> None:
    retained = next(one for one in raced.result.raced if one.findings[0].code == "ACC414")
    assert retained.verdict is RaceVerdict.REFUSED
    assert "changes the loss" in retained.refused


def test_each_race_is_said_and_what_never_ran_is_counted(raced: Raced) -> None:
    heading, created, *others, elsewhere = raced.said
    assert "in turns" in heading
    assert created.startswith("ACC205 parts.py:12 (safe): slower here (")
    assert any(line.startswith(f"ACC412 train.py:{row('anomaly')}: pays here (") for line in others)
    assert any(line.startswith(f"ACC414 train.py:{row('backward')}: not recommended: it changes") for line in others)
    assert elsewhere.endswith("for code that the training loop was not seen to run.")
    assert raced_ending(fixes_record(raced.result, raced.folder)).startswith("Applied and verified: ")


def test_a_file_that_changes_meanwhile_is_left_alone(tmp_path: Path) -> None:
    command = write(tmp_path)
    changed = TRAIN.replace("1e-3", "1e-4")

    def edit(words: str) -> None:
        if "ACC412" in words:
            (tmp_path / "train.py").write_text(changed)

    with Session(command, deadline=math.inf, start_timeout=120, restarts=1) as session:
        own = FixRaces(session, root=tmp_path, rules=("ACC412",), memory=1 << 40, block=0.05, say=edit)
        result = own.run(safe=True, unsafe=True)
    (one,) = result.raced
    assert one.refused == "train.py changed while it was being measured: run again"
    assert not result.written
    assert (tmp_path / "train.py").read_text() == changed
    assert raced_ending(fixes_record(result, tmp_path)) == ""


CELLS = (
    "import time\n\nimport torch\nfrom torch.utils.data import DataLoader, TensorDataset\n\ntorch.set_num_threads(1)",
    "# for now\ntorch.autograd.set_detect_anomaly(True)",
    """model = torch.nn.Linear(8, 8)
loader = DataLoader(TensorDataset(torch.randn(640, 8)), batch_size=16)
for epoch in range(1000):
    for (inputs,) in loader:
        model.zero_grad()
        model(inputs).square().mean().backward()
        time.sleep(0.01 if torch.is_anomaly_enabled() else 0.002)
""",
)


def test_a_fix_that_pays_in_a_notebook_is_written_in_its_cell(tmp_path: Path) -> None:
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps(notebooks.notebook(*map(notebooks.code, CELLS)), indent=1))
    before = path.read_text()
    with Session(Command(path, None, (), tmp_path), deadline=math.inf, start_timeout=120, restarts=1) as session:
        result = races(session, tmp_path, "ACC412").run(safe=True, unsafe=True)
    (one,) = result.raced
    assert one.verdict is RaceVerdict.PAYS
    assert one.written
    assert path.read_text() == before.replace("set_detect_anomaly(True)", "set_detect_anomaly(False)")
    assert [line for line, _ in race_lines(fixes_record(result, tmp_path))][1].startswith(
        "ACC412 train.ipynb:cell 3:2: pays here ("
    )
