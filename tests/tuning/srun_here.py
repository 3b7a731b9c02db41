"""Stands in for srun on this machine: starts a command once for each node, which has a loopback address, a name, a
folder for temporary files and SLURM's variables of its own.

https://slurm.schedmd.com/srun.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    options = dict(word.removeprefix("--").split("=") for word in sys.argv[1:] if word.startswith("--") and "=" in word)
    command = next(number for number, word in enumerate(sys.argv[1:], 1) if not word.startswith("--"))
    nodes, tasks = int(options["nodes"]), int(options["ntasks-per-node"])
    assert options["cpus-per-task"] == os.environ["SLURM_CPUS_ON_NODE"]
    running: list[subprocess.Popen[bytes]] = []
    for node in range(nodes):
        temporary = Path(tempfile.gettempdir(), f"n{node}")
        temporary.mkdir(exist_ok=True)
        environment = {
            **os.environ,
            "TMPDIR": str(temporary),
            "SLURM_STEP_ID": "0",
            "SLURM_STEP_NODELIST": f"127.0.0.[1-{nodes}]",
            "SLURM_STEP_NUM_NODES": str(nodes),
            "SLURM_STEP_NUM_TASKS": str(nodes * tasks),
            "SLURM_NODEID": str(node),
            "SLURMD_NODENAME": f"node{node}",
        }
        running += [subprocess.Popen(sys.argv[command:], env=environment) for _ in range(tasks)]
    statuses = [one.wait() for one in running]
    for node in range(nodes):
        Path(tempfile.gettempdir(), f"n{node}").rmdir()  # which fails where something is left there
    return max(statuses)


if __name__ == "__main__":
    sys.exit(main())
