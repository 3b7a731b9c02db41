"""What other programs may import: the names, their signatures, and that the examples of the documentation run."""

from __future__ import annotations

import dataclasses
import doctest
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
from accel_advisor.finding import CellPlace, Frequency, Location, Price, Related, Span
from accel_advisor.library.engine import Checked

from .forked import Forks
from .library.test_engine import FILES, save

ROOT = Path(__file__).parents[1]
RECORDED = Path(__file__).parent / "library" / "public_api.txt"
"""Written again by ``RECORD_API=1 pytest tests/test_public_api.py``, together with a line in CHANGELOG.md."""
EXAMPLES = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/library.md").read_text(encoding="utf-8"), re.M | re.S)
HELD = (CellPlace, Checked, Frequency, Location, Price, Related, Span)
"""What those names hold or hand out, and so is as stable as they are."""
QUICK = """
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Linear(4, 1)
for epoch in range(1000):
    for (x,) in DataLoader(TensorDataset(torch.randn(4000, 4)), batch_size=4):
        model.zero_grad()
        model(x).sum().backward()
        time.sleep(0.005)  # which leaves the cores to other tests
"""


@pytest.fixture(autouse=True)
def _trials_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials of other tests have no lock in this folder."""
    (tmp_path / "t").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))


def described() -> Iterator[str]:
    things = {name: getattr(accel_advisor, name) for name in accel_advisor.__all__ if name != "__version__"}
    for name, thing in sorted({**things, **{one.__name__: one for one in HELD}}.items()):
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
    shown = []
    for one in dataclasses.fields(thing):  # type: ignore[arg-type]
        optional = one.default is not dataclasses.MISSING or one.default_factory is not dataclasses.MISSING
        shown.append(f"{one.name}: {one.type}{' = ...' if optional else ''}")
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
        assert any(re.search(rf"\b{name}\b", example) for example in EXAMPLES[1:]), f"no example shows {name}"
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


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Programs that use the library, in forks of an interpreter that has all of it."""
    forks = Forks("import accel_advisor.library.runs, doctest; from accel_advisor.rule import registry; registry()")
    yield forks
    forks.close()


def printed(forks: Forks, code: str, cwd: Path) -> str:
    done = forks.run(code, cwd)
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


@pytest.mark.parametrize("name", [name for name in accel_advisor.__all__ if name != "__version__"])
def test_each_name_has_an_example_that_shows_what_it_gives(name: str, project: Path, forks: Forks) -> None:
    """In its docstring, as Python's own doctest reads and compares it."""
    save(project, FILES)
    (project / "quick.py").write_text(QUICK)
    docstring = getattr(accel_advisor, name).__doc__
    code = (
        "import accel_advisor, doctest\n"
        f"test = doctest.DocTestParser().get_doctest(accel_advisor.{name}.__doc__, {{}}, {name!r}, None, 0)\n"
        "print(doctest.DocTestRunner().run(test))"
    )
    out = printed(forks, code, project)
    shown = sum(bool(one.want) for one in doctest.DocTestParser().get_examples(docstring))
    assert shown, "it shows no result"
    assert f"TestResults(failed=0, attempted={len(doctest.DocTestParser().get_examples(docstring))})" in out, out


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_run(example: str, project: Path, forks: Forks) -> None:
    save(project, FILES)
    measures = "tune(" in example
    if measures:
        (project / "train.py").write_text(QUICK)
    out = printed(forks, example, project)
    assert bool(out) == ("print" in example)
    if measures:
        assert "samples/s" in out


def test_a_script_that_does_not_run_is_said(project: Path) -> None:
    (project / "train.py").write_text("raise SystemExit('there are no photos')\n")
    with pytest.raises(accel_advisor.TrialError) as failed:
        accel_advisor.tune("train.py")
    assert failed.value.status == 2
    assert "train.py" in str(failed.value)


def test_an_interpreter_that_is_not_there_is_said(project: Path) -> None:
    (project / "train.py").write_text(QUICK)
    with pytest.raises(accel_advisor.TrialError, match=r"nowhere/python cannot be started: No such file") as failed:
        accel_advisor.tune("train.py", python="nowhere/python")
    assert failed.value.status == 127


def test_one_path_and_rules_in_one_text_are_those_of_a_list(project: Path) -> None:
    save(project, FILES)
    several = accel_advisor.lint(["train.py"], select=["ACC201", "ACC208"], ignore=["ACC208"])
    assert [one.code for one in several.findings] == ["ACC201"]
    for path in ("train.py", Path("train.py")):
        assert accel_advisor.lint(path, select="ACC201, ACC208", ignore="ACC208").findings == several.findings
    assert accel_advisor.Engine(select="ACC201, ACC208", ignore="ACC208").findings("train.py")[0].code == "ACC201"


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"paths": ["nowhere"]}, "nowhere: there is no such file or folder"),
        ({"paths": "nowhere"}, "nowhere: there is no such file or folder"),
        ({"select": ["ACC999"]}, "no rule is called 'ACC999'"),
        ({"select": "ACC101,ACC999"}, "no rule is called 'ACC999'"),
        ({"min_severity": "big"}, "min_severity: 'big' is none of error, warning, info"),
        ({"min_confidence": "sure"}, "min_confidence: 'sure' is none of proven, evident"),
    ],
)
def test_wrong_use_is_one_sentence(asked: dict[str, list[str] | str], sentence: str, project: Path) -> None:
    save(project, FILES)
    with pytest.raises(ValueError, match=sentence):
        accel_advisor.lint(**asked)  # type: ignore[arg-type]
