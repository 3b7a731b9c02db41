"""How much of a disk what a script writes during a trial may take: enough to train, never all of it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

LOOK_SECONDS = 0.25
"""Between two looks at what is left: in that time a fast disk takes less than :data:`LEAST_FREE`."""
LEAST_FREE = 1 << 30
MOST_FREE = 16 << 30
_FREE_SHARE = 0.05
_PACE = 20
"""A look at every file comes again after so many times what it took itself."""


def short(total: int, free: int, used: int) -> bool:
    """Whether a trial has to end for lack of room. The script may take what leaves a twentieth of the disk free, but
    no less than a gibibyte and no more than 16; of a disk that is fuller than that without it, one half of the rest.

    Args:
        total, free: of the file system, in bytes.
        used: of what is not free, what the script wrote.
    """
    return free < floor(total) and used > free


def floor(total: int) -> int:
    """How many bytes of a file system are to stay free."""
    return min(max(LEAST_FREE, int(_FREE_SHARE * total)), MOST_FREE)


class Room:
    """The room that a trial's scratch folder has.

    Args:
        scratch: the folder.
        cwd: what names are shown relative to.
    """

    def __init__(self, scratch: Path, cwd: Path) -> None:
        self._scratch = scratch
        self._cwd = cwd
        self._next = 0.0

    def lack(self) -> str:
        """A sentence with what took the room, and the remedy; empty as long as there is enough."""
        now = time.monotonic()
        if now < self._next:
            return ""
        self._next = now + LOOK_SECONDS
        try:
            disk = shutil.disk_usage(self._scratch)
        except OSError:
            return ""
        if disk.free >= floor(disk.total):
            return ""
        sizes = _sizes(str(self._scratch))
        self._next = time.monotonic() + max(LOOK_SECONDS, _PACE * (time.monotonic() - now))
        used = sum(sizes.values())
        if not sizes or not short(disk.total, disk.free, used):
            return ""
        largest = max(sizes, key=sizes.__getitem__)
        return (
            f"what the script writes fills the disk of {self._scratch.parent}: {_size(used)} by now, "
            f"{_size(sizes[largest])} of it in {self._name(largest)}, and {_size(disk.free)} are left; let it save "
            "less, or set TMPDIR to a folder on a larger disk"
        )

    def _name(self, path: str) -> str:
        """A file as the script calls it."""
        upper = f"{self._scratch}/overlay/upper"
        name = Path(path.removeprefix(upper)) if path.startswith(f"{upper}/") else Path(path)
        if name.is_relative_to(self._scratch):
            return f"{name.name}, a temporary file"
        return str(name.relative_to(self._cwd) if name.is_relative_to(self._cwd) else name)


def _sizes(folder: str) -> dict[str, int]:
    """Every file below a folder, with the bytes that it takes of the disk."""
    found: dict[str, int] = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            try:
                found[path] = 512 * os.lstat(path).st_blocks
            except OSError:
                continue
    return found


def _size(count: int) -> str:
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MiB"
