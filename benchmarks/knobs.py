"""Tries each knob of the training on a workload on which it must pay, and on one on which it must be refused.

Every workload is a script that knows nothing of this. A knob whose device is missing here must be refused for that.

    python benchmarks/knobs.py [WORKLOAD...] --json benchmarks/results/knobs.json

With WORKLOADs, or knobs, these alone are run, and take the place of their like in the file. All of them take about a
quarter of an hour on two cores with nothing else to do. Exits with 1 where an answer is wrong.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from accel_advisor.fixer import write_atomically
from accel_advisor.machine import inspect_machine
from accel_advisor.tune.outcome import Turn
from accel_advisor.tune.session import Session
from accel_advisor.tune.trial import Command
from accel_advisor.tune.turns import Turner, run_turns

SCRIPT = """\
import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"


{classes}


def main():
    data = TensorDataset(torch.randn({shape}))
    model = {model}
    model.to(device)
    optimizer = torch.optim.{optimizer}
    loader = DataLoader(data, {loader})
    {before}
    for epoch in range(1000):
        for (inputs,) in loader:
            loss = {loss}
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            {after}


if __name__ == "__main__":
    main()
"""
COLLECTED = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Data(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        weights = torch.eye({size})
        for step in range({work}):
            weights = weights @ weights
        return weights[index % {size}]


def main():
    model = nn.Sequential(*[nn.Linear({size}, {size}) for _ in range({layers})])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    loader = DataLoader(Data(), batch_size=4, num_workers={workers}, persistent_workers=True)
    kept = []
    for epoch in range(1000):
        for batch in loader:
            kept.append(batch)
            if len(kept) < {workers}:
                continue
            inputs = torch.cat(kept)
            kept.clear()
            for step in range({steps}):  # on all that was collected, as in reinforcement learning
                loss = model(inputs).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


if __name__ == "__main__":
    main()
"""
POINTWISE = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4096))

    def forward(self, inputs):
        inputs = inputs * self.scale
        for step in range(30):
            inputs = torch.relu(inputs + 0.01 * step) * 0.9 - 0.1 * inputs
        return inputs"""
BROKEN = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)

    def forward(self, inputs):
        for step in range(4):
            inputs = self.layer(inputs)
            torch._dynamo.graph_break()
        return inputs"""
FAR = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1024, 1024)

    def forward(self, inputs):
        return 1000 + self.layer(inputs)  # in bfloat16, numbers around 1000 lie 4 apart"""
CHAIN = """\
import ctypes
import resource
import time


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, inputs):
        for step in range(6):
            inputs = torch.relu(inputs * self.scale)
        return inputs


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(8))

    def forward(self, inputs):
        for block in self.blocks:
            inputs = block(inputs)
        return inputs


def leave(mebibytes):
    ctypes.CDLL(None).mallopt(-3, 65536)  # what is freed goes back to the system at once
    used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData:"))
    resource.setrlimit(resource.RLIMIT_DATA, ((used << 10) + (mebibytes << 20),) * 2)"""
DEEP = "nn.Sequential(*[nn.Linear(32, 32) for _ in range(60)])"
WIDE = "nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(4)])"
CONVOLUTIONS = (
    "nn.Sequential(nn.Conv2d(3, 96, 5, padding=2), nn.ReLU(), "
    "*[layer for _ in range(3) for layer in (nn.Conv2d(96, 96, 3, padding=1), nn.ReLU(), "
    "nn.Conv2d(96, 96, 5, padding=2, groups=2), nn.ReLU(), nn.Conv2d(96, 96, 3, padding=2, dilation=2), nn.ReLU())])"
)
DEPTHWISE = (
    "nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), *[layer for _ in range(4) "
    "for layer in (nn.Conv2d(32, 32, 3, padding=1, groups=32), nn.MaxPool2d(3, 1, 1), nn.ReLU())])"
)
SQUARE = "model(inputs.to(device)).float().square().mean()"


