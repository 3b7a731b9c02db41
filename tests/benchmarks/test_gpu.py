"""The benchmark on a GPU, as far as it can be seen without: its scripts train, its claims are judged, it refuses."""

import argparse
import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("PIL")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from accel_advisor.tuning.probe.channel.wire import Settings
from benchmarks.gpu.claims import compared, words
from benchmarks.gpu.copies import KINDS, PLAIN, Device, copies
from benchmarks.gpu.pinned_training import QUICK, Comparison, models, rows_of, seconds_of_each
from benchmarks.gpu.pinning import table
from benchmarks.gpu.run import WORKLOADS as NAMES
from benchmarks.gpu.run import earlier
from benchmarks.gpu.scoring import tables
from benchmarks.gpu.workloads import NOTHING, Training, make_data, trainings
from benchmarks.regret.grid import Grid

from ..forked import Forks

PINNING = Path(__file__).resolve().parents[2] / "benchmarks" / "gpu" / "pinning.py"
COMMAND = Path(__file__).resolve().parents[2] / "benchmarks" / "gpu" / "run.py"


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Two threads of torch that train something small would hardly do more than wait for each other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


@pytest.fixture(scope="module")
def forks(one_thread: None) -> Iterator[Forks]:
    """Python with torch, and with what the first optimizer imports."""
    forks = Forks("import torch._dynamo")
    yield forks
    forks.close()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gpu") / "data"
    make_data(folder, photos=4, documents=4)
    return folder


def test_a_script_says_what_its_cell_means(data: Path) -> None:
    for workload in trainings(data, 16, quick=False):
        assert workload.cells()[0] == workload.cell(workload.baseline) == Settings()
        assert {cell.num_workers for cell in workload.cells()} == {0, 4, 8, 16}
        assert set(workload.rules().values()) <= set(workload.cells())
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
def grid(quick: dict[str, Training], one_thread: None) -> Iterator[Grid]:
    """One clock for all: its process imports torch."""
    with Grid(quick[NAMES[0]]) as made:
        yield made


@pytest.mark.parametrize("name", NAMES)
def test_scripts_train(name: str, quick: dict[str, Training], grid: Grid) -> None:
    assert tuple(quick) == NAMES
    grid.workload = quick[name]
    grid.readings.clear()
    grid.read(Settings(), quick=True)
    assert grid.rate(Settings()) > 0


def test_rules_of_thumb_are_cells_without_a_repetition(data: Path) -> None:
    many, few = (trainings(data, cores, quick=False)[0] for cores in (16, 2))
    assert list(many.rules()) == [
        *("defaults", "4 workers", "all cores"),
        *("defaults, pinned", "4 workers, pinned", "all cores, pinned"),
    ]
    assert many.rules()["all cores, pinned"] == Settings(16, pin_memory=True)
    assert few.rules()["all cores"] == Settings(2)
    for one in (many, few):
        assert len(one.cells()) == len(set(one.cells()))


def test_only_where_nothing_is_to_be_gained_the_answer_is_known(quick: dict[str, Training]) -> None:
    assert [name for name, one in quick.items() if one.answer == NOTHING] == ["compute"]


@pytest.mark.parametrize(
    ("name", "old", "new", "claim"),
    [
        ("transfer", [0.4, 0.41], [0.29, 0.3], "confirmed"),
        ("training", [1.0, 1.02], [0.99, 1.01], "refuted"),
        ("training", [1.0, 1.02], [0.5, 0.51], "exceeded"),
        ("training", [1.0, 1.0], [0.7, 1.0], "open"),  # as likely none at all as what is said
        ("training", [1.0], [0.8], "open"),
    ],
)
def test_claims_are_judged_by_their_intervals(name: str, old: list[float], new: list[float], claim: str) -> None:
    found = compared(name, old, new)
    assert found["claim"] == claim
    assert (found["low"] is None) == (len(old) == 1)
    assert words(found).endswith(f" {claim}")


def test_copies_are_timed_of_each_kind() -> None:
    found = copies(1 << 14, Device(), until=0.0)
    assert found["rounds"] == 1  # late, and the first is read all the same
    assert list(found["kinds"]) == [kind.name for kind in KINDS]
    assert all(one["device"] > 0 and one["host"] > 0 for one in found["kinds"].values())
    assert "transfer" not in found["kinds"][PLAIN.name]
    assert min(found["pinning"].values()) > 0


def test_training_is_compared_by_complete_rounds() -> None:
    device = Device()
    trained = models(1 << 14, 1e-4, QUICK, device)
    assert trained[1].repeats > trained[0].repeats
    compared_here = Comparison(1 << 14, 1, trained, rows_of(QUICK), QUICK, device)
    assert compared_here.found() == []
    compared_here.run(until=0.0)
    compared_here.blocks["short", PLAIN.name].append(1.0)  # of a round that was cut off
    short, long = compared_here.found()
    assert (short["model"], long["model"]) == ("short", "long")
    assert short["rounds"] == long["rounds"] == 1
    assert set(short["kinds"]) == {kind.name for kind in KINDS}
    assert short["kinds"][PLAIN.name]["step"] != 1.0


def test_batches_that_do_not_fit_into_shared_memory_are_not_tried() -> None:
    device = Device()
    compared_here = Comparison(1 << 50, 2, (), rows_of(QUICK), QUICK, device)
    with pytest.raises(RuntimeError, match=r"/dev/shm has .* GB free, and the loaders' batches take"):
        compared_here.run(until=0.0)


