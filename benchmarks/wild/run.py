"""Runs ``accel-advisor tune --apply`` on other people's training scripts, unmodified, and records what became of each.

    python benchmarks/wild/run.py --checkouts FOLDER --json benchmarks/results/wild.json

Every case works on a fresh copy of the repository, with data that its fixture makes. Checked is that the trial ends in
an answer or in a refusal of one sentence, that the copy changed as the diff says and not otherwise, that a changed
script still runs, that a script refused as failing fails without the probe too, and that no process stays. Exits with
1 where any of that does not hold.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import difflib
import hashlib
import importlib.metadata
import json
import os
import platform
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from cases import CASES, REFUSAL, Case

from accel_advisor.machine.machine import inspect_machine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ALONE_SECONDS = 20.0
"""How long a script may run without the probe: one that is at work by then is taken for one that runs."""
FAILING_SECONDS = 120.0
"""How long a script that is said to fail may take to do so."""
PATIENCE = 600.0
"""How long a trial may take beside its budget before it is ended from here."""
VERIFIED, TAKEN_BACK, SHOWN, NOTHING, REFUSED, FAILED = (
    "verified",
    "taken back",
    "shown",
    "nothing to gain",
    "refused",
    "failed",
)
MORE_TIME = "longer --budget"
"""Says that the script is one to be measured, but on a faster or quieter machine, or with more time."""
_KEPT = ("sentence", "shares", "ceilings", "epoch_start", "kept", "origin", "refusals", "notes", "verification")
_VERSIONS = ("torch", "torchvision", "numpy", "accel-advisor")


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that was run: its exit status (None where it was still at work and ended from here), its output."""

    status: int | None
    output: str
    errors: str
    seconds: float
    left: tuple[str, ...]
    """Command lines of processes that it left."""


def main() -> int:
    """Runs the cases that were asked for, one at a time."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with a checkout owner+name of each")
    parser.add_argument("--budget", type=float, default=30.0, help="seconds for each search")
    parser.add_argument("--only", default="", help="regular expression that the names of the cases must contain")
    parser.add_argument("--json", type=Path, help="file for the results")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has torch and torchvision")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started ends too
    known, results = circumstances(options), []
    for case in CASES:
        if re.search(options.only, case.name):
            with tempfile.TemporaryDirectory(prefix="wild-") as scratch:
                results.append(run_case(case, options, Path(scratch).resolve()))
            print(line(results[-1]), flush=True)
            if options.json:
                text = json.dumps({**known, "cases": results}, indent=2) + "\n"
                options.json.write_text(text, encoding="utf-8")
    print(f"{sum(not result['wrong'] for result in results)} of {len(results)} cases as they should be")
    return int(any(result["wrong"] for result in results))


def run_case(case: Case, options: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """What became of one case; ``wrong`` says in words what does not hold."""
    checkout = options.checkouts / case.repository.replace("/", "+")
    root, record_file = scratch / "copy", scratch / "record.json"
    shutil.copytree(checkout, root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    case.fixture(root)
    before, texts = digests(root), sources(root)
    words = [word.replace("{root}", str(root)) for word in case.args]
    folder = root / case.working_folder
    script = os.path.relpath(root / case.script, folder)
    budget = options.budget * case.slowness
    asked = ["--apply", "--json", str(record_file), "--budget", f"{budget:g}"]
    ran = run(
        [options.python, "-m", "accel_advisor", "tune", script, *asked, "--", *words],
        folder,
        environment_of(case, root),
        budget + PATIENCE,
        case.terminal,
    )
    record = json.loads(record_file.read_text(encoding="utf-8")) if record_file.exists() else None
    after = digests(root)
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    outcome = outcome_of(ran, record)
    wrong = []
    if outcome == FAILED:
        wrong.append(f"neither answer nor refusal: {last_line(ran.errors) or ran.status}")
    elif (outcome == REFUSED) != (case.expects == REFUSAL) and MORE_TIME not in ran.errors:
        wrong.append(f"ended as {outcome} where {case.expects} was expected")
    if ran.left:
        wrong.append(f"left processes: {', '.join(ran.left)}")
    if outcome != VERIFIED and changed:
        wrong.append(f"changed {', '.join(changed)}")
    if record is not None and outcome == VERIFIED and edited(texts, sources(root)) != lines_of(record["diff"]):
        wrong.append("the copy did not change as the diff says")
    result: dict[str, Any] = {
        "case": case.name,
        "args": " ".join(case.args),
        "outcome": outcome,
        "seconds": round(ran.seconds, 1),
        "changed": changed,
    }
    if record is not None:
        result |= kept_of(record)
    else:
        result["refusal"] = last_line(ran.errors).removeprefix("Error: ")
    if outcome == VERIFIED or "run by itself" in ran.errors:
        limit = ALONE_SECONDS if outcome == VERIFIED else FAILING_SECONDS
        alone = run([options.python, script, *words], folder, environment_of(case, root), limit, case.terminal)
        result["alone"] = {"status": alone.status, "last": last_line(alone.errors)}
        if (alone.status in (None, 0)) == (outcome == REFUSED):
            wrong.append(f"without the probe it ended with {alone.status}: {last_line(alone.errors)}")
    result["wrong"] = wrong
    return {key: scrubbed(value, root) for key, value in result.items()}


def kept_of(record: dict[str, Any]) -> dict[str, Any]:
    """What is kept of the record of a trial."""
    trained = record["loaders"][0]
    kept: dict[str, Any] = {key: record[key] for key in _KEPT}
    kept["loader"] = {key: trained[key] for key in ("site", "dataset", "batch_size", "length")}
    kept |= {key: trained[key] for key in ("baseline", "recommended", "gain")}
    kept["tried"] = len(record["tried"])
    kept["diff"] = lines_of(record["diff"])
    return kept


def outcome_of(ran: Ran, record: dict[str, Any] | None) -> str:
    """In which of the ways that a trial can end it ended."""
    if record is None:
        last = last_line(ran.errors)
        return REFUSED if ran.status == 2 and last.startswith("Error: ") else FAILED
    if ran.status != 0:
        return FAILED
    if record["verification"] is not None:
        return VERIFIED if record["verified"] else TAKEN_BACK
    return NOTHING if record["kept"] else SHOWN


@contextlib.contextmanager
def standard_input(terminal: bool) -> Iterator[int]:
    """Nothing to read: of a terminal that nobody types into, or at its end."""
    if not terminal:
        yield subprocess.DEVNULL
        return
    outer, inner = pty.openpty()
    termios.tcsetwinsize(inner, (24, 80))
    try:
        yield inner
    finally:
        os.close(inner)
        os.close(outer)


def run(command: list[str], folder: Path, environment: dict[str, str], seconds: float, terminal: bool = False) -> Ran:
    """Runs a command in a session of its own, and ends it and all that came from it after ``seconds``."""
    with (
        tempfile.TemporaryFile("w+") as output,
        tempfile.TemporaryFile("w+") as errors,
        standard_input(terminal) as nothing,
    ):
        began = time.monotonic()
        started = time.time()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=nothing,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        status: int | None = None
        left: list[psutil.Process] = []
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = process.wait(seconds)
            took = time.monotonic() - began
            if status is not None:
                left = processes_below(folder, started)
        finally:
            for each in processes_below(folder, started):
                end(each.pid)
            if process.poll() is None:
                end(process.pid)
            process.wait()
        output.seek(0)
        errors.seek(0)
        return Ran(
            status,
            output.read(),
            errors.read(),
            took,
            tuple(" ".join(each.info["cmdline"] or ())[:80] for each in left),
        )


def processes_below(folder: Path, since: float) -> list[psutil.Process]:
    """Those that work in ``folder`` and started after ``since``, as seconds since the epoch."""
    return [
        process
        for process in psutil.process_iter(["cwd", "create_time", "cmdline", "status"])
        if process.info["cwd"] == str(folder)
        and process.info["create_time"] >= since - 1
        and process.info["status"] != psutil.STATUS_ZOMBIE
    ]


def end(pid: int) -> None:
    """Ends a process, with its group where it leads one."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return


