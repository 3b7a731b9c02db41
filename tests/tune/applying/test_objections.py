"""What the tuner must not recommend, whatever it measures: silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.machine.machine import Machine
from accel_advisor.tune.applying.objections import Standing, standing_of
from accel_advisor.tune.probe.channel.wire import Frame, LoaderInfo, Settings
from accel_advisor.tune.tuner import barred_notes, limits_for, short_steps, side_notes

HEAD = """
import h5py, random
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
"""
LOADER = "loader = DataLoader(data, batch_size=4)"


def info(stack: tuple[Frame, ...] = (), **changes: object) -> LoaderInfo:
    values: dict[str, object] = {
        "number": 0,
        "role": "train",
        "stack": stack,
        "settings": Settings(),
        "batch_size": 4,
        "length": 100,
        "batch_bytes": 64,
        "dataset": "x.Samples",
        "start_method": "fork",
        "notes": (),
    }
    return LoaderInfo(**{**values, **changes})  # type: ignore[arg-type]


def standing(dataset: str, folder: Path, after: str = "", **changes: object) -> Standing:
    """What speaks against settings of a loader over ``data``, which ``dataset`` defines."""
    lines = [*(HEAD + dataset).splitlines(), LOADER, *after.splitlines()]
    path = folder.resolve() / "train.py"
    path.write_text("\n".join(lines) + "\n")
    row = lines.index(LOADER) + 1
    frame = Frame(str(path), "<module>", row, len("loader = ") + 1, row, len(LOADER) + 1)
    return standing_of(info((frame,), **changes), folder)


PLAIN = """
class Samples(Dataset):
    def __init__(self, paths):
        self.paths = paths
    def __getitem__(self, index):
        return torch.load(self.paths[index])
data = Samples(["a"])
"""


def test_nothing_speaks_against_a_plain_data_set(tmp_path: Path) -> None:
    assert standing(PLAIN, tmp_path) == Standing()


def test_nothing_is_claimed_about_a_loader_that_is_not_found(tmp_path: Path) -> None:
    assert standing_of(info(), tmp_path) == Standing()
    broken = tmp_path / "broken.py"
    broken.write_text("def (:\n")
    assert standing_of(info((Frame(str(broken), "f", 1, 1, 1, 2),)), tmp_path) == Standing()


def test_a_handle_that_workers_would_share_bars_them(tmp_path: Path) -> None:
    found = standing(PLAIN.replace("self.paths = paths", "self.file = h5py.File(paths)"), tmp_path)
    assert len(found.workers) == 1
    assert "handle" in found.workers[0]


def test_a_stream_that_is_not_shared_out_bars_them(tmp_path: Path) -> None:
    stream = """
class Rows(IterableDataset):
    def __iter__(self):
        return iter(open("rows.txt"))
