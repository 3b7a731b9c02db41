"""The runner of other people's scripts, and what is recorded of them."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks" / "wild"
RESULTS = ROOT / "benchmarks" / "results" / "wild.json"
MODULES = ("run", "cases", "data", "table")


@pytest.fixture(autouse=True)
def own_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials lock the folder for temporary files: those of other tests, and programs, must not refuse ours."""
    (tmp_path / "t").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))


@pytest.fixture
def wild(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    monkeypatch.syspath_prepend(str(FOLDER))
    yield {name: importlib.import_module(name) for name in MODULES}
    for name in MODULES:
        sys.modules.pop(name)


def test_cases_are_distinguished(wild: dict[str, ModuleType]) -> None:
    names = [case.name for case in wild["cases"].CASES]
    assert len(set(names)) == len(names)
    assert all(bool(case.why) == (case.expects == "refusal") for case in wild["cases"].CASES)


def test_the_page_shows_what_was_recorded(wild: dict[str, ModuleType]) -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    table = wild["table"]
    recorded = table.table(json.loads(RESULTS.read_text(encoding="utf-8"))) if RESULTS.exists() else ""
    assert f"{table.BEGIN}{recorded}{table.END}" in page


def test_data_is_in_the_format_of_the_real_one(wild: dict[str, ModuleType], tmp_path: Path) -> None:
    data = wild["data"]
    data.every(data.mnist("m", samples=12), data.image_folder("photos", classes=2, images=1, size=(40, 30)))(tmp_path)
    raw = (tmp_path / "m/MNIST/raw/t10k-images-idx3-ubyte").read_bytes()
    assert raw[:16] == bytes.fromhex("00000803 00000002 0000001c 0000001c")
    assert len(raw) == 16 + 2 * 28 * 28
    with Image.open(tmp_path / "photos/class1/0000.jpg") as picture:
        assert (picture.format, picture.size) == ("JPEG", (40, 30))


def checkout(folder: Path, text: str) -> argparse.Namespace:
    (folder / "some+one").mkdir()
    (folder / "some+one" / "train.py").write_text(text)
    return argparse.Namespace(checkouts=folder, budget=5.0, python=sys.executable)


def test_a_refusal_is_held_against_a_run_without_the_probe(wild: dict[str, ModuleType], tmp_path: Path) -> None:
    options = checkout(tmp_path, "raise SystemExit('no data in ' + __file__.rpartition('/')[0])\nimport torch\n")
    case = wild["cases"].Case("some/one", "train.py", expects="refusal", why="fails")
    (tmp_path / "scratch").mkdir()
    result = wild["run"].run_case(case, options, tmp_path / "scratch")
    assert (result["outcome"], result["changed"], result["wrong"]) == ("refused", [], [])
    assert "no data in {root}" in result["refusal"]
    assert result["alone"]["status"] == 1


def test_another_end_than_the_expected_one_is_wrong(wild: dict[str, ModuleType], tmp_path: Path) -> None:
    options = checkout(tmp_path, "print('there is nothing to train')\n")
    (tmp_path / "scratch").mkdir()
    result = wild["run"].run_case(wild["cases"].Case("some/one", "train.py"), options, tmp_path / "scratch")
    assert result["wrong"] == ["ended as refused where answer was expected"]


def test_a_changed_copy_is_compared_with_the_diff(wild: dict[str, ModuleType]) -> None:
    run = wild["run"]
    before = {"train.py": ["a = 0", "b = 1"], "other.py": ["c"]}
    assert run.edited(before, before) == []
    diff = "--- train.py\n+++ train.py\n@@ -1,2 +1,2 @@\n-a = 0\n+a = 2\n b = 1\n"
    assert run.edited(before, {**before, "train.py": ["a = 2", "b = 1"]}) == run.lines_of(diff) == ["-a = 0", "+a = 2"]
