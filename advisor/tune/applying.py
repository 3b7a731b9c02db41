"""Writing a rewrite so that the old files come back unless it is told to stay: after an exception, a signal, Ctrl-C, or
the death of this very process."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from ..fixer import write_all
from . import guardian
from .rewrite import Rewrite, RewriteError


class Applied:
    """A rewrite on disk, for as long as the context lasts; :meth:`keep` makes it stay.

    A guardian process of its own session waits on a pipe. When this process dies, whatever kills it, the pipe ends and
    the guardian puts the old files back.

    Raises:
        RewriteError: on entering, when a file changed since it was read or cannot be written; nothing is changed then.
    """

    def __init__(self, rewrite: Rewrite) -> None:
        self._rewrite = rewrite
        self._folder = ""
        self._guardian: subprocess.Popen[str] | None = None
        self._kept = False

    def __enter__(self) -> Self:
        for path, content in self._rewrite.before.items():
            try:
                same = path.read_bytes() == content
            except OSError as error:
                raise RewriteError(f"{path.name} cannot be read any more: {error.strerror or error}") from error
            if not same:
                raise RewriteError(f"{path.name} changed while it was being measured: run again")
        self._folder = tempfile.mkdtemp(prefix="accel-advisor-")
        try:
            self._guardian = self._watch()
            self._write(self._rewrite.after)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()

    def keep(self) -> None:
        """Leaves the new files in place for good."""
        self.show_new()
        self._kept = True

    def show_old(self) -> None:
        """Puts the old files in place, to run them; the context goes on."""
        self._write(self._rewrite.before)

    def show_new(self) -> None:
        """Puts the new files in place."""
        self._write(self._rewrite.after)

    def _watch(self) -> subprocess.Popen[str]:
        manifest = []
        for number, (path, content) in enumerate(self._rewrite.before.items()):
            status = path.stat()
            Path(self._folder, str(number)).write_bytes(content)
            manifest.append((str(path), stat.S_IMODE(status.st_mode), status.st_mtime_ns))
        Path(self._folder, "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        return subprocess.Popen(
            [sys.executable, "-I", guardian.__file__, self._folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            cwd=os.path.abspath(os.sep),
        )

    def _write(self, contents: Mapping[Path, bytes]) -> None:
        different = {str(path): new for path, new in contents.items() if path.read_bytes() != new}
        try:
            write_all(different)
        except OSError as error:
            raise RewriteError(f"{error.filename or 'a file'} cannot be written: {error.strerror or error}") from error

    def _end(self) -> None:
        """Puts the old files back unless they are to be replaced for good, and lets the guardian go."""
        if not self._kept and os.path.exists(os.path.join(self._folder, "manifest.json")):
            guardian.restore(self._folder)
        if self._guardian is not None and self._guardian.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # a guardian that somebody killed has nothing left to do
                self._guardian.stdin.write("keep\n")
                self._guardian.stdin.close()
            self._guardian.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
