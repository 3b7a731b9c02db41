"""What `accel-advisor` alone says."""

from __future__ import annotations

from pathlib import Path

from ...conftest import Run
from ..scripts import NOT_TORCH, SLOW


def test_a_folder_with_a_training(run: Run, project: Path) -> None:
    (project / "train.py").write_text(SLOW)
    (project / "plain.py").write_text(NOT_TORCH)
    (project / "requirements.txt").write_text("torch>=2.4\n")
    done = run()
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "Files       2 files, 1 of them with torch, with 1 call of a DataLoader"
    assert lines[1] == "Training    train.py"
    assert lines[2].startswith("torch       2.")
    assert lines[2].endswith(" is installed beside accel-advisor; the project declares >=2.4")
    assert lines[3].startswith("Device      ")
    assert "Next:       accel-advisor lint      (then `accel-advisor tune train.py` measures)" in lines
    assert run("lint").status == 1, "what it names is a command"


def test_what_was_given_up_is_not_counted(run: Run, project: Path) -> None:
    for folder in (project, project / "old"):
        folder.mkdir(exist_ok=True)
        (folder / "train.py").write_text(SLOW)
    assert run().out.splitlines()[:2] == [
        "Files       1 file, 1 of them with torch, with 1 call of a DataLoader",
        "Training    train.py",
    ]


def test_a_folder_without_one(run: Run, project: Path) -> None:
    done = run()
    assert done.status == 0
    assert "no Python file and no notebook" in done.out
    assert "Next:       accel-advisor lint FOLDER      (nothing here mentions torch: " in done.out
    (project / "plain.py").write_text(NOT_TORCH)
    assert "1 file, 0 of them with torch\n" in run().out


def test_a_wrong_configuration_is_named(run: Run, project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.accel-advisor]\nselct = []\n")
    done = run()
    assert done.status == 2
    assert "there is no key 'selct'; did you mean 'select'?" in done.err
