"""The command line of tune: wrong use costs one sentence and status 2, and writes nothing."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from accel_advisor.commands.output_files import Outputs
from accel_advisor.commands.tune_command import _finish, _one_node, tune
from accel_advisor.tuning.search.verification import Verification
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.machine_lock import machine_lock

from ..source.notebooks import code, notebook
from ..tuning.outcomes import outcome

TRAINING = "from torch.utils.data import DataLoader\nfor batch in DataLoader([]):\n    batch.backward()\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))  # where trials of other tests have no lock
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*args: str) -> Result:
    return CliRunner().invoke(tune, list(args))


def listing(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["missing.py"], "missing.py does not exist"),
        (["broken.py"], "broken.py:1: is not Python"),
        (["."], "is a folder"),
        (["notes.ipynb"], "notes.ipynb:1: is no notebook: it has no list of cells"),
        (["empty.ipynb"], "empty.ipynb has no code cell in Python"),
        (["julia.ipynb"], "julia.ipynb has no code cell in Python"),
        (["cells.ipynb", "--", "--epochs", "3"], "cells.ipynb is a notebook, which takes no arguments: leave out"),
        (["cells.ipynb", "--nproc-per-node", "2"], "cells.ipynb is a notebook, and torchrun starts scripts only"),
        (["train.py", "--knobs", "num_workers,batch"], "unknown knob 'batch': the knobs are num_workers"),
        (["train.py", "--knobs", ""], "no knob is named"),
        (["train.py", "--knobs", "fixes:ACC205,num_worker"], "--knobs fixes: no rule is called 'num_worker'"),
        (["train.py", "--nproc-per-node", "2", "--knobs", "fixes"], "a fix is raced in one process"),
        (["train.py", "--unsafe-fixes"], "--unsafe-fixes says what --apply may write: give both"),
        (["train.py", "--nproc-per-node", "2", "--knobs", "all,batch-size"], "a knob of the training is tried in one"),
        (["train.py", "--budget", "0"], "too short"),
        (["train.py", "--budget", "nan"], "too short"),
        (["train.py", "--start-timeout", "0"], "--start-timeout 0: give the seconds"),
        (["train.py", "--start-timeout", "inf"], "--start-timeout inf: give the seconds"),
        (["train.py", "--budget", "soon"], "'soon' is not a valid float"),
        (["train.py", "--json", "nowhere/out.json"], "folder nowhere does not exist"),
        (["train.py", "-m", "train"], "not both"),
        (["-m", "train-it"], "dotted name"),
        (["train.py", "--epochs", "3"], "no option --epochs; the script's own arguments stand after `--`"),
        (["train.py", "--epochs=3", "--apply"], "as in `accel-advisor tune train.py -- --epochs ...`"),
        (["--lr", "3", "train.py", "--", "--epochs", "3"], "as in `accel-advisor tune train.py -- --lr ...`"),
        (["-m", "train", "-e", "3"], "as in `accel-advisor tune -m MODULE -- -e ...`"),
        (["train.py", "--buget", "30"], "no option --buget (did you mean --budget?); the script's own"),
        (["train.py", "data", "3"], "unexpected extra arguments (data 3); the script's own arguments stand after `--`"),
        (["train.py", "data"], "as in `accel-advisor tune train.py -- ARGS`"),
        ([], "name one of finetune.py, train.py"),
    ],
)
def test_wrong_use_is_one_sentence(folder: Path, args: list[str], words: str) -> None:
    for name in ("train.py", "finetune.py"):
        (folder / name).write_text(TRAINING)
    (folder / "broken.py").write_text("def broken(:\n")
    (folder / "notes.ipynb").write_text("{}")
    julia = {"language_info": {"name": "julia"}}
    for name, data in (
        ("empty", notebook()),
        ("julia", notebook(code("x = 1"), metadata=julia)),
        ("cells", notebook(code(TRAINING))),
    ):
        (folder / f"{name}.ipynb").write_text(json.dumps(data))
    before = listing(folder)
    result = call(*args)
    assert result.exit_code == 2, result.output
    assert words in result.stderr
    assert "Traceback" not in result.output
    assert result.stderr.strip().splitlines()[-1].startswith("Error: ")
    assert listing(folder) == before


def test_a_key_that_the_configuration_does_not_have_is_named(folder: Path) -> None:
    (folder / "train.py").write_text(TRAINING)
    (folder / "pyproject.toml").write_text("[tool.accel-advisor]\ntune = {scirpt = 'train.py'}\n")
    result = call("train.py")
    assert result.exit_code == 2
    assert "scirpt" in result.stderr
    assert "pyproject.toml" in result.stderr


def test_the_configured_script_must_exist(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.accel-advisor]\ntune = {script = 'gone.py'}\n")
    result = call()
    assert result.exit_code == 2
    assert "gone.py does not exist" in result.stderr


def test_an_answer_of_one_node_of_several_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "train.py").write_text(TRAINING)
    command = Command(Path("train.py"), None, (), folder, ranks=4)
    monkeypatch.delenv("SLURM_JOB_NUM_NODES", raising=False)
    assert _one_node(command) == []
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "8")
    (said,) = _one_node(command)
    assert "one node's answer is not that of all" in said
    assert "accel-advisor tune --nnodes 8 --nproc-per-node 4 train.py`" in said


def test_without_torch_it_says_which_extra_to_install(folder: Path) -> None:
    (folder / "train.py").write_text(TRAINING)
    program = "import sys; sys.modules['torch'] = None; from accel_advisor.commands.tune_command import tune; tune()"
    result = subprocess.run(
        [sys.executable, "-c", program, "train.py"], capture_output=True, text=True, cwd=folder, check=False
    )
    assert result.returncode == 2
    assert result.stderr.startswith(f"Error: torch is not installed for {sys.executable}, which runs accel-advisor")
    assert f"`{sys.executable} -m pip install torch`" in result.stderr


def test_looking_up_the_command_imports_no_torch() -> None:
    program = "import sys, accel_advisor.commands.tune_command; print('torch' in sys.modules, 'libcst' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "False"]


SCRIPTS = {
    "fails": (
        "raise RuntimeError('no data here')\n",
        ["RuntimeError: no data here", "make `python fails.py --epochs 3` run by itself, then tune it"],
    ),
    "lacks_memory": (
        "import torch\nfrom torch.utils.data import DataLoader\n"
        "for batch in DataLoader(torch.zeros(9, 1), batch_size=3):\n    torch.empty(1 << 50)\n",
        ["allocate memory", "make its batches smaller until it runs", "activation_checkpointing -- --epochs 3`"],
    ),
    "no_loader": ("print(1)\n", ["the script ended without iterating a DataLoader"]),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_that_cannot_be_measured_says_why(folder: Path, name: str) -> None:
    text, words = SCRIPTS[name]
    (folder / f"{name}.py").write_text(text)
    before = listing(folder)
    result = call(f"{name}.py", "--json", "out.json", "--", "--epochs", "3")
    assert result.exit_code == 2, result.output
    for each in words:
        assert each in result.stderr
    assert "accel_advisor" not in result.stderr
    assert listing(folder) == before


def test_a_script_that_takes_long_to_start_is_given_longer_by_an_option(folder: Path) -> None:
    (folder / "train.py").write_text("import time\nprint('reading shard 3', flush=True)\ntime.sleep(600)\n")
    before = listing(folder)
    result = call("train.py", "--start-timeout", "4")
    assert result.exit_code == 2
    # On a busy machine it may not have come to its words, and the time may be a little longer.
    said = r"first batch within \d+ s( \(the last that it printed: reading shard 3\))?: give it longer"
    assert re.search(f"{said} with --start-timeout", result.stderr)
    assert listing(folder) == before


@pytest.mark.parametrize(
    ("won", "held", "check", "status"),
    [
        (False, None, True, 0),
        (True, None, False, 0),
        (True, None, True, 1),
        (True, False, True, 1),
        (True, True, True, 0),
    ],
)
def test_check_fails_on_a_gain_left_on_the_table(
    tmp_path: Path, won: bool, held: bool | None, check: bool, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    found = outcome(tmp_path, won=won, verification=None if held is None else Verification(held, None))
    context = click.Context(click.Command("tune"))
    code = 0
    try:
        _finish(context, found, Console(quiet=True), Outputs(tmp_path / "out.json"), check=check)
    except click.exceptions.Exit as end:
        code = end.exit_code
    assert code == status
    said = capsys.readouterr().err
    assert ("--check fails: num_workers=4 was measured to be 2.65x (2.58-2.72) as fast" in said) == bool(status)
    assert ("could not be verified" in said) == (held is False)
    assert json.loads((tmp_path / "out.json").read_text())["verified"] is held


LIMITED = """\
import resource, sys, tempfile
tempfile.tempdir = 'tmp'
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
from accel_advisor.cli import run
sys.argv = ["accel-advisor", "tune", "train.py", *sys.argv[1:]]
run()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits as POSIX has them")
def test_a_change_that_could_not_be_written_is_refused_before_the_trial(folder: Path) -> None:
    (folder / "train.py").write_text("open('started', 'w')\n")
    before = listing(folder)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, "--apply"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert "train.py cannot be written (File too large), so --apply would have nowhere to put the change" in done.stderr
    assert "starting the script" not in done.stderr
    assert listing(folder) == before


