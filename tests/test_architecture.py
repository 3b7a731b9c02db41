"""The two stories of docs/architecture.md are true: each type is where it is said to be, and the example comes out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .conftest import Run

DOCS = Path(__file__).parents[1] / "docs"
TEXT = (DOCS / "architecture.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(\w+)`\s+\(\[([^]]+)\]\(([^)]+)\)\)", TEXT)


@pytest.mark.parametrize(("name", "label", "link"), NAMED)
def test_a_type_is_where_the_story_says(name: str, label: str, link: str) -> None:
    path = DOCS / link
    assert label.replace("\\", "") == path.name
    assert re.search(rf"^(class|def) {name}\b", path.read_text(encoding="utf-8"), re.MULTILINE), f"{name} not in {link}"


def test_a_type_is_never_named_without_its_file() -> None:
    """Else the check above would pass for a name that it does not see."""
    alone = re.findall(r"`([A-Z]\w*[a-z]\w*)`(?!\s+\(\[)", TEXT)
    assert set(alone) <= {"DataLoader", "ImageFolder"}


def test_the_example_is_found_and_fixed_as_the_story_says(run: Run, project: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    (command,) = re.findall(r"`accel-advisor (lint [^`]+)`", TEXT)
    (project / "train.py").write_text(example)
    assert run(*command.split()).status == 0
    before = "persistent_workers=True)"
    assert (project / "train.py").read_text() == example.replace(before, "persistent_workers=True, pin_memory=True)")
