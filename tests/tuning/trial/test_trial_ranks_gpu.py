"""Two ranks whose models are on a GPU: on gloo both on the first one, which NCCL refuses, and on NCCL where there are
two. They stay in step as those on the processor do (``test_trial_ranks.py``)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_TRANSFER, NO_WAIT, Measure, Settings
from accel_advisor.tuning.search.straggler import Cause, straggler
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial
from accel_advisor.tuning.trial.trial_errors import CandidateError, ScriptFailed, TrialEnded

torch = pytest.importorskip("torch")

SCRIPT = Path(__file__).parents[1] / "hostile" / "ddp.py"
PLACES = {"gloo": '"cuda:0"', "nccl": '"cuda", rank'}
"""Where a rank trains, by how the ranks meet."""
MOVED = {
    'dist.init_process_group("gloo")': 'dist.init_process_group("{backend}")',
    "torch.set_num_threads(1)": "device = torch.device({place})\ntorch.cuda.set_device(device)",
    "model = nn.Linear(8, 3)": "model = nn.Linear(8, 3).to(device)",
    'init_device_mesh("cpu", (2,))': 'init_device_mesh("cuda", (2,))',
    "        optimizer.zero_grad()\n": "        x, y = x.to(device), y.to(device)\n        optimizer.zero_grad()\n",
}
"""What of the script for the processor is another text in the one for a GPU."""


def moved(backend: str) -> str:
    """The script of two ranks, for a GPU."""
    text = SCRIPT.read_text()
    for old, new in MOVED.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new.format(backend=backend, place=PLACES[backend]))
    return text


@pytest.fixture(params=PLACES)
def backend(request: pytest.FixtureRequest) -> str:
    """How the ranks meet; skipped where they cannot, with the reason."""
    name: str = request.param
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device on this machine")
    if not torch.distributed.is_available() or not getattr(torch.distributed, f"is_{name}_available")():
        pytest.skip(f"torch has no {name}")
    if name == "nccl" and torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU, on which NCCL refuses two ranks")
    return name


@pytest.fixture
def on_gpu(backend: str, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with the script, which must be the same afterwards."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    project = tmp_path / "project"
    project.mkdir()
    (project / "ddp.py").write_text(moved(backend))
    yield project
    assert [(path.name, path.read_text()) for path in project.iterdir()] == [("ddp.py", moved(backend))]


def trial(project: Path, *args: str) -> Trial:
    command = Command(Path("ddp.py"), None, args, project, ranks=2)
    return Trial(command, deadline=time.monotonic() + 300)


@pytest.mark.parametrize("name", PLACES)
def test_the_script_for_a_gpu_is_python(name: str) -> None:
    compile(moved(name), "ddp.py", "exec")


@pytest.mark.gpu
def test_ranks_on_a_gpu_stay_in_step_where_one_is_slow_and_candidates_fail_on_it(on_gpu: Path) -> None:
    with trial(on_gpu, "ddp", "fails in two workers, is killed with three") as running:
        ready = running.start()
        assert ready.device == "cuda"
        assert (ready.loaders[0].length, ready.loaders[0].settings) == (16, Settings())
        old = running.measure(Measure(BASELINE, min_batches=8, min_seconds=0.2))
        late = straggler([old])
        assert late is not None
        assert (late.rank, late.ranks, late.cause) == (1, 2, Cause.WAITS)
        assert old.samples == 2 * 4 * old.batches
        assert old.wait + old.transfer + old.compute + old.host == pytest.approx(old.seconds)
        assert old.transfer > 0
        with pytest.raises(CandidateError, match=r"a sample that no worker can read.* \(on rank 1\)"):
            running.measure(Measure(Settings(2, 2), min_batches=8, min_seconds=0.2))
        for what in (NO_WAIT, NO_TRANSFER, Settings(1, 2), Settings(1, 2, pin_memory=True), BASELINE):
            block = running.measure(Measure(what, min_batches=40, min_seconds=0.2))
            assert block.batches >= 40
            assert len(block.ranks) == 2
        with pytest.raises(TrialEnded, match=r"^rank 1 of the script was killed by SIGKILL while num_workers=3"):
            running.measure(Measure(Settings(3, 2), min_batches=8, min_seconds=0.1))
    assert running.contained == (str(on_gpu / "epoch.pt"),)


@pytest.mark.gpu
def test_a_sharded_model_on_two_gpus(on_gpu: Path, backend: str) -> None:
    if backend == "gloo":
        pytest.skip("a model is sharded over devices by NCCL alone")
    with trial(on_gpu, "fsdp", "") as running:
        running.start()
        for what in (BASELINE, Settings(2, 2), NO_WAIT):
            assert running.measure(Measure(what, min_batches=8, min_seconds=0.1)).batches >= 8
        running.stop()
    assert running.contained == (str(on_gpu / "epoch.pt"),)


@pytest.mark.gpu
def test_a_rank_on_a_gpu_that_raises_while_the_other_waits_for_it(on_gpu: Path) -> None:
    with trial(on_gpu, "ddp", "raises") as running:
        running.start()
        with pytest.raises(ScriptFailed, match=r"^rank 1 of the script failed .*ValueError: the loss is not a number"):
            running.measure(Measure(BASELINE, min_batches=200))
