"""What a stranger tries with the options and keys that select rules."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ..conftest import Run

SOURCE = """\
import conf
import torch
from torch.utils.data import DataLoader

loader = DataLoader([1, 2, 3], pin_memory=True, pin_memory_device="cuda")
scaler = torch.cuda.amp.GradScaler()
while conf.running():
    scaler.scale(conf.loss()).backward()
"""
BOTH = {"ACC118", "ACC402"}


@pytest.fixture
def codes(run: Run, project: Path) -> Callable[..., dict[str, set[str]]]:
    """The codes that are reported in each of three files, with options and the body of the configuration's table."""
    for name in ("train.py", "scripts/run.py", "scripts/deep/run.py"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(SOURCE)

    def codes(*options: str, table: str = "") -> dict[str, set[str]]:
        (project / "pyproject.toml").write_text(f"[tool.accel-advisor]\n{table}\n")
        done = run("lint", "--output-format", "json", "--exit-zero", *options)
        assert (done.status, done.err) == (0, "")
        found: dict[str, set[str]] = {"train.py": set(), "scripts/run.py": set(), "scripts/deep/run.py": set()}
        for one in json.loads(done.out):
            found[one["filename"]].add(one["code"])
        return found

    return codes


Codes = Callable[..., dict[str, set[str]]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), BOTH),
        (("--select", "ACC"), BOTH),
        (("--select", "acc402"), {"ACC402"}),
        (("--select", "ACC1,amp-deprecated-api"), BOTH),
        (("--select", "ACC1", "--select", "ACC4", "--ignore", "ACC40"), {"ACC118"}),
        (("--ignore", "ALL"), set()),
        (("--extend-ignore", "ACC402"), {"ACC118"}),
        (("--ignore", "ACC118", "--extend-ignore", "ACC402"), set()),
        (("--select", "ACC402", "--ignore", "ACC4"), {"ACC402"}),
        (("--select", "ACC002"), set()),
        (("--min-severity", "warning"), set()),
        (("--min-confidence", "proven"), BOTH),
    ],
)
def test_options(options: tuple[str, ...], expected: set[str], codes: Codes) -> None:
    assert codes(*options)["train.py"] == expected


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("ignore = ['ACC118']\nextend-ignore = ['ACC402']", set()),
        ("extend-ignore = ['ACC1']", {"ACC402"}),
        ("select = []", set()),
        ("select = []\nextend-select = ['ACC118']", {"ACC118"}),
        ("min-severity = 'error'", set()),
    ],
)
def test_keys(table: str, expected: set[str], codes: Codes) -> None:
    assert codes(table=table)["train.py"] == expected


ELSEWHERE = {"train.py": BOTH, "scripts/run.py": {"ACC402"}, "scripts/deep/run.py": {"ACC402"}}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("scripts/", ELSEWHERE),
        ("./scripts/**", ELSEWHERE),
        ("run.py", ELSEWHERE),
        ("!train.py", ELSEWHERE),
        ("scripts/*.py", {**ELSEWHERE, "scripts/deep/run.py": BOTH}),
        ("*.ipynb", dict.fromkeys(ELSEWHERE, BOTH)),
    ],
)
def test_rules_that_do_not_run_in_some_files(pattern: str, expected: dict[str, set[str]], codes: Codes) -> None:
    assert codes("--per-file-ignores", f"{pattern}:ACC118") == expected
    for key in ("per-file-ignores", "extend-per-file-ignores"):
        assert codes(table=f"[tool.accel-advisor.{key}]\n'{pattern}' = ['pin-memory-device-ignored']") == expected


def test_ignores_of_a_file_add_up(codes: Codes) -> None:
    table = "[tool.accel-advisor.per-file-ignores]\n'train.py' = ['ACC1']\n"
    found = codes("--per-file-ignores", "train.py:ACC4", "--per-file-ignores", "scripts/run.py:ACC1,ACC4", table=table)
    assert found == {"train.py": set(), "scripts/run.py": set(), "scripts/deep/run.py": BOTH}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--select", ""), "--select: '' names no rule"),
        (("--ignore", " , "), "--ignore: ' , ' names no rule"),
        (("--select", "ACC9999"), "--select: no rule is called 'ACC9999'"),
        (("--extend-ignore", "pin-memory-device-ignore"), "did you mean pin-memory-device-ignored?"),
        (("--per-file-ignores", "ACC118"), "--per-file-ignores: 'ACC118' is not PATTERN:RULE"),
        (("--per-file-ignores", ":ACC118"), "--per-file-ignores: ':ACC118' is not PATTERN:RULE"),
        (("--per-file-ignores", "train.py:"), "--per-file-ignores: '' names no rule"),
        (("--per-file-ignores", "elsewhere.py:ACC999"), "--per-file-ignores: no rule is called 'ACC999'"),
    ],
)
def test_wrong_options_are_one_sentence(options: tuple[str, ...], sentence: str, run: Run, project: Path) -> None:
    (project / "train.py").write_text(SOURCE)
    done = run("lint", *options)
    assert (done.status, done.out) == (2, "")
    assert sentence in done.err


def test_comments_for_rules_that_did_not_run_are_left_in_peace(run: Run, project: Path) -> None:
    text = SOURCE.replace("GradScaler()", "GradScaler()  # accel: ignore[ACC402]").replace(
        "import torch\n", "import torch  # accel: ignore[ACC102]\n"
    )
    (project / "train.py").write_text(text)
    assert "'ACC102' is not reported here" in run("lint", "--output-format", "concise").out
    assert "ACC002" not in run("lint", "--output-format", "concise", "--ignore", "ACC102").out
    assert "ACC002" not in run("lint", "--output-format", "concise", "--per-file-ignores", "train.py:ACC102").out
    assert "ACC002" not in run("lint", "--output-format", "concise", "--ignore", "ACC002").out


def test_json_says_where_the_page_is(run: Run, project: Path) -> None:
    (project / "train.py").write_text(SOURCE + "x = 1  # accel: ignore\n")
    found = {one["code"]: one["help"] for one in json.loads(run("lint", "--output-format", "json").out)}
    assert found == {
        "ACC118": "accel-advisor rule ACC118",
        "ACC402": "accel-advisor rule ACC402",
        "ACC002": "accel-advisor rule ACC002",
    }
    assert all(run(*one.split()[1:]).status == 0 for one in found.values())
