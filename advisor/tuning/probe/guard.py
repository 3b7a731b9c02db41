"""A small process between parent and child, in a session of its own: whoever is killed, it cleans up.

Started as ``python -I -S guard.py FOLDER``. It makes the scratch folder below FOLDER and prints its name; then it takes
the plan as one line on its standard input, which stays open as long as the parent lives. It starts the child and adopts
what the children of the child leave behind (Linux). When the child is over
or the parent is gone it ends everything that came from the child, removes its shared memory and the scratch folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

SHARED_MEMORY = "/dev/shm"
TRACKER_SECONDS = 3.0
"""How long resource trackers may take to free what their clients left."""
OUTPUT_BYTES = 64 * 1024
"""How much of the end of the child's output is kept; the file that it is kept in grows to a few times as much."""
DRAIN_SECONDS = 0.5
_SCRATCH = re.compile(r"accel-advisor-[0-9a-f]{12}")
_QUIET = 3
"""Looks without a process before none is left: one that is just being replaced by exec shows no environment."""


def _processes() -> dict[int, tuple[int, int]]:
    """Parent and session of every process, by its id; the group stands for the session where there is no /proc."""
    found: dict[int, tuple[int, int]] = {}
    if not os.path.isdir("/proc/self"):
        listing = subprocess.run(["ps", "-axo", "pid=,ppid=,pgid="], capture_output=True, text=True, check=False)
        rows = [[int(word) for word in line.split()] for line in listing.stdout.splitlines()]
        return {pid: (parent, group) for pid, parent, group in rows}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
                if fields and fields[0] != b"Z":
                    found[int(name)] = int(fields[1]), int(fields[3])
    return found


def _names(pid: int, scratch: str) -> bool:
    """Whether a process was given the trial's environment."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return os.fsencode(f"{scratch}/") in file.read()
    except OSError:
        return False


def _belonging(session: int, scratch: str, adopter: int | None) -> list[int]:
    """The processes of a session, those with its environment or below the adopter, and all that are below these."""
    table = _processes()
    below = {pid for pid, (_, of) in table.items() if of == session or _names(pid, scratch)}
    if adopter is not None:
        below.add(adopter)
    grew = True
    while grew:
        more = {pid for pid, (parent, _) in table.items() if parent in below} - below
        below |= more
        grew = bool(more)
    return sorted(below - {adopter, os.getpid()})


def _is_tracker(pid: int) -> bool:
    """Whether a process is one of those that free shared memory when their clients are gone."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            command = file.read()
    except OSError:
        return False
    return b"resource_tracker" in command or b"torch_shm_manager" in command


def _forked(scratch: str) -> set[int]:
    """Every process that the child or its workers forked, alive or not, as they noted it themselves."""
    try:
        with open(f"{scratch}/pids", "rb") as file:
            return {int(word) for word in file.read().split()}
    except OSError:
        return set()


def _segments(pids: list[int]) -> set[str]:
    """Shared-memory files that these processes have mapped or open."""
    held: set[str] = set()
    prefix = SHARED_MEMORY + "/"
    for pid in pids:
        with (
            contextlib.suppress(OSError),
            open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as file,
        ):
            for line in file:
                path = line.rstrip("\n").partition(prefix)[2]
                if path and not path.endswith(" (deleted)"):
                    held.add(prefix + path)
        with contextlib.suppress(OSError):
            for fd in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    path = os.readlink(f"/proc/{pid}/fd/{fd}")
                    if path.startswith(prefix) and not path.endswith(" (deleted)"):
                        held.add(path)
    return held


