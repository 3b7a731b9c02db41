"""Makes the data that a script needs, in the format and about the size of the real thing, with random content.

Each function is a fixture: it takes the folder of the copied repository and makes what is missing there, so that the
script finds its data where a download would have put it.
"""

from __future__ import annotations

import pickle
import random
import struct
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image

Fixture = Callable[[Path], None]
_CORA_PAPERS, _CORA_WORDS, _CORA_CITATIONS = 2708, 1433, 5429
_CORA_TOPICS = ("Case_Based", "Genetic_Algorithms", "Neural_Networks", "Probabilistic_Methods", "Theory")


def mnist(folder: str, *, samples: int = 60_000) -> Fixture:
    """The four IDX files of MNIST, below ``folder``."""

    def make(root: Path) -> None:
        raw = root / folder / "MNIST" / "raw"
        raw.mkdir(parents=True)
        source = np.random.default_rng(0)
        for name, count in (("train", samples), ("t10k", samples // 6)):
            images = source.integers(0, 256, (count, 28, 28), np.uint8)
            labels = source.integers(0, 10, count, np.uint8)
            (raw / f"{name}-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 0x803, *images.shape) + images.data)
            (raw / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, count) + labels.data)

    return make


def cifar10(folder: str) -> Fixture:
    """CIFAR-10's six batches and its names, as pickles below ``folder``."""

    def make(root: Path) -> None:
        batches = root / folder / "cifar-10-batches-py"
        batches.mkdir(parents=True)
        source = np.random.default_rng(0)
        for name in (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"):
            entry = {
                "data": source.integers(0, 256, (10_000, 3072), np.uint8),
                "labels": source.integers(0, 10, 10_000).tolist(),
            }
            (batches / name).write_bytes(pickle.dumps(entry))
        (batches / "batches.meta").write_bytes(pickle.dumps({"label_names": [f"class {n}" for n in range(10)]}))

    return make


def image_folder(*folders: str, classes: int = 2, images: int = 100, size: tuple[int, int] = (500, 375)) -> Fixture:
    """JPEG files in a folder for each class, as torchvision's ImageFolder reads them; without ``classes`` in
    ``folders`` themselves."""

    def make(root: Path) -> None:
        for folder in folders:
            for place in [f"class{number}" for number in range(classes)] or ["."]:
                path = root / folder / place
                path.mkdir(parents=True, exist_ok=True)
                for number, picture in enumerate(_pictures(images, size)):
                    picture.save(path / f"{number:04}.jpg", quality=90)

    return make


def carvana(root: Path) -> None:
    """Photos and masks, at a sixth of the size of the Carvana challenge's, for milesial/Pytorch-UNet."""
    for folder in ("data/imgs", "data/masks"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for number, picture in enumerate(_pictures(120, (320, 214))):
        picture.save(root / f"data/imgs/{number:04}.jpg", quality=90)
        mask = picture.convert("L").point(lambda value: 255 if value > 127 else 0).convert("1")
        mask.save(root / f"data/masks/{number:04}_mask.gif")


def cora(root: Path) -> None:
    """The archive of the Cora citations, for the stand-in of requests."""
    draw = random.Random(0)
    folder = root / "downloads"
    folder.mkdir()
    papers = range(1, _CORA_PAPERS + 1)
    words = ["\t".join(draw.choices("01", (98, 2), k=_CORA_WORDS)) for _ in papers]
    files = {
        "content": [f"{paper}\t{has}\t{draw.choice(_CORA_TOPICS)}\n" for paper, has in zip(papers, words, strict=True)],
        "cites": [f"{draw.choice(papers)}\t{draw.choice(papers)}\n" for _ in range(_CORA_CITATIONS)],
    }
    with tarfile.open(folder / "cora.tgz", "w:gz") as archive:
        for name, lines in files.items():
            path = folder / f"cora.{name}"
            path.write_text("".join(lines))
            archive.add(path, f"cora/cora.{name}")
            path.unlink()


def sine_waves(root: Path) -> None:
    """What time_sequence_prediction/generate_sine_wave.py writes."""
    import torch

    length, waves = 1000, 100
    phases = np.random.default_rng(2).integers(-80, 80, (waves, 1))
    torch.save(np.sin((np.arange(length) + phases) / 20.0), root / "time_sequence_prediction" / "traindata.pt")


def wikitext(root: Path) -> None:
    """The training text of word_language_model, where the checkout lacks it."""
    path = root / "word_language_model/data/wikitext-2/train.txt"
    if not path.exists():
        draw = random.Random(0)
        words = [f"word{number}" for number in range(20_000)]
        path.write_text("".join(" ".join(draw.choices(words, k=50)) + "\n" for _ in range(20_000)))


def vgg16(root: Path) -> None:
    """A checkpoint of VGG16 whose weights are all alike, where torch.hub looks for downloads."""
    import torch

    shapes: dict[str, tuple[int, ...]] = {}
    channels, place = 3, 0
    for block, repeats in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(repeats):
            shapes |= {f"features.{place}.weight": (block, channels, 3, 3), f"features.{place}.bias": (block,)}
            channels, place = block, place + 2
        place += 1
    for number, (inside, outside) in ((0, (25088, 4096)), (3, (4096, 4096)), (6, (4096, 1000))):
        shapes |= {f"classifier.{number}.weight": (outside, inside), f"classifier.{number}.bias": (outside,)}
    folder = root / "torch_home" / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    torch.save(
        {name: torch.full((1,), 0.01).expand(shape) for name, shape in shapes.items()}, folder / "vgg16-397923af.pth"
    )


def every(*fixtures: Fixture) -> Fixture:
    """Several fixtures, one after the other."""

    def make(root: Path) -> None:
        for fixture in fixtures:
            fixture(root)

    return make


def nothing(root: Path) -> None:
    """For scripts that bring their data or make it themselves."""


def _pictures(count: int, size: tuple[int, int]) -> Iterator[Image.Image]:
    """Smooth colours under a little noise: they compress as photos do."""
    source = np.random.default_rng(0)
    for _ in range(count):
        patches = Image.fromarray(source.integers(0, 256, (12, 16, 3), np.uint8)).resize(size, Image.Resampling.BICUBIC)
        noise = source.normal(0, 6, (size[1], size[0], 3))
        yield Image.fromarray(np.clip(np.asarray(patches) + noise, 0, 255).astype(np.uint8))
