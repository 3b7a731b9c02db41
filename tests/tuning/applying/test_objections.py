"""What the tuner must not recommend, whatever it measures: silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.machine.machine import Machine
from accel_advisor.records.dataset_facts import Veto
from accel_advisor.tuning.applying.objections import Objection, Objections, objections_to
from accel_advisor.tuning.probe.channel.wire import Frame, LoaderInfo, Settings, Trait
from accel_advisor.tuning.tuner import limits_for
from accel_advisor.tuning.wording.side_effects import not_tried, side_effects

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
    }
    return LoaderInfo(**{**values, **changes})  # type: ignore[arg-type]


def objections(dataset: str, folder: Path, after: str = "", **changes: object) -> Objections:
    """The objections to settings of a loader over ``data``, which ``dataset`` defines."""
    lines = [*(HEAD + dataset).splitlines(), LOADER, *after.splitlines()]
    path = folder.resolve() / "train.py"
    path.write_text("\n".join(lines) + "\n")
    row = lines.index(LOADER) + 1
    frame = Frame(str(path), "<module>", row, len("loader = ") + 1, row, len(LOADER) + 1)
    return objections_to(info((frame,), **changes), folder)


PLAIN = """
class Samples(Dataset):
    def __init__(self, paths):
        self.paths = paths
    def __getitem__(self, index):
        return torch.load(self.paths[index])
data = Samples(["a"])
"""


def test_workers_that_would_not_find_what_cells_define_are_not_tried(tmp_path: Path) -> None:
    found = objections(PLAIN, tmp_path, traits=frozenset({Trait.NEEDS_CELLS}), start_method="spawn")
    assert (found.workers, found.most_workers) == ((Objection.CELLS_UNSEEN,), 0)
    (note,) = not_tried(Settings(), found)
    assert note.startswith("more workers were not tried: they do not fork here")


def test_there_is_no_objection_to_a_plain_data_set(tmp_path: Path) -> None:
    assert objections(PLAIN, tmp_path) == Objections()


def test_nothing_is_claimed_about_a_loader_that_is_not_found(tmp_path: Path) -> None:
    assert objections_to(info(), tmp_path) == Objections()
    broken = tmp_path / "broken.py"
    broken.write_text("def (:\n")
    assert objections_to(info((Frame(str(broken), "f", 1, 1, 1, 2),)), tmp_path) == Objections()


def test_a_handle_that_workers_would_share_bars_them(tmp_path: Path) -> None:
    found = objections(PLAIN.replace("self.paths = paths", "self.file = h5py.File(paths)"), tmp_path)
    assert len(found.workers) == 1
    (veto,) = found.workers
    assert isinstance(veto, Veto)
    assert veto.kind == "handle"


def test_a_stream_that_is_not_shared_out_bars_them(tmp_path: Path) -> None:
    stream = """
class Rows(IterableDataset):
    def __iter__(self):
        return iter(open("rows.txt"))
data = Rows()
"""
    found = objections(stream, tmp_path, length=None, shares=1)
    assert Objection.READ_WHOLE in found.workers
    assert found.most_workers == 1


def test_a_map_of_unknown_length_is_no_stream(tmp_path: Path) -> None:
    assert objections(PLAIN, tmp_path, length=None) == Objections()


def test_a_stream_of_files_has_no_more_workers_than_files(tmp_path: Path) -> None:
    stream = info(shares=8, traits=frozenset({Trait.ITERABLE}))
    found = objections_to(stream, tmp_path)
    assert (found.workers, found.most_workers) == ((), 8)
    assert found.cautions == (Objection.INCOMPLETE_BATCHES,)
    assert any("incomplete" in note for note in side_effects(stream, Settings(), Settings(4), found))
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
    assert objections_to(info((frame,)), tmp_path).persistence == (Objection.REBUILT,)


def test_workers_may_outlive_the_epochs_of_a_fold(tmp_path: Path) -> None:
    folds = "for fold in range(5):\n    loader = DataLoader(data, batch_size=4)\n    for epoch in range(9):\n"
    text = f"{HEAD}{PLAIN}\n{folds}        for x in loader:\n            pass\n"
    (tmp_path / "train.py").write_text(text)
    row, line = next((r, one) for r, one in enumerate(text.splitlines(), 1) if "= DataLoader(" in one)
    column = line.index("DataLoader(") + 1
    frame = Frame(str(tmp_path.resolve() / "train.py"), "f", row, column, row, len(line) + 1)
    assert objections_to(info((frame,)), tmp_path).persistence == ()


@pytest.mark.parametrize(
    ("dataset", "after"),
    [
        (PLAIN, "for epoch in range(3):\n    data.stage = epoch\n    for x in loader:\n        pass"),
        (PLAIN, "for epoch in range(3):\n    loader.dataset.stage = epoch\n    for x in loader:\n        pass"),
    ],
)
def test_a_data_set_that_changes_bars_workers_that_outlive_an_epoch(dataset: str, after: str, tmp_path: Path) -> None:
    found = objections(dataset, tmp_path, after)
    assert [veto.kind for veto in found.persistence if isinstance(veto, Veto)] == ["written"]
    assert not found.workers


def test_a_generator_that_workers_would_copy_is_a_caution(tmp_path: Path) -> None:
    dataset = PLAIN.replace("self.paths = paths", "self.paths = paths\n        self.random = random.Random(0)")
    found = objections(dataset.replace("torch.load(", "self.random.random() * torch.load("), tmp_path)
    assert found.cautions
    assert not found.workers
    notes = side_effects(info(), Settings(), Settings(4), found)
    assert any(note.startswith("with more workers, ") for note in notes)


def test_what_the_probe_saw_counts_too(tmp_path: Path) -> None:
    rebuilt = objections_to(info(traits=frozenset({Trait.REBUILT})), tmp_path)
    assert rebuilt.persistence == (Objection.REBUILT,)
    assert any("persistent_workers was not tried" in note for note in not_tried(Settings(4), rebuilt))
    assert not_tried(Settings(0), rebuilt) == []
    epochs = objections_to(info(traits=frozenset({Trait.SETS_EPOCH})), tmp_path)
    assert epochs.persistence == (Objection.EPOCH_UNSEEN,)
    stream = objections_to(info(shares=1, traits=frozenset({Trait.ITERABLE})), tmp_path)
    assert (stream.workers, stream.cautions) == ((Objection.READ_WHOLE,), ())
    assert any("get_worker_info" in note for note in not_tried(Settings(1), stream))
