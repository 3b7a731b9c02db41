"""Loops and loaders as people write them: the right loader is measured, settings reach it, the edit finds its place.

Each script says with a comment at the end of a line which call is measured, or edited where a framework builds the
loader by itself. The loops themselves check that every epoch is whole.
"""

from __future__ import annotations

import importlib.util
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from accel_advisor.tuning.applying.locate import EditPlan, plan_edits
from accel_advisor.tuning.applying.rewrite import rewritten
from accel_advisor.tuning.probe.channel.wire import BASELINE, LoaderInfo, Measure, Trait
from accel_advisor.tuning.search.settings import arguments
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial

SCRIPTS = Path(__file__).parents[1] / "shapes"
PLAIN = (
    *("accumulation", "ahead", "batch_sampler", "decoys", "endless", "forkserver", "in_batches", "in_turn"),
    *("prepared", "rebuilt", "sharded", "subclass", "wrapped_iterator"),
)
PACKAGED = {
    "accelerate_prepare": "accelerate",
    "bars": "tqdm",
    "geometric": "torch_geometric",
    "hugging_face_stream": "datasets",
    "ignite_engine": "ignite",
    "lightning_data": "pytorch_lightning",
    "lightning_fabric": "lightning",
    "lightning_module": "lightning",
    "stateful": "torchdata",
    "transformers_trainer": "transformers",
    "web": "webdataset",
}


@pytest.fixture
def scripts(tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return Path(shutil.copytree(SCRIPTS, tmp_path / "scripts"))


def needs(package: str) -> None:
    """Skip where a library is not installed; it is the script that imports it, not this process."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"needs {package}")


def measured(command: Command, workers: int = 2) -> LoaderInfo:
    """What is said of the loader that trains, once it was served by workers of its own and of the trial's, with all
    else as the script has it."""
    with Trial(command, deadline=time.monotonic() + 300) as running:
        train, *_ = running.start().loaders
        for what in (BASELINE, replace(train.settings, num_workers=workers, prefetch_factor=2), BASELINE):
            block = running.measure(Measure(what, min_batches=8, min_seconds=0.0))
            assert block.batches >= 8
            assert (block.worker_bytes > 0) == (what != BASELINE or train.settings.num_workers > 0)
        running.stop()
    assert running.leaked == ()
    assert train.role == "train"
    return train


def edits(train: LoaderInfo, root: Path, mark: str = "measured") -> EditPlan:
    """The plan to give it three workers, which must be made at the mark."""
    plan = plan_edits(train.stack, {"num_workers": 3}, root=root, current=arguments(train.settings))
    assert Path(plan.filename).read_text().splitlines()[plan.row - 1].endswith(f"# {mark}")
    return plan


def written(plan: EditPlan, root: Path) -> list[str]:
    lines = rewritten(plan.edits, root).diff.splitlines()
    return [line for line in lines if line.startswith("+") and not line.startswith("+++")]


@pytest.mark.parametrize("name", PLAIN)
def test_a_script(scripts: Path, name: str) -> None:
    # Each worker of a forkserver imports torch by itself.
    train = measured(Command(Path(f"{name}.py"), None, (), scripts), workers=1 if name == "forkserver" else 2)
    plan = edits(train, scripts)
    assert plan.refusals == ()
    if name == "sharded":
        check_shares(train)
    assert any("=3" in line for line in written(plan, scripts))


def test_a_package(scripts: Path) -> None:
    train = measured(Command(None, "package", (), scripts))
    plan = edits(train, scripts)
    assert Path(plan.filename) == scripts / "package" / "data.py"
    assert written(plan, scripts) == ["+def build(workers=3):"]


@pytest.mark.parametrize("name", PACKAGED)
def test_a_script_of_a_library(scripts: Path, name: str) -> None:
    needs(PACKAGED[name])
    train = measured(Command(Path(f"{name}.py"), None, (), scripts))
    plan = edits(train, scripts, "edited" if name == "transformers_trainer" else "measured")
    assert plan.refusals == ()
    assert any("=3" in line for line in written(plan, scripts))
    if name == "web":
        check_shares(train)


def check_shares(train: LoaderInfo) -> None:
    """A stream that shares itself out may have any number of workers."""
    assert train.shares is None
    assert Trait.ITERABLE in train.traits


def test_what_hydra_reads_from_yaml_is_reported(scripts: Path) -> None:
    needs("hydra")
    plan = edits(measured(Command(Path("hydra_app.py"), None, (), scripts)), scripts)
    assert plan.edits == ()
    assert len(plan.refusals) == 1
    assert "conf/config.yaml" in plan.refusals[0]
