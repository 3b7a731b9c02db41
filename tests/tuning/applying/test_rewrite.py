"""From settings to files: what is planned, what is written, and what comes back whatever happens in between."""

import os
from pathlib import Path

import pytest

from accel_advisor.finding import Edit
from accel_advisor.source.document import Document
from accel_advisor.tuning.applying import rewrite_on_disk
from accel_advisor.tuning.applying.rewrite import Rewrite, RewriteError, recommend, rewritten
from accel_advisor.tuning.probe.channel.wire import Frame, Settings
from accel_advisor.tuning.search.statistics import Interval

GAIN = Interval(2.0, 1.9, 2.1, 4)
SCRIPT = """\
from torch.utils.data import DataLoader

WORKERS = 0  # keep small

def build(data):
    return DataLoader(data, batch_size=8, num_workers=WORKERS)

loader = build([1, 2, 3])
"""


def replace(path: Path, old: str, new: str) -> Edit:
    document = Document.read(path)
    start = document.text.index(old)
    return document.edit(start, start + len(old), new)


def frames(path: Path) -> tuple[Frame, ...]:
    return (
        Frame(str(path), "<module>", 8, 10, 8, 26),
        Frame(str(path), "build", 6, 12, 6, 63),
    )


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


# Names


# Planning


def test_the_edit_lands_where_the_value_is_decided(script: Path) -> None:
    found = recommend(Settings(), Settings(4), GAIN, frames(script), root=script.parent, argv=())
    (after,) = found.rewrite.after.values()
    assert after.decode() == SCRIPT.replace("WORKERS = 0", "WORKERS = 4")
    assert script.read_text() == SCRIPT
    assert "train.py:3" in found.origin
    assert "-WORKERS = 0  # keep small" in found.rewrite.diff
    assert "--- a/train.py" in found.rewrite.diff


def test_only_what_differs_is_written(script: Path) -> None:
    found = recommend(Settings(4), Settings(4, None, True), GAIN, frames(script), root=script.parent, argv=())
    (after,) = found.rewrite.after.values()
    assert "persistent_workers=True" in after.decode()
    assert "prefetch_factor" not in after.decode()


def test_a_source_that_cannot_be_read_is_refused_in_words(script: Path) -> None:
    script.write_text("def broken(:\n")
    found = recommend(Settings(), Settings(4), GAIN, frames(script), root=script.parent, argv=())
    assert not found.editable
    assert "syntax error" in found.refusals[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("WORKERS = 0", "WORKERS = ("),
        ("batch_size=8", "num_workers=8"),  # parses, and only the compiler sees that it is given twice
    ],
)
def test_a_result_that_is_not_python_is_refused(script: Path, old: str, new: str) -> None:
    with pytest.raises(RewriteError, match=r"train\.py cannot be edited"):
        rewritten([replace(script, old, new)], script.parent)


def test_edits_that_collide_are_refused(script: Path) -> None:
    edits = [replace(script, "WORKERS = 0", "WORKERS = 1"), replace(script, "WORKERS = 0", "WORKERS = 2")]
    with pytest.raises(RewriteError, match=r"train\.py"):
        rewritten(edits, script.parent)


def test_encoding_and_newlines_survive(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_bytes("# coding: latin-1\r\nname = 'caf\xe9'\r\nWORKERS = 0\r\n".encode("latin-1"))
    found = rewritten([replace(path, "WORKERS = 0", "WORKERS = 2")], tmp_path)
    (after,) = found.after.values()
    assert after == path.read_bytes().replace(b"WORKERS = 0", b"WORKERS = 2")


# Writing


def change(script: Path) -> Rewrite:
    return rewritten([replace(script, "WORKERS = 0", "WORKERS = 4")], script.parent)


def test_a_rewrite_is_written_with_its_permissions(script: Path) -> None:
    script.chmod(0o755)
    rewrite_on_disk.write(change(script))
    assert "WORKERS = 4" in script.read_text()
    assert script.stat().st_mode & 0o777 == 0o755
    assert os.listdir(script.parent) == ["train.py"]


def test_a_file_that_changed_meanwhile_is_not_touched(script: Path) -> None:
    planned = change(script)
    script.write_text(SCRIPT + "# edited by hand\n")
    with pytest.raises(RewriteError, match=r"train\.py changed"):
        rewrite_on_disk.write(planned)
    assert script.read_text().endswith("# edited by hand\n")


def test_several_files_change_together_or_not_at_all(tmp_path: Path, script: Path) -> None:
    gone = tmp_path / "gone.py"
    rewrite = change(script)
    both = Rewrite({**rewrite.before, gone: b"x = 1\n"}, {**rewrite.after, gone: b"x = 2\n"})
    with pytest.raises(RewriteError, match=r"gone\.py cannot be read any more"):
        rewrite_on_disk.write(both)
    assert script.read_text() == SCRIPT
