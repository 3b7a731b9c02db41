"""What other programs may import: the names, their signatures, and that the examples of the documentation run."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import accel_advisor

from .library.test_engine import FILES, save

ROOT = Path(__file__).parents[1]
RECORDED = Path(__file__).parent / "library" / "public_api.txt"
"""Written anew by ``RECORD_API=1 pytest tests/test_public_api.py``, together with a line in CHANGELOG.md."""
EXAMPLES = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/library.md").read_text(encoding="utf-8"), re.M | re.S)
QUICK = """
import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Linear(4, 1)
for epoch in range(1000):
    for (x,) in DataLoader(TensorDataset(torch.randn(4000, 4)), batch_size=4):
        model.zero_grad()
        model(x).sum().backward()
"""


@pytest.fixture(autouse=True)
def _trials_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials of other tests have no lock in this folder."""
    (tmp_path / "t").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))


def described() -> Iterator[str]:
    for name in sorted(accel_advisor.__all__):
        if name == "__version__":
            continue
        thing = getattr(accel_advisor, name)
        if inspect.isclass(thing) and issubclass(thing, enum.Enum):
            yield f"{name}: {', '.join(one.value for one in thing)}"
        elif inspect.isclass(thing):
            if name == "Trial":  # what it holds is the schema of tune --json, which has a test of its own
                yield f"class {name}"
                continue
            yield f"class {name}{_fields(thing) if dataclasses.is_dataclass(thing) else inspect.signature(thing)}"
            for inner, member in sorted(vars(thing).items()):
                if not inner.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                    yield f"    {inner}{inspect.signature(member) if inspect.isfunction(member) else ''}"
        else:
            yield f"{name}{inspect.signature(thing)}"


def _fields(thing: type) -> str:
    shown = (f"{one.name}: {one.type}" for one in dataclasses.fields(thing))  # type: ignore[arg-type]
    return f"({', '.join(shown)})"


def test_names_and_signatures_are_as_recorded() -> None:
    now = "".join(f"{line}\n" for line in described()).replace(repr(sys.executable), "sys.executable")
    if os.environ.get("RECORD_API"):
        RECORDED.write_text(now, encoding="utf-8")
    said = "the public API changed: say so in CHANGELOG.md, then RECORD_API=1 pytest tests/test_public_api.py"
    assert now == RECORDED.read_text(encoding="utf-8"), said


def test_every_name_is_in_the_changelog_the_stub_and_the_documentation() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    stub = (ROOT / "advisor/__init__.pyi").read_text(encoding="utf-8")
    page = (ROOT / "docs/library.md").read_text(encoding="utf-8")
    for name in set(accel_advisor.__all__) - {"__version__"}:
        assert f"`{name}`" in changes, f"{name} has no line in CHANGELOG.md"
        assert f" as {name}\n" in stub
        assert f'    "{name}",\n' in stub
        assert f"| `{name}` |" in page
        assert getattr(accel_advisor, name).__doc__
        assert name in dir(accel_advisor)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = accel_advisor.nothing  # type: ignore[attr-defined]


def python(code: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_is_imported_before_it_is_needed(project: Path) -> None:
    save(project, FILES)
    heavy = "sorted({'libcst', 'torch', 'click', 'pygls'} & set(sys.modules))"
    assert python(f"import sys, accel_advisor; print({heavy})", project) == "[]\n"
    lints = f"import sys; from accel_advisor import lint; found = lint(['.']); print(len(found.findings), {heavy})"
    first, again = python(lints, project), python(lints, project)
    assert "'libcst'" in first
    assert "'torch'" not in first
    assert again.split(" ", 1)[0] == first.split(" ", 1)[0] != "0"
    assert "'libcst'" not in again
    assert "'torch'" not in again


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_run(example: str, project: Path) -> None:
    save(project, FILES)
    measures = "tune(" in example
    if measures:
        (project / "train.py").write_text(QUICK)
    out = python(example, project)
    assert bool(out) == ("print" in example)
    if measures:
        assert "samples/s" in out


def test_a_script_that_does_not_run_is_said(project: Path) -> None:
    (project / "train.py").write_text("raise SystemExit('there are no photos')\n")
    with pytest.raises(accel_advisor.TrialError) as failed:
        accel_advisor.tune("train.py")
    assert failed.value.status == 2
    assert "train.py" in str(failed.value)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"paths": ["nowhere"]}, "nowhere: there is no such file or folder"),
        ({"select": ["ACC999"]}, "no rule is called 'ACC999'"),
    ],
)
def test_wrong_use_is_one_sentence(asked: dict[str, list[str]], sentence: str, project: Path) -> None:
    save(project, FILES)
    with pytest.raises(ValueError, match=sentence):
        accel_advisor.lint(**asked)  # type: ignore[arg-type]
