"""What the measurement of the linter's speed computes, and that it measures what it says."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "lint_speed.py"
_spec = importlib.util.spec_from_file_location("lint_speed", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
lint_speed = importlib.util.module_from_spec(_spec)
sys.modules["lint_speed"] = lint_speed  # where a NamedTuple looks for the names in its annotations
_spec.loader.exec_module(lint_speed)

TRAIN = """\
import torch.utils.data
from settings import WORKERS

loader = torch.utils.data.DataLoader(data, num_workers=WORKERS)
"""


def test_a_spread() -> None:
    spread = lint_speed.Spread.of([3.0, 1.0, 8.0])
    assert spread == (3.0, 1.0, 8.0)
    assert str(spread) == "3.00 (1.00 to 8.00)"


def test_start_up_counts_for_neither_side_beyond_the_parse() -> None:
    assert lint_speed.beyond_parse(lint=2.5, trivial=1.0, parse=1.2, imported=0.2) == pytest.approx(0.5)
    assert lint_speed.beyond_parse(lint=2.0, trivial=1.0, parse=1.2, imported=0.2) == pytest.approx(0)


def test_the_files_nearest_in_length() -> None:
    lines = {Path("a.py"): 100, Path("b.py"): 310, Path("c.py"): 290, Path("d.py"): 301}
    assert lint_speed.nearest(lines, 300, 3) == [Path("d.py"), Path("b.py"), Path("c.py")]


def test_copies_keep_trees_together_under_names_of_their_own() -> None:
    files = [Path("/code/one/train.py"), Path("/code/one/model/net.py")]
    made = lint_speed.copies(files, Path("/code"), 3)
    assert made == [
        (files[0], Path("copy0/one/train.py")),
        (files[1], Path("copy0/one/model/net.py")),
        (files[0], Path("copy1/one/train.py")),
    ]
    assert lint_speed.copies([], Path("/code"), 3) == []


def test_a_command_that_fails_is_not_measured(tmp_path: Path) -> None:
    spent, said = lint_speed.run([sys.executable, "-c", "import sys; print('told', file=sys.stderr)"], tmp_path)
    assert spent.cpu > 0
    assert said == "told\n"
    with pytest.raises(lint_speed.MeasurementError, match="ended with status 3: why"):
        lint_speed.run([sys.executable, "-c", "import sys; print('why', file=sys.stderr); sys.exit(3)"], tmp_path)


def test_rounds_run_in_turns_and_the_first_does_not_count(tmp_path: Path) -> None:
    commands = {name: [sys.executable, "-c", f"open('order', 'a').write('{name}')"] for name in ("ours ", "theirs ")}
    rounds = lint_speed.in_turns(commands, tmp_path, 2)
    assert [list(one) for one in rounds] == [list(commands)] * 2
    assert (tmp_path / "order").read_text() == "ours theirs " * 3


@pytest.fixture
def bench(tmp_path: Path) -> object:
    work = tmp_path / "work"
    work.mkdir()
    return lint_speed.Bench(sys.executable, work, 1)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "test_train.py").write_text("import torch\n")
    (folder / "train.py").write_text(TRAIN)
    (folder / "settings.py").write_text("WORKERS = 4\n")
    return folder


def test_the_files_are_those_of_discovery_that_mention_torch(bench: lint_speed.Bench, tree: Path) -> None:
    assert bench.files([tree]) == [tree / "train.py"]


def test_what_the_linter_parses_is_counted(bench: lint_speed.Bench, tree: Path) -> None:
    measured = bench.beside_parse([tree / "train.py"])
    assert measured["parsed"] == 2, "the file and the one that it imports from"


def test_one_file_is_measured_by_itself(bench: lint_speed.Bench, tree: Path) -> None:
    measured = bench.one_file([tree / "train.py"])
    assert measured["lines"].median == TRAIN.count("\n")
    assert [path.name for path in bench.work.rglob("*.py")] == ["train.py"]


def test_a_second_run_imports_neither_parser_nor_torch(
    bench: lint_speed.Bench, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lint_speed, "SECOND_RUN", 3)
    measured = bench.second_run([tree], [tree / "train.py"])
    assert (measured["files"], measured["imported"]) == (3, [])


def test_no_file_is_reported_in_a_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "--torchfix", "none", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "Error: no file below these folders mentions torch: name checkouts of PyTorch code\n"


def test_the_documentation_says_what_was_recorded() -> None:
    record = json.loads((SCRIPT.parent / "results" / "lint_speed.json").read_text("utf-8"))
    page = (SCRIPT.parents[1] / "docs" / "speed.md").read_text("utf-8")
    assert lint_speed.table(record).strip() in page
