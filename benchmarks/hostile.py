"""What ``accel-advisor tune`` leaves behind on scripts that resist, and when it is killed.

Every script of ``tests/tuning/hostile`` runs through the real command with a small budget, in a copy of their folder:
recorded are the exit status, the last words, the seconds beyond the budget and the script's startups, and whatever
stayed: changed files, processes, shared memory, temporary files. Some of them run once more as notebooks, as loops
without a DataLoader, as loops whose DataLoader comes late, with ``--explain``, and with a fix to race. A second trial
is begun beside a first one: it must be refused, or wait until it is killed. Then, ``--kills`` times, the command is
killed at a random moment by SIGKILL, SIGTERM or SIGINT, in the search or in the verification that ``--apply`` brings;
after SIGINT it must say what is in the file.

    python benchmarks/hostile.py --kills 30 --json benchmarks/results/hostile.json

Exits with 1 where anything stayed or was reported wrongly, or a run ended too late. On a machine that others use,
give it a shared memory: ``unshare -m sh -c 'mount -t tmpfs shm /dev/shm && exec python benchmarks/hostile.py'``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from accel_advisor.machine.machine import inspect_machine
from benchmarks.recording import commit, keep, today

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "tests" / "tuning" / "hostile"
BEYOND = 10.0
"""Seconds that a run may take beyond its budget and startups, the command's own among them."""
PATIENCE = 15.0
"""Seconds after a kill within which everything is to be gone."""
GIVEN = {"touched.txt"}
"""What a script of these touches through another program: nobody can undo that, and the tool names it."""
ORDINARY = "plain_loop"
"""Not hostile at all, and run first."""
KILLED = (
    "leaves_processes.py",
    "spawned.py",
    "saves_everywhere.py",
    "apply.py",
    "apply.py",
    "notebook_leaves_processes.ipynb",
    "plain_leaves_processes.py",
    "fixes_leaves_processes.py",
    "explain_leaves_processes.py",
    "late_leaves_processes.py",
)
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
APPLIED = """\
import time

from plain import Samples, step
from torch.utils.data import DataLoader

WORKERS = 0

if __name__ == "__main__":
    loader = DataLoader(Samples(400, 0.004), 8, num_workers=WORKERS)
    while True:
        for x, y in loader:
            step(x, y)
            time.sleep(0.005)
"""


FETCH = """\
def get_batch():
    time.sleep(0.002)
    return torch.ones(8, 8), torch.zeros(8, dtype=torch.long)


"""
OPTIMIZED = """\
optimizer = torch.optim.SGD(model.parameters(), 0.01)
while True:
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
"""
LATE = """\
import time

from torch import nn, optim

before = nn.Linear(8, 1)
optimizer = optim.SGD(before.parameters(), 0.01)
until = time.monotonic() + 3
while time.monotonic() < until:
    before(torch.ones(8, 8)).mean().backward()
    optimizer.step()
    time.sleep(0.002)
"""
SECOND = "second_trial"
WATCHED = {"plain": ("--explain",), "explain": ("--explain",), "fixes": ("--knobs", "fixes:ACC412")}
"""Options of the modes that are not the plain search."""


