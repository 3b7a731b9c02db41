"""What is advised where a script failed by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.tune.remedies import remedy_of

HERE = Path("/project")
USAGE = "usage: train.py [-h] --epochs EPOCHS\ntrain.py: error: the following arguments are required: --epochs\n"
CLICK = "Usage: train.py [OPTIONS]\nTry 'train.py --help' for help.\n\nError: Missing option '--epochs'.\n"
RELATIVE = "Traceback (most recent call last):\nImportError: attempted relative import with no known parent package\n"
MAGIC = "Traceback (most recent call last):\nNameError: name 'get_ipython' is not defined. Did you mean: 'x'?\n"


@pytest.mark.parametrize(
    ("failure", "script"),
    [
        ("", "train.py"),
        ("Traceback (most recent call last):\nusage: none\nValueError: error\n", "train.py"),
        ("usage: 3 GiB of memory\n", "train.py"),
        (RELATIVE, "train.py"),
        (RELATIVE, "my-folder/train.py"),
        (RELATIVE, "../elsewhere/train.py"),
    ],
)
def test_where_the_words_do_not_tell_there_is_none(failure: str, script: str) -> None:
    assert remedy_of(failure, [script], Path("/elsewhere/train.py") if ".." in script else HERE / script, HERE) == ""


@pytest.mark.parametrize("failure", [USAGE, CLICK])
@pytest.mark.parametrize("args", [[], ["--", "--lr", "3"]])
def test_arguments_of_the_script_stand_behind_dashes(failure: str, args: list[str]) -> None:
    said = remedy_of(failure, ["train.py", *args], HERE / "train.py", HERE)
    assert said == "its own arguments stand behind `--`: `accel-advisor tune train.py -- ARGS`"


def test_a_part_of_a_package_is_run_as_a_module() -> None:
    said = remedy_of(RELATIVE, ["pack/sub/train.py", "--", "--lr", "3"], HERE / "pack" / "sub" / "train.py", HERE)
    assert said.endswith("run it as a module: `accel-advisor tune -m pack.sub.train -- --lr 3`")


def test_magics_of_a_notebook() -> None:
    assert "get_ipython" in remedy_of(MAGIC, ["train.py"], HERE / "train.py", HERE)