data = Rows()
"""
    found = standing(stream, tmp_path, length=None, shares=1)
    assert any("get_worker_info" in reason for reason in found.workers)
    assert found.most_workers == 1


def test_a_map_of_unknown_length_is_no_stream(tmp_path: Path) -> None:
    assert standing(PLAIN, tmp_path, length=None) == Standing()


def test_a_stream_of_files_has_no_more_workers_than_files(tmp_path: Path) -> None:
    stream = info(shares=8, notes=("its data set is iterable: it shares itself out among its workers",))
    found = standing_of(stream, tmp_path)
    assert (found.workers, found.most_workers) == ((), 8)
    assert any("incomplete" in note for note in side_notes(stream, Settings(), Settings(4), found))
    limits = limits_for(Machine(8, 8, None, 1 << 34, 1 << 34, None, None, None), stream, found)
    assert limits.refusal(Settings(8)) is None
    assert limits.refusal(Settings(9)) == "9 workers are more than its data set can be shared out among"


@pytest.mark.parametrize(
    "loop",
    [
        "while True:\n    for x in DataLoader(data, batch_size=4):\n        pass",
        "for epoch in range(9):\n    loader = DataLoader(data, batch_size=4)\n    for x in loader:\n        pass",
        "def build(samples):\n    return DataLoader(samples, batch_size=4)\nfor epoch in range(9):\n"
        "    for x in build(data):\n        pass",
    ],
)
def test_no_worker_outlives_a_loader_that_is_built_for_each_epoch(loop: str, tmp_path: Path) -> None:
    text = f"{HEAD}{PLAIN}\n{loop}\n"
    (tmp_path / "train.py").write_text(text)
    row, line = next(
        (r, one) for r, one in enumerate(text.splitlines(), 1) if "= DataLoader(" in one or "n DataLoader(" in one
    )
    column = line.index("DataLoader(") + 1
    end = line.index(")", column) + 2
    frame = Frame(str(tmp_path.resolve() / "train.py"), "f", row, column, row, end)
    assert any("built anew" in reason for reason in standing_of(info((frame,)), tmp_path).persistence)


def test_workers_may_outlive_the_epochs_of_a_fold(tmp_path: Path) -> None:
    folds = "for fold in range(5):\n    loader = DataLoader(data, batch_size=4)\n    for epoch in range(9):\n"
    text = f"{HEAD}{PLAIN}\n{folds}        for x in loader:\n            pass\n"
    (tmp_path / "train.py").write_text(text)
    row, line = next((r, one) for r, one in enumerate(text.splitlines(), 1) if "= DataLoader(" in one)
    column = line.index("DataLoader(") + 1
    frame = Frame(str(tmp_path.resolve() / "train.py"), "f", row, column, row, len(line) + 1)
    assert standing_of(info((frame,)), tmp_path).persistence == ()


@pytest.mark.parametrize(
    ("dataset", "after"),
    [
        (PLAIN, "for epoch in range(3):\n    data.stage = epoch\n    for x in loader:\n        pass"),
        (PLAIN, "for epoch in range(3):\n    loader.dataset.stage = epoch\n    for x in loader:\n        pass"),
    ],
)
def test_a_data_set_that_changes_bars_workers_that_outlive_an_epoch(dataset: str, after: str, tmp_path: Path) -> None:
    found = standing(dataset, tmp_path, after)
    assert found.persistence
    assert not found.workers


def test_a_generator_that_workers_would_copy_is_a_caution(tmp_path: Path) -> None:
    dataset = PLAIN.replace("self.paths = paths", "self.paths = paths\n        self.random = random.Random(0)")
    found = standing(dataset.replace("torch.load(", "self.random.random() * torch.load("), tmp_path)
    assert found.cautions
    assert not found.workers
    notes = side_notes(info(), Settings(), Settings(4), found)
    assert any(note.startswith("with more workers, ") for note in notes)


def test_what_the_probe_saw_counts_too(tmp_path: Path) -> None:
    rebuilt = standing_of(info(notes=("is built anew for every epoch, so its workers start anew too",)), tmp_path)
    assert any("persistent_workers was not tried" in note for note in barred_notes(Settings(4), rebuilt))
    assert barred_notes(Settings(0), rebuilt) == []
    stream = standing_of(info(shares=1), tmp_path)
    assert any("get_worker_info" in note for note in barred_notes(Settings(1), stream))


def test_side_effects_of_workers_are_told() -> None:
    none = Standing()
    assert side_notes(info(), Settings(), Settings(), none) == []
    assert any("augmentations" in note for note in side_notes(info(), Settings(), Settings(4), none))
    assert any(
        "copy of the data set" in note for note in side_notes(info(), Settings(4), Settings(4, None, True), none)
    )
    assert any("__main__" in note for note in side_notes(info(start_method="spawn"), Settings(), Settings(4), none))


@pytest.mark.parametrize(("old", "new"), [(0.02, 0.01), (0.2, 0.003), (0.0012, 0.0010), (0.0003, 0.0003)])
def test_steps_that_the_probe_hardly_lengthens_need_no_word(old: float, new: float) -> None:
    assert short_steps(old, new) == []


@pytest.mark.parametrize(("old", "new"), [(2.2e-3, 2.6e-4), (1e-3, 9e-5), (3e-4, 1e-4)])
def test_a_gain_that_the_probe_hides_a_part_of_is_told_to_be_larger(old: float, new: float) -> None:
    (note,) = short_steps(old, new)
    assert "so short that measuring takes a part of it: the gain is rather larger" in note
