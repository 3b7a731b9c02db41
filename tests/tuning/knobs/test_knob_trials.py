"""Knobs of the training on real scripts: what pays is written and run again, what moves the loss is refused."""

import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from accel_advisor.finding import Edit, Location, Span
from accel_advisor.machine.machine import inspect_machine, physical_cores
from accel_advisor.tuning.knobs.knob_trials import KnobTrials, most_starts, superseded, try_knobs
from accel_advisor.tuning.knobs.tried_knobs import TriedKnob, TriedKnobs
from accel_advisor.tuning.knobs.whole_runs import STARTS_A_KNOB
from accel_advisor.tuning.probe.knobs.channels_last_knob import ChannelsLast
from accel_advisor.tuning.probe.knobs.tf32_knob import Tf32
from accel_advisor.tuning.probe.knobs.thread_binding_knob import ThreadBinding
from accel_advisor.tuning.probe.knobs.threads_knob import Threads
from accel_advisor.tuning.record.outcome_record import recorded
from accel_advisor.tuning.record.record_file import plain, record_of
from accel_advisor.tuning.record.turns_schema import FixesRecord
from accel_advisor.tuning.search.stops import Stop
from accel_advisor.tuning.showing.summary import print_report
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.session import Session
from accel_advisor.tuning.tuner import Options, tune

torch = pytest.importorskip("torch")

BY_HAND = """\
class ByHand:
    # With its first optimizer torch imports its compiler, for as long as all else takes to start.
    def __init__(self, parameters, lr):
        self.parameters, self.lr = list(parameters), lr

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.grad = None

    def step(self):
        with torch.no_grad():
            for parameter in self.parameters:
                parameter -= self.lr * parameter.grad
"""
SCRIPT = """\
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Conv2d(2, 1, 2)

    def forward(self, inputs):
        return 1000 + self.layer(inputs)  # in bfloat16, numbers around 1000 lie 4 apart


{by_hand}

def train(model, optimizer):
    loader = DataLoader(TensorDataset(torch.randn(640, 2, 2, 2)), batch_size=4, shuffle=True)
    for (inputs,) in loader:
        loss = (model(inputs) - 1000).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep({step})


if __name__ == "__main__":
    model = Model()
    optimizer = ByHand(model.parameters(), lr=1e-3)
    for epoch in range(1000):
        train(model, optimizer)
"""
HUNGRY = """\
import ctypes
import os
import resource
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)


class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, inputs):
        ctx.save_for_backward({make}(len(inputs), {size}))
        return inputs.clone()

    @staticmethod
    def backward(ctx, gradients):
        (kept,) = ctx.saved_tensors
        return gradients


{by_hand}

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1))

    def forward(self, inputs):
        return Keep.apply(inputs * self.scale)


def leave(mebibytes):
    ctypes.CDLL(None).mallopt(-3, 65536)  # what is freed goes back to the system at once
    used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData:"))
    resource.setrlimit(resource.RLIMIT_DATA, ((used << 10) + (mebibytes << 20),) * 2)


def main():
    model = torch.nn.Sequential(*[Block() for _ in range(4)])
    optimizer = {optimizer}(model.parameters(), lr=1e-6)
    loader = DataLoader(TensorDataset(torch.randn(32, 8)), batch_size=4, shuffle=True)
    leave(mebibytes={left})
    for epoch in range(int(os.environ.get("EPOCHS", 1000))):
        for (inputs,) in loader:
            loss = model(inputs).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            time.sleep({pause})


if __name__ == "__main__":
    main()
    os._exit(0)  # the end of the interpreter of torch takes half a second
"""
LIMITED = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a script asks Linux for its own memory")
LAST = "model.layer.weight.is_contiguous(memory_format=torch.channels_last)"
SLOW_UNLESS_LAST = f"0.002 if {LAST} else 0.02"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def trials(session: Session, command: Command, **machine: int) -> KnobTrials:
    return KnobTrials(session, command, replace(inspect_machine(), **machine), root=command.cwd, block=0.1)


def write(folder: Path, step: str) -> Command:
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    (folder / "train.py").write_text(SCRIPT.format(step=step, by_hand=BY_HAND))
    return Command(folder / "train.py", None, (), folder)