def environment_of(case: Case, root: Path) -> dict[str, str]:
    """The environment of a case: the two folders of stand-ins, and what it asks for."""
    own = {key: value.replace("{root}", str(root)) for key, value in case.environment.items()}
    folders = [HERE / "environment", *([HERE / "offline"] if "WILD_DOWNLOADS" in own else [])]
    path = os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **own}


def digests(root: Path) -> dict[str, str]:
    """The digest of every file below ``root``."""
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }


def sources(root: Path) -> dict[str, list[str]]:
    """The lines of every file of Python below ``root``."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes().decode("utf-8", "replace").splitlines()
        for path in sorted(root.rglob("*.py"))
    }


def edited(before: dict[str, list[str]], after: dict[str, list[str]]) -> list[str]:
    """The lines that went and came, as a diff shows them."""
    return [
        line
        for name in sorted(before.keys() | after.keys())
        for line in lines_of("\n".join(difflib.unified_diff(before.get(name, []), after.get(name, []), lineterm="")))
    ]


def lines_of(diff: str) -> list[str]:
    """The lines of a diff that went and came."""
    return [line for line in diff.splitlines() if line[:1] in ("+", "-") and line[:4] not in ("+++ ", "--- ")]


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "").strip()


def scrubbed(value: Any, root: Path) -> Any:
    """``value`` without the place of the copy on this machine."""
    return json.loads(json.dumps(value).replace(str(root), "{root}"))


def line(result: dict[str, Any]) -> str:
    """One case for the terminal."""
    gain = result.get("gain")
    figures = f" {gain['ratio']:.2f}x" if gain and result["outcome"] not in (NOTHING, REFUSED) else ""
    reason = result.get("refusal") or result.get("sentence") or ""
    wrong = f"\n    WRONG: {'; '.join(result['wrong'])}" if result["wrong"] else ""
    return f"{result['seconds']:6.1f} s  {result['outcome']:<16}{figures} {result['case']}: {reason}{wrong}"


def circumstances(options: argparse.Namespace) -> dict[str, Any]:
    """When, where and with what it ran."""
    machine = inspect_machine()
    repositories = sorted({case.repository for case in CASES})
    checkouts = {name: options.checkouts / name.replace("/", "+") for name in repositories}
    versions = {"python": platform.python_version()}
    for name in _VERSIONS:
        versions[name] = importlib.metadata.version(name)
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": commit_of(ROOT),
        "machine": {
            "cores": machine.cores,
            "memory": machine.memory_total,
            "system": platform.platform(),
            "processor": platform.machine(),
        },
        "versions": versions,
        "repositories": {name: commit_of(path) for name, path in checkouts.items()},
        "budget": options.budget,
    }


def commit_of(folder: Path) -> str:
    """The commit that a checkout is at."""
    git = shutil.which("git") or "git"
    return subprocess.run(
        [git, "-C", str(folder), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