@dataclass(frozen=True, slots=True)
class Workload:
    """A script, the knob to turn, and the answer: pays, or why it must be refused.

    Attributes:
        with_: knobs that are tried along with it.
        threads: that the script's environment asks for.
        device: without which it must be refused.
        block: the least number of seconds of a block: threads that wait for each other run unsteadily beside others.
        before, after: statements in front of the loop, and at the end of each step.
        script: all of it, where it is not one model on rows of numbers.
    """

    knob: str
    pays: bool
    model: str = ""
    shape: str = ""
    why: str = ""
    optimizer: str = "SGD(model.parameters(), lr=1e-4)"
    loader: str = "batch_size=16, shuffle=True"
    loss: str = SQUARE
    classes: str = ""
    threads: int | None = 1
    device: str = ""
    block: float = 0.3
    before: str = ""
    after: str = ""
    with_: frozenset[str] = frozenset()
    script: str = ""

    @property
    def source(self) -> str:
        """The script."""
        if self.script:
            return self.script
        keys = ("model", "shape", "optimizer", "loader", "loss", "classes", "before", "after")
        text = SCRIPT.format(**{key: getattr(self, key) for key in keys}).replace("\n\n\n\n\n", "\n\n")
        return "".join(line for line in text.splitlines(keepends=True) if line == "\n" or line.strip())

    def wrong(self, turn: Turn) -> str:
        """What is wrong with an answer, in words; empty where nothing is."""
        if self.device and not _present(self.device):
            return "" if f"{self.device} alone" in turn.refused else "not refused for the missing device"
        if self.pays:
            return f"refused: {turn.refused}" if turn.refused else ""
        if not turn.refused:
            return "not refused"
        return "" if self.why in turn.refused else f"refused for another reason: {turn.refused}"


WORKLOADS = {
    "threads, small operations on two threads": Workload(
        "threads", True, "nn.Sequential(*[nn.Linear(96, 96) for _ in range(40)])", "4096, 96", threads=2, block=2.0
    ),
    "threads, small operations on one thread": Workload(
        "threads", False, "nn.Sequential(*[nn.Linear(8, 8) for _ in range(40)])", "4096, 8"
    ),
    "thread_binding, beside workers in bursts": Workload(
        "thread_binding",
        True,
        script=COLLECTED.format(size=128, work=45, layers=40, workers=8, steps=20),
        threads=2,
        block=2.0,
    ),
    "thread_binding, workers that need every core": Workload(
        "thread_binding",
        False,
        script=COLLECTED.format(size=128, work=400, layers=2, workers=2, steps=2),
        block=1.0,
    ),
    "thread_binding, no workers": Workload("thread_binding", False, DEEP, "4096, 32", "no workers", threads=2),
    "tf32, products": Workload(
        "tf32",
        True,
        "nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(8)])",
        "4096, 16",
        loader="batch_size=32, shuffle=True",
        before="rows = 128 if device == 'cuda' else 1  # made there, where no loader holds them up",
        loss="model(inputs.to(device).repeat(rows, 128)).square().mean()",
        device="cuda",
    ),
    "tf32, asked for already": Workload(
        "tf32",
        False,
        DEEP,
        "4096, 32",
        "less than full float32 already",
        before="torch.set_float32_matmul_precision('high')",
        device="cuda",
    ),
    "cudnn_benchmark, convolutions": Workload(
        "cudnn_benchmark",
        True,
        CONVOLUTIONS,
        "512, 3, 64, 64",
        loader="batch_size=64 if device == 'cuda' else 4, shuffle=True",
        device="cuda",
    ),
    "cudnn_benchmark, no convolution": Workload("cudnn_benchmark", False, DEEP, "4096, 32", device="cuda"),
    "fused_optimizer, many small weights": Workload(
        "fused_optimizer", True, DEEP, "4096, 32", optimizer="AdamW(model.parameters())"
    ),
    "fused_optimizer, no fused form": Workload(
        "fused_optimizer", False, DEEP, "4096, 32", "no fused form", optimizer="Rprop(model.parameters())"
    ),
    "channels_last, convolutions": Workload("channels_last", True, DEPTHWISE, "512, 3, 32, 32"),
    "channels_last, no convolution": Workload("channels_last", False, DEEP, "4096, 32", "no convolution"),
    "autocast, products": Workload("autocast", True, WIDE, "4096, 1024", loader="batch_size=256, shuffle=True"),
    "autocast, a loss that it moves": Workload(
        "autocast",
        False,
        "Model()",
        "4096, 1024",
        "changes the loss",
        loader="batch_size=256, shuffle=True",
        loss="(model(inputs.to(device)) - 1000).float().square().mean()",
        classes=FAR,
    ),
    "compile, pointwise operations": Workload(
        "compile", True, "Model()", "2048, 4096", loader="batch_size=128, shuffle=True", classes=POINTWISE
    ),
    "compile, a graph in pieces": Workload("compile", False, "Model()", "4096, 64", classes=BROKEN),
    "batch_size, small batches": Workload(
        "batch_size", True, DEEP, "8192, 32", loader="batch_size=8, shuffle=True", optimizer="AdamW(model.parameters())"
    ),
    "batch_size, a batch sampler": Workload(
        "batch_size",
        False,
        DEEP,
        "4096, 32",
        "batch sampler",
        loader="batch_sampler=BatchSampler(RandomSampler(data), 8, False)",
    ),
    "activation_checkpointing, a memory that is too small for larger batches": Workload(
        "activation_checkpointing",
        True,
        "Model()",
        "512, 16384",
        loader="batch_size=8, shuffle=True",
        classes=CHAIN,
        before="leave(mebibytes=40)",
        after="time.sleep(0.4)  # as long as other machines take to answer",
        with_=frozenset({"batch_size"}),
    ),
    "activation_checkpointing, memory for all": Workload(
        "activation_checkpointing",
        False,
        "Model()",
        "512, 4096",
        "memory is not the limit",
        loader="batch_size=8, shuffle=True",
        classes=CHAIN,
        with_=frozenset({"batch_size"}),
    ),
    "activation_checkpointing, statistics that would be taken twice": Workload(
        "activation_checkpointing",
        False,
        "nn.Sequential(*[nn.Sequential(Block(), nn.Linear(16384, 8), nn.BatchNorm1d(8), nn.Linear(8, 16384)) "
        "for _ in range(8)])",
        "512, 16384",
        "twice a step",
        loader="batch_size=8, shuffle=True",
        classes=CHAIN,
        before="leave(mebibytes=54)",
        after="time.sleep(0.4)  # as long as other machines take to answer",
        with_=frozenset({"batch_size"}),
    ),
}
"""Each by its name: the knob, then what it meets."""


