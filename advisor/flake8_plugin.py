"""The findings as codes of flake8. Its entry point is in pyproject.toml; flake8 itself is no dependency of this
package."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from flake8.exceptions import ExecutionError  # type: ignore[import-untyped]

from accel_advisor import __version__
from accel_advisor.config import ConfigError
from accel_advisor.configurations import Configurations
from accel_advisor.finding import Finding, Severity
from accel_advisor.linting.adoption import Held
from accel_advisor.linting.cache import Caches
from accel_advisor.linting.joining import joined
from accel_advisor.linting.linter import lint
from accel_advisor.machine.cores import usable_cores
from accel_advisor.output.text import printable
from accel_advisor.project.discovery import SUFFIXES, Discoverer, DiscoveryError, Found
from accel_advisor.selection import INTERNAL_ERROR, SelectorError

STDIN = "-"


class Plugin:
    """What flake8 asks about each file. All files are linted once, before flake8 starts processes of its own: a file is
    understood together with those that it imports and that import it, and what did not change comes from the cache.

    Args:
        tree: what flake8 parsed; not used, and what makes flake8 ask once a file.
        filename: as flake8 names it.
        lines: its text, which only counts where it comes from stdin.
    """

    name = "accel-advisor"
    version = __version__
    _least: ClassVar[Severity | None] = None
    _stdin: ClassVar[str | None] = None
    _findings: ClassVar[dict[str, list[Finding]]] = {}

    def __init__(self, tree: Any, filename: str, lines: Sequence[str]) -> None:
        self._filename = filename
        self._lines = lines

    @classmethod
    def add_options(cls, manager: Any) -> None:
        """Adds what this plugin can be told, in flake8's configuration or on its command line."""
        manager.add_option(
            "--acc-min-severity",
            parse_from_config=True,
            choices=[one.value for one in Severity],
            default=None,
            help="The least severity of ACC codes that is reported; by default what makes `accel-advisor lint` fail.",
        )

    @classmethod
    def parse_options(cls, manager: Any, options: argparse.Namespace, paths: Sequence[str]) -> None:
        """Lints everything that flake8 was asked about.

        Raises:
            ExecutionError: a configuration of accel-advisor or a rule of another package cannot be used.
        """
        cls._least = Severity(options.acc_min_severity) if options.acc_min_severity else None
        cls._stdin = options.stdin_display_name if STDIN in paths else None
        cls._findings = {}
        named = [path for path in paths or ["."] if os.path.exists(path)]  # flake8 reports the others
        if named and not options.bug_report:
            cores = options.jobs.n_jobs
            cls._findings = cls._linted(named, jobs=cores if cores > 0 else usable_cores())

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """The findings of the file, each with its row, counted from 1, and its column, counted from 0."""
        findings = self._findings
        if self._filename == self._stdin:
            findings = self._linted([], sources={self._filename: "".join(self._lines).encode(errors="surrogatepass")})
        for one in findings.get(os.path.realpath(self._filename), []):
            yield one.span.start.row, one.span.start.column - 1, f"{one.code} {printable(one.message)}", type(self)

    @classmethod
    def _linted(
        cls, named: Sequence[str], *, jobs: int = 1, sources: Mapping[str, bytes] | None = None
    ) -> dict[str, list[Finding]]:
        """What is to be reported, by the absolute paths of files."""
        configurations = Configurations()
        found: dict[str, list[Finding]] = {}
        try:
            discoverer = Discoverer(configurations.patterns, force_exclude=True)
            files = [one for one in discoverer.discover(named).files if one.filename.endswith(SUFFIXES[:2])]
            files += [Found(name, named=True) for name in sources or ()]
            for one in files:
                configurations.of(one.filename)
            held = Held.configured(configurations)
            caches = Caches()
            report = lint(files, configurations, jobs=jobs, memory=caches, sources=sources)
            if not sources:
                caches.save()
        except (ConfigError, DiscoveryError, SelectorError) as error:
            raise ExecutionError(f"accel-advisor: {error}") from error
        if report.failures:
            raise ExecutionError(f"accel-advisor: {report.failures[0]}")
        for finding in joined(filter(partial(cls._reports, configurations), held.new(report))):
            found.setdefault(os.path.realpath(finding.filename), []).append(finding)
        return found

    @classmethod
    def _reports(cls, configurations: Configurations, finding: Finding) -> bool:
        if finding.code == INTERNAL_ERROR[0] or cls._least is None:
            return configurations.fails(finding)
        return finding.severity.rank >= cls._least.rank
