"""A new source is tried before it is written: the child and all its processes find it, and the disk keeps the old."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from accel_advisor.tuning.probe.channel.wire import Measure, Settings
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial
from accel_advisor.tuning.trial.trial_errors import ScriptFailed

MAIN = """\
import inspect
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset

{config}
import decided

FACTOR = 1


class Samples(Dataset):
    def __len__(self):
        return 6400

    def __getitem__(self, index):
        text = Path(decided.__file__).read_text()
        assert text == inspect.getsource(decided) == f"WORKERS = {{decided.WORKERS}}\\n", text
        assert (FACTOR == 1) == (decided.WORKERS == 0), FACTOR
        return torch.ones(2)


def main():
    model = torch.nn.Linear(2, 1)
    loader = DataLoader(
        Samples(), 4, num_workers=decided.WORKERS, multiprocessing_context="spawn" if decided.WORKERS else None
    )
    while True:
        for inputs in loader:
            model(inputs).sum().backward()


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("module", [None, "package.train"])
def test_the_child_and_its_workers_find_the_new_source(tmp_path: Path, temporary: Path, module: str | None) -> None:
    folder = tmp_path / "package" if module else tmp_path
    folder.mkdir(exist_ok=True)
    main, decided = folder / "train.py", folder / "decided.py"
    main.write_text(MAIN.format(config="import sys\nsys.path.insert(0, str(Path(__file__).parent))"))
    decided.write_text("WORKERS = 0\n")
    (folder / "__pycache__").mkdir()
    before = {path: path.read_bytes() for path in (main, decided)}
    sources = {main: before[main].replace(b"FACTOR = 1", b"FACTOR = 2"), decided: b"WORKERS = 1\n"}
    command = Command(None if module else Path("train.py"), module, (), tmp_path)
    for shown, workers in ((before, 0), (sources, 1)):
        with Trial(command, deadline=time.monotonic() + 300, sources=shown) as trial:
            assert trial.start().loaders[0].settings == Settings(workers, 2 if workers else None)
            if not workers:  # else one of the script's own has served batches by now, and a second imports torch anew
                assert trial.measure(Measure(Settings(1, 2), min_batches=4, min_seconds=0.0)).batches >= 4
            trial.stop()
        assert {path: path.read_bytes() for path in before} == before
        assert not trial.leaked
        assert not trial.contained


def test_a_traceback_shows_the_new_source(tmp_path: Path, temporary: Path) -> None:
    script, helper = tmp_path / "train.py", tmp_path / "helper.py"
    script.write_text("import helper\n\nhelper.run()\n")
    helper.write_text("def run():\n    raise SystemExit(3)\n")
    new = b"def run():\n    # one line more\n    raise ValueError('new')\n"
    command = Command(script, None, (), tmp_path)
    with (
        Trial(command, deadline=time.monotonic() + 60, sources={helper: new}) as trial,
        pytest.raises(ScriptFailed) as failed,
    ):
        trial.start()
    assert f"File \"{helper}\", line 3, in run\n    raise ValueError('new')" in failed.value.traceback
    assert helper.read_text().endswith("SystemExit(3)\n")
