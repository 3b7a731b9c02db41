"""The training scripts on which choices are scored: real loops whose best settings are known by construction.

A fetch waits for storage (it sleeps) or computes (it takes processor time, however many others want it, or decodes a
real JPEG); a step computes on the processor or waits for a device (it sleeps). So it is known what each loop must gain
from workers, whatever machine it runs on. The scripts train forever and keep torch to one thread, so that there are
cores to give.
"""

from __future__ import annotations

from dataclasses import dataclass

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.settings import describe, prefetch

NO_WORKERS = Settings()
LAUNCHES = "REGRET_LAUNCHES"
"""The environment variable with the socket to which a script says that it was launched."""

TEMPLATE = '''\
"""{about}"""

import os
import socket
import time
{imports}
import torch
from torch import nn
from torch.utils.data import {names}

torch.set_num_threads(1)


def burn(seconds):
    """Takes processor time, however many others want it."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def sample(index):
    return torch.full((16,), float(index % 7)), index % 2


{data}


def train_step(model, optimizer, batch):
    inputs, targets = batch
    loss = nn.functional.cross_entropy(model(inputs.flatten(1)[:, :16]), targets)
    optimizer.zero_grad()
    loss.backward()
    {step}
    optimizer.step()
    return loss


def main():
    {setup}
    if "{launches}" in os.environ:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as launches:
            launches.sendto(b".", os.environ["{launches}"])
    torch.manual_seed(0)
    data = Data()
    model = nn.Linear(16, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(data, {arguments}, {settings})
    for epoch in range(1_000_000):
        {epoch}
        for batch in loader:
            train_step(model, optimizer, batch)


if __name__ == "__main__":
    main()
'''

MAP_STYLE = """\
class Data(Dataset):
    def __len__(self):
        return {samples}

    def __getitem__(self, index):
        {fetch}
        return sample(index)
"""

JPEG = """\
def photo():
    picture = Image.effect_noise((192, 192), 60).convert("RGB")
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=90)
    return stream.getvalue()


class Data(Dataset):
    def __init__(self):
        self.photos = [photo() for _ in range(32)]

    def __len__(self):
        return {samples}

    def __getitem__(self, index):
        picture = Image.open(io.BytesIO(self.photos[index % 32])).convert("RGB").resize((96, 96))
        return torch.frombuffer(bytearray(picture.tobytes()), dtype=torch.uint8).float().div(255), index % 2
"""

IN_MEMORY = """\
class Data(Dataset):
    def __init__(self):
        self.inputs = torch.arange({samples} * 16, dtype=torch.float32).reshape(-1, 16) % 7

    def __len__(self):
        return len(self.inputs)

    def __getitem__(self, index):
        return self.inputs[index], index % 2
"""

LARGE = """\
class Data(Dataset):
    def __init__(self):
        self.kept = torch.rand(8, 512, 512)

    def __len__(self):
        return {samples}

    def __getitem__(self, index):
        time.sleep(0.006)
        return self.kept[index % 8] + 1, index % 2
"""

CHANGING = """\
class Data(Dataset):
    epoch = 0

    def __len__(self):
        return {samples}

    def __getitem__(self, index):
        time.sleep(0.0006)
        return sample(index + self.epoch)
"""

COLLATE = """\
class Data(Dataset):
    def __len__(self):
        return {samples}

    def __getitem__(self, index):
        return sample(index)


def collate(samples):
    burn(0.02)
    return default_collate(samples)
"""

STREAM = """\
class Data(IterableDataset):
    def __len__(self):
        return {samples}

    def __iter__(self):
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        for index in range(first, {samples}, step):
            time.sleep(0.003)
            yield sample(index)
"""

SAMPLER = """\
class Data(Dataset):
    def __len__(self):
        return {samples}

    def __getitem__(self, index):
        time.sleep(0.004)
        return sample(index)


class Buckets(Sampler):
    def __iter__(self):
        for first in torch.randperm({samples} // 8).tolist():
            yield list(range(8 * first, 8 * first + 8))

    def __len__(self):
        return {samples} // 8
"""