def modes() -> dict[str, str]:
    """Scripts of these in other modes, by name: as notebooks, explained, without a DataLoader or with one that comes
    late, and with a fix that pays."""
    found = {}
    for name in ("leaves_processes", "saves_everywhere"):
        source = (SCRIPTS / f"{name}.py").read_text()
        cell = {"cell_type": "code", "execution_count": None, "id": "one", "metadata": {}, "outputs": []}
        cells = [{**cell, "source": source.splitlines(keepends=True)}]
        found[f"notebook_{name}.ipynb"] = json.dumps(
            {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        )
        head, _, tail = source.partition("loader = DataLoader(")
        assert tail, f"{name} has no loader of that name"
        call, _, tail = tail.partition("\n")
        found[f"explain_{name}.py"] = source
        found[f"late_{name}.py"] = f"{head}{LATE}loader = DataLoader({call}\n{tail}"
        found[f"fixes_{name}.py"] = f"{head}torch.autograd.set_detect_anomaly(True)\nloader = DataLoader({call}\n{tail}"
        if "optimizer" not in source:
            head, tail = head.replace("import Samples, step", "import model"), f"from torch import nn\n{OPTIMIZED}"
        batches = tail.replace(" in loader:", " in (get_batch() for _ in range(20)):")
        assert batches != tail, f"{name} has no loop over its loader"
        found[f"plain_{name}.py"] = f"{head}import time\n\n\n{FETCH}{batches}"
    return found


class Place:
    """A folder with the scripts, and one for temporary files, by which everything that was started is known."""

    def __init__(self, apply: bool = False) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="hostile-"))
        self.project, self.temporary = self.folder / "project", self.folder / "t"
        shutil.copytree(SCRIPTS, self.project, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("notes/keep.txt", "cache/c", "old.ckpt", "results.json"):
            (self.project / name).parent.mkdir(exist_ok=True)
            (self.project / name).write_text(name)
        (self.project / "config.json").write_text('{"lr": 0.1}')
        (self.project / "log.jsonl").write_text("{}\n")
        (self.project / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
        for name, source in {**modes(), **({"apply.py": APPLIED} if apply else {})}.items():
            (self.project / name).write_text(source)
        self.temporary.mkdir()
        self.before = self.tree()
        self._segments = segments()

    def tree(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.project)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            for path in sorted(self.project.rglob("*"))
        }

    def start(self, script: str, budget: float, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "accel_advisor", "tune", script, "--budget", f"{budget:g}", *options],
            cwd=self.project,
            env={**os.environ, "TMPDIR": str(self.temporary), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Shells have what they start in the background ignore this one.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def applied(self) -> bool:
        """Whether the whole change, and nothing else, stands in the script that is changed where a gain was seen."""
        pattern = re.escape(APPLIED).replace(r"WORKERS\ =\ 0", r"WORKERS = [1-9]\d*")
        return re.fullmatch(pattern, (self.project / "apply.py").read_text()) is not None

    def left(self, patience: float) -> dict[str, list[str]]:
        """What stayed, after as much patience; empty lists where nothing did."""
        limit = time.monotonic() + patience
        while True:
            after = self.tree()
            names = {name for name in {*self.before, *after} if self.before.get(name) != after.get(name)} - GIVEN
            found = {
                "files": sorted(names),
                "processes": self._processes(),
                "segments": sorted(segments() - self._segments),
                "temporary": sorted(os.listdir(self.temporary)),
            }
            if not any(found.values()) or time.monotonic() > limit:
                return found
            time.sleep(0.1)

    def _processes(self) -> list[str]:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if os.fsencode(self.temporary) in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue
        return found

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def segments() -> set[str]:
    return set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()


def options_of(script: str) -> tuple[str, ...]:
    return WATCHED.get(script.partition("_")[0], ())


def hostile(script: str, budget: float) -> dict[str, Any]:
    """One script to its end. All the time of one that is refused is startup: its search never began."""
    place = Place()
    out = place.folder / "out.json"
    began = time.monotonic()
    process = place.start(script, budget, "--json", str(out), *options_of(script))
    try:
        output = process.communicate(timeout=300)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        output = "did not end\n" + process.communicate()[0]
    seconds = time.monotonic() - began
    starts = None
    if out.exists() and "--knobs" not in options_of(script):  # a race takes its own time
        record = json.loads(out.read_text())
        own = seconds - record["seconds"]  # what the command itself takes to begin and to end
        starts = own + sum(each["seconds"] for each in record["blocks"] if each["what"] == "start")
    lines = [line for line in output.splitlines() if line.strip()]
    answers = ("Error", "Recommended", "Nothing", "Undecided", "To be changed", "The settings stay")
    words = next((line for line in lines if line.startswith(answers)), lines[-1])
    result = {
        "script": script,
        "status": process.returncode,
        "seconds": round(seconds, 1),
        "starts": None if starts is None else round(starts, 1),
        "beyond": None if starts is None else round(seconds - starts - budget, 1),
        "load": round(os.getloadavg()[0], 1),
        "words": words.replace(str(place.project), "."),
        "left": place.left(1.0),
    }
    place.remove()
    return result


def second(budget: float) -> Iterator[dict[str, Any]]:
    """Trials beside one that is running: one that is refused, and those that wait for it and are killed meanwhile."""
    for signum in (None, *SIGNALS):
        first, other = Place(), Place()
        other.temporary.rmdir()
        other.temporary = first.temporary  # the lock lies on it
        running = first.start(f"{ORDINARY}.py", 4 * budget)
        assert running.stdout is not None
        running.stdout.readline()  # its first word comes when it has the lock
        began = time.monotonic()
        beside = other.start(f"{ORDINARY}.py", budget, *(("--wait",) if signum is not None else ()))
        if signum is not None:
            assert beside.stdout is not None
            said = beside.stdout.readline()
            beside.send_signal(signum)
            said += beside.stdout.read()
            beside.wait()
        else:
            said = beside.communicate()[0]
        seconds, status = time.monotonic() - began, beside.returncode
        running.stdout.read()
        running.wait()
        words = "another trial is running on this machine"
        left, its = first.left(1.0), other.left(1.0)
        yield {
            "script": SECOND,
            "signal": signum.name if signum is not None else "",
            "status": status,
            "seconds": round(seconds, 1),
            "beyond": None,
            "words": said.strip().splitlines()[-1] if said.strip() else "",
            "told": words in said and running.returncode == 0 and status != 0,
            "left": {name: [*left[name], *its[name]] for name in left},
        }
        first.remove()
        other.remove()


def killed(number: int, random: Random, budget: float) -> dict[str, Any]:
    """One run that is killed at a random moment."""
    script, signum = KILLED[number % len(KILLED)], SIGNALS[number % len(SIGNALS)]
    applies = script == "apply.py"
    place = Place(applies)
    own = ("--apply", "--knobs", "num_workers") if applies else options_of(script)
    process = place.start(script, budget, *own)
    delay = random.uniform(0.2, 45.0 if own else 20.0)
    try:
        said, _ = process.communicate(timeout=delay)
    except subprocess.TimeoutExpired:
        process.send_signal(signum)
        began = time.monotonic()
        said, _ = process.communicate()
        seconds = time.monotonic() - began
    else:
        seconds = 0.0
    applied = applies and place.applied()
    if applied:
        place.before["apply.py"] = place.tree()["apply.py"]
    result = {
        "script": script,
        "signal": signum.name,
        "after": round(delay, 2),
        "status": process.returncode,
        "seconds_to_end": round(seconds, 1),
        "applied": applied,
        "told": signum is not signal.SIGINT or applied == ("Applied and verified" in said),
        "left": place.left(PATIENCE),
    }
    place.remove()
    return result


def main() -> int:
    """Runs everything, prints a line each, and writes the record."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--budget", type=float, default=6.0)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="names of scripts")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    names = [path.name for path in sorted(SCRIPTS.glob("*.py")) if path.stem not in ("plain", ORDINARY)]
    names = [name for name in (*names, *modes()) if not options.only or name.partition(".")[0] in options.only]
    names = [f"{ORDINARY}.py", *names]
    twice = not options.only or SECOND in options.only
    data: dict[str, Any] = {
        "date": today(),
        "commit": commit(),
        "machine": f"{platform.system()} {platform.machine()}, {inspect_machine().cores:g} cores",
        "budget": options.budget,
        "scripts": [],
        "kills": [],
    }
    bad = 0

    def note(kind: str, result: dict[str, Any], late: bool) -> None:
        nonlocal bad
        data[kind].append(result)
        wrong = late or any(result["left"].values()) or not result.get("told", True)
        bad += wrong
        print("BAD" if wrong else "ok ", json.dumps({key: value for key, value in result.items() if value}), flush=True)
        keep(options.json, data)

    for name in names:
        result = hostile(name, options.budget)
        note("scripts", result, result["beyond"] is not None and result["beyond"] > BEYOND)
    for result in second(options.budget) if twice else ():
        note("scripts", result, False)
    random = Random(options.seed)
    for number in range(options.kills):
        note("kills", killed(number, random, options.budget), False)
    print(f"{len(data['scripts'])} scripts, {len(data['kills'])} kills, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
