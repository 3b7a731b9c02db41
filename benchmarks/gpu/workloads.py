"""The training scripts that keep a GPU waiting, each in its own way: files to decode, texts to split, rows to gather,
batches to move; and one that does not, whose steps are long. Models are of torch alone, precision is its default."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.settings import describe

from ..regret.workloads import Workload

PHOTOS, DOCUMENTS = "photos", "documents.txt"
"""What is made at the start, below one folder."""

HEAD = '''\
"""@ABOUT@"""

from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

DATA = Path(@FOLDER@)
device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
'''

LOOP = """

def main():
    torch.manual_seed(0)
    model = make_model().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    loader = DataLoader(Data(), @ARGUMENTS@, @SETTINGS@)
    while True:
        for inputs, targets in loader:
            inputs, targets = inputs.to(device@NOW@), targets.to(device@NOW@)
            loss = nn.functional.cross_entropy(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
"""

IMAGES = '''
from PIL import Image


class Data(Dataset):
    def __init__(self):
        self.files = sorted((DATA / "photos").glob("*.jpg"))

    def __len__(self):
        return 200_000

    def __getitem__(self, index):
        picture = Image.open(self.files[index % len(self.files)]).convert("RGB").resize((@SIZE@, @SIZE@))
        pixels = torch.frombuffer(bytearray(picture.tobytes()), dtype=torch.uint8).view(@SIZE@, @SIZE@, 3)
        return pixels.permute(2, 0, 1).float().div(255), index % 1000


class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside), nn.ReLU(inplace=True),
            nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside),
        )
        self.past = nn.Identity()
        if stride > 1 or inside != outside:
            self.past = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, inputs):
        return torch.relu(self.body(inputs) + self.past(inputs))


def make_model():
    """ResNet-18."""
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    body = [Block(64, 64, 1), Block(64, 64, 1)]
    for width in (128, 256, 512):
        body += [Block(width // 2, width, 2), Block(width, width, 1)]
    return nn.Sequential(*stem, *body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))
'''

TEXT = """
from torch.nn.utils.rnn import pad_sequence


class Data(Dataset):
    def __init__(self):
        self.documents = (DATA / "documents.txt").read_text().splitlines()
        words = sorted({word for text in self.documents for word in text.lower().split()})
        self.numbers = {word: number for number, word in enumerate(words, 1)}

    def __len__(self):
        return 200_000

    def __getitem__(self, index):
        words = self.documents[index % len(self.documents)].lower().split()[:@SIZE@]
        return torch.tensor([self.numbers[word] for word in words]), index % 2


def collate(samples):
    texts, labels = zip(*samples)
    return pad_sequence(texts, batch_first=True), torch.tensor(labels)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10_000, 256, padding_idx=0)
        layer = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(256, 2)

    def forward(self, texts):
        return self.head(self.encoder(self.embedding(texts)).mean(1))


def make_model():
    return Model()
"""

TABULAR = """

class Data(Dataset):
    def __init__(self):
        self.rows = torch.randn(200_000, 64)
        self.labels = torch.randint(2, (200_000,))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index], self.labels[index]


def make_model():
    return nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 2))
"""

LARGE = """

class Data(Dataset):
    def __init__(self):
        self.kept = torch.rand(64, @SIZE@, @SIZE@)

    def __len__(self):
        return 200_000

    def __getitem__(self, index):
        return self.kept[index % 64], index % 2


