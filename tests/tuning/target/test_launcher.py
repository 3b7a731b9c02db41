"""How trainings over several devices are started, and what is said where a trial cannot follow."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from accel_advisor.commands.tune_command import tune
from accel_advisor.tuning.target.launcher import LaunchError, check_nodes, missing_rank, parse_ranks

OWN = ["--nproc-per-node", "4", "train.py"]
SLURM = {"SLURM_JOB_ID": "7"}
LINE = "`srun --nodes=1 --ntasks=1 --cpus-per-task=$SLURM_CPUS_ON_NODE accel-advisor tune --nproc-per-node 4 train.py`"


@pytest.mark.parametrize("text", ["0", "-1", "two", "", "2.0", "²"])
def test_what_is_no_number_of_processes(text: str) -> None:
    with pytest.raises(LaunchError, match=r"give the number of processes"):
        parse_ranks(text)


def test_a_number_of_processes() -> None:
    assert parse_ranks("4") == 4


@pytest.mark.parametrize("text", ["0", "two", "1:", ":2", "-1"])
def test_what_is_no_number_of_nodes(text: str) -> None:
    with pytest.raises(LaunchError, match=r"give a number of nodes"):
        check_nodes(text, OWN, {})


@pytest.mark.parametrize("text", ["2", "1:2"])
def test_several_nodes_are_refused_with_the_line_for_one(text: str) -> None:
    with pytest.raises(LaunchError, match=r"run `accel-advisor tune --nproc-per-node 4 train.py` on one of them"):
        check_nodes(text, OWN, {})
    with pytest.raises(LaunchError) as caught:
        check_nodes(text, OWN, SLURM)
    assert LINE in str(caught.value)


def test_several_tasks_of_srun_are_refused_with_the_line_for_the_batch_file() -> None:
    with pytest.raises(LaunchError) as caught:
        check_nodes("1", OWN, {**SLURM, "SLURM_STEP_NUM_TASKS": "8"})
    assert str(caught.value) == (
        f"srun started 8 of these at once, but a trial starts its ranks itself: put {LINE} into the batch file"
    )


def test_one_node_and_one_task_are_taken() -> None:
    check_nodes("1", OWN, {})
    check_nodes("1:1", OWN, {**SLURM, "SLURM_STEP_NUM_TASKS": "1"})


def test_a_failure_that_has_nothing_to_do_with_ranks() -> None:
    assert missing_rank("KeyError: 'rank'", OWN, {}) == ""
    assert missing_rank("ValueError: RANK", OWN, SLURM) == ""


@pytest.mark.parametrize(
    ("failure", "name"),
    [
        ("KeyError: 'LOCAL_RANK'", "LOCAL_RANK"),
        ("env:// rendezvous: environment variable RANK expected, but not set", "RANK"),
    ],
)
def test_a_script_that_asks_for_what_torchrun_sets(failure: str, name: str) -> None:
    said = missing_rank(failure, OWN, {})
    assert said.startswith(f"the script asks for {name}, which torchrun sets: run again with --nproc-per-node N")


def test_a_script_that_asks_for_what_slurm_sets() -> None:
    said = missing_rank("KeyError: 'SLURM_PROCID'", OWN, SLURM)
    assert said == f"the script asks for SLURM_PROCID, which SLURM sets: run {LINE}"
    assert "submit a batch file with" in missing_rank("KeyError: 'SLURM_PROCID'", OWN, {})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--nproc-per-node", "many"], "--nproc-per-node many: give the number"),
        (["--nproc-per-node", "2", "--nnodes", "2"], "run `accel-advisor tune --nproc-per-node 2 train.py -- --lr 1`"),
    ],
)
def test_wrong_use_ends_in_a_sentence(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text("pass\n")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(tune, [*options, "train.py", "--", "--lr", "1"])
    assert result.exit_code == 2
    assert said in result.stderr
