"""Loaders that nothing in sight builds."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.records.loaders import LoaderCall, loader_of
from accel_advisor.source.document import Document
from accel_advisor.values.evidence import Ground

from ...rules.programs import IMPORTS

MODEL = IMPORTS + "model = nn.Linear(8, 2).cuda()\n"
STEP = """
    x = x.cuda()
    model(x).sum().backward()
"""

DESCRIBED = "def train({}):\n  '''Trains.\n\n  {}\n  '''\n  for x, y in batches:"
SHOWN = {
    "a parameter": "def train(model, train_loader):\n  for x, y in train_loader:",
    "an attribute": "class Trainer:\n def train(self):\n  for x, y in self.val_loader:",
    "an attribute of a parameter": "def train(model, data):\n  for x, y in data.trainloader:",
    "under a progress bar": "from tqdm import tqdm\ndef train(loader):\n  for i, (x, y) in enumerate(tqdm(loader)):",
    "beside another": "def train(dataloader, other):\n  for (x, y), z in zip(dataloader, other):",
    "its iterator": "def train(data_loader):\n  batches = iter(data_loader)\n  while True:\n    x, y = next(batches)",
    "its first batch": "def train(data_loader):\n  while True:\n    x, y = next(iter(data_loader))",
    "one of several": "def train(dataloaders, phase):\n  for x, y in dataloaders[phase]:",
    "a short name": "def train(train_dl):\n  for x, y in train_dl:",
    "numbered": "def train(loader_1):\n  for x, y in loader_1:",
    "of an unknown function": "from data import get\nloader, test_loader = get()\nif True:\n  for x, y in test_loader:",
    "an unknown function": "from data import make_loader\nif True:\n  for x, y in make_loader():",
    "annotated": "def train(model, batches: DataLoader):\n  for x, y in batches:",
    "described": DESCRIBED.format("batches", "batches (DataLoader): x and y"),
    "described with a full name": DESCRIBED.format("batches", "batches : torch.utils.data.DataLoader"),
}
GENERATOR = "def logged(iterable, n):\n  for one in iterable:\n    yield one\n"
METER = "class Meter:\n  def log(self, every, iterable):\n    for one in iterable:\n      yield one\n"
SHOWN |= {
    "what a caller gives": GENERATOR + "def train(data_loader):\n  for x, y in logged(data_loader, 10):",
    "what a caller gives a method": METER
    + "def train(data_loader):\n  for i, (x, y) in enumerate(Meter().log(10, data_loader)):",
    "what a caller gives by keyword": GENERATOR + "def train(dl):\n  for x, y in logged(n=10, iterable=dl):",
}
NOT_SHOWN = {
    "another name that a caller gives": GENERATOR + "def train(loader, parts):\n  for x, y in logged(parts, loader):",
    "given to an unknown function beside": "import log\ndef train(loader, x):\n  for x, y in log.every(x, loader):",
    "a part of it": "import log\ndef train(loader):\n  for x, y in log.every(loader.dataset):",
    "another name": "def train(batches):\n  for x, y in batches:",
    "a downloader": "def train(downloader):\n  for x, y in downloader:",
    "the name of a part": "def train(loader_names):\n  for x, y in loader_names:",
    "annotated as something else": "def train(batches: Dataset):\n  for x, y in batches:",
    "described as something else": DESCRIBED.format("batches", "batches (Dataset): x and y"),
    "annotated otherwise than it is described": DESCRIBED.format("batches: list", "batches (DataLoader): x and y"),
    "described by the name of another library's class": "from paddle.io import DataLoader\n"
    + DESCRIBED.format("batches", "batches (DataLoader): x and y"),
    "a list": "loader = [(torch.zeros(8), 1)]\nif True:\n  for x, y in loader:",
    "a class of another library": "import paddle\nif True:\n  loader = paddle.io.DataLoader([])\n  for x, y in loader:",
    "a data set of torch": "loader = TensorDataset(torch.zeros(8))\nif True:\n  for x, y in loader:",
    "nothing": "loader = None\nif True:\n  for x, y in loader:",
}


def _loaders(source: str, folder: Path) -> list[LoaderCall]:
    """The loaders whose batches a program moves to the GPU."""
    (folder / "train.py").write_text(source)
    document = Document.read(folder / "train.py")
    analysis = analyze([document], folder)
    assert not analysis.failures
    facts = analysis.facts[document.filename]
    assert facts.loaders == []
    found = [loader_of(context.loader) for one in facts.transfers for context in one.contexts if context.from_host]
    return list(dict.fromkeys(one for one in found if one is not None))


@pytest.mark.parametrize("case", SHOWN)
def test_a_loader_by_name_and_loop(case: str, tmp_path: Path) -> None:
    (loader,) = _loaders(MODEL + SHOWN[case] + STEP, tmp_path)
    named = Ground.DOCSTRING if "described" in case else Ground.ANNOTATION if case == "annotated" else Ground.NAME
    assert set(loader.basis.grounds) == {named, Ground.LOOP}
    assert loader.moved_by is None


@pytest.mark.parametrize("given", ["loader", "self.loader"])
def test_what_an_unknown_function_is_given(given: str, tmp_path: Path) -> None:
    source = f"{MODEL}import log\ndef train(self, loader):\n  for x, y in log.every({given}, 10):{STEP}"
    (loader,) = _loaders(source, tmp_path)
    assert loader.label == "loader"


@pytest.mark.parametrize("case", NOT_SHOWN)
def test_no_loader(case: str, tmp_path: Path) -> None:
    assert _loaders(MODEL + NOT_SHOWN[case] + STEP, tmp_path) == []


def test_one_record_for_a_name(tmp_path: Path) -> None:
    loop = "\n  for x, y in loader:\n    model(x.cuda()).sum().backward()\n"
    (loader,) = _loaders(f"{MODEL}def train(loader):{loop}def more(loader):{loop}", tmp_path)
    assert loader.label == "loader"
    assert len(loader.loops) == 2


@pytest.mark.parametrize(
    ("named", "moves"),
    [
        ("import fastai.vision.all", True),
        ("import accelerate\naccelerate.Accelerator()", True),
        ("import deepspeed\ndeepspeed.initialize()", False),
    ],
)
def test_what_moves_batches(named: str, *, moves: bool, tmp_path: Path) -> None:
    source = f"{MODEL}{named}\ndef train(loader):\n  for x, y in loader:\n    model(x.cuda()).sum().backward()\n"
    (loader,) = _loaders(source, tmp_path)
    assert (loader.moved_by is not None) is moves


def test_a_loader_that_is_built_counts_alone(tmp_path: Path) -> None:
    source = """
def train(loader):
    for x, y in loader:
        x = x.cuda()
        model(x).sum().backward()
train(DataLoader(TensorDataset(torch.zeros(8), torch.zeros(8)), pin_memory=True))
train(loaders()["train_loader"])
"""
    (tmp_path / "train.py").write_text(MODEL + source)
    document = Document.read(tmp_path / "train.py")
    facts = analyze([document], tmp_path).facts[document.filename]
    copy = next(one for one in facts.transfers if document.code(one.node) == "x.cuda()")
    assert [loader_of(one.loader) for one in copy.contexts] == facts.loaders
