"""The benchmark on a GPU, as far as it can be seen without: its scripts train, its claims are judged, it refuses."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("PIL")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from accel_advisor.tuning.probe.channel.wire import Block, Settings
from benchmarks.gpu.scoring import claims, tables
from benchmarks.gpu.workloads import Training, make_data, trainings
from benchmarks.regret.grid import Grid

NAMES = ("images", "text", "tabular", "large")
COMMAND = Path(__file__).resolve().parents[2] / "benchmarks" / "gpu" / "run.py"


def block(seconds: float, transfer: float) -> Block:
    return Block(Settings(2), 10, 640, seconds, 0.0, transfer, seconds - transfer, 0.0, 0.0)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gpu") / "data"
    make_data(folder, photos=4, documents=4)
    return folder


def test_a_script_says_what_its_cell_means(data: Path) -> None:
    for workload in trainings(data, 16, quick=False):
        assert workload.cells()[0] == workload.cell(workload.baseline) == Settings()
        assert {cell.num_workers for cell in workload.cells()} == {0, 4, 8, 16}
        for cell in workload.cells():
            assert workload.cell(cell) == cell
            source = workload.source(cell)
            ast.parse(source)
            assert "@" not in source
            assert source.count("non_blocking=True") == (2 if cell.non_blocking else 0)
            assert ("pin_memory=True" in source) == cell.pin_memory
            assert f"num_workers={cell.num_workers}" in source


@pytest.fixture(scope="module")
def quick(data: Path) -> dict[str, Training]:
    return {one.name: one for one in trainings(data, 2, quick=True)}


@pytest.fixture(scope="module")
def grid(quick: dict[str, Training]) -> Iterator[Grid]:
    """One clock for all: its process imports torch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        with Grid(quick[NAMES[0]]) as made:
            yield made


@pytest.mark.parametrize("name", NAMES)
def test_scripts_train(name: str, quick: dict[str, Training], grid: Grid) -> None:
    assert tuple(quick) == NAMES
    grid.workload = quick[name]
    grid.readings.clear()
    grid.read(Settings(), quick=True)
    assert grid.rate(Settings()) > 0


def test_claims_are_judged_by_their_intervals() -> None:
    found = claims(
        {
            "pageable": [block(1.0, 0.4), block(1.02, 0.41)],
            "pinned": [block(0.99, 0.29), block(1.01, 0.3)],
            "non-blocking": [block(0.5, 0.0), block(0.51, 0.0)],
        }
    )
    assert found["transfer_share"] == {"pageable": 0.401, "pinned": 0.295, "non-blocking": 0.0}
    assert found["pinned"]["transfer"]["claim"] == "confirmed"
    assert found["pinned"]["training"]["claim"] == "refuted"
    assert found["non-blocking"]["transfer"] is None  # hidden behind what the device computes
    assert found["non-blocking"]["training"]["claim"] == "exceeded"
    once = claims({kind: [block(1.0, 0.4)] for kind in ("pageable", "pinned", "non-blocking")})
    assert once["pinned"]["training"] == {"ratio": 1.0, "low": None, "high": None, "claim": "open"}


def test_tables_name_what_failed() -> None:
    ours = {"settings": {"num_workers": 4}, "share": 0.98, "predicted": {"ratio": 2.0}, "realised": 1.9}
    pinned = claims({kind: [block(1.0, 0.4)] for kind in ("pageable", "pinned", "non-blocking")})
    done = {"ours": ours | {"of_ceiling": None, "seconds": 40.0}, "best": {"num_workers": 8}}
    found = {
        "machine": {"gpus": [], "device": "cuda", "cores": 16.0, "cpu": "CPU"},
        "versions": {"torch": "2.11.0"},
        "date": "2026-11-21",
        "commit": "abc",
        "quick": False,
        "copies": "fast",
        "workloads": {"images": done | {"pinning": pinned | {"workers": 8}}, "text": {"failed": "no answer"}},
    }
    said = tables(found)
    assert "| images | 8 workers | 4 workers | 98 % | 2.00 | 1.90 |  | 40 |" in said
    assert "pinned training 1.00x, the claim: open" in said
    assert "text failed: no answer" in said


def test_without_an_accelerator_nothing_is_recorded() -> None:
    import torch

    if torch.accelerator.is_available():
        pytest.skip("there is an accelerator on this machine")
    ran = subprocess.run([sys.executable, str(COMMAND)], capture_output=True, text=True)
    assert ran.returncode == 2
    assert ran.stderr == "there is no accelerator here: --quick proves that the benchmark runs\n"


def test_it_is_found_where_it_is_not_installed(tmp_path: Path) -> None:
    code = (
        "import sys, importlib.util as u, pathlib, importlib\n"
        "sys.meta_path = [one for one in sys.meta_path if 'editable' not in str(one).lower()]\n"
        f"spec = u.spec_from_file_location('run', {str(COMMAND)!r})\n"
        "run = u.module_from_spec(spec); spec.loader.exec_module(run)\n"
        "run.find_spec = lambda name: None\n"
        f"run.find_ourselves(pathlib.Path({str(tmp_path)!r})); importlib.invalidate_caches()\n"
        "import accel_advisor.rules, accel_advisor.commands.tune_command, benchmarks.gpu.workloads\n"
        "print(accel_advisor.__file__)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert ran.stdout.strip() == str(tmp_path / "accel_advisor" / "__init__.py"), ran.stderr