def _kill(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def semaphores(scratch: str) -> str:
    """What the names of a trial's semaphores begin with."""
    return f"aa-{scratch.rpartition('-')[2]}"


def shared_memory() -> set[str]:
    """The shared-memory files of this machine."""
    return {f"{SHARED_MEMORY}/{name}" for name in os.listdir(SHARED_MEMORY)} if os.path.isdir(SHARED_MEMORY) else set()


def _note_shared_memory(scratch: str) -> set[str]:
    """The shared-memory files before a trial, kept for whoever may have to recover it."""
    found = shared_memory()
    with open(f"{scratch}/segments", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("\0".join(found))
    return found


def _noted_shared_memory(scratch: str) -> set[str]:
    try:
        with open(f"{scratch}/segments", encoding="utf-8", errors="surrogateescape") as file:
            return set(file.read().split("\0"))
    except OSError:  # the guard was killed before it started anything
        return shared_memory()


def sweep(session: int, before: set[str], scratch: str, adopter: int | None = None) -> None:
    """End everything of a session, and everything below ``adopter``; then remove what it left in shared memory.

    Args:
        session: the child's session, which is its process id.
        before: the shared-memory files that were there before the child.
        scratch: the trial's scratch folder.
        adopter: the process that inherits orphans of the child; itself spared.
    """
    held: set[str] = set()
    seen: set[int] = set()
    patience = time.monotonic() + TRACKER_SECONDS
    quiet = 0
    while quiet < _QUIET:
        pids = _belonging(session, scratch, adopter)
        quiet = 0 if pids else quiet + 1
        seen.update(pids)
        held |= _segments(pids)
        trackers = [pid for pid in pids if _is_tracker(pid)]
        others = [pid for pid in pids if pid not in trackers]
        # Resource trackers unlink what their clients left, and end by themselves once those are gone.
        _kill(others if others or time.monotonic() < patience else trackers)
        time.sleep(0.01)
        if adopter == os.getpid():
            _reap()
    appeared = shared_memory() - before
    for path in [path for path in appeared if path.startswith(f"{SHARED_MEMORY}/sem.{semaphores(scratch)}-")]:
        appeared.discard(path)
        with contextlib.suppress(OSError):
            os.unlink(path)
    if not appeared:
        return
    alive = _processes()
    gone = (seen | _forked(scratch)) - alive.keys()  # the number of one that is gone may be another's by now
    for path in appeared - _segments(list(alive)):
        parts = path.rpartition("/")[2].split("_")
        owner = parts[1] if parts[0] == "torch" and len(parts) > 2 else ""
        if path in held or (owner.isdigit() and int(owner) in gone):
            with contextlib.suppress(OSError):
                os.unlink(path)


def remove(scratch: str) -> None:
    """Remove the scratch folder, whatever the script did to the permissions inside."""

    def unlock(function: Any, path: str, _: Any) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
            function(path)

    for _ in range(3):
        shutil.rmtree(scratch, onerror=unlock)
        if not os.path.exists(scratch):
            return
        time.sleep(0.05)


def put_back(exposed: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Undo writes that went past the overlay, but were seen before they happened.

    Args:
        exposed: the overlay's folder of what it saved before.

    Returns:
        paths that are as before again, and paths that could not be put back.
    """
    restored: list[str] = []
    lost: list[str] = []
    for name in sorted(os.listdir(exposed)) if os.path.isdir(exposed) else ():
        saved, path = f"{exposed}/{name}", ""
        try:
            with open(f"{saved}/name", "rb") as file:
                path = os.fsdecode(file.read())
            if os.path.exists(f"{saved}/content"):
                if _differ(f"{saved}/content", path):
                    temporary = f"{path}.accel-advisor"
                    shutil.copy2(f"{saved}/content", temporary)
                    os.replace(temporary, path)
                    restored.append(path)
            elif os.path.exists(f"{saved}/absent"):
                if os.path.lexists(path):
                    os.unlink(path)
                    restored.append(path)
            else:
                lost.append(path)
        except OSError:
            lost.append(path)
    return tuple(restored), tuple(lost)


def _differ(saved: str, path: str) -> bool:
    if not os.path.exists(path):
        return True
    before, now = os.stat(saved), os.stat(path)
    return (before.st_size, before.st_mtime_ns) != (now.st_size, now.st_mtime_ns)


def _lock(scratch: str, name: str = "lock") -> IO[str]:
    """Marks a scratch folder as in use for as long as this process lives; OSError where another does."""
    file = open(f"{scratch}/{name}", "w")  # noqa: SIM115 -- held until the end
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


def recover(temporary: str) -> None:
    """End and remove what trials left whose parent and guard were killed both."""
    for name in os.listdir(temporary) if fcntl is not None else ():
        scratch = f"{temporary}/{name}"
        if not _SCRATCH.fullmatch(name):
            continue
        with contextlib.suppress(OSError):
            # A folder without a lock belongs to a guard that has just made it.
            if os.path.exists(f"{scratch}/lock") and os.stat(scratch).st_uid == os.getuid():
                with _lock(scratch):
                    sweep(-1, _noted_shared_memory(scratch), scratch)
                    remove(scratch)


def _drain(pipe: IO[bytes], path: str) -> None:
    """Keeps the end of what comes through a pipe: a script that prints without end must not fill the disk."""
    with open(path, "w+b", buffering=0) as file:
        while chunk := os.read(pipe.fileno(), OUTPUT_BYTES):
            with contextlib.suppress(OSError):  # on a full disk the script prints on all the same
                file.write(chunk)
                if file.tell() > 4 * OUTPUT_BYTES:
                    file.seek(-OUTPUT_BYTES, os.SEEK_END)
                    end = file.read()
                    file.seek(0)
                    file.write(end)
                    file.truncate()


def _tell(line: str) -> None:
    with contextlib.suppress(OSError):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def main() -> None:
    """Start the child, wait for its end, the parent's word or the parent's end, and clean up."""
    parent = os.getppid()
    recover(sys.argv[1])
    scratch = f"{sys.argv[1]}/accel-advisor-{os.urandom(6).hex()}"
    os.mkdir(scratch, 0o700)
    lock = _lock(scratch, "new-lock")
    os.rename(f"{scratch}/new-lock", f"{scratch}/lock")  # what recovers others never sees a lock that is not held yet
    try:
        _tell(f"scratch {scratch}")
        _guard(parent, scratch)
    except OSError as error:
        _tell(f"failed {error}")
    finally:
        if os.getppid() != parent:
            put_back(f"{scratch}/overlay/exposed")
        remove(scratch)
        lock.close()
        os._exit(0)


def _guard(parent: int, scratch: str) -> None:
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        return  # the parent is gone already
    plan: dict[str, Any] = json.loads(line)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # unlike SIG_IGN, the child does not inherit it
    if sys.platform.startswith("linux"):
        pr_set_child_subreaper = 36
        ctypes.CDLL(None, use_errno=True).prctl(pr_set_child_subreaper, 1, 0, 0, 0)
    before = _note_shared_memory(scratch)
    child = subprocess.Popen(
        plan["argv"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=plan["cwd"],
        env=plan["env"],
        start_new_session=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    drains = [
        threading.Thread(target=_drain, args=(pipe, plan[name]), daemon=True)
        for name, pipe in (("stdout", child.stdout), ("stderr", child.stderr))
    ]
    for each in drains:
        each.start()
    with contextlib.suppress(BrokenPipeError):
        child.stdin.write(json.dumps({**plan["child"], "guard": os.getpid()}).encode())
        child.stdin.close()
    _tell(f"started {child.pid}")
    over, released = threading.Event(), threading.Event()

    def obey() -> None:
        for _ in sys.stdin.buffer:  # any line means: end it now
            over.set()
        released.set()
        over.set()

    def watch() -> None:
        status = child.wait()
        for each in drains:  # its own children may hold the pipes open
            each.join(DRAIN_SECONDS)
        _tell(f"ended {status}")
        over.set()

    for task in (obey, watch):
        threading.Thread(target=task, daemon=True).start()
    while not over.wait(1.0) and os.getppid() == parent:
        pass
    sweep(child.pid, before, scratch, os.getpid())
    _tell("swept")
    while not released.wait(1.0) and os.getppid() == parent:
        pass


if __name__ == "__main__":
    main()
