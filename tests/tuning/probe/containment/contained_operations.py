"""Runs random file operations natively, then the same ones under the overlay, and reports every difference.

Run as a program by test_containment.py: ``contained_operations.py SCRATCH NATIVE CONTAINED SEED COUNT``.
The two folders hold ``COUNT`` equal trees each.
"""

from __future__ import annotations

import glob
import io
import json
import os
import pathlib
import random
import shutil
import stat
import sys
from collections.abc import Callable
from typing import Any

NAMES = (
    "a.txt",
    "b.bin",
    "new",
    "sub",
    "sub/c.txt",
    "sub/deep/d.txt",
    "sub/new.txt",
    "empty",
    "link",
    "up",
    "up/x",
)


def write(path: str, mode: str) -> Any:
    with open(path, mode) as file:
        file.write("w" if "b" not in mode else b"w")
        return file.name == path


def read(path: str) -> str:
    with open(path) as file:
        return file.read()


def change(path: str) -> Any:
    with open(path, "r+") as file:
        file.seek(1)
        file.write("!")
        file.seek(0)
        return file.read()


def low(path: str, flags: int) -> Any:
    number = os.open(path, flags, 0o644)
    try:
        return os.write(number, b"low") if flags & (os.O_WRONLY | os.O_RDWR) else os.read(number, 99).decode()
    finally:
        os.close(number)


def walk(path: str) -> Any:
    return sorted((root, sorted(folders), sorted(files)) for root, folders, files in os.walk(path))


def status(path: str) -> Any:
    found = os.stat(path)
    return [found.st_mode, found.st_size if os.path.isfile(path) else 0]


OPERATIONS: list[Callable[[random.Random, str, str], Any]] = [
    lambda r, p, q: write(p, r.choice(["w", "a", "x", "wb", "ab", "w+"])),
    lambda r, p, q: write(p, r.choice(["w", "a"])),
    lambda r, p, q: change(p),
    lambda r, p, q: read(p),
    lambda r, p, q: pathlib.Path(p).read_bytes().decode(),
    lambda r, p, q: pathlib.Path(p).write_text("text"),
    lambda r, p, q: pathlib.Path(p).touch(),
    lambda r, p, q: low(p, r.choice([os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_TRUNC, os.O_RDWR])),
    lambda r, p, q: low(p, os.O_WRONLY | os.O_CREAT | os.O_EXCL),
    lambda r, p, q: os.mkdir(p),
    lambda r, p, q: os.makedirs(p + "/y/z", exist_ok=r.random() < 0.5),
    lambda r, p, q: os.rmdir(p),
    lambda r, p, q: os.remove(p),
    lambda r, p, q: pathlib.Path(p).unlink(),
    lambda r, p, q: shutil.rmtree(p),
    lambda r, p, q: os.rename(p, q),
    lambda r, p, q: os.replace(p, q),
    lambda r, p, q: shutil.copy(p, q),
    lambda r, p, q: bool(shutil.move(p, q)),
    lambda r, p, q: os.symlink(os.path.basename(p), q),
    lambda r, p, q: os.readlink(p),
    lambda r, p, q: os.truncate(p, 1),
    lambda r, p, q: os.chmod(p, 0o640) if not os.path.isdir(p) else None,
    lambda r, p, q: [os.path.exists(p), os.path.isfile(p), os.path.isdir(p), os.path.islink(p), os.path.lexists(p)],
    lambda r, p, q: status(p),
    lambda r, p, q: sorted(os.listdir(p)),
    lambda r, p, q: sorted([e.name, e.is_dir(), e.is_file(), e.is_symlink()] for e in os.scandir(p)),
    lambda r, p, q: sorted(str(x) for x in pathlib.Path(p).iterdir()),
    lambda r, p, q: sorted(glob.glob("**/*.txt", recursive=True)),
    lambda r, p, q: walk("."),
    lambda r, p, q: [os.access(p, os.R_OK), os.access(p, os.W_OK)],
    lambda r, p, q: os.mkdir(path=p, mode=0o750),
    lambda r, p, q: os.makedirs(name=p, mode=0o755, exist_ok=True),
    lambda r, p, q: os.rmdir(path=p),
    lambda r, p, q: r.choice([os.remove, os.unlink])(path=p),
    lambda r, p, q: r.choice([os.rename, os.replace])(src=p, dst=q),
    lambda r, p, q: os.rename(p, dst=q),
    lambda r, p, q: os.symlink(src=os.path.basename(p), dst=q, target_is_directory=False),
    lambda r, p, q: os.readlink(path=p),
    lambda r, p, q: os.truncate(path=p, length=1),
    lambda r, p, q: os.chmod(path=p, mode=0o640) if not os.path.isdir(p) else None,
    lambda r, p, q: os.utime(path=p, times=(1, 2)),
    lambda r, p, q: [stat.S_IFMT(os.stat(path=p).st_mode), os.access(path=p, mode=os.R_OK)],
    lambda r, p, q: sorted([*os.listdir(path=p), *(e.name for e in os.scandir(path=p))]),
    lambda r, p, q: os.close(os.open(path=p, flags=os.O_WRONLY | os.O_CREAT, mode=0o640)),
    lambda r, p, q: open(file=p, mode="a").close(),
]


def play(folder: str, seed: int) -> list[Any]:
    chance = random.Random(seed)
    os.chdir(folder)
    seen: list[Any] = []
    for _ in range(30):
        operation = chance.randrange(len(OPERATIONS))
        left, right = chance.choice(NAMES), chance.choice(NAMES)
        if chance.random() < 0.3:
            left = os.path.join(os.getcwd(), left)
        try:
            result = OPERATIONS[operation](chance, left, right)
        except (OSError, shutil.Error):
            # Which of several errors comes first may differ; that one comes does not.
            result = "refused"
        seen.append([operation, left, right, result])
    seen.append(walk("."))
    seen.append([[p, read(p)] for p in sorted(glob.glob("**", recursive=True)) if os.path.isfile(p)])
    return json.loads(json.dumps(seen).replace(os.getcwd(), "HERE"))


def main() -> None:
    scratch, native, contained, seed, count = sys.argv[1:]
    numbers = range(int(count))
    expected = [play(f"{native}/{number}", int(seed) + number) for number in numbers]
    from accel_advisor.tuning.probe.containment.overlay import Overlay
    from accel_advisor.tuning.probe.containment.patches import Containment

    Containment(Overlay(scratch, fresh=True)).install()
    for number in numbers:
        found = play(f"{contained}/{number}", int(seed) + number)
        for step, (want, got) in enumerate(zip(expected[number], found, strict=True)):
            if want != got:
                before = expected[number][:step]
                print(f"tree {number}, step {step}: natively {want}, contained {got}, after {before}")
                break
    assert io.open is open


if __name__ == "__main__":
    main()
