"""``lint`` and ``tune`` as functions."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from accel_advisor.configurations import Configurations
from accel_advisor.finding import Confidence, Finding, Severity
from accel_advisor.library.choices import choices, shown
from accel_advisor.linting.cache import Caches
from accel_advisor.linting.joining import joined
from accel_advisor.linting.linter import lint as lint_files
from accel_advisor.project.discovery import Discoverer
from accel_advisor.tuning.record.record_file import RecordError, read_record
from accel_advisor.tuning.record.schema import Record as Trial

_Path = str | os.PathLike[str]
CANNOT_START = 127
"""The exit status of shells for a program that they cannot start."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a lint found.

    Attributes:
        findings: in the order of files and places, as the command line shows them.
        checked: how many files were looked at, those that mention no accelerator included.
        notes: sentences about what could not be looked at.
        failures: sentences about configurations that cannot be used, whose files are left out, and about rules that did
            not run, because they cannot be loaded.

    Example:
        >>> from accel_advisor import lint
        >>> report = lint("train.py")
        >>> report.checked, len(report.findings), report.notes, report.failures
        (1, 2, (), ())
    """

    findings: tuple[Finding, ...]
    checked: int
    notes: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


def lint(
    paths: _Path | Iterable[_Path] = (".",),
    *,
    select: str | Iterable[str] | None = None,
    extend_select: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    min_severity: Severity | str | None = None,
    min_confidence: Confidence | str | None = None,
    force_exclude: bool = False,
    jobs: int = 1,
    cache: bool = True,
) -> Report:
    """What ``accel-advisor lint`` finds. Nothing of what is linted is run, imported or evaluated.

    Args:
        paths: a file or folder, or several.
        select: the only rules that run: codes, names or prefixes, several as a list or separated by commas; None for
            those that are configured.
        extend_select: rules that run besides.
        ignore: rules that do not run.
        min_severity: the least that is shown, such as ``"warning"``; None for what is configured.
        min_confidence: the same, ``"evident"`` or ``"proven"``.
        force_exclude: skip files that are excluded even where they are named.
        jobs: processes at most. A program that is not protected by ``if __name__ == "__main__"`` can use one.
        cache: use what earlier runs found, and keep what this one finds, below the root of each project.

    Raises:
        ValueError: a path does not exist, no file has a configuration that can be used, a baseline cannot be used, a
            selector means no rule, or a severity or confidence is none; one sentence that says what and where.

    Example:
        >>> from accel_advisor import lint
        >>> report = lint("train.py", select="ACC201, ACC208", min_severity="info")
        >>> [f"{one.filename}:{one.span.start}: {one.code}" for one in report.findings]
        ['train.py:13:18: ACC201', 'train.py:16:14: ACC208']
    """
    named = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    configurations = Configurations(choices(select, extend_select, ignore, min_severity, min_confidence))
    found = Discoverer(configurations.patterns, force_exclude=force_exclude).discover([os.fspath(one) for one in named])
    caches = Caches() if cache else None
    report = lint_files(found.files, configurations, jobs=jobs, memory=caches)
    if caches is not None:
        caches.save()
    return Report(
        tuple(joined(shown(report, configurations))), report.checked, tuple(found.notes), tuple(report.failures)
    )


class TrialError(RuntimeError):
    """A trial that came to no record; the message is the last that the command said.

    Attributes:
        status: its exit status; 127 where the interpreter cannot be started.
        output: all that it said.

    Example:
        >>> from accel_advisor import TrialError, tune
        >>> try:
        ...     tune("gone.py")
        ... except TrialError as error:
        ...     print(error, error.status)
        gone.py does not exist 2
    """

    def __init__(self, status: int, output: str) -> None:
        said = [line for line in output.splitlines() if line.strip()]
        super().__init__(said[-1].removeprefix("Error: ") if said else f"tune ended with status {status}")
        self.status = status
        self.output = output


def tune(
    script: _Path,
    arguments: Sequence[str] = (),
    *,
    budget: float = 60.0,
    apply: bool = False,
    options: Sequence[str] = (),
    python: _Path = sys.executable,
) -> Trial:
    """What ``accel-advisor tune`` measures, in a process of its own, in the present working directory. The script runs
    for a while, unmodified; what it writes does not stay.

    Args:
        script: the training script.
        arguments: its arguments.
        budget: seconds for the search, beyond the script's startup; at least 5.
        apply: write the settings that win, if the gain shows when the new source is run against the old one.
        options: more options of the command, such as ``["--knobs", "num_workers"]``.
        python: the interpreter that runs it, in whose environment torch and this package are installed.

    Raises:
        TrialError: there is nothing to report: the script does not run, has no loop that could be measured, or torch
            is not installed; or ``python`` cannot be started.

    Example:
        >>> from accel_advisor import tune
        >>> trial = tune("quick.py", budget=5, options=["--knobs", "num_workers"])
        >>> trial.verdict in ("change", "nothing_to_gain", "undecided")
        True
        >>> trial.applied
        False
    """
    with tempfile.TemporaryDirectory(prefix="accel-advisor-") as folder:
        record = Path(folder, "trial.json")
        words = ["--json", str(record), "--budget", f"{budget:g}", *(["--apply"] if apply else []), *options]
        try:
            done = subprocess.run(
                [os.fspath(python), "-m", "accel_advisor", "tune", os.fspath(script), *words, "--", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env={**os.environ, "NO_COLOR": "1"},
                check=False,
            )
        except OSError as error:
            raise TrialError(CANNOT_START, f"{os.fspath(python)} cannot be started: {error.strerror}") from error
        try:
            return read_record(record)
        except RecordError:
            raise TrialError(done.returncode, done.stdout) from None