def a_record(**rest: object) -> dict[str, object]:
    machine = {"gpus": [], "device": "cuda", "cores": 16.0, "cpu": "CPU"}
    return {"machine": machine, "versions": {"torch": "2.11.0"}, "date": "2026-11-21", "commit": "abc", **rest}


def test_tables_name_what_failed_and_what_is_of_another_day() -> None:
    ours = {"settings": {"num_workers": 4}, "share": 0.98, "predicted": {"ratio": 2.0}, "realised": 1.9}
    ours |= {"of_ceiling": None, "seconds": 40.0, "beyond_startup": 31.0}
    done = a_record(ours=ours, best={"num_workers": 8}, rules={"defaults": 0.5, "all cores": 0.9})
    kept = a_record(ours=ours | {"right": True}, best={}, rules={"defaults": 1.0})
    workloads = {"images": done, "compute": kept, "text": a_record(failed="no answer", date="2026-11-20")}
    said = tables(a_record(quick=False, copies="fast", workloads=workloads))
    assert "| images | 8 workers | 4 workers | 98 % | 2.00 | 1.90 |  | 40 | 31 |" in said
    assert "| compute | no workers | 4 workers (right: nothing to gain) |" in said
    assert "| images | 98 % | 50 % | 90 % |" in said
    assert "| compute | 98 % | 100 % | failed |" in said
    assert "text failed: no answer" in said
    assert "text: 2026-11-20, abc" in said
    assert "images: 2026-11-21" not in said


def test_parts_are_added_to_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    only, whole = (argparse.Namespace(only=names, quick=False) for names in (["text"], []))
    assert earlier(path, only) == {"workloads": {}}
    path.write_text(json.dumps({"quick": False, "workloads": {"images": {"date": "2026-11-20"}}}))
    assert earlier(path, only)["workloads"] == {"images": {"date": "2026-11-20"}}
    assert earlier(path, whole) == {"workloads": {}}
    for text in ('{"quick": true, "workloads": {}}', "[]", "{"):
        path.write_text(text)
        with pytest.raises(ValueError, match="name another file with --json"):
            earlier(path, only)


def test_a_proof_of_one_part_keeps_the_others(tmp_path: Path, forks: Forks) -> None:
    path = tmp_path / "gpu.json"
    old = a_record(failed="as it was")
    path.write_text(json.dumps(a_record(quick=True, copies="slow", workloads={"images": old})))
    command = [str(COMMAND), "--quick", "--only", "compute", "--budget", "5", "--json", str(path)]
    ran = forks.python(command, tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = json.loads(path.read_text())
    assert found["workloads"]["images"] == old
    assert found["workloads"]["compute"]["ours"]["right"] in (True, False)
    assert {"tune", "grid"} == set(found["workloads"]["compute"]["parts"])


@pytest.mark.parametrize("late", [0.0, 0.001, 0.02], ids=["quiet", "as long as the step", "much longer"])
def test_what_a_repetition_takes_is_seen_beside_other_work(late: float) -> None:
    """A base that other work made long must not make a repetition take nothing: a model would never come to its end."""
    bare, each = 0.001, 2e-5
    assert each / 2 <= seconds_of_each(bare + late, lambda repeats: bare + each * repeats) <= 1.1 * each


def test_the_proof_of_pinning_runs_and_says_so(tmp_path: Path, forks: Forks) -> None:
    path = tmp_path / "pinning.json"
    command = [str(PINNING), "--quick", "--json", str(path)]
    ran = forks.python(command, tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = json.loads(path.read_text())
    assert len(found["copies"]) == 2
    assert len(found["training"]) == 8  # two sizes, two numbers of workers, two models
    assert "its figures mean nothing" in table(found)


def test_without_time_pinning_says_what_is_missing(tmp_path: Path, forks: Forks) -> None:
    path = tmp_path / "pinning.json"
    command = [str(PINNING), "--quick", "--seconds", "0.1", "--json", str(path)]
    ran = forks.python(command, tmp_path)
    assert ran.returncode == 1
    assert json.loads(path.read_text())["failed"]["the rest"] == "the time was over before it was done"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (COMMAND, "there is no accelerator here: --quick proves that the benchmark runs\n"),
        (PINNING, "there is no CUDA device here: --quick proves that the benchmark runs\n"),
    ],
)
def test_without_an_accelerator_nothing_is_recorded(command: Path, said: str, tmp_path: Path, forks: Forks) -> None:
    import torch

    if torch.accelerator.is_available():
        pytest.skip("there is an accelerator on this machine")
    ran = forks.python([str(command)], tmp_path)
    assert ran.returncode == 2
    assert ran.stderr == said


def test_it_is_found_where_it_is_not_installed(tmp_path: Path) -> None:
    code = (
        "import sys, importlib.util as u, pathlib, importlib\n"
        "sys.meta_path = [one for one in sys.meta_path if 'editable' not in str(one).lower()]\n"
        f"spec = u.spec_from_file_location('run', {str(COMMAND.parent / 'surroundings.py')!r})\n"
        "run = u.module_from_spec(spec); spec.loader.exec_module(run)\n"
        "run.find_spec = lambda name: None\n"
        f"run.find_ourselves(pathlib.Path({str(tmp_path)!r})); importlib.invalidate_caches()\n"
        "import accel_advisor.rules, accel_advisor.commands.tune_command, benchmarks.gpu.workloads\n"
        "print(accel_advisor.__file__)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert ran.stdout.strip() == str(tmp_path / "accel_advisor" / "__init__.py"), ran.stderr
