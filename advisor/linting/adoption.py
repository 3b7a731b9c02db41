"""What lets a project with many findings begin: comments that silence them, and a baseline that holds them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import click

from accel_advisor.config import Config
from accel_advisor.configurations import Configurations
from accel_advisor.editing.fixer import edited_python
from accel_advisor.finding import Finding
from accel_advisor.linting.baseline import Baseline, Judged, Match
from accel_advisor.linting.report import Report
from accel_advisor.linting.ruleset import Ruleset
from accel_advisor.linting.seen_words import count_of
from accel_advisor.selection import TOOL_CODES
from accel_advisor.source.ignore_comments import Form, Ignorer
from accel_advisor.source.parsing import DocumentError


@dataclass(slots=True)
class Silenced:
    """Comments that were written, before anything is on disk.

    Attributes:
        count: how many findings they silence.
        after: the new bytes of each file that gets some.
        left: the findings that have no place for a comment.
    """

    count: int = 0
    after: dict[str, bytes] = field(default_factory=dict)
    left: list[Finding] = field(default_factory=list)

    def sentences(self) -> list[str]:
        """What there is to say."""
        said = [f"Silenced {count_of(self.count, 'finding')} in {count_of(len(self.after), 'file')}."]
        said += [
            f"{one.filename}:{one.span.start.row}: {one.code} has no place for a `# noqa`; --add-ignore silences it."
            for one in self.left
        ]
        return said


def silence(report: Report, form: Form, reason: str) -> Silenced:
    """Writes a comment for each finding of a rule; what the tool says of itself is left alone.

    Raises:
        UsageError: the reason cannot be written into a file.
    """
    done = Silenced()
    by_file: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if finding.code not in TOOL_CODES:
            by_file.setdefault(finding.filename, []).append(finding)
    for filename, findings in by_file.items():
        document = report.document(filename)
        if document is None:
            continue
        edits, left = Ignorer(document, form, reason).edits(findings)
        done.left += left
        if edits:
            try:
                done.after[filename], _ = edited_python(document, edits)
            except UnicodeEncodeError as error:
                sentence = f"'{reason}' does not fit the encoding of {filename} ({document.encoding})"
                raise click.UsageError(f"--reason: {sentence}") from error
            except DocumentError:  # a place for a comment that is none after all
                done.left += findings
                continue
            done.count += len(findings) - len(left)
    return done


def checked_reason(reason: str | None, form: Form | None) -> str:
    """The reason to write, which must be one that is read back as one.

    Raises:
        UsageError: there is no comment that it could stand in, or it would end it.
    """
    if reason is None:
        return ""
    if form is not Form.ACCEL:
        raise click.UsageError("--reason needs --add-ignore")
    if "#" in reason or not reason.isprintable() or not reason.strip():
        raise click.UsageError("--reason: must be one line of text without '#'")
    return reason.strip()


class Held:
    """The baselines of a run.

    Args:
        configurations: of the files.
        of: which baseline holds under a configuration; None for none. It raises ConfigError for one that cannot be
            read.
    """

    def __init__(self, configurations: Configurations, of: Callable[[Config], Baseline | None]) -> None:
        self._configurations = configurations
        self._of = cache(of)
        for config in configurations.known:
            self._of(config)

    @classmethod
    def named(cls, configurations: Configurations, path: str) -> Held:
        """One baseline for all files.

        Raises:
            ConfigError: it cannot be read.
        """
        baseline = Baseline.read(Path(path))
        return cls(configurations, lambda _: baseline)

    @classmethod
    def configured(cls, configurations: Configurations) -> Held:
        """For each file the baseline that its own configuration names.

        Raises:
            ConfigError: one cannot be read.
        """
        read = cache(Baseline.read)
        return cls(configurations, lambda config: read(config.root / config.baseline) if config.baseline else None)

    def new(self, report: Report) -> list[Finding]:
        """The findings of a report that no baseline holds, and that the configuration of their file shows."""
        return self._unknown(report, self._matches(report))

    def without_known(self, report: Report, filenames: Sequence[str]) -> Report:
        """A report without what the baselines hold; says on stderr where one holds what no longer occurs.

        Args:
            filenames: all files that were linted.
        """
        matches = self._matches(report)
        for held, match in matches.items():
            if held is not None and match.left and not report.broken:
                own = [name for name in filenames if self._of(self._configurations.of(name)) is held]
                stale = held.stale(match, judged(held, own, self._configurations))
                if stale:
                    is_gone = "no longer occurs" if stale == 1 else "no longer occur"
                    remedy = f"--write-baseline {held.path} drops {'it' if stale == 1 else 'them'}"
                    click.echo(f"Note: {count_of(stale, 'finding')} in {held.path} {is_gone}; {remedy}.", err=True)
        findings = self._unknown(report, matches)
        hidden = sum(map(self._configurations.shows, report.findings)) - len(findings)
        return replace(report, findings=findings, hidden=hidden)

    def _matches(self, report: Report) -> dict[Baseline | None, Match]:
        found: dict[Baseline | None, list[Finding]] = {self._of(one): [] for one in self._configurations.known}
        for one in report.findings:
            found.setdefault(self._of(self._configurations.of(one.filename)), []).append(one)
        return {
            held: held.match(replace(report, findings=own)) if held is not None else Match(own, {})
            for held, own in found.items()
        }

    def _unknown(self, report: Report, matches: Mapping[Baseline | None, Match]) -> list[Finding]:
        unknown = {id(one) for match in matches.values() for one in match.unknown}
        return [one for one in report.findings if id(one) in unknown and self._configurations.shows(one)]


def write_baseline(report: Report, path: str, filenames: Iterable[str], configurations: Configurations) -> bool:
    """Writes to a file, which may be a baseline already, what a report shows, and drops what no longer occurs;
    says why where it cannot.

    Raises:
        ConfigError: it is there and no baseline.
    """
    if report.broken:
        click.echo(f"Error: {path} was not written, because findings may be missing", err=True)
        return False
    baseline = Baseline.read(Path(path)) if os.path.exists(path) else Baseline(Path(path))
    match = baseline.match(report)
    new = [one for one in match.unknown if configurations.shows(one)]
    renewed = baseline.renewed(report, match, new, judged(baseline, filenames, configurations))
    try:
        renewed.write()
    except OSError as error:
        click.echo(f"Error: {baseline.path}: cannot be written: {error.strerror or error}", err=True)
        return False
    click.echo(f"Wrote {count_of(len(renewed), 'finding')} to {baseline.path}.")
    return True


def judged(baseline: Baseline, filenames: Iterable[str], configurations: Configurations) -> Judged:
    """What a run over files can say about; loads the rules to know which of them ran."""
    rulesets: dict[Config, Ruleset] = {}
    found: dict[str, frozenset[str]] = {}
    for name in filenames:
        config = configurations.of(name)
        ruleset = rulesets.setdefault(config, Ruleset(config))
        found[baseline.key(name)] = ruleset.on - ruleset.off_in(name)
    return found
