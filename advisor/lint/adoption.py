"""What lets a project with many findings begin: comments that silence them, and a baseline that holds them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from accel_advisor.config import Config
from accel_advisor.editing.fixer import edited
from accel_advisor.finding import Finding, Severity
from accel_advisor.lint.baseline import Baseline, judged
from accel_advisor.lint.report import Report
from accel_advisor.selection import TOOL_CODES
from accel_advisor.source.document import Document, DocumentError
from accel_advisor.source.ignore_comments import Form, Ignorer


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
        """What there is to tell."""
        told = [f"Silenced {_count(self.count, 'finding')} in {_count(len(self.after), 'file')}."]
        told += [
            f"{one.filename}:{one.span.start.row}: {one.code} has no place for a `# noqa`; --add-ignore silences it."
            for one in self.left
        ]
        return told


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
                done.after[filename] = edited(document, edits)
                _ = Document.from_bytes(filename, done.after[filename]).tree
            except UnicodeEncodeError as error:
                sentence = f"'{reason}' does not fit the encoding of {filename} ({document.encoding})"
                raise click.UsageError(f"--reason: {sentence}") from error
            except DocumentError:  # a place for a comment that is none after all
                del done.after[filename]
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
        raise click.UsageError("--reason goes with --add-ignore")
    if "#" in reason or not reason.isprintable() or not reason.strip():
        raise click.UsageError("--reason: must be one line of text without '#'")
    return reason.strip()


def read_baseline(config: Config, named: str | None, to_write: str | None, without: bool) -> Baseline | None:
    """The baseline that holds for a run: that of an option, else that of the configuration.

    Raises:
        ConfigError: it cannot be read.
    """
    if to_write is not None:
        path = Path(to_write)
        return Baseline.read(path) if path.exists() else Baseline(path)
    if named is not None:
        return Baseline.read(Path(named))
    if config.baseline is not None and not without:
        return Baseline.read(config.root / config.baseline)
    return None


def new_findings(report: Report, baseline: Baseline, least: Severity) -> list[Finding]:
    """The findings of a report that a baseline does not hold, from a severity on."""
    return [one for one in baseline.match(report).unknown if one.severity.rank >= least.rank]


def without_known(report: Report, baseline: Baseline, filenames: Iterable[str], config: Config) -> Report:
    """A report without what a baseline holds; tells on stderr where that holds what does not occur any more."""
    match = baseline.match(report)
    if match.left and not report.broken:
        stale = baseline.stale(match, judged(baseline, filenames, config))
        if stale:
            is_gone = "does not occur any more" if stale == 1 else "do not occur any more"
            remedy = f"--write-baseline {baseline.path} drops {'it' if stale == 1 else 'them'}"
            click.echo(f"Note: {_count(stale, 'finding')} in {baseline.path} {is_gone}; {remedy}.", err=True)
    findings = [one for one in match.unknown if one.severity.rank >= config.min_severity.rank]
    hidden = sum(one.severity.rank >= config.min_severity.rank for one in report.findings) - len(findings)
    return replace(report, findings=findings, hidden=hidden)


def write_baseline(report: Report, baseline: Baseline, filenames: Iterable[str], config: Config) -> bool:
    """Writes a baseline with what a report shows, and without what does not occur any more; tells why where it
    cannot."""
    if report.broken:
        click.echo(f"Error: {baseline.path} was not written, because findings may be missing", err=True)
        return False
    renewed = baseline.renewed(
        report,
        baseline.match(report),
        new_findings(report, baseline, config.min_severity),
        judged(baseline, filenames, config),
    )
    try:
        renewed.write()
    except OSError as error:
        click.echo(f"Error: {baseline.path}: cannot be written: {error.strerror or error}", err=True)
        return False
    click.echo(f"Wrote {_count(len(renewed), 'finding')} to {baseline.path}.")
    return True


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
