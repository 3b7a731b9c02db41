"""Each format that has a schema, held against it by a validator that is not ours: what the real command writes of files
in awkward places, of a notebook, of nothing at all.

jsonschema and xmlschema are imported by the tests that use them: that takes a second, and each process of a run
collects every file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ..commands.scripts import HEALTHY, SLOW
from ..conftest import Run

SCHEMAS = Path(__file__).parent / "schemas"
NOTEBOOK = {
    "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": SLOW}],
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
FORMATS = ("gitlab", "junit", "sarif")


Written = Callable[..., str]


@pytest.fixture
def written(run: Run, monkeypatch: pytest.MonkeyPatch) -> Written:
    """What ``lint`` writes of some paths, seen from a folder."""

    def written(folder: Path, name: str, *paths: str) -> str:
        monkeypatch.chdir(folder)
        done = run("lint", "--output-format", name, "--no-cache", *paths)
        assert done.status < 2, done.err
        return done.out

    return written


def check(name: str, text: str) -> None:
    """Raises where a text is not what the schema of its format allows."""
    if name == "junit":
        import xmlschema

        xmlschema.XMLSchema(str(SCHEMAS / "junit-10.xsd")).validate(text)
        return
    import jsonschema

    file = {"sarif": "sarif-2.1.0.json", "gitlab": "gitlab-code-quality.json"}[name]
    schema = json.loads((SCHEMAS / file).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker()).validate(json.loads(text))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("formats")
    (folder / "train.py").write_text(SLOW)
    (folder / "healthy.py").write_text(HEALTHY)
    (folder / 'odd <&"> 表 name.py').write_text(SLOW.replace("loader = ", "def broken(:\nloader = "))
    (folder / "notes.ipynb").write_text(json.dumps(NOTEBOOK))
    return folder


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_found_is_valid(files: Path, name: str, written: Written) -> None:
    text = written(files, name, ".")
    for expected in ("ACC102", "train.py", "notes.ipynb"):
        assert expected in text
    check(name, text)


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_found_is_valid(files: Path, name: str, written: Written) -> None:
    check(name, written(files, name, "healthy.py"))


@pytest.mark.parametrize("name", ["junit", "sarif"])
def test_a_file_outside_the_working_directory_is_valid(
    files: Path, tmp_path: Path, name: str, written: Written
) -> None:
    check(name, written(tmp_path, name, str(files / "train.py")))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sarif", '{"version": "2.1.0", "runs": [{"results": []}]}'),
        ("gitlab", '[{"description": "x", "check_name": "x", "fingerprint": "x", "severity": "minor"}]'),
        ("junit", '<testsuites><testsuite name="x"/></testsuites>'),
    ],
)
def test_the_schemas_see_what_is_wrong(name: str, text: str) -> None:
    import jsonschema
    import xmlschema

    with pytest.raises((jsonschema.ValidationError, xmlschema.XMLSchemaValidationError)):
        check(name, text)