@dataclass(frozen=True)
class Workload:
    """One training script, and the grid on which choices for it are scored.

    Attributes:
        about: what it costs, in a sentence.
        answer: the best settings by construction, in words.
        fetch: statements of ``__getitem__`` where ``data`` is the plain data set.
        setup, epoch: statements at the start of ``main`` and of every epoch.
        step: statements of the step, between backward and the optimizer.
        length: batches in an epoch.
        workers, prefetch, persistent: the grid, crossed.
        period: batches after which costs repeat; a reading takes a multiple of them.
        seconds: what a reading takes at least.
        loaded: whether a neighbour takes processor time meanwhile.
    """

    name: str
    about: str
    answer: str
    step: str
    fetch: str = "pass"
    data: str = MAP_STYLE
    imports: str = ""
    names: str = "DataLoader, Dataset"
    arguments: str = "batch_size={batch}, shuffle=True"
    setup: str = "pass"
    epoch: str = "pass"
    batch: int = 8
    length: int = 20_000
    baseline: Settings = NO_WORKERS
    workers: tuple[int, ...] = (0, 1, 2, 4, 8)
    prefetch: tuple[int, ...] = (2,)
    persistent: tuple[bool, ...] = (False,)
    period: int = 1
    seconds: float = 1.2
    loaded: bool = False

    @property
    def short(self) -> bool:
        """Whether the starts of epochs show, so that whole epochs are timed."""
        return self.length < 1000

    def warm(self, settings: Settings) -> int:
        """Steps before a reading: what workers have ready by then is used up, and each has delivered twice."""
        return 2 + settings.num_workers * (2 + prefetch(settings))

    def source(self, settings: Settings) -> str:
        """The script with ``settings`` written out in its DataLoader call."""
        samples = self.batch * self.length
        return TEMPLATE.format(
            about=self.about,
            imports=self.imports,
            setup=self.setup,
            names=self.names,
            data=self.data.format(samples=samples, fetch=self.fetch).rstrip(),
            step=self.step,
            arguments=self.arguments.format(batch=self.batch),
            settings=describe(settings),
            epoch=self.epoch,
            launches=LAUNCHES,
        )

    def cells(self) -> list[Settings]:
        """Every cell of the grid, the baseline first."""
        found = [
            Settings(count, ahead, kept)
            for count in self.workers
            for ahead in (self.prefetch if count else (2,))
            for kept in (self.persistent if count else (False,))
        ]
        return list(dict.fromkeys(self.cell(settings) for settings in (self.baseline, *found)))

    def cell(self, settings: Settings) -> Settings:
        """The cell that settings fall into: prefetching at its default is not written, what makes no difference is
        left out."""
        count, ahead = settings.num_workers, settings.prefetch_factor
        if not count:
            return Settings()
        return Settings(count, None if ahead == 2 else ahead, settings.persistent_workers and self.short)


DEVICE = "burn(0.001); time.sleep({})"