def make_model():
    shrunk = [nn.Unflatten(1, (1, @SIZE@)), nn.AvgPool2d(16), nn.Flatten()]
    return nn.Sequential(*shrunk, nn.Linear((@SIZE@ // 16) ** 2, 2))
"""

COMPUTE = """

class Data(Dataset):
    def __init__(self):
        self.rows = torch.randn(20_000, 64)
        self.labels = torch.randint(2, (20_000,))

    def __len__(self):
        return 200_000

    def __getitem__(self, index):
        return self.rows[index % 20_000], self.labels[index % 20_000]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.columns = nn.Parameter(torch.randn(64, @SIZE@) * 0.1)
        layer = nn.TransformerEncoderLayer(@SIZE@, 8, 4 * @SIZE@, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 8, enable_nested_tensor=False)
        self.head = nn.Linear(@SIZE@, 2)

    def forward(self, rows):
        return self.head(self.encoder(rows.unsqueeze(2) * self.columns).mean(1))


def make_model():
    return Model()
"""
NOTHING = "nothing to gain"
"""The answer of a workload that no setting makes faster."""


@dataclass(frozen=True)
class Training(Workload):
    """A workload whose script has a real model on whatever device there is, and whose grid has transfers, too.

    Attributes:
        script: data set and model.
        size: of a sample, in pixels or words.
        folder: where its data lie.
        counts: the workers of its grid.
        warmest: steps before a reading at the most.
    """

    script: str = ""
    size: int = 0
    folder: str = ""
    counts: tuple[int, ...] = (0, 2)
    warmest: int = 1000

    def warm(self, settings: Settings) -> int:
        """As for every workload; fewer steps where they are long, and batches are ready before in any case."""
        return min(self.warmest, super().warm(settings))

    def source(self, settings: Settings) -> str:
        """The script with ``settings`` written out: those of the copies as an argument of the loop's own."""
        words = {
            "@ABOUT@": self.about,
            "@FOLDER@": repr(self.folder),
            "@SIZE@": str(self.size),
            "@ARGUMENTS@": self.arguments.format(batch=self.batch),
            "@SETTINGS@": describe(Settings(*_loader(settings))),
            "@NOW@": ", non_blocking=True" if settings.non_blocking else "",
        }
        text = HEAD + self.script + LOOP
        for mark, word in words.items():
            text = text.replace(mark, word)
        return text

    def rules(self) -> dict[str, Settings]:
        """What rules of thumb say, by name, the defaults first: no workers, four, and as many as there are cores."""
        counts = {"defaults": 0, "4 workers": 4, "all cores": self.counts[-1]}
        plain = {name: Settings(count) for name, count in counts.items()}
        return plain | {f"{name}, pinned": Settings(count, pin_memory=True) for name, count in counts.items()}

    def cells(self) -> list[Settings]:
        """Every cell, those of rules of thumb first. Copies that do not block are different only from pinned memory;
        without workers, pinning takes the step's own time, and what does not block is no cell."""
        copies: tuple[dict[str, bool], ...] = ({"pin_memory": True, "non_blocking": True}, {"pin_memory": True}, {})
        rest = [Settings(count, **one) for one in copies for count in reversed(self.counts) if count]
        return list(dict.fromkeys((*self.rules().values(), *rest)))

    def cell(self, settings: Settings) -> Settings:
        """The cell that settings fall into; epochs are long, so that it makes no difference whether workers persist."""
        count, ahead = settings.num_workers, settings.prefetch_factor
        return Settings(
            count, None if not count or ahead == 2 else ahead, False, settings.pin_memory, settings.non_blocking
        )


def _loader(settings: Settings) -> tuple[int, int | None, bool, bool]:
    return settings.num_workers, settings.prefetch_factor, settings.persistent_workers, settings.pin_memory


def trainings(folder: Path, cores: int, *, quick: bool) -> tuple[Training, ...]:
    """The workloads, on data below ``folder``, with a grid for so many cores. ``quick`` ones are small enough for two
    cores without a GPU."""
    counts = (0, 2) if quick else tuple(sorted({0, max(1, cores // 4), max(2, cores // 2), max(2, cores)}))

    def training(name: str, about: str, script: str, **rest: object) -> Training:
        about_all = {"answer": "", "step": "", "folder": str(folder), "counts": counts, "seconds": 0.8}
        return Training(name, about, script=script, **{**about_all, **rest})  # type: ignore[arg-type]

    return (
        training(
            "images",
            "JPEG files, decoded by Pillow and shrunk, for a ResNet-18.",
            IMAGES,
            batch=8 if quick else 64,
            size=64 if quick else 224,
        ),
        training(
            "text",
            "Documents, split into words and padded, for a transformer encoder of four layers.",
            TEXT,
            batch=4 if quick else 64,
            size=32 if quick else 256,
            arguments="batch_size={batch}, shuffle=True, collate_fn=collate",
        ),
        training("tabular", "Rows of a table in memory, for three linear layers.", TABULAR, batch=1024),
        training(
            "large",
            "Batches that are large beside what is computed on them.",
            LARGE,
            batch=16 if quick else 64,
            size=128 if quick else 512,
        ),
        training(
            "compute",
            "Rows of a table in memory, each number a token, for a transformer encoder of eight layers.",
            COMPUTE,
            answer=NOTHING,
            batch=4 if quick else 64,
            size=32 if quick else 1024,
            warmest=8,
        ),
    )


def make_data(folder: Path, *, photos: int, documents: int) -> None:
    """Makes the JPEG files (500 x 375, as in ImageNet) and the documents."""
    from PIL import Image

    (folder / PHOTOS).mkdir(parents=True)
    for number in range(photos):
        colours = [Image.effect_noise((100, 75), 90) for _ in range(3)]
        picture = Image.merge("RGB", colours).resize((500, 375), Image.Resampling.BICUBIC)
        picture.save(folder / PHOTOS / f"{number:04}.jpg", quality=90)
    chance = random.Random(0)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(9000)]
    texts = (" ".join(chance.choices(words, k=chance.randint(50, 400))) for _ in range(documents))
    (folder / DOCUMENTS).write_text("\n".join(texts) + "\n")
