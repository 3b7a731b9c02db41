"""An edit of a script that calls a library: what the library is given decides whether that is looked at again."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accel_advisor.linting.checker import Checker
from accel_advisor.linting.report import Program

from .test_one_answer import DATA, ENGINE, EVALUATE, LOADERS, TRAIN, TUNED, Answer, ask, count_as_large, make

SCORE = TUNED + "LIMIT = 3\nfor x in build(['d.jpg']):\n    print('a batch')\n"
FILES = {
    "pkg/__init__.py": "",
    "pkg/data.py": DATA,
    "pkg/engine.py": ENGINE,
    "pkg/loaders.py": LOADERS,
    "score.py": SCORE,
    "train.py": TRAIN + "from pkg.data import Photos\nprint(Photos)\n",
}
LINES = (
    "",
    "# a remark",
    "print('one', 1)",
    "limit = 4",
    "print(limit)",
    "build(['a.jpg'], limit)",
    "build(['a.jpg'], workers=2)",
    "for x in build(['f.jpg'], 3):",
    "    pass",
    "    model(x.cuda())",
    "    engine.step(model, x)",
    "from pkg import engine",
    "from train import model",
    "torch.set_grad_enabled(False)",
    "build = print",
    "if limit:",
    "x = 'text",
    "vars()",
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    count_as_large(monkeypatch)
    make(tmp_path / "project", FILES)
    return tmp_path / "project"


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that programs of their own were checked for, as they are."""
    names: list[str] = []
    check = Checker.check

    def noted(self: Checker, program: Program, *args: dict[str, bytes]) -> object:
        names.extend(name for name in program.filenames if name not in program.callers)
        return check(self, program, *args)

    monkeypatch.setattr(Checker, "check", noted)
    return names


def whole(root: Path) -> Answer:
    return ask(root, ".", ["."], caching=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [("LIMIT = 3", "LIMIT = 4"), ("LIMIT = 3", "LIMIT = 3  # why"), ("print('a batch')", "print('one', 'more')")],
)
def test_what_a_script_says_to_itself_concerns_nobody_else(root: Path, checked: list[str], old: str, new: str) -> None:
    whole(root)
    assert {"pkg/loaders.py", "score.py"} <= set(checked)
    checked.clear()
    assert old in SCORE
    (root / "score.py").write_text(SCORE.replace(old, new))
    again = whole(root)
    assert checked == ["score.py"]
    assert again == ask(root, ".", ["."])


def test_what_names_a_line_of_a_script_is_said_again_where_that_moves(root: Path, checked: list[str]) -> None:
    whole(root)
    checked.clear()
    (root / "score.py").write_text("# why\n" + SCORE)
    again = whole(root)
    assert "pkg/loaders.py" in checked
    assert again == ask(root, ".", ["."])


@pytest.mark.parametrize(("old", "new"), [("build(['d.jpg'])", "build(['d.jpg'], 2)"), ("LIMIT = 3", "build([], 2)")])
def test_another_argument_concerns_what_is_called(root: Path, checked: list[str], old: str, new: str) -> None:
    whole(root)
    checked.clear()
    assert old in SCORE
    (root / "score.py").write_text(SCORE.replace(old, new))
    again = whole(root)
    assert {"pkg/loaders.py", "score.py"} <= set(checked)
    assert again == ask(root, ".", ["."])


@pytest.mark.parametrize("broken", ["for x in build(['f.jpg'], 3):\n", "x = 'text\n"])
def test_who_imports_a_broken_file_is_looked_at_again_once_that_is_mended(
    root: Path, checked: list[str], broken: str
) -> None:
    (root / "alone.py").write_text(EVALUATE.replace("from pkg.loaders", "from loaders"))
    loaders = root / "pkg/loaders.py"
    text = loaders.read_text()
    loaders.write_text(broken + text)
    assert whole(root) == ask(root, ".", ["."])
    checked.clear()
    loaders.write_text("\n" + text)
    mended = whole(root)
    assert {"pkg/loaders.py", "score.py", "train.py"} <= set(checked)
    assert "alone.py" not in checked
    assert mended["pkg/loaders.py"]
    assert mended == ask(root, ".", ["."])


edits = st.lists(
    st.tuples(
        st.sampled_from(["score.py", "train.py", "train.py", "pkg/loaders.py"]),
        st.sampled_from(["insert", "insert", "replace", "delete"]),
        st.integers(0, 20),
        st.sampled_from(LINES),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(edits)
def test_random_edits_of_callers_give_what_a_fresh_lint_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: list[tuple[str, str, int, str]]
) -> None:
    count_as_large(monkeypatch)
    root = Path(tempfile.mkdtemp(dir=tmp_path), "project")
    make(root, FILES)
    whole(root)
    for name, action, at, line in done:
        lines = (root / name).read_text().splitlines(keepends=True)
        at = min(at, len(lines))
        new = [] if action == "delete" else [line + "\n"]
        (root / name).write_text("".join([*lines[:at], *new, *lines[at + (action != "insert") :]]))
        os.utime(root / name)
        assert whole(root) == ask(root, ".", ["."])
