"""How a training over several devices is started: torchrun on one machine, and what a SLURM batch file must say.

Environment variables: those that torchrun sets for a rank (https://pytorch.org/docs/stable/elastic/run.html), and those
that srun sets for a task (https://slurm.schedmd.com/srun.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from accel_advisor.tuning.target.remedies import tune_line

_RANKED = r"RANK|LOCAL_RANK|GROUP_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|MASTER_ADDR|MASTER_PORT"
_ASKS = re.compile(rf"KeyError: '({_RANKED})'|environment variable ({_RANKED}) expected, but not set")
_ASKS_SLURM = re.compile(r"KeyError: '(SLURM_\w+)'")


class LaunchError(ValueError):
    """A way to start the training that a trial cannot follow; the message is one sentence with the remedy."""


def parse_ranks(text: str) -> int:
    """How many processes ``--nproc-per-node`` asks for: a number, or ``gpu`` for one for each accelerator.

    Raises:
        LaunchError: it is neither, or there is no accelerator.
    """
    if text == "gpu":
        from accel_advisor.machine.machine import accelerators

        found = len(accelerators())
        if not found:
            raise LaunchError("--nproc-per-node gpu: there is no accelerator here; give a number")
        return found
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise LaunchError(f"--nproc-per-node {text}: give the number of processes of the training, or gpu")
    return int(text)


def check_nodes(text: str, own: list[str], environment: Mapping[str, str]) -> None:
    """Refuses what a trial on one node cannot measure.

    Args:
        text: what ``--nnodes`` asks for, as torchrun takes it: a number, or the least and the most with a colon.
        own: the words of the command that tunes on one node, without its name.
        environment: of this process.

    Raises:
        LaunchError: several nodes are asked for, or srun started this command more than once.
    """
    if re.fullmatch(r"[1-9]\d*(:[1-9]\d*)?", text) is None:
        raise LaunchError(f"--nnodes {text}: give a number of nodes, as torchrun takes it")
    line = f"`{slurm_line(own)}`" if "SLURM_JOB_ID" in environment else f"`{tune_line(own)}`"
    if int(text.rpartition(":")[2]) > 1:
        raise LaunchError(
            f"--nnodes {text}: a trial takes place on one node, whose cores and storage decide what its loaders need: "
            f"run {line} on one of them, and use what it finds on all"
        )
    tasks = environment.get("SLURM_STEP_NUM_TASKS", "1")
    if tasks.isdigit() and int(tasks) > 1:
        raise LaunchError(
            f"srun started {tasks} of these at once, but a trial starts its ranks itself: put {line} into the batch "
            "file"
        )


def slurm_line(own: list[str]) -> str:
    """The line of a SLURM batch file that tunes on one node, with all cores of the job there."""
    return f"srun --nodes=1 --ntasks=1 --cpus-per-task=$SLURM_CPUS_ON_NODE {tune_line(own)}"


def missing_rank(failure: str, own: list[str], environment: Mapping[str, str]) -> str:
    """What to do about a script that failed for want of a launcher, in a sentence; empty where that was not why.

    Args:
        failure: its traceback.
        own: the words of the command that tuned it, without its name.
        environment: of this process.
    """
    asks = _ASKS.search(failure)
    if asks is not None:
        return (
            f"the script asks for {asks[1] or asks[2]}, which torchrun sets: run again with --nproc-per-node N, as "
            "many processes as train on one machine"
        )
    slurm = _ASKS_SLURM.search(failure)
    if slurm is None:
        return ""
    where = "run" if "SLURM_JOB_ID" in environment else "submit a batch file with"
    return f"the script asks for {slurm[1]}, which SLURM sets: {where} `{slurm_line(own)}`"
