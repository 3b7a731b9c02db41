"""ACC125 one-worker, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

PROGRAM = """
import argparse
from torchvision.datasets import ImageFolder
parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=1)
args = parser.parse_args()
data = ImageFolder("photos")
loader = DataLoader(data, batch_size=64, num_workers=1)
model = nn.Linear(8, 2).cuda()
for x, y in loader:
    model(x.cuda()).sum().backward()
"""
SOURCE = IMPORTS + PROGRAM
TWO = SOURCE.replace("workers=1", "workers=2")
FILES = """from PIL import Image
class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, index):
        return torch.load(self.paths[index])
data = Photos(["a.png"])
"""
PAIRS = {
    "three workers": Pair(SOURCE.replace("workers=1", "workers=3"), "workers=3", "workers=2"),
    "two that a trial has found": Pair(
        TWO.replace("num_workers=2", "num_workers=2, persistent_workers=True"), ", persistent_workers=True"
    ),
    "two for few samples": Pair(TWO.replace("=64", "=15"), "=15", "=16"),
    "two, and arguments that are not known": Pair(
        TWO.replace("batch_size=64", "**conf.loader").replace("import argparse", "import argparse, conf"),
        "**conf.loader",
        "batch_size=conf.size",
    ),
    "two for an evaluation of few samples": Pair(
        TWO.replace("=64", "=4").replace(".sum().backward()", ""), "=4", "=16"
    ),
    "two for samples that are not decoded": Pair(
        TWO.replace('data = ImageFolder("photos")', FILES),
        "torch.load(self.paths[index])",
        "Image.open(self.paths[index])",
    ),
    "two that an option may change": Pair(
        TWO.replace("num_workers=2", "num_workers=args.workers").replace("default=1", "default=2"),
        "num_workers=args.workers",
        "num_workers=2",
    ),
    "a comment explains the two": Pair(
        TWO.replace("workers=2)", "workers=2)  # more processes crash here"), "  # more processes crash here"
    ),
    "another default": Pair(
        SOURCE.replace("workers=1", "workers=args.workers").replace("default=1", "default=4"), "default=4", "default=1"
    ),
    "a few samples": Pair(SOURCE.replace("=64", "=4"), "=4", "=64"),
    "single samples": Pair(SOURCE.replace("batch_size=64, ", ""), "data, num", "data, batch_size=64, num"),
    "a comment explains it": Pair(
        SOURCE.replace("workers=1)", "workers=1)  # the file system hangs with more"),
        "  # the file system hangs with more",
    ),
    "samples in memory": Pair(
        SOURCE.replace('ImageFolder("photos")', "TensorDataset(torch.zeros(99, 8), torch.zeros(99))"),
        "TensorDataset(torch.zeros(99, 8), torch.zeros(99))",
        'ImageFolder("photos")',
    ),
    "no model": Pair(SOURCE.replace("model(x.cuda()).sum().backward()", "x.cuda()"), "x.cuda()", "model(x.cuda())"),
    "a batch now and then": Pair(
        SOURCE.replace("x, y in loader", "x, y in other").replace(
            "model = ", "other = DataLoader(data, batch_size=64, num_workers=4)\nmodel = "
        )
        + "    shown = model(next(iter(loader))[0].cuda())\n",
        "x, y in other",
        "x, y in loader",
    ),
    "no GPU": Pair(SOURCE.replace(".cuda()", ""), "model(x)", "model.cuda()(x.cuda())"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC125", PAIRS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    # beside the number itself the mark would explain it
    written = "loader = DataLoader(  # -> info none\n    data, batch_size=64,\n    num_workers=1)"
    check_one("ACC125", SOURCE.replace("loader = DataLoader(data, batch_size=64, num_workers=1)", written), tmp_path)


def test_reported_of_evaluations_of_any_batch(tmp_path: Path) -> None:
    evaluates = SOURCE.replace(".sum().backward()", ".sum()")
    for source in (evaluates, evaluates.replace("batch_size=64", "batch_size=1")):
        assert len(findings_of("ACC125", source, tmp_path)) == 1


def test_names_the_option_that_decides(tmp_path: Path) -> None:
    (found,) = findings_of("ACC125", SOURCE.replace("workers=1", "workers=args.workers"), tmp_path)
    assert "one worker (decided by `--workers`)" in found.message


def test_two_workers_for_pictures(tmp_path: Path) -> None:
    (found,) = findings_of("ACC125", TWO, tmp_path)
    assert "`loader` has two workers, which prepare each a whole batch" in found.message


@pytest.mark.parametrize(
    ("option", "ignored"), [("--workers", True), ("--num_workers", True), ("--epochs", False), ("--co-workers", False)]
)
def test_names_the_option_that_a_loader_ignores(option: str, ignored: bool, tmp_path: Path) -> None:
    for source in (SOURCE, TWO):
        (found,) = findings_of("ACC125", source.replace("--workers", option), tmp_path)
        assert (f"the number of `{option}`, which it ignores" in found.message) == ignored


def test_a_batch_of_one_has_no_other_samples(tmp_path: Path) -> None:
    source = IMPORTS + PROGRAM.replace("model(x.cuda()).sum().backward()", "print(model(x.cuda()))")
    (many,) = findings_of("ACC125", source, tmp_path)
    assert "which prepares all samples of a batch one after the other" in many.message
    (single,) = findings_of("ACC125", source.replace("batch_size=64", "batch_size=1"), tmp_path)
    assert "which prepares one sample after the other" in single.message
