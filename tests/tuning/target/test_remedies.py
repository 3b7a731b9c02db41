"""What is advised where a script failed by itself."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from accel_advisor.tuning.target.remedies import remedy_for_memory, remedy_of

HERE = Path("/project")
USAGE = "usage: train.py [-h] --epochs EPOCHS\ntrain.py: error: the following arguments are required: --epochs\n"
CLICK = "Usage: train.py [OPTIONS]\nTry 'train.py --help' for help.\n\nError: Missing option '--epochs'.\n"
OWN = "Usage: python train.py DATA\n"
RELATIVE = "Traceback (most recent call last):\nImportError: attempted relative import with no known parent package\n"
MAGIC = "Traceback (most recent call last):\nNameError: name 'get_ipython' is not defined. Did you mean: 'x'?\n"


@pytest.mark.parametrize(
    ("failure", "script"),
    [
        ("", "train.py"),
        ("Traceback (most recent call last):\nusage: none\nValueError: error\n", "train.py"),
        ("usage: 3 GiB of memory\n", "train.py"),
        ("usage: pretrain.py DATA\n", "train.py"),
        (RELATIVE, "train.py"),
        (RELATIVE, "my-folder/train.py"),
        (RELATIVE, "../elsewhere/train.py"),
    ],
)
def test_where_the_words_do_not_tell_there_is_none(failure: str, script: str) -> None:
    assert remedy_of(failure, [script], Path("/elsewhere/train.py") if ".." in script else HERE / script, HERE) == ""


@pytest.mark.parametrize("failure", [USAGE, CLICK, OWN])
@pytest.mark.parametrize(
    ("args", "where"),
    [
        ([], "its own arguments stand behind `--`"),
        (["--", "--lr", "3"], "what stands behind `--` is for the script, and options of tune stand before it"),
    ],
)
def test_arguments_of_the_script_stand_behind_dashes(failure: str, args: list[str], where: str) -> None:
    said = remedy_of(failure, ["train.py", *args], HERE / "train.py", HERE)
    assert said == f"{where}: `accel-advisor tune train.py -- ARGS`"


def test_a_part_of_a_package_is_run_as_a_module() -> None:
    said = remedy_of(RELATIVE, ["pack/sub/train.py", "--", "--lr", "3"], HERE / "pack" / "sub" / "train.py", HERE)
    assert said.endswith("run it as a module: `accel-advisor tune -m pack.sub.train -- --lr 3`")


def test_magics_of_a_notebook() -> None:
    assert "get_ipython" in remedy_of(MAGIC, ["train.py"], HERE / "train.py", HERE)


CUDA = "Traceback (most recent call last):\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.\n"
CPU = "RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.\n"
NUMPY = "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8.00 GiB for an array with shape (1,)\n"


@pytest.mark.parametrize(("failure", "status"), [("", 1), (RELATIVE, 1), ("Killed the memory\n", 1), ("", -11)])
def test_what_is_not_for_want_of_memory_gets_no_remedy_for_it(failure: str, status: int) -> None:
    assert remedy_for_memory(failure, status, ["train.py"]) == ""


@pytest.mark.parametrize("failure", [CUDA, CPU, NUMPY])
def test_a_script_without_memory_gets_smaller_batches_before_knobs(failure: str) -> None:
    said = remedy_for_memory(failure, 1, ["train.py", "--", "--lr", "3"])
    command = "accel-advisor tune train.py --knobs batch_size,activation_checkpointing -- --lr 3"
    smaller = "make its batches smaller until it runs, since a knob is compared with the script as it is"
    assert said == f"{smaller}; then `{command}` finds how large they may be"
    assert "--knobs" not in remedy_for_memory(failure, 1, ["--nproc-per-node", "2", "train.py"])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_script_that_was_killed_is_not_known_to_lack_memory() -> None:
    said = remedy_for_memory("", -signal.SIGKILL, ["train.py"])
    assert said.startswith("most likely it ran out of memory; make its batches smaller")
