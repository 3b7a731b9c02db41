"""Which script is meant, and one sentence where none is."""

from pathlib import Path

import pytest

from accel_advisor.tuning.target.user_command import TargetError, checked_module, checked_script, only_script

TRAINING = "from torch.utils.data import DataLoader\nfor batch in DataLoader([]):\n    batch.backward()\n"


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


def test_a_folder_without_a_training_script_names_the_remedy(tmp_path: Path) -> None:
    write(tmp_path, model="import torch\n", test_train=TRAINING, setup=TRAINING)
    with pytest.raises(TargetError, match=r"name one, as in `accel-advisor tune train\.py`"):
        only_script(tmp_path)


def test_several_scripts_are_listed(tmp_path: Path) -> None:
    write(tmp_path, train=TRAINING, finetune=TRAINING, model="import torch\n")
    with pytest.raises(TargetError, match=r"finetune\.py, train\.py"):
        only_script(tmp_path)


def test_the_one_training_script_is_found(tmp_path: Path) -> None:
    write(tmp_path, train=TRAINING, data="from torch.utils.data import DataLoader\n")
    (tmp_path / "broken.py").write_bytes(b"\xff\xfe DataLoader .backward(")
    assert only_script(tmp_path) == tmp_path / "train.py"


def test_what_cannot_run_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "train.ipynb").write_text("{}")
    (tmp_path / "broken.py").write_text("x = 1\ndef broken(:\n")
    (tmp_path / "notes.txt").write_text("x = 1\n")
    (tmp_path / "null.py").write_bytes(b"x = '\0'\n")
    for name, words in (
        ("missing.py", "missing.py does not exist$"),
        ("brokn.py", "brokn.py does not exist; did you mean '.*/broken.py'"),
        ("notes.txt", r"notes\.txt is neither a script \(\.py\) nor a notebook \(\.ipynb\): .* is to be renamed$"),
        ("", "is a folder: name the training script in it$"),
        ("train.ipynb", "is no notebook: it has no list of cells"),
        ("broken.py", r"broken\.py:2: is not Python: "),
        ("null.py", "is not Python"),
    ):
        with pytest.raises(TargetError, match=words):
            checked_script(tmp_path / name)


def test_the_script_of_a_folder_is_named(tmp_path: Path) -> None:
    write(tmp_path, train=TRAINING)
    with pytest.raises(TargetError, match=r"is a folder: name the training script in it, such as .*/train\.py$"):
        checked_script(tmp_path)


def test_a_script_is_named_in_the_place_of_another_file(tmp_path: Path) -> None:
    write(tmp_path, train=TRAINING)
    (tmp_path / "config.yaml").write_text("epochs: 3\n")
    with pytest.raises(TargetError, match=r": name the training script, such as .*/train\.py$"):
        checked_script(tmp_path / "config.yaml")


def test_a_script_needs_no_ending(tmp_path: Path) -> None:
    (tmp_path / "train").write_text(f"#!/usr/bin/env python\n{TRAINING}")
    assert checked_script(tmp_path / "train") == tmp_path / "train"


def test_modules_are_dotted_names(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "train.py").write_text("def broken(:\n")
    assert checked_module("package.other", tmp_path) == "package.other"
    with pytest.raises(TargetError, match="dotted name"):
        checked_module("train-it", tmp_path)
    with pytest.raises(TargetError, match=r"train\.py:1: is not Python"):
        checked_module("package.train", tmp_path)
