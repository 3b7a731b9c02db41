"""The script sees what it would see under plain Python, and its time is put where it belongs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_WAIT, Measure, Settings
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial
from accel_advisor.tuning.trial.trial_errors import ScriptFailed

PRINTS = """\
import atexit, inspect, json, os, pickle, sys, threading
assert "torch" not in sys.modules
os.environ["OMP_NUM_THREADS"] = "1"
import torch
from torch.utils.data import DataLoader, TensorDataset

class Here: pass

module = sys.modules["__main__"]
facts = {
    "name": __name__, "file": __file__, "package": __package__, "argv": sys.argv, "path": sys.path[0],
    "cwd": os.getcwd(), "main": module.__dict__ is globals(), "pickle": pickle.loads(pickle.dumps(Here)) is Here,
    "source": inspect.getsource(Here), "spec": getattr(__spec__, "name", None), "stdin": sys.stdin.read(),
    "threads": torch.get_num_threads(), "builtins": type(__builtins__).__name__, "doc": __doc__,
    "daemons": sum(not thread.daemon for thread in threading.enumerate()),
    "loader": isinstance(DataLoader(TensorDataset(torch.ones(4))), DataLoader), "key": "KEY" in repr(os.environ),
    "init": str(inspect.signature(DataLoader)), "environment": sorted(name for name in os.environ if "ACCEL" in name),
}
raise SystemExit("FACTS" + json.dumps(facts))
"""


def test_a_temporary_folder_may_have_any_name(tmp_path: Path) -> None:
    """The address of a socket in the file system is a hundred characters long at most."""
    long = tmp_path / ("long" * 30)
    long.mkdir()
    (tmp_path / "train.py").write_text("raise SystemExit('as far as this')")
    found = subprocess.run(
        [sys.executable, "-m", "accel_advisor", "tune", "train.py"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(long)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "failed with exit status 1: as far as this" in found.stderr
    assert not list(long.iterdir())


@pytest.mark.parametrize("as_module", [False, True])
def test_the_script_sees_what_plain_python_shows(tmp_path: Path, as_module: bool) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").touch()
    script = tmp_path / "pack" / "__main__.py"
    script.write_text(PRINTS)
    arguments = ["-m", "pack"] if as_module else [os.path.join("pack", "__main__.py")]
    plain = subprocess.run(
        [sys.executable, *arguments, "--epochs", "3"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    command = Command(
        None if as_module else Path("pack", "__main__.py"), "pack" if as_module else None, ("--epochs", "3"), tmp_path
    )
    with Trial(command, deadline=time.monotonic() + 300) as running, pytest.raises(ScriptFailed) as caught:
        running.start()
    expected, _, found = (text.partition("FACTS")[2] for text in (plain.stderr, "", caught.value.traceback))
    assert json.loads(found) == json.loads(expected)
    assert caught.value.status == plain.returncode == 1


BUSY = """\
import time, torch
from pathlib import Path
from torch import nn
from torch.utils.data import DataLoader, Dataset

def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass

def now():
    return Path("now").read_text()

class Samples(Dataset):
    def __len__(self): return 4000
    def __getitem__(self, index):
        time.sleep(0.02 if now() == "wait" else 0)
        return torch.ones(8), index % 3

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 3)
    def forward(self, x):
        spin(0.08 if now() == "compute" else 0)
        return self.layer(x)

model = Model()
for x, y in DataLoader(Samples(), 4):
    model.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    spin(0.08 if now() == "host" else 0)
"""


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Trial]]:
    """A trial of a script whose time is spent where the file ``now`` says."""
    folder = tmp_path_factory.mktemp("busy")
    (folder / "busy.py").write_text(BUSY)
    (folder / "now").write_text("host")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        with Trial(Command(folder / "busy.py", None, (), folder), deadline=time.monotonic() + 300) as running:
            running.start()
            yield folder, running


@pytest.mark.parametrize("injected", ["wait", "compute", "host"])
def test_time_is_put_where_it_was_spent(busy: tuple[Path, Trial], injected: str) -> None:
    folder, running = busy
    (folder / "now").write_text(injected)
    running.measure(Measure(BASELINE, min_batches=2, min_seconds=0.0))  # what was under way is over then
    block = running.measure(Measure(BASELINE, min_batches=8, min_seconds=0.0))
    parts = {name: getattr(block, name) for name in ("wait", "transfer", "compute", "host")}
    assert sum(parts.values()) == pytest.approx(block.seconds)
    assert parts[injected] >= 8 * 0.08
    assert parts[injected] > 3 * (block.seconds - parts[injected])
    if injected == "wait":
        for what, less in ((NO_WAIT, 0.1), (Settings(4, 2), 0.7)):
            faster = running.measure(Measure(what, min_batches=40, min_seconds=0.0))
            assert faster.wait / faster.batches < less * block.wait / block.batches
