"""How fast the linter is on files that nobody here wrote: beside TorchFix, beside the parser, and on a second run.

    python benchmarks/lint_speed.py --torchfix PROGRAM --json benchmarks/results/lint_speed.json FOLDER...

The files are the modules below the folders that `accel-advisor lint` finds by itself and that mention torch. Whole
processes are measured, on one core; what is compared is run in turns, so that a machine that slows down slows both. One
round ahead, which compiles what is not compiled yet, does not count. A folder is recorded as its repository and commit.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import count, islice
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

WORD = b"torch"
SECOND_RUN = 1000
ONE_FILE = 300
TRIVIAL = "import torch\n"

RECORD = """
import json, sys
from accel_advisor.syntax import tree
texts = []
class Recorded(tree.Syntax):
    def __init__(self, text, parse):
        texts.append(text)
        super().__init__(text, parse)
tree.Syntax = Recorded
from accel_advisor.cli import main
try:
    main(sys.argv[2:])
finally:
    with open(sys.argv[1], "w") as file:
        json.dump(texts, file)
"""
"""Lints, and writes down every text whose tree is asked for."""
PARSE = """
import json, sys
import libcst
with open(sys.argv[1]) as file:
    texts = json.load(file)
for text in texts:
    try:
        libcst.parse_module(text)
    except libcst.ParserSyntaxError:
        pass
"""
"""Parses what was written down with libcst, and does nothing else."""
IMPORTED = """
import sys
from accel_advisor.cli import main
try:
    main(sys.argv[1:])
finally:
    print(*(name for name in ("libcst", "torch") if name in sys.modules), sep="\\n", file=sys.stderr)
"""
"""Lints, and says which of the packages that take long to import were imported."""


class MeasurementError(Exception):
    """A command did not do what was to be measured; the message is one sentence, and what the command said."""


class Spent(NamedTuple):
    """Seconds that a process took."""

    cpu: float
    wall: float


class Spread(NamedTuple):
    """What all rounds gave."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """The spread of values."""
        known = list(values)
        return cls(median(known), min(known), max(known))

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f} to {self.most:.2f})"


class Tree(NamedTuple):
    """A repository that files were taken from."""

    repository: str
    commit: str
    files: int


def run(command: Sequence[str], folder: Path) -> tuple[Spent, str]:
    """Runs a command; what it and its own children took, and what it wrote to stderr.

    Raises:
        MeasurementError: it ended with another status than 0.
    """
    with tempfile.TemporaryFile() as errors:
        begun = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().decode(errors="replace")
    if child.returncode:
        raise MeasurementError(f"{' '.join(command[:6])} ... ended with status {child.returncode}: {said[-500:]}")
    return Spent(usage.ru_utime + usage.ru_stime, wall), said


def in_turns(commands: Mapping[str, Sequence[str]], folder: Path, rounds: int) -> list[dict[str, Spent]]:
    """What each command took in each round."""
    measured = [{name: run(command, folder)[0] for name, command in commands.items()} for _ in range(rounds + 1)]
    return measured[1:]


def beyond_parse(lint: float, trivial: float, parse: float, imported: float) -> float:
    """What a lint takes beyond the parse, as a share of the parse: both without what it takes to start."""
    return ((lint - trivial) - (parse - imported)) / (parse - imported)


def nearest(lines: Mapping[Path, int], wanted: int, most: int) -> list[Path]:
    """The files whose length is nearest to what is wanted, the nearest first."""
    return sorted(lines, key=lambda path: (abs(lines[path] - wanted), path))[:most]


def copies(files: Sequence[Path], above: Path, wanted: int) -> list[tuple[Path, Path]]:
    """Files and the places of their copies: as many as are wanted, each tree again and again below a name of its own,
    so that what its files import of each other is found."""
    places = ((file, Path(f"copy{number}", file.relative_to(above))) for number in count() for file in files)
    return list(islice(places, wanted)) if files else []


def trees(files: Iterable[Path]) -> list[Tree]:
    """The repositories that files lie in."""
    tops = Counter(next((one for one in file.parents if (one / ".git").exists()), file.parent) for file in files)
    return sorted(Tree(top.name.replace("+", "/", 1), commit(top), files) for top, files in tops.items())


def commit(folder: Path) -> str:
    """The commit that is checked out; nothing where that is not known."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True)
    return done.stdout.strip()