def test_what_pays_is_written_and_what_moves_the_loss_is_refused(tmp_path: Path) -> None:
    command = write(tmp_path, SLOW_UNLESS_LAST)
    before = files(tmp_path)
    with Session(command, deadline=math.inf, start_timeout=120, restarts=1) as session:
        names = frozenset(
            {"thread_binding", "fused_optimizer", "autocast", "channels_last", "activation_checkpointing"}
        )
        found = try_knobs(trials(session, command), frozenset(names), write=True)
    binding, fused, layout, autocast, checkpointing = found.tried
    assert binding.refused == "the loader has no workers, which could take the cores of the training"
    assert binding.gain is None
    assert fused.refused == "its optimizer has no fused form in torch.optim"
    assert fused.gain is None
    assert (layout.name, layout.refused) == ("channels_last", "")
    assert layout.gain is not None
    assert layout.gain.low > 1.02
    assert layout.loss == pytest.approx(0, abs=1e-3)
    assert "changes the loss" in autocast.refused
    assert (autocast.edits, autocast.diff) == ((), "")
    assert "memory is not the limit" in checkpointing.refused
    assert checkpointing.gain is None
    assert found.written
    assert found.verification is not None
    assert found.verification.holds
    line = b"    model.to(memory_format=torch.channels_last)\n"
    after = before["train.py"].replace(b"    for epoch in", line + b"    for epoch in")
    assert files(tmp_path) == {**before, "train.py": after}


@pytest.mark.skipif(len(physical_cores()) < 2, reason="there are no two cores to choose among")
def test_threads_are_bound_beside_workers(tmp_path: Path) -> None:
    step = f"0.002 if len(os.sched_getaffinity(0)) < {len(os.sched_getaffinity(0))} else 0.02"
    command = write(tmp_path, step)
    source = tmp_path / "train.py"
    text = source.read_text().replace("import time", "import os\nimport time")
    source.write_text(text.replace("shuffle=True", "shuffle=True, num_workers=1"))
    with Session(command, deadline=math.inf, start_timeout=120, restarts=1) as session:
        found = try_knobs(trials(session, command), frozenset({"thread_binding"}), write=False)
    (turn,) = found.tried
    assert turn.refused == ""
    added = [line[1:] for line in turn.diff.splitlines() if line.startswith("+") and line[:3] != "+++"]
    assert [line.strip().partition("(")[0] for line in added if line] == [
        "os.sched_setaffinity",
        "torch.set_num_threads",
        "loader = DataLoader",
        "worker_init_fn=lambda _: os.sched_setaffinity",
    ]
    assert ", num_workers=1,\n+" in turn.diff
    assert " worker_init_fn=lambda _: os.sched_setaffinity(0, {" in turn.diff


def test_a_number_of_threads_that_is_bound_too_is_written_once() -> None:
    threads = TriedKnob(Threads(1), "torch.set_num_threads(1)")
    binding = TriedKnob(ThreadBinding(), "", remedy="by hand")
    assert superseded((threads, binding)) == (threads, binding)
    bound = replace(binding, edits=(Edit("train.py", Span(Location(0, 1, 1), Location(0, 1, 1)), ""),))
    first, second = superseded((threads, bound))
    assert "with thread binding" in first.refused
    assert second is bound


@LIMITED
def test_a_larger_batch_is_made_room_for(tmp_path: Path) -> None:
    command = write(tmp_path, "")
    source = tmp_path / "train.py"
    optimizer = {"optimizer": "ByHand", "by_hand": BY_HAND}
    source.write_text(HUNGRY.format(make="torch.empty", size=1 << 20, left=118, pause=0.02, **optimizer))
    with Session(command, deadline=math.inf, start_timeout=120, restarts=1) as session:
        names = frozenset({"batch_size", "activation_checkpointing"})
        found = try_knobs(trials(session, command), names, write=False)
    batch, checkpointing = found.tried
    assert "allocate memory" in batch.refused
    assert checkpointing.refused == ""
    assert checkpointing.gain is not None
    assert checkpointing.gain.low > 1.02
    assert checkpointing.loss == 0
    assert "batch_size=4, which fits without it" in checkpointing.caution
    ((_, after),) = found.rewrite.after.items()
    assert b"batch_size=8" in after
    assert run_alone(source, after) == ""
    without = b"".join(line for line in after.splitlines(keepends=True) if b"block" not in line)
    assert "allocate memory" in run_alone(source, without)


def run_alone(source: Path, text: bytes) -> str:
    """What one epoch of a script says of its failure; nothing where it ends well."""
    source.write_bytes(text)
    environment = {**os.environ, "EPOCHS": "1"}
    result = subprocess.run([sys.executable, source], env=environment, capture_output=True, text=True, check=False)
    return result.stderr if result.returncode else ""


