"""Texts that change in memory give what a fresh lint of the same texts on disk gives."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accel_advisor.configurations import Configurations
from accel_advisor.finding import Finding
from accel_advisor.library.engine import Engine, decoded, encoded
from accel_advisor.linting.joining import joined
from accel_advisor.linting.linter import lint
from accel_advisor.project.discovery import Found
from accel_advisor.selection import SelectorError

LOADERS = """\
from torch.utils.data import DataLoader

WORKERS = 0


def build(data, **options):
    return DataLoader(data, batch_size=8, **options)
"""
TRAIN = """\
import torch
from torchvision.datasets import ImageFolder

from pkg.loaders import WORKERS, build
from settings import DEVICE

model = torch.nn.Linear(8, 2).to(DEVICE)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
loader = build(ImageFolder("photos"), num_workers=WORKERS)
total = 0.0
for images, labels in loader:
    optimizer.zero_grad()
    loss = model(images.to(DEVICE)).sum()
    loss.backward()
    optimizer.step()
    total += loss.item()
"""
SETTINGS = """\
import torch

DEVICE = torch.device("cuda")
"""
BLANK = "import torch\n"
FILES = {
    "pkg/__init__.py": "",
    "pkg/loaders.py": LOADERS,
    "train.py": TRAIN,
    "settings.py": SETTINGS,
    "other.py": BLANK,
}
LINES = (
    "",
    "x = 1",
    "WORKERS = 4",
    'DEVICE = "cpu"',
    "import sys",
    "from pkg.loaders import build",
    "from settings import DEVICE",
    "torch.cuda.empty_cache()",
    "loader = DataLoader([1], pin_memory=True)",
    "    print(loss.item())",
    "    torch.cuda.synchronize()",
    "def broken(:",
    "# accel: ignore[ACC101]",
    "sys.path.append('pkg')",
)


def save(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded(text))


def said(findings: list[Finding], folder: Path) -> list[str]:
    return [repr(one).replace(str(folder), "ROOT") for one in findings]


def fresh(folder: Path, name: str) -> list[str]:
    """What a lint says that knows nothing from before."""
    configurations = Configurations()
    report = lint([Found(str(folder / name), named=True)], configurations)
    return said(joined(one for one in report.findings if configurations.shows(one)), folder)


@pytest.fixture
def engine(project: Path) -> Engine:
    save(project, FILES)
    return Engine(project)


def codes(engine: Engine, name: str) -> list[str]:
    return [one.code for one in engine.findings(name)]


def test_says_of_files_on_disk_what_a_lint_says(engine: Engine, project: Path) -> None:
    for name in FILES:
        assert said(engine.findings(name), project) == fresh(project, name)
    assert {"ACC101", "ACC102"} <= set(codes(engine, "train.py") + codes(engine, "pkg/loaders.py"))


def test_an_edit_of_an_imported_file_counts_at_once_and_its_end_too(engine: Engine) -> None:
    before = codes(engine, "pkg/loaders.py")
    assert "ACC102" in before
    engine.update("train.py", TRAIN.replace("num_workers=WORKERS", "num_workers=4"))
    assert "ACC102" not in codes(engine, "pkg/loaders.py")
    engine.close("train.py")
    assert codes(engine, "pkg/loaders.py") == before


def test_what_changes_on_disk_counts_unless_a_text_stands_for_it(engine: Engine, project: Path) -> None:
    assert "ACC101" in codes(engine, "train.py") + codes(engine, "pkg/loaders.py")
    engine.update("train.py", TRAIN)
    save(project, {"settings.py": 'DEVICE = "cpu"\n', "train.py": "import torch\n"})
    assert "ACC101" not in codes(engine, "train.py") + codes(engine, "pkg/loaders.py")
    assert engine.check(["train.py"])[0].document is not None
    engine.close("train.py")
    assert codes(engine, "train.py") == []


def test_an_engine_that_looks_seldom_sees_texts_at_once_and_files_when_it_looks(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accel_advisor.project.project_index.SETTLED_SECONDS", -3600.0)
    save(project, FILES)
    engine = Engine(project, looks_every=math.inf)
    assert "ACC101" in codes(engine, "train.py") + codes(engine, "pkg/loaders.py")
    save(project, {"settings.py": 'DEVICE = "cpu"\n', "pyproject.toml": '[tool.accel-advisor]\nignore = ["ACC102"]\n'})
    assert {"ACC101", "ACC102"} <= set(codes(engine, "train.py") + codes(engine, "pkg/loaders.py"))
    engine.update("train.py", "import torch\n")
    assert codes(engine, "train.py") == []
    engine.close("train.py")
    engine.look_again()
    assert not {"ACC101", "ACC102"} & set(codes(engine, "train.py") + codes(engine, "pkg/loaders.py"))


def test_what_was_found_in_a_program_that_is_no_more_is_forgotten(engine: Engine, project: Path) -> None:
    codes(engine, "train.py")
    known = len(engine._kept._results._known)
    for number in range(3):
        name = "train.py" if number == 0 else f"train{number}.py"
        (project / name).rename(project / f"train{number + 1}.py")
        assert "ACC102" in codes(engine, f"train{number + 1}.py") + codes(engine, "pkg/loaders.py")
    assert len(engine._kept._results._known) == known


def test_a_text_that_is_no_python_hides_what_the_file_on_disk_says(engine: Engine, project: Path) -> None:
    engine.update("settings.py", "DEVICE = (\n")
    save(project, {"settings.py": "DEVICE = (\n"})
    broken = fresh(project, "train.py")
    save(project, {"settings.py": SETTINGS})
    assert said(engine.findings("train.py"), project) == broken
    assert codes(engine, "settings.py") == ["ACC001"]


def test_the_configuration_on_disk_holds(engine: Engine, project: Path) -> None:
    found = codes(engine, "pkg/loaders.py")
    (project / "pyproject.toml").write_text('[tool.accel-advisor]\nignore = ["ACC102"]\n')
    assert codes(engine, "pkg/loaders.py") == [one for one in found if one != "ACC102"]
    (project / "pyproject.toml").write_text('[tool.accel-advisor]\nexclude = ["pkg"]\n')
    assert codes(engine, "pkg/loaders.py") == []


def test_a_file_that_was_never_saved(engine: Engine) -> None:
    engine.update("new.py", "import torch\nfrom settings import DEVICE\nfor x in y:\n    torch.ones(3).to(DEVICE)\n")
    engine.update("broken.py", "import torch\n(\n")
    assert codes(engine, "broken.py") == ["ACC001"]
    assert codes(engine, "new.py") == codes(engine, "new.py")
    engine.close("broken.py")
    assert codes(engine, "broken.py") == []


def test_choices_are_those_of_the_command_line(project: Path) -> None:
    save(project, FILES)
    assert codes(Engine(project, select=["ACC102"]), "pkg/loaders.py") == ["ACC102"]
    assert "ACC102" not in codes(Engine(project, ignore=["ACC102"]), "pkg/loaders.py")
    with pytest.raises(SelectorError, match="no rule is called 'ACC999'"):
        Engine(project, select=["ACC999"]).findings("train.py")
    with pytest.raises(ValueError, match="loud"):
        Engine(project, min_severity="loud")
    with pytest.raises(ValueError, match="neither a Python file nor a notebook"):
        Engine(project).update("notes.txt", "")


def test_a_program_without_a_suffix_is_checked_as_one_with_it(engine: Engine) -> None:
    engine.update("launch", "#!/usr/bin/env python3\n" + TRAIN)
    engine.update("launch.py", "#!/usr/bin/env python3\n" + TRAIN)
    assert codes(engine, "launch") == codes(engine, "launch.py") != []


def test_fixes_are_made_in_memory_only(engine: Engine, project: Path) -> None:
    engine.update("train.py", TRAIN + "# typed\n")
    after = engine.fixed("train.py", unsafe=True)
    assert after
    assert all(text != FILES[os.path.relpath(path, project)] for path, text in after.items())
    assert {name: (project / name).read_text() for name in FILES} == FILES
    for path, text in after.items():
        engine.update(path, text)
    assert not any(one.fix and one.fix.applicability != "display" for one in engine.findings("train.py"))


def test_a_comment_silences_each_place_of_a_finding(engine: Engine, project: Path) -> None:
    [checked] = engine.check(["train.py"])
    assert checked.findings
    for finding in checked.findings:
        text = TRAIN
        for edit in sorted(checked.silencing(finding), key=lambda one: -one.span.start.offset):
            text = text[: edit.span.start.offset] + edit.content + text[edit.span.end.offset :]
        assert f"accel: ignore[{finding.code}]" in text
        engine.update("train.py", text)
        assert finding.code not in [one.code for one in engine.findings("train.py") if one.span == finding.span]
        engine.close("train.py")


def test_notebooks_are_given_as_their_json(engine: Engine) -> None:
    def notebook(line: str) -> str:
        cells = [
            {"cell_type": "markdown", "source": "# title"},
            {"cell_type": "code", "source": "import torch\n" + line},
        ]
        return json.dumps({"cells": cells, "metadata": {}})

    engine.update("a.ipynb", notebook("x = ("))
    [finding] = engine.findings("a.ipynb")
    assert finding.span.start.cell is not None
    assert finding.span.start.cell.number == 2
    engine.update("a.ipynb", notebook("x = 1"))
    assert codes(engine, "a.ipynb") == []


@pytest.mark.parametrize(
    "text", ["# -*- coding: latin-1 -*-\nx = 'é'\n", "x = 'é'\n", "\ufeffx = 1\n", "# coding: none\n"]
)
def test_a_text_is_encoded_as_it_would_be_saved(text: str) -> None:
    if "none" not in text:
        assert decoded("a.py", encoded(text)) == text.removeprefix("\ufeff")
    assert encoded(text).startswith(text[:1].encode())


edits = st.lists(
    st.tuples(
        st.sampled_from(sorted(FILES)),
        st.sampled_from(["replace", "insert", "delete", "save", "close", "restore"]),
        st.integers(0, 20),
        st.sampled_from(LINES),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=25)
@given(edits, st.lists(st.sampled_from(sorted(FILES)), min_size=1, max_size=3, unique=True), st.booleans())
def test_random_edits_give_what_a_fresh_lint_gives(
    done: list[tuple[str, str, int, str]], asked: list[str], looks_once: bool
) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        mine, theirs = Path(os.path.realpath(one)), Path(os.path.realpath(other))
        on_disk, open_texts = dict(FILES), dict[str, str]()
        save(mine, on_disk)
        engine = Engine(mine, looks_every=math.inf if looks_once else 0.0)
        for number, (name, action, at, line) in enumerate(done):
            lines = open_texts.get(name, on_disk[name]).splitlines(keepends=True)
            if action == "save":
                on_disk[name] = open_texts.get(name, on_disk[name])
                save(mine, {name: on_disk[name]})
                engine.look_again()
            elif action == "close":
                open_texts.pop(name, None)
                engine.close(name)
            else:
                at = min(at, len(lines))
                kept = lines[at + (action != "insert") :]
                lines = [*lines[:at], *([] if action == "delete" else [line + "\n"]), *kept]
                open_texts[name] = FILES[name] if action == "restore" else "".join(lines)
                engine.update(name, open_texts[name])
            if number % 3 == 2:
                engine.findings(asked[0])
        save(theirs, on_disk | open_texts)
        for name in asked:
            assert said(engine.findings(name), mine) == fresh(theirs, name)


def test_names_what_a_trial_measures(engine: Engine) -> None:
    [train, loaders] = engine.check(["train.py", "pkg/loaders.py"])
    assert [(one.sight, one.span.start.row) for one in train.landmarks] == [("loop", 11)]
    assert [(one.sight, one.span.start.row, one.name) for one in loaders.landmarks] == [("loader", 7, "loader")]


def test_a_wrong_configuration_beside_it_changes_nothing(project: Path) -> None:
    save(project, {"train.py": TRAIN, "sub/other.py": TRAIN})
    engine = Engine(project)
    expected = engine.findings("train.py")
    assert expected
    save(project, {"sub/pyproject.toml": "[tool.accel-advisor]\nselct = []\n"})
    assert engine.findings("train.py") == expected
    for paths in (["sub/other.py"], ["train.py", "sub/other.py"]):
        with pytest.raises(ValueError, match="there is no key 'selct'"):
            engine.check(paths)


def test_a_text_that_was_given_up_is_not_linted_as_long_as_nothing_uses_it(engine: Engine, project: Path) -> None:
    save(project, {"old/train.py": TRAIN, "older/train.py": TRAIN})
    assert codes(engine, "older/train.py")
    assert codes(engine, "old/train.py") == []
    engine.update("settings.py", "import old.train\n" + SETTINGS)
    assert codes(engine, "old/train.py")
