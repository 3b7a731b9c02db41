"""The scripts on which each knob of the training must pay, or must be refused."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from accel_advisor.tuning.knobs.tried_knobs import TriedKnob
from accel_advisor.tuning.probe.knobs.training_knobs import TRAINING_KNOBS

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
        device: without which it must be refused; other workloads run on the processor, whatever else there is.
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

    @property
    def elsewhere(self) -> bool:
        """Whether its device is missing here, and its knob does something on others, too: nothing is learned then."""
        kind = next(kind for kind in TRAINING_KNOBS if kind.name == self.knob)
        return bool(self.device) and not present(self.device) and kind.device != self.device

    def wrong(self, turn: TriedKnob) -> str:
        """What is wrong with an answer, in words; empty where nothing is."""
        if self.device and not present(self.device):
            return "" if f"{self.device} alone" in turn.refused else "not refused for the missing device"
        if self.pays:
            return f"refused: {turn.refused}" if turn.refused else ""
        if not turn.refused:
            return "not refused"
        return "" if self.why in turn.refused else f"refused for another reason: {turn.refused}"


WORKLOADS = {
    "threads, products on one thread": Workload(
        "threads", True, WIDE, "4096, 1024", loader="batch_size=256, shuffle=True", block=1.0
    ),
    "threads, small operations on one thread": Workload(
        "threads", False, "nn.Sequential(*[nn.Linear(8, 8) for _ in range(40)])", "4096, 8"
    ),
    "thread_binding, beside workers in bursts": Workload(
        "thread_binding",
        True,
        script=COLLECTED.format(size=128, work=45, layers=40, workers=8, steps=20),
        threads=2,
        block=5.0,
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
        loader="batch_size=64 if device == 'cuda' else 1, shuffle=True",
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


def present(device: str) -> bool:
    """Whether there is one for torch."""
    return bool(getattr(torch, device).is_available())
