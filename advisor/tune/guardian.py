"""Puts old files back when the process that changed them is gone before it said that they may stay.

Run as a program of its own: ``guardian.py FOLDER``. FOLDER holds ``manifest.json`` (a list of ``[path, mode,
nanoseconds]``) and the old contents as files ``0``, ``1``... Standard input is a pipe from the process that made the
changes: a line ``keep`` on it leaves the files alone; its end without that line, however it came about, puts them
back. The folder is removed in either case. Standard library only, so that it starts at once and outlives any trouble
with the rest.
"""

import json
import os
import shutil
import signal
import sys
import tempfile


def restore(folder: str) -> None:
    """Writes back every old file whose content differs now, in one step each, with its time of modification.

    Raises:
        OSError: a file could not be written; the others are tried all the same.
    """
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as stream:
        manifest = json.load(stream)
    failed = None
    for number, (path, mode, modified) in enumerate(manifest):
        with open(os.path.join(folder, str(number)), "rb") as stream:
            old = stream.read()
        try:
            with open(path, "rb") as stream:
                same = stream.read() == old
            if not same:
                put_back(path, old, mode)
            os.utime(path, ns=(modified, modified))
        except OSError as error:
            failed = error
    if failed is not None:
        raise failed


def put_back(path: str, content: bytes, mode: int) -> None:
    """Replaces a file in one step.

    Raises:
        OSError: its folder cannot be written to.
    """
    descriptor, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=os.path.dirname(path))
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def main(folder: str) -> int:
    """Waits for the word, or for its absence."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if sys.stdin.readline().strip() != "keep":
        restore(folder)
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
