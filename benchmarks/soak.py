"""Passes every Python file of folders through the linter and its fixes, and checks that none of them ever crashes it,
hangs it or comes out damaged.

Every file goes through the whole pipeline: parser, analysis, all rules (opt-in ones too) and all fixes, those that
mention no accelerator included. Checked is that nothing raises, that every file is done before a watchdog ends it, that
what parsed still parses, that nothing changed outside of the edits that findings name, and that a second pass changes
nothing. Nothing is written beside the results.

    python benchmarks/soak.py FOLDER... --wheels FOLDER --json benchmarks/results/soak.json

Exits with 1 where any of that does not hold.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import platform
import random
import re
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from accel_advisor.config import Config
from accel_advisor.finding import Applicability, Finding
from accel_advisor.linting.checker import Checker
from accel_advisor.linting.fix_loop import fix
from accel_advisor.linting.report import Program, Report
from accel_advisor.linting.ruleset import known_codes
from accel_advisor.project.discovery import mentions_accelerators
from accel_advisor.project.import_graph import Source, programs
from accel_advisor.selection import INTERNAL_ERROR, NOT_ANALYSED, SYNTAX_ERROR, Selection, selectors
from accel_advisor.source.document import Document
from benchmarks.fix_check.rows import named_rows, names_lost, stray_lines
from benchmarks.recording import processor, today

LONG = 16_384
"""Bytes beyond which a file is taken later, so that a run that is cut short has seen many files."""
SLOWEST = 10
"""How many of the slowest units are recorded."""


@dataclass(slots=True)
class Seen:
    """What became of files that were understood together.

    Attributes:
        counts: findings by code.
        refused: files that CPython parses and we do not, with our sentence.
        failures: sentences, each naming its file.
    """

    files: int = 0
    size: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    edits: int = 0
    changed: int = 0
    refused: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def everything(root: Path) -> Config:
    """A configuration under which every rule runs."""
    config = Config(root=root)
    return replace(config, selection=Selection(extend_select=selectors(tuple(known_codes()), "soak")))


def parses(raw: bytes) -> bool:
    """Whether CPython's parser takes it."""
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(raw)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def examine(config: Config, contents: Mapping[str, bytes]) -> Seen:
    """Lints files as one program, makes all fixes in memory, and checks what came of it."""
    seen = Seen(files=len(contents), size=sum(len(raw) for raw in contents.values()))
    start = time.process_time()
    program = Program(tuple(contents), (config,) * len(contents), str(config.root))
    asked = {os.path.realpath(name): name for name in contents}
    checker = Checker()
    result = checker.check(program, contents, {})
    seen.counts.update(one.code for one in result.findings)
    report = Report(list(result.findings), len(contents), asked, dict(contents), programs=[result.program])
    outcome = fix(report, frozenset(Applicability))
    after = {name: outcome.after.get(name, raw) for name, raw in contents.items()}
    seen.edits = sum(len(one.fix.edits) for one in outcome.fixed if one.fix)
    seen.changed = len(outcome.after)
    seen.failures += wrong_fixes(result.findings, outcome.fixed, contents, after)
    left = outcome.report.findings
    if outcome.after:
        again = checker.check(program, after, {})
        second = fix(
            Report(list(again.findings), len(after), asked, after, programs=[again.program]), frozenset(Applicability)
        )
        seen.failures += [f"{name}: changed again by a second pass" for name in second.after]
        left = second.report.findings
    seen.seconds = time.process_time() - start
    for one in {(one.code, one.filename, one.message): one for one in (*result.findings, *left)}.values():
        if one.code == INTERNAL_ERROR[0]:
            seen.failures.append(f"{one.filename}: {one.message}")
        elif one.code in (NOT_ANALYSED[0], SYNTAX_ERROR[0]) and parses(contents[one.filename]):
            seen.refused.append(f"{one.filename}: {one.message}")
    return seen