@LIMITED
def test_room_alone_is_shown_and_not_written(tmp_path: Path) -> None:
    command = write(tmp_path, "")
    # Checkpointing has torch import its compiler, too: it must not be what takes the memory.
    optimizer = {"optimizer": "torch.optim.SGD", "by_hand": BY_HAND}
    text = HUNGRY.format(make="torch.ones", size=1 << 18, left=1 << 20, pause=0.01, **optimizer)
    (tmp_path / "train.py").write_text(text)
    with Session(command, deadline=math.inf, start_timeout=120, restarts=1) as session:
        own = trials(session, command)
        own._runs._memory = int((own._runs.first().turned.memory - (4 << 20)) / 0.8)
        found = try_knobs(own, frozenset({"activation_checkpointing"}), write=True)
    (turn,) = found.tried
    assert turn.refused == ""
    assert "for the memory alone" in turn.caution
    assert "+    for block in model:" in turn.diff
    assert not turn.faster
    assert not found.remain
    assert not found.written
    assert (tmp_path / "train.py").read_text() == text


def test_a_knob_of_another_device_is_refused_and_reported(tmp_path: Path) -> None:
    command = write(tmp_path, "0.005")
    before = files(tmp_path)
    knobs = frozenset({"tf32", "cudnn_benchmark", "fixes"})
    outcome = tune(command, Options(budget=5, knobs=knobs, apply=True, unsafe=True))
    assert outcome.kept is Stop.NO_KNOB
    assert outcome.turns is not None
    assert [turn.name for turn in outcome.turns.tried] == ["tf32", "cudnn_benchmark"]
    assert not outcome.left_on_the_table
    assert files(tmp_path) == before
    console = Console(width=160, record=True, file=open(os.devnull, "w"))  # noqa: SIM115 -- closed with the process
    print_report(outcome, console)
    said = console.export_text()
    assert "it does something on cuda alone, and the model is on cpu" in said
    assert "Lint offers no fix for what the training loop runs." in said
    data: dict[str, Any] = plain(recorded(outcome))
    assert data["turns"]["tried"][0]["gain"] is None
    stored = record_of(data)
    assert stored.turns is not None
    assert stored.turns.tried[1].name == "cudnn_benchmark"
    assert stored.fixes == FixesRecord((), "", (), False)


def test_the_starts_of_a_knob_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert most_starts(frozenset({"num_workers"})) == 0
    assert most_starts(frozenset({"num_workers", "compile"})) == 1 + 16 + 16
    assert most_starts(frozenset({"compile", "batch_size"})) == 1 + 16 + STARTS_A_KNOB + 16
    monkeypatch.setattr("accel_advisor.tuning.knobs.whole_runs.STARTS_A_KNOB", 1)
    command = write(tmp_path, SLOW_UNLESS_LAST)
    with Session(command, deadline=math.inf, start_timeout=120, restarts=1) as session:
        found = trials(session, command).try_knob(ChannelsLast)
        threads = trials(session, command, affinity=1).try_knob(Threads)
    assert threads.refused == "there is one core, and one thread on it"
    assert found.refused == "it was not settled after 1 starts of the script"


def test_what_pays_and_is_not_written_is_left_on_the_table() -> None:
    pays, refused = TriedKnob(Threads(2), "torch.set_num_threads(2)"), TriedKnob(Tf32(), "", refused="no")
    assert TriedKnobs((refused, pays)).remain
    assert not TriedKnobs((refused,)).remain
    assert not TriedKnobs((refused, pays), written=True).remain


@pytest.mark.gpu
def test_knobs_of_a_gpu_are_measured_there(tmp_path: Path) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    command = write(tmp_path, "0.01")
    source = command.cwd / "train.py"
    text = source.read_text().replace("model = Model()", "model = Model().cuda()")
    source.write_text(text.replace("(model(inputs) - 1000)", "(model(inputs.cuda()) - 1000)"))
    with Session(command, deadline=math.inf, start_timeout=120, restarts=1) as session:
        names = frozenset({"tf32", "cudnn_benchmark", "threads"})
        found = try_knobs(trials(session, command), names, write=False)
    threads, tf32, benchmark = found.tried
    assert "it does something on cpu alone, and the model is on cuda" in threads.refused
    for turn in (tf32, benchmark):
        assert turn.gain is not None, turn.refused
        assert turn.loss is not None