def _present(device: str) -> bool:
    return bool(getattr(torch, device).is_available())


@contextmanager
def _threads(count: int | None) -> Iterator[None]:
    """Scripts that are started within have so many threads by their environment."""
    before = os.environ.get("OMP_NUM_THREADS")
    if count is not None:
        os.environ["OMP_NUM_THREADS"] = str(count)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("OMP_NUM_THREADS", None)
        else:
            os.environ["OMP_NUM_THREADS"] = before


def run(workload: Workload) -> dict[str, Any]:
    """Tries a workload's knob on it."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, _threads(workload.threads):
        script = Path(folder).resolve() / "train.py"
        script.write_text(workload.source)
        command = Command(script, None, (), script.parent)
        with Session(command, deadline=math.inf, start_timeout=300, restarts=1) as session:
            turner = Turner(session, command, inspect_machine(), root=script.parent, block=workload.block)
            tried = run_turns(turner, workload.with_ | {workload.knob}, write=False).tried
    turn = next(turn for turn in tried if turn.name == workload.knob)
    gain = turn.gain
    return {
        "knob": turn.name,
        "expected": "pays" if workload.pays else "is refused",
        "setting": turn.setting,
        "gain": [round(one, 4) for one in (gain.ratio, gain.low, gain.high)] if gain else None,
        "loss": None if turn.loss is None else round(turn.loss, 6),
        "warm_up": None if turn.warm_up is None else round(turn.warm_up, 2),
        "refused": turn.refused,
        "patch": [line for line in turn.diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")],
        "by_hand": turn.remedy,
        "wrong": workload.wrong(turn),
        "seconds": round(time.monotonic() - began, 1),
        "load": round(os.getloadavg()[0], 1),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _about() -> dict[str, Any]:
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=Path(__file__).parent, check=False
    ).stdout.strip()
    machine = inspect_machine()
    devices = [torch.cuda.get_device_name(one) for one in range(torch.cuda.device_count())]
    return {
        "date": _now(),
        "commit": commit,
        "machine": f"{platform.system()} {platform.machine()}, {machine.processor}, {machine.cores:g} cores",
        "accelerators": devices,
        "torch": torch.__version__,
    }


def main() -> int:
    """Runs the workloads; 1 where an answer is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="name of one, or of a knob")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    known = {*WORKLOADS, *(one.knob for one in WORKLOADS.values())}
    for name in options.workloads:
        if name not in known:
            parser.error(f"no workload is called {name!r}: there are {', '.join(sorted(known))}")
    chosen = [
        name
        for name, one in WORKLOADS.items()
        if not options.workloads or name in options.workloads or one.knob in options.workloads
    ]
    before = json.loads(options.json.read_text())["workloads"] if options.json and options.json.exists() else {}
    results: dict[str, Any] = {name: before[name] for name in WORKLOADS if name in before}
    about = _about()
    for name in chosen:
        results[name] = {**run(WORKLOADS[name]), "date": _now(), "commit": about["commit"]}
        print(f"{name}: {results[name]}", flush=True)
        if options.json:
            ordered = {one: results[one] for one in WORKLOADS if one in results}
            text = json.dumps({**about, "workloads": ordered}, indent=1)
            write_atomically(options.json, (text + "\n").encode())
    wrong = [name for name in chosen if results[name]["wrong"]]
    took = math.fsum(results[name]["seconds"] for name in chosen)
    print(f"{len(chosen)} workloads in {took / 60:.1f} minutes; wrong: {', '.join(wrong) or 'none'}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