WORKLOADS: tuple[Workload, ...] = (
    Workload(
        "small-reads",
        "Small reads: 24 ms of waiting for storage a batch, steps of 7 ms.",
        "4 workers",
        fetch="time.sleep(0.003)",
        step=DEVICE.format(0.006),
        prefetch=(2, 8),
    ),
    Workload(
        "slow-storage",
        "Slow storage: 150 ms of waiting a batch, steps of 13 ms.",
        "12 workers, far more than cores",
        fetch="time.sleep(0.01875)",
        step=DEVICE.format(0.012),
        workers=(0, 1, 2, 4, 8, 12, 16),
        seconds=1.5,
    ),
    Workload(
        "jpeg-decode",
        "Real JPEG files decoded on the processor, on which the steps run, too.",
        "as many workers as there are cores to give",
        data=JPEG,
        imports="import io\n\nfrom PIL import Image",
        step="burn(0.004)",
        workers=(0, 1, 2, 3, 4),
        prefetch=(2, 8),
    ),
    Workload(
        "decode-for-device",
        "24 ms of processor time a batch, steps of 13 ms on a device.",
        "2 workers on 2 cores",
        fetch="burn(0.003)",
        step=DEVICE.format(0.012),
        workers=(0, 1, 2, 3, 4),
        prefetch=(2, 8),
    ),
    Workload(
        "mixed",
        "32 ms of waiting and 6 ms of processor time a batch, steps of 12 ms.",
        "4 workers",
        fetch="time.sleep(0.004); burn(0.0008)",
        step="burn(0.002); time.sleep(0.01)",
        workers=(0, 1, 2, 3, 4, 8),
        prefetch=(2, 8),
    ),
    Workload(
        "bimodal",
        "One sample in eight takes 20 ms, the others 1 ms; steps of 11 ms.",
        "more workers, or more batches ahead, than the mean fetch asks for",
        fetch="time.sleep(0.02 if hash((index, 7)) % 8 == 0 else 0.001)",
        step=DEVICE.format(0.01),
        workers=(0, 1, 2, 3, 4, 8),
        prefetch=(2, 8),
        seconds=2.0,
    ),
    Workload(
        "rare-stalls",
        "One batch in twenty takes 200 ms longer than the others' 8 ms; steps of 11 ms.",
        "enough batches ahead to last through a stall",
        fetch="time.sleep(0.2 if index % 160 == 0 else 0.001)",
        step=DEVICE.format(0.01),
        arguments="batch_size={batch}",
        workers=(0, 1, 2, 4, 8),
        prefetch=(2, 4, 8, 16),
        period=20,
    ),
    Workload(
        "in-memory",
        "Tensors in memory, steps of 8 ms of processor time.",
        "nothing to gain",
        data=IN_MEMORY,
        step="burn(0.008)",
        workers=(0, 1, 2, 4),
    ),
    Workload(
        "huge-batches",
        "Batches of 16 MiB that take 96 ms of waiting, steps of 42 ms.",
        "3 workers",
        data=LARGE,
        step="burn(0.002); time.sleep(0.04)",
        batch=16,
        workers=(0, 1, 2, 3, 4, 6),
        seconds=2.0,
    ),
    Workload(
        "tiny-epochs",
        "Epochs of 6 batches, each with 24 ms of waiting and a step of 9 ms.",
        "workers only if they outlive the epoch",
        fetch="time.sleep(0.003)",
        step=DEVICE.format(0.008),
        length=6,
        workers=(0, 1, 2, 3, 4, 6),
        persistent=(False, True),
    ),
    Workload(
        "changing-data",
        "Epochs of 6 batches of a data set that the script changes in between, so that workers must not outlive them.",
        "no workers: their start costs more than they bring",
        data=CHANGING,
        step=DEVICE.format(0.004),
        epoch="data.epoch = epoch",
        length=6,
        workers=(0, 1, 2, 4),
    ),
    Workload(
        "tuned",
        "Small reads with the right number of workers already.",
        "nothing to gain",
        fetch="time.sleep(0.003)",
        step=DEVICE.format(0.006),
        baseline=Settings(4),
        workers=(0, 1, 2, 4, 6, 8),
    ),
    Workload(
        "too-many-workers",
        "16 workers decode on the processor for steps that compute there, too.",
        "as many workers as there are cores to give",
        data=JPEG,
        imports="import io\n\nfrom PIL import Image",
        step="burn(0.006)",
        baseline=Settings(16),
        workers=(0, 1, 2, 3, 4, 16),
    ),
    Workload(
        "neighbour",
        "Waiting and processor time mixed, while a neighbour takes a core half of the time.",
        "4 workers",
        fetch="time.sleep(0.004); burn(0.0005)",
        step="burn(0.002); time.sleep(0.01)",
        workers=(0, 1, 2, 3, 4, 6),
        seconds=2.5,
        loaded=True,
    ),
    Workload(
        "tiny-steps",
        "Steps so short and samples so cheap that taking batches over from workers costs more than fetching them.",
        "no workers",
        data=IN_MEMORY,
        step="pass",
        baseline=Settings(2),
        workers=(0, 1, 2, 4),
    ),
    Workload(
        "collate-heavy",
        "Samples cost nothing, putting a batch together 20 ms of processor time; steps of 13 ms.",
        "2 workers",
        data=COLLATE,
        names="DataLoader, Dataset, default_collate",
        arguments="batch_size={batch}, shuffle=True, collate_fn=collate",
        step=DEVICE.format(0.012),
        workers=(0, 1, 2, 3, 4),
    ),
    Workload(
        "shared-stream",
        "An iterable data set that shares its samples out among workers, 24 ms of waiting a batch, steps of 8 ms.",
        "3 to 4 workers",
        data=STREAM,
        names="DataLoader, IterableDataset, get_worker_info",
        arguments="batch_size={batch}",
        step=DEVICE.format(0.007),
        workers=(0, 1, 2, 3, 4, 8),
    ),
    Workload(
        "batch-sampler",
        "A batch sampler of the script's own, 32 ms of waiting a batch, steps of 9 ms.",
        "4 workers",
        data=SAMPLER,
        names="DataLoader, Dataset, Sampler",
        arguments="batch_sampler=Buckets()",
        step=DEVICE.format(0.008),
        workers=(0, 1, 2, 4, 6, 8),
    ),
    Workload(
        "spawned",
        "Workers that start by spawn, seconds each, for epochs of 40 batches with 24 ms of waiting and steps of 9 ms.",
        "workers that outlive the epoch",
        fetch="time.sleep(0.003)",
        step=DEVICE.format(0.008),
        setup='torch.multiprocessing.set_start_method("spawn", force=True)',
        length=40,
        baseline=Settings(2),
        workers=(0, 1, 2, 4),
        persistent=(False, True),
    ),
)
