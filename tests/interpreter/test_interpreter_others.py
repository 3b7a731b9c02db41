"""What one file of a program gives to functions that are only imported takes nothing from what another gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.interpreter import interpreter
from accel_advisor.source.document import Document

LIBRARY = (
    "def far(name):\n"
    + "".join(f"    value{number} = name\n" for number in range(interpreter.STEPS_BESIDE))
    + "    return name\n\n\n"
    + "def feed(loader):\n    for x, y in loader:\n        x = x.cuda()\n"
)
SCRIPT = """
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from library import far, feed
far("{name}")
loader = DataLoader(ImageFolder("{name}"))
feed(loader)
"""


def moves(scripts: int, folder: Path) -> list[int]:
    """How many copies of the batches of the loader in each script are seen."""
    (folder / "library.py").write_text(LIBRARY)
    paths = [folder / f"script{number}.py" for number in range(scripts)]
    for path in paths:
        path.write_text(SCRIPT.format(name=path.stem))
    analysis = analyze([Document.read(path) for path in paths], folder)
    return [len(loader.transfers) for facts in analysis.facts.values() for loader in facts.loaders]


def test_each_script_follows_its_batches_into_the_same_function(tmp_path: Path) -> None:
    assert moves(1, tmp_path) == [1]
    assert moves(4, tmp_path) == [1] * 4


def test_beyond_what_all_may_take_they_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "MOST_STEPS_BESIDE", interpreter.STEPS_BESIDE)
    assert sorted(moves(4, tmp_path)) < [1] * 4


FETCH = """
from library import far, fetch
{before}
for x, y in fetch("photos"):
    x.cuda()
"""
FETCHING = """from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
def fetch(name):
    return DataLoader(ImageFolder(name))
"""


@pytest.mark.parametrize(("before", "seen"), [("", 1), ('far("photos")', 0)])
def test_beyond_its_steps_a_function_is_followed_with_what_trains_alone(before: str, seen: int, tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(FETCHING + LIBRARY)
    (tmp_path / "script.py").write_text(FETCH.format(before=before))
    analysis = analyze([Document.read(tmp_path / "script.py")], tmp_path)
    assert analysis.machine is not None
    assert sum(len(one.transfers) for one in analysis.machine.recorder.loaders) == seen
