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
_SEVERAL = re.compile(r"SLURM_(?:JOB_NUM_NODES|NNODES|NODEID|JOB_NODELIST)|GROUP_RANK|\bnum_nodes\s*=\s*[2-9]\d*")
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


def check_tasks(own: list[str], environment: Mapping[str, str]) -> None:
    """Refuses a trial on one node that srun started more than once.

    Args:
        own: the words of the command that tunes on one node, without its name.
        environment: of this process.

    Raises:
        LaunchError: it did.
    """
    tasks = environment.get("SLURM_STEP_NUM_TASKS", "1")
    if not tasks.isdigit() or int(tasks) < 2:
        return
    nodes = environment.get("SLURM_STEP_NUM_NODES", "1")
    line = f"`{slurm_line(own)}`"
    if nodes.isdigit() and int(nodes) > 1:
        line = f"`{slurm_line(['--nnodes', nodes, *own], int(nodes))}` for all nodes, or {line} for one,"
    raise LaunchError(
        f"srun started {tasks} of these at once, but a trial starts its ranks itself: put {line} into the batch file"
    )


def slurm_line(own: list[str], nodes: int = 1) -> str:
    """The line of a SLURM batch file that tunes on so many nodes, with all cores of the job there.

    Args:
        own: the words of the command, without its name.
        nodes: how many.
    """
    start = f"srun --nodes={nodes} --ntasks-per-node=1 --cpus-per-task=$SLURM_CPUS_ON_NODE"
    if nodes == 1:
        return f"srun --nodes=1 --ntasks=1 --cpus-per-task=$SLURM_CPUS_ON_NODE {tune_line(own)}"
    return f"{start} {tune_line(own)}"


def one_of_several(own: list[str], script: str, environment: Mapping[str, str]) -> str:
    """What is to be said of a trial on one node where the training evidently takes place on several; else empty.

    Args:
        own: the words of the command that tunes on one node, without its name.
        script: its text.
        environment: of this process.
    """
    nodes = environment.get("SLURM_JOB_NUM_NODES", "1")
    several = int(nodes) if nodes.isdigit() else 1
    asks = _SEVERAL.search(script)
    if several < 2 and asks is None:
        return ""
    why = f"the script names several nodes ({asks[0]})" if asks is not None else ""
    if several > 1:
        why = f"the job has {several} nodes"
    on_all = ["--nnodes", str(several) if several > 1 else "N", *own]
    line = slurm_line(on_all, several) if several > 1 else tune_line(on_all)
    return (
        f"{why}, and this trial took place on one: where files come over a network, one node's answer is not that of "
        f"all, which share what the storage gives; `{line}` measures on all of them"
    )


def missing_rank(failure: str, own: list[str], environment: Mapping[str, str]) -> str:
    """What to do about a script that failed because it needs a launcher, in a sentence; empty where that was not why.

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
