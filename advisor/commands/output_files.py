"""What ``tune`` leaves in files: checked before the trial, since nobody wants to wait for an answer that cannot be
written, and written when it has ended."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from accel_advisor.commands.failure import Failure

if TYPE_CHECKING:
    from accel_advisor.tuning.record.history import Standing
    from accel_advisor.tuning.record.outcome import Outcome
    from accel_advisor.tuning.record.schema import Record


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files to write, None where one is not wanted; ``tolerance`` as a fraction, None where a script may be as slow as
    it likes."""

    json: Path | None = None
    page: Path | None = None
    trace: Path | None = None
    history: Path | None = None
    tolerance: float | None = None

    def check(self) -> None:
        """Whether all can be written as far as that is known.

        Raises:
            Failure: one cannot, and why.
        """
        from accel_advisor.tuning.page.page import MISSING, available
        from accel_advisor.tuning.record.history import read_history
        from accel_advisor.tuning.record.record_file import RecordError

        seen: dict[Path, str] = {}
        for option, path in self._files():
            if not path.absolute().parent.is_dir():
                raise Failure(f"{option} {path}: the folder {path.parent} does not exist")
            # A history grows; the others are replaced, which takes the right to write to their folder.
            written = path if path == self.history and path.exists() else path.absolute().parent
            if not os.access(written, os.W_OK):
                raise Failure(f"{option} {path}: {written} may not be written to")
            other = seen.setdefault(path.resolve(), option)
            if other != option:
                raise Failure(f"{option} {path}: {other} names the same file")
        if self.tolerance is not None and self.history is None:
            raise Failure("--tolerance needs --history FILE, where the best run so far is recorded")
        if self.page is not None and not available():
            raise Failure(MISSING)
        if self.history is not None and self.history.exists():
            try:
                read_history(self.history)
            except RecordError as error:
                raise Failure(f"--history {error}") from error

    def write(self, outcome: Outcome) -> Standing | None:
        """Writes what is wanted; returns how the run stands among those of its history, None where it has none.

        Raises:
            Failure: a file cannot be written; the others are.
        """
        from accel_advisor.tuning.record.outcome_record import recorded
        from accel_advisor.tuning.record.record_file import write_record

        record = recorded(outcome)
        writers: dict[str, Callable[[Path], None]] = {
            "--json": lambda path: write_record(record, path),
            "--report": lambda path: _write_page(record, path),
            "--trace": lambda path: _write_trace(record, path),
        }
        failures: list[str] = []
        found = self._append(record, failures)
        for option, path in self._files():
            if option in writers:
                try:
                    writers[option](path)
                except OSError as error:
                    failures.append(f"{option} {path}: cannot be written: {error.strerror or error}")
        if failures:
            raise Failure("; ".join(failures))
        return found

    @property
    def replaced(self) -> list[str]:
        """The names of the files that :meth:`write` overwrites."""
        return [str(path) for option, path in self._files() if option != "--history"]

    def _files(self) -> Iterator[tuple[str, Path]]:
        for option, path in (
            ("--json", self.json),
            ("--report", self.page),
            ("--trace", self.trace),
            ("--history", self.history),
        ):
            if path is not None:
                yield option, path

    def _append(self, record: Record, failures: list[str]) -> Standing | None:
        from accel_advisor.tuning.record.history import (
            History,
            Rank,
            Standing,
            append,
            entry_of,
            read_history,
            standing,
        )
        from accel_advisor.tuning.record.record_file import RecordError

        if self.history is None:
            return None
        today = entry_of(record)
        if today is None:
            return Standing(Rank.UNKNOWN)
        try:
            history = read_history(self.history) if self.history.exists() else History(())
            append(self.history, today)
        except (OSError, RecordError) as error:
            reason = str(error) if isinstance(error, RecordError) else error.strerror or error
            failures.append(f"--history {self.history}: cannot be written: {reason}")
            return None
        return standing(today, history, self.tolerance)


def _write_page(record: Record, path: Path) -> None:
    from accel_advisor.editing.fixer import write_atomically
    from accel_advisor.tuning.page.page import trial_page

    write_atomically(path, trial_page(record).encode())


def _write_trace(record: Record, path: Path) -> None:
    from accel_advisor.editing.fixer import write_atomically
    from accel_advisor.tuning.showing.trace import trace

    write_atomically(path, (json.dumps(trace(record), allow_nan=False) + "\n").encode())