def wrong_fixes(
    first: Iterable[Finding], made: Iterable[Finding], before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> Iterator[str]:
    """What fixes did that they must not."""
    edits = [edit for one in (*first, *made) if one.fix for edit in one.fix.edits]
    rows = named_rows((Path(one.filename), one.span.start.row, one.span.end.row) for one in edits)
    for name, raw in after.items():
        if raw == before[name]:
            continue
        if parses(before[name]) and not parses(raw):
            yield f"{name}: does not parse any more"
        old, new = Document.from_bytes(name, before[name]), Document.from_bytes(name, raw)
        if (old.bom, old.encoding) != (new.bom, new.encoding):
            yield f"{name}: has another encoding"
        if newlines(before[name]) != newlines(raw):
            yield f"{name}: has other newlines"
        if parses(before[name]) and parses(raw):
            yield from (f"{name}: uses {one}, which it imports no more" for one in names_lost(before[name], raw))
        for row in stray_lines(before[name], raw, rows.get(Path(name), set())):
            yield f"{name}:{row}: changed, and no finding names this line"


def newlines(raw: bytes) -> frozenset[bytes]:
    """The kinds of newlines in a file."""
    return frozenset(re.findall(rb"\r\n|\r|\n", raw))


def work(connection: Connection, scratch: str) -> None:
    """A worker: examines what it is sent until there is no more.

    A file that is sent alone is understood without the files beside it: it is given a name in an empty folder.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    config = everything(Path(scratch))
    while True:
        paths: list[str] | None = connection.recv()
        if paths is None:
            return
        names = {path: path if len(paths) > 1 else os.path.join(scratch, os.path.basename(path)) for path in paths}
        try:
            seen = examine(config, {names[path]: Path(path).read_bytes() for path in paths})
        except Exception as error:  # whatever it is, it is what the soak is looking for
            seen = Seen(len(paths), failures=[f"{paths[0]}: {type(error).__name__}: {error}"])
        if len(paths) == 1:
            seen.failures = [one.replace(names[paths[0]], paths[0]) for one in seen.failures]
            seen.refused = [one.replace(names[paths[0]], paths[0]) for one in seen.refused]
        connection.send(seen)


class Worker:
    """A process, and what it is at."""

    def __init__(self, scratch: str) -> None:
        self.scratch = scratch
        self.unit: list[str] = []
        self.deadline = 0.0
        self.start()

    def start(self) -> None:
        """Starts the process."""
        context = get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=work, args=(other, self.scratch), daemon=True)
        self.process.start()
        other.close()

    def give(self, unit: list[str], seconds: float) -> None:
        """Sends it a unit, which must be done by then."""
        self.unit, self.deadline = unit, time.monotonic() + seconds
        self.connection.send(unit)

    def replace(self) -> None:
        """Ends the process and starts another one."""
        self.process.kill()
        self.process.join()
        self.connection.close()
        self.start()


def soak(units: list[list[str]], jobs: int, watchdog: float, minutes: float | None) -> Iterator[tuple[list[str], Seen]]:
    """What became of each unit, as they are done; a unit that hangs or kills its process is a failure like another."""
    todo = iter(units)
    end = time.monotonic() + 60 * minutes if minutes else float("inf")
    with tempfile.TemporaryDirectory() as scratch:
        busy: dict[Connection, Worker] = {}

        def hand_out(worker: Worker) -> None:
            unit = next(todo, None) if time.monotonic() < end else None
            if unit is None:
                worker.connection.send(None)
                worker.process.join()
            else:
                worker.give(unit, watchdog * max(1, len(unit) / 4))
                busy[worker.connection] = worker

        for _ in range(min(jobs, len(units))):
            hand_out(Worker(scratch))
        while busy:
            for ready in wait(list(busy), timeout=1.0):
                assert isinstance(ready, Connection)
                worker = busy.pop(ready)
                try:
                    yield worker.unit, ready.recv()
                except EOFError:
                    yield worker.unit, Seen(len(worker.unit), failures=[f"{worker.unit[0]}: killed its process"])
                    worker.replace()
                hand_out(worker)
            for connection, worker in list(busy.items()):
                if time.monotonic() > worker.deadline:
                    del busy[connection]
                    yield worker.unit, Seen(len(worker.unit), failures=[f"{worker.unit[0]}: not done in time"])
                    worker.replace()
                    hand_out(worker)


def found(folders: Iterable[Path]) -> Iterator[Path]:
    """Every Python file below the folders, those included that the linter itself would skip."""
    for folder in folders:
        yield from (path for path in sorted(folder.rglob("*.py")) if path.is_file())


def alone(paths: Iterable[Path]) -> list[list[str]]:
    """Each file by itself, in a random order that is the same in every run: those with a word of ours first, and of
    these the longer ones last."""
    shuffled = sorted(paths)
    random.Random(0).shuffle(shuffled)

    def rank(path: Path) -> tuple[bool, bool]:
        raw = path.read_bytes()
        return not mentions_accelerators(raw), len(raw) > LONG

    return [[str(path)] for path in sorted(shuffled, key=rank)]


def together(folders: Iterable[Path]) -> list[list[str]]:
    """The files that mention accelerators, as the programs that the linter would make of them."""
    units: list[list[str]] = []
    for folder in folders:
        files = {str(path): Source.of(str(path), path.read_bytes()) for path in found([folder])}
        units += programs(files, str(folder))
    return units


def packages(folders: Iterable[Path], wheels: Path | None) -> list[str]:
    """Names and versions: of the wheels, and of the installed distributions below the folders."""
    names = [path.name for folder in folders for path in folder.rglob("*.dist-info")]
    names += [path.name for path in wheels.glob("*.whl")] if wheels else []
    split = (re.match(r"(.+?)-(\d[^-]*?)(?:-|\.dist-info)", name) for name in names)
    return sorted({f"{one[1]} {one[2]}" for one in split if one}, key=str.lower)


def shortened(text: str, folders: Iterable[Path]) -> str:
    """A sentence without the folders of this machine."""
    for folder in folders:
        text = text.replace(f"{folder}{os.sep}", "")
    return text


def main() -> int:
    """Soaks, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--together", action="store_true", help="files that import each other as one program")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--watchdog", type=float, default=120.0, metavar="SECONDS", help="for one file")
    parser.add_argument("--minutes", type=float, help="begin nothing new after that time")
    parser.add_argument("--only-accelerators", action="store_true", help="leave out files without a word of ours")
    parser.add_argument("--wheels", type=Path, help="the folder of the wheels that were unpacked")
    parser.add_argument("--json", type=Path, help="where to record the result")
    options = parser.parse_args()
    folders = [folder.resolve() for folder in options.folders]
    units = together(folders) if options.together else alone(found(folders))
    if options.only_accelerators:
        units = [unit for unit in units if mentions_accelerators(Path(unit[0]).read_bytes())]
    total, slowest = Seen(), list[tuple[float, int, str]]()
    for done, (unit, seen) in enumerate(soak(units, options.jobs, options.watchdog, options.minutes), 1):
        total.files += seen.files
        total.size += seen.size
        total.seconds += seen.seconds
        total.counts += seen.counts
        total.edits += seen.edits
        total.changed += seen.changed
        for into, sentences in ((total.refused, seen.refused), (total.failures, seen.failures)):
            into += [shortened(one, folders) for one in sentences]
        slowest = sorted([*slowest, (seen.seconds, seen.size, shortened(unit[0], folders))], reverse=True)[:SLOWEST]
        for sentence in seen.failures:
            print(sentence, flush=True)
        if done % 500 == 0:
            print(f"{done} of {len(units)} done, {len(total.failures)} failures", file=sys.stderr, flush=True)
    record: dict[str, Any] = asdict(total)
    record["seconds"] = round(total.seconds, 1)
    record["findings"] = sum(total.counts.values())
    record["counts"] = dict(sorted(total.counts.items()))
    record["refused"], record["failures"] = sorted(total.refused), sorted(total.failures)
    record["slowest"] = [{"seconds": round(one[0], 2), "bytes": one[1], "file": one[2]} for one in slowest]
    record["mode"] = "together" if options.together else "alone"
    record["date"] = today()
    record["machine"] = {"processor": processor(), "cores": os.cpu_count(), "python": platform.python_version()}
    record["packages"] = packages(folders, options.wheels)
    print(
        f"{total.files} files, {total.size} bytes, {record['findings']} findings, {total.edits} edits in "
        f"{total.changed} files, {len(total.refused)} refused, {len(total.failures)} failures"
    )
    if options.json:
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return 1 if total.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
