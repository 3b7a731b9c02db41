"""Records the output that pages show: runs the commands on copies of the fixtures, writes docs/recorded/*.txt with the
machine and the date, and puts them between the markers of the pages.

    python benchmarks/recorded_output.py [lint] [tune] [healthy]
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from accel_advisor.editing.fixer import write_atomically
from accel_advisor.machine.machine import accelerators, inspect_machine

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "docs" / "recorded"
SCRATCH = ROOT / "build" / "recording"
COMMANDS = {
    "lint": ("demo", ["lint", "train.py", "--exit-zero"]),
    "tune": ("demo", ["tune", "train.py", "--apply"]),
    "healthy": ("healthy", ["tune", "train.py"]),
}
"""What is recorded: the fixture, and the arguments of accel-advisor in a copy of it."""
PAGES = ("README.md", "docs/lint.md", "docs/tune.md")
"""Those that show a recording."""
SHORT = ("# ", "$ ", "Each step ", "Ceiling ", "Recommended ", "Energy ", "Applied ")
"""How the lines begin that are shown of a recording of which a page shows the essence."""
WIDTH = 110


def record(name: str) -> str:
    """The command and what it printed, below a line that says where and when."""
    fixture, args = COMMANDS[name]
    folder = SCRATCH / fixture
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((ROOT / "fixtures" / fixture).glob("*.py")):
        shutil.copyfile(path, folder / path.name)
    if (folder / "make_data.py").exists():
        subprocess.run([sys.executable, "make_data.py"], cwd=folder, check=True)
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "dumb"}
    done = subprocess.run(
        [sys.executable, "-m", "accel_advisor", *args, *(["--no-cache"] if args[0] == "lint" else [])],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{name}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    printed = "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())
    shown = " ".join(one for one in args if one != "--exit-zero")
    return f"# {machine()}\n$ accel-advisor {shown}\n{printed}\n"


def machine() -> str:
    """This machine in one line."""
    found = inspect_machine()
    devices = ", ".join(one.name for one in accelerators()) or "no accelerator"
    today = datetime.datetime.now(datetime.UTC).date()
    return (
        f"{today}, {platform.system()} {platform.machine()}, {found.cores:g} cores, {devices}, "
        f"Python {platform.python_version()}, torch {version('torch')}, accel-advisor {version('accel-advisor')}"
    )


def with_recordings(page: str) -> str:
    """A page with each recording between its markers.

    Raises:
        FileNotFoundError: a marker names a recording that there is not.
    """

    def block(found: re.Match[str]) -> str:
        text = (RECORDED / f"{found['name']}.txt").read_text(encoding="utf-8")
        if found["short"]:
            text = "".join(line for line in text.splitlines(keepends=True) if line.startswith(SHORT))
        return f"{found['begin']}\n```text\n{text}```\n{found['end']}"

    begin = r"(?P<begin><!-- recorded: (?P<name>\w+)(?P<short>, in short)? -->)"
    pattern = begin + r"\n.*?(?P<end><!-- end of recording -->)"
    return re.sub(pattern, block, page, flags=re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"Of: {', '.join(COMMANDS)}. All by default.")
    names = parser.parse_args().names or list(COMMANDS)
    unknown = set(names) - set(COMMANDS)
    if unknown:
        parser.error(f"there is no recording {', '.join(sorted(unknown))}")
    RECORDED.mkdir(parents=True, exist_ok=True)
    for name in names:
        write_atomically(RECORDED / f"{name}.txt", record(name).encode())
    missing = [name for name in COMMANDS if not (RECORDED / f"{name}.txt").exists()]
    if missing:
        parser.exit(1, f"the pages wait for the recordings of {', '.join(missing)}\n")
    for page in PAGES:
        path = ROOT / page
        write_atomically(path, with_recordings(path.read_text(encoding="utf-8")).encode())


if __name__ == "__main__":
    main()