def keep_bytecode(work: Path) -> None:
    """Lets every command keep what it compiles, as those of an installed package do, in a place of its own."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(work / "bytecode")


class Bench:
    """Everything that is measured, each in a method of its own.

    Args:
        python: the interpreter whose accel-advisor is measured.
        work: a folder for what is written on the way.
        rounds: how often each pair is run.
    """

    def __init__(self, python: str, work: Path, rounds: int) -> None:
        self.python = python
        self.work = work
        self.rounds = rounds

    def lint(self, *args: str) -> list[str]:
        """The command that lints."""
        return [self.python, "-m", "accel_advisor", *self.arguments(*args)]

    def cold(self, *args: str) -> list[str]:
        """The command that lints on one core, and uses nothing from earlier runs."""
        return self.lint("--no-cache", "--jobs", "1", *args)

    def arguments(self, *args: str) -> list[str]:
        """What the command line is given: what is found is no failure."""
        return ["lint", "--exit-zero", *args]

    def inline(self, program: str, *args: str) -> list[str]:
        """The command that runs a program of this file."""
        return [self.python, "-c", program, *args]

    def files(self, folders: Sequence[Path]) -> list[Path]:
        """The modules that are linted by default and mention torch."""
        shown = subprocess.run(
            self.lint("--show-files", *map(str, folders)), cwd=self.work, capture_output=True, text=True
        )
        if shown.returncode:
            raise MeasurementError(shown.stderr.strip())
        found = (Path(one) for one in shown.stdout.splitlines() if one.endswith(".py"))
        return [path for path in found if WORD in path.read_bytes()]

    def beside_torchfix(self, torchfix: str, files: Sequence[Path]) -> dict[str, Any]:
        """The same files, with our default rules and with all of theirs."""
        names = [str(one) for one in files]
        commands = {
            "accel-advisor": self.cold(*names),
            "TorchFix": [torchfix, "--select", "ALL", "--jobs", "1", *names],
        }
        rounds = in_turns(commands, self.work, self.rounds)
        return {
            "seconds": {tool: Spread.of(one[tool].cpu for one in rounds) for tool in commands},
            "times": Spread.of(one["TorchFix"].cpu / one["accel-advisor"].cpu for one in rounds),
        }

    def beside_parse(self, files: Sequence[Path]) -> dict[str, Any]:
        """The same files, and the bare parse of what the linter parses of them and of the files that they consult."""
        names = [str(one) for one in files]
        texts, trivial = self.work / "texts.json", self.work / "trivial.py"
        trivial.write_text(TRIVIAL)
        run(self.inline(RECORD, str(texts), *self.arguments("--no-cache", "--jobs", "1", *names)), self.work)
        commands = {
            "lint": self.cold(*names),
            "trivial": self.cold(str(trivial)),
            "parse": self.inline(PARSE, str(texts)),
            "import": self.inline("import libcst"),
        }
        rounds = [{name: one.cpu for name, one in each.items()} for each in in_turns(commands, self.work, self.rounds)]
        shares = (beyond_parse(one["lint"], one["trivial"], one["parse"], one["import"]) for one in rounds)
        return {
            "parsed": len(json.loads(texts.read_text())),
            "seconds": {name: Spread.of(one[name] for one in rounds) for name in commands},
            "share": Spread.of(shares),
        }

    def second_run(self, folders: Sequence[Path], files: Sequence[Path]) -> dict[str, Any]:
        """Files that the run before has seen as they are, with the cache that it left."""
        project = self.work / "project"
        above = Path(os.path.commonpath(folders))
        for file, place in copies(files, above, SECOND_RUN):
            (project / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, project / place)
        # A configuration marks the root, where the cache is kept; "." has no folder in its name that is skipped.
        (project / "pyproject.toml").write_text("[tool.accel-advisor]\n")
        first, _ = run(self.lint("--jobs", "1", "."), project)
        rounds = in_turns({"second": self.lint("--jobs", "1", ".")}, project, self.rounds)
        _, imported = run(self.inline(IMPORTED, *self.arguments("--jobs", "1", ".")), project)
        shown = subprocess.run(self.lint("--show-files", "."), cwd=project, capture_output=True, text=True).stdout
        return {
            "files": len(shown.splitlines()),
            "imported": imported.split(),
            "seconds": {
                "first, CPU": Spread.of([first.cpu]),
                "second, CPU": Spread.of(one["second"].cpu for one in rounds),
                "second, elapsed": Spread.of(one["second"].wall for one in rounds),
            },
        }

    def one_file(self, files: Sequence[Path]) -> dict[str, Any]:
        """Single files of some three hundred lines, and the import of the parser; each pair has another file, a copy in
        a folder of its own, since what a file imports of its project is read and parsed as well."""
        lines = {path: path.read_bytes().count(b"\n") for path in files}
        chosen = nearest(lines, ONE_FILE, self.rounds)
        rounds = []
        for number, one in enumerate(chosen):
            alone = self.work / "alone" / str(number) / one.name
            alone.parent.mkdir(parents=True)
            shutil.copyfile(one, alone)
            commands = {"lint": self.cold(str(alone)), "import": self.inline("import libcst")}
            rounds += in_turns(commands, alone.parent, 1)
        return {
            "lines": Spread.of(lines[one] for one in chosen),
            "seconds": {name: Spread.of(one[name].cpu for one in rounds) for name in ("lint", "import")},
            "times": Spread.of(one["lint"].cpu / one["import"].cpu for one in rounds),
        }


def versions(python: str, torchfix: str) -> dict[str, str]:
    """What was measured with what."""
    asked = "import importlib.metadata as m, platform as p; print(p.python_version(), m.version('libcst'))"
    interpreter, libcst = subprocess.check_output([python, "-c", asked], text=True).split()
    ours = subprocess.check_output([python, "-m", "accel_advisor", "--version"], text=True).split()[-1]
    theirs = subprocess.check_output([torchfix, "--version"], text=True).split()[-1]
    return {
        "Python": interpreter,
        "libcst": libcst,
        "TorchFix": theirs,
        "accel-advisor": f"{ours} at {commit(Path(__file__).parent)[:12]}",
    }


def table(record: Mapping[str, Any]) -> str:
    """A record as a table."""
    beside, parse, second, one = (record[key] for key in ("torchfix", "parse", "second_run", "one_file"))
    second_seconds = {name: Spread(*value) for name, value in second["seconds"].items()}
    imported = " and ".join(second["imported"]) or "neither libcst nor torch"
    rows = (
        ("times TorchFix's speed", f"{record['files']} files", Spread(*beside["times"])),
        ("time beyond the parse, in parses", f"{parse['parsed']} files parsed", Spread(*parse["share"])),
        ("second run, elapsed seconds", f"{second['files']} files", second_seconds["second, elapsed"]),
        ("second run, CPU seconds", f"imports {imported}", second_seconds["second, CPU"]),
        ("one file, in imports of libcst", f"{Spread(*one['lines']).median:.0f} lines", Spread(*one["times"])),
    )
    lines = ["| measured | on | median (least to most) |", "|---|---|--:|"]
    return "\n".join([*lines, *(f"| {what} | {on} | {spread} |" for what, on, spread in rows)])


def main() -> None:
    """Reads the command line, measures, and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchfix", required=True, metavar="PROGRAM", help="TorchFix's command")
    parser.add_argument("--python", default=sys.executable, help="the interpreter whose accel-advisor is measured")
    parser.add_argument("--rounds", type=int, default=7, help="how often each pair is run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to record what was measured")
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    args = parser.parse_args()
    folders = [one.resolve() for one in args.folders]
    load = os.getloadavg()[0]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as work:
        keep_bytecode(Path(work))
        bench = Bench(args.python, Path(work).resolve(), args.rounds)
        try:
            files = bench.files(folders)
            if not files:
                raise MeasurementError("no file below these folders mentions torch: name checkouts of PyTorch code")
            record = {
                "date": str(date.today()),
                "machine": f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores, one of them used",
                "load_before": round(load, 2),
                "rounds": args.rounds,
                "versions": versions(args.python, args.torchfix),
                "trees": [tree._asdict() for tree in trees(files)],
                "files": len(files),
                "torchfix": bench.beside_torchfix(args.torchfix, files),
                "parse": bench.beside_parse(files),
                "second_run": bench.second_run(folders, files),
                "one_file": bench.one_file(files),
            }
        except MeasurementError as error:
            sys.exit(f"Error: {error}")
    if args.json:
        args.json.write_text(json.dumps(record, indent=1) + "\n")
    print(table(record))


if __name__ == "__main__":
    main()