def test_a_second_trial_is_refused_unless_it_may_wait(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "train.py").write_text("print('nothing')\n")
    with machine_lock():
        refused = call("train.py")
    assert refused.exit_code == 2
    assert "another trial is running on this machine" in refused.stderr
    assert "let this one wait with --wait" in refused.stderr
    assert "starting the script" not in refused.stderr

    monkeypatch.setenv("TMPDIR", tempfile.gettempdir())
    command = [sys.executable, "-m", "accel_advisor", "tune", "train.py", "--wait"]
    with machine_lock():
        waits = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert waits.stderr is not None
        assert "waiting until it has ended" in waits.stderr.readline()
    _, said = waits.communicate(timeout=120)
    assert "starting the script" in said
    assert "without iterating a DataLoader" in said
    assert waits.returncode == 2


SAVES = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
model = nn.Linear(64, 2)
loader = DataLoader(TensorDataset(torch.zeros(4096, 64)), batch_size=64)
for epoch in range(1000):
    for (rows,) in loader:
        model.zero_grad()
        model(rows).sum().backward()
        with torch.no_grad():  # by hand: with its first optimizer torch imports its compiler
            for parameter in model.parameters():
                parameter -= 0.1 * parameter.grad
        torch.save(model.state_dict(), "last.pt")
"""


def test_what_a_trial_measured_is_shown_beside_the_finding(folder: Path) -> None:
    (folder / "train.py").write_text(SAVES)
    command = [sys.executable, "-m", "accel_advisor"]
    trial = ["tune", "train.py", "--explain", "--budget", "6", "--knobs", "prefetch_factor", "--json", "out.json"]
    tuned = subprocess.run([*command, *trial], cwd=folder, capture_output=True, text=True, timeout=300)
    assert tuned.returncode == 0, tuned.stderr
    price = next(line for line in tuned.stdout.splitlines() if "ACC427 train.py:15 `torch.save" in line)
    (found,) = json.loads((folder / "out.json").read_text())["prices"]["findings"]
    assert found["price"]["share"] > 0.1  # a file takes longer than the rest of such a step by far
    assert not (folder / "last.pt").exists()

    lint = ["lint", "train.py", "--measured", "out.json", "--select", "ACC427", "--no-cache"]
    linted = subprocess.run([*command, *lint], cwd=folder, capture_output=True, text=True, timeout=120)
    assert linted.returncode == 1
    assert price.partition("`: ")[2].rstrip(".") in linted.stdout
