"""How trainings over several devices are started, and what is said where a trial cannot follow."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from accel_advisor.commands.tune_command import tune
from accel_advisor.tuning.target.launcher import (
    LaunchError,
    check_tasks,
    missing_rank,
    one_of_several,
    parse_ranks,
    slurm_line,
)

OWN = ["--nproc-per-node", "4", "train.py"]
SLURM = {"SLURM_JOB_ID": "7"}
LINE = "`srun --nodes=1 --ntasks=1 --cpus-per-task=$SLURM_CPUS_ON_NODE accel-advisor tune --nproc-per-node 4 train.py`"
LINE_OF_TWO = (
    "`srun --nodes=2 --ntasks-per-node=1 --cpus-per-task=$SLURM_CPUS_ON_NODE accel-advisor tune --nnodes 2 "
    "--nproc-per-node 4 train.py`"
)


@pytest.mark.parametrize("text", ["0", "-1", "two", "", "2.0", "²"])
def test_what_is_no_number_of_processes(text: str) -> None:
    with pytest.raises(LaunchError, match=r"give the number of processes"):
        parse_ranks(text)


def test_a_number_of_processes() -> None:
    assert parse_ranks("4") == 4


def test_several_tasks_of_srun_are_refused_with_the_line_for_the_batch_file() -> None:
    with pytest.raises(LaunchError) as caught:
        check_tasks(OWN, {**SLURM, "SLURM_STEP_NUM_TASKS": "8"})
    assert str(caught.value) == (
        f"srun started 8 of these at once, but a trial starts its ranks itself: put {LINE} into the batch file"
    )


def test_several_tasks_of_srun_on_several_nodes_are_refused_with_the_line_for_these_too() -> None:
    with pytest.raises(LaunchError) as caught:
        check_tasks(OWN, {**SLURM, "SLURM_STEP_NUM_TASKS": "16", "SLURM_STEP_NUM_NODES": "2"})
    assert f"put {LINE_OF_TWO} for all nodes, or {LINE} for one, into the batch file" in str(caught.value)


def test_one_task_is_taken() -> None:
    check_tasks(OWN, {})
    check_tasks(OWN, {**SLURM, "SLURM_STEP_NUM_TASKS": "1"})


@pytest.mark.parametrize(
    ("script", "environment", "why"),
    [
        ("pass", {"SLURM_JOB_NUM_NODES": "2"}, "the job has 2 nodes"),
        ('os.environ["SLURM_NNODES"]', {}, "the script names several nodes (SLURM_NNODES)"),
        ("Trainer(num_nodes=4)", {}, "the script names several nodes (num_nodes=4)"),
    ],
)
def test_one_node_of_several_is_said_to_be_one(script: str, environment: dict[str, str], why: str) -> None:
    said = one_of_several(OWN, script, environment)
    assert said.startswith(f"{why}, and this trial took place on one: where files come over a network, one node's")
    assert (LINE_OF_TWO if environment else "tune --nnodes N --nproc-per-node 4 train.py") in said


def test_the_guide_has_the_line_that_is_printed() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "many-gpus.md").read_text()
    line = slurm_line(["--nnodes", "2", "--nproc-per-node", "8", "train.py"], 2)
    assert f"\n{line}\n" in guide


@pytest.mark.parametrize("environment", [{}, {"SLURM_JOB_NUM_NODES": "1"}])
def test_a_training_on_one_node_is_not_said_to_be_of_several(environment: dict[str, str]) -> None:
    assert one_of_several(OWN, 'os.environ["SLURM_PROCID"]; Trainer(num_nodes=1)', environment) == ""


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
        (["--nnodes", "2"], "--nnodes 2: say where the nodes meet with --rdzv-endpoint HOST:PORT"),
        (["--nnodes", "two"], "--nnodes two: give a number of nodes"),
        (["--rdzv-endpoint", "a:1"], "nodes that meet are counted with --nnodes N"),
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
