"""``accel-advisor lint``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from accel_advisor.commands.failure import Failure
from accel_advisor.commands.lint_options import chosen, per_file, supported
from accel_advisor.commands.lint_output import print_diff, print_report, print_settings, print_why
from accel_advisor.commands.rule_completion import complete_rules
from accel_advisor.config import Config
from accel_advisor.configurations import Configurations
from accel_advisor.finding import Applicability, Confidence, Severity
from accel_advisor.output import DEFAULT, FOR_PEOPLE, formats

if TYPE_CHECKING:
    from accel_advisor.finding import Finding
    from accel_advisor.linting.adoption import Held
    from accel_advisor.linting.changed_findings import ChangedFindings
    from accel_advisor.linting.report import Report
    from accel_advisor.project.discovery import Found
    from accel_advisor.source.ignore_comments import Form

STDIN = "-"
SEVERITIES = click.Choice([one.value for one in Severity])
CONFIDENCES = click.Choice([one.value for one in Confidence])

_rules_option = partial(click.option, multiple=True, metavar="RULE", shell_complete=complete_rules)


@click.command(short_help="Find what keeps an accelerator waiting, without running anything.")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--fix", "make_fixes", is_flag=True, help="Make the fixes that are safe.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also those that may change what a run does.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and write nothing.")
@click.option("--add-ignore", is_flag=True, help="Write '# accel: ignore[CODE]' to each line that has a finding.")
@click.option("--add-noqa", is_flag=True, help="The same in the form '# noqa: CODE'.")
@click.option("--reason", metavar="TEXT", help="With --add-ignore: why, behind each comment.")
@click.option("--baseline", metavar="FILE", help="Hide the findings that FILE holds.")
@click.option("--no-baseline", is_flag=True, help="Hide none, whatever the configuration says.")
@click.option("--write-baseline", metavar="FILE", help="Write what is found to FILE, for --baseline.")
@click.option("--diff-base", metavar="REF", help="Show findings on lines that changed since this branch or commit.")
@_rules_option("--select", help="Run these rules only: codes, names or prefixes.")
@_rules_option("--ignore", "--extend-ignore", help="Do not run these rules.")
@_rules_option("--extend-select", help="Run these rules besides the others.")
@click.option("--per-file-ignores", multiple=True, metavar="PATTERN:RULE", help="Do not run a rule in some files.")
@click.option("--output-format", type=click.Choice(formats()), default=DEFAULT, show_default=True, help="How to print.")
@click.option("--output-file", type=click.Path(dir_okay=False), help="Where to print; stdout by default.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of showing them.")
@click.option("--min-severity", type=SEVERITIES, help="Show findings from this severity on.  [default: info]")
@click.option("--min-confidence", type=CONFIDENCES, help="Show findings that are at least so sure.  [default: evident]")
@click.option("--minor/--no-minor", default=None, help="Show also what is of little consequence where it stands.")
@click.option("--fail-on", type=SEVERITIES, help="Exit with 1 from this severity on.  [default: warning]")
@click.option(
    "--torch-version", metavar="RANGE", help="What the code supports: the oldest, or '>=2.1,<3'.  [default: declared]"
)
@click.option("--python-version", metavar="RANGE", help="The same of Python.  [default: what the project declares]")
@click.option("--platform", multiple=True, metavar="NAME", help="Where it runs: linux, macos, windows or all.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found.")
@click.option("--stdin-filename", metavar="FILE", help="What to call the text that '-' reads from stdin.")
@click.option("--force-exclude", is_flag=True, help="Skip files that are excluded even where they are named.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Processes at most.  [default: usable cores]")
@click.option("--no-cache", is_flag=True, help="Neither use nor keep what earlier runs found.")
@click.option("--measured", metavar="FILE", help="Rank by the prices that `tune --explain --json FILE` measured.")
@click.option("--why", "place", metavar="FILE:LINE", help="Say what each rule made of a line, and do nothing else.")
@click.option("--show-files", is_flag=True, help="List the files that would be linted, and do nothing else.")
@click.option("--show-settings", is_flag=True, help="Show the configuration that holds, and do nothing else.")
def lint(
    paths: tuple[str, ...],
    make_fixes: bool,
    unsafe_fixes: bool,
    diff: bool,
    add_ignore: bool,
    add_noqa: bool,
    reason: str | None,
    baseline: str | None,
    no_baseline: bool,
    write_baseline: str | None,
    diff_base: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    extend_select: tuple[str, ...],
    per_file_ignores: tuple[str, ...],
    output_format: str,
    output_file: str | None,
    statistics: bool,
    min_severity: str | None,
    min_confidence: str | None,
    minor: bool | None,
    fail_on: str | None,
    torch_version: str | None,
    python_version: str | None,
    platform: tuple[str, ...],
    exit_zero: bool,
    stdin_filename: str | None,
    force_exclude: bool,
    jobs: int | None,
    no_cache: bool,
    measured: str | None,
    place: str | None,
    show_files: bool,
    show_settings: bool,
) -> int:
    """Find what keeps an accelerator waiting, without running, importing or evaluating anything.

    PATH is a file, a folder or '-' for stdin; the working directory by default. Below a folder, tests, documentation,
    vendored and generated code, what lies in folders such as `old`, `run_old.py` beside `run.py`, and
    whatever .gitignore names are skipped.

    Exits with 0 where nothing at or above --fail-on remains, with 1 where something does, and with 2 for wrong use,
    a wrong configuration or an internal error.
    """
    from accel_advisor.linting.joining import by_call, by_step, joined, once_in_copies
    from accel_advisor.project.discovery import Discoverer, Found

    if STDIN in paths and len(paths) > 1:
        raise click.UsageError("'-' reads stdin and cannot be used with another path")
    if stdin_filename is not None and STDIN not in paths:
        raise click.UsageError("--stdin-filename needs the path '-'")
    _refuse_both(
        {
            "--fix or --diff": make_fixes or diff,
            "--add-ignore": add_ignore,
            "--add-noqa": add_noqa,
            "--write-baseline": write_baseline is not None,
        }
    )
    known = {"--baseline": baseline is not None, "--no-baseline": no_baseline}
    _refuse_both({**known, "--write-baseline": write_baseline is not None})
    _refuse_both({"--diff-base": diff_base is not None, "--write-baseline": write_baseline is not None})
    if write_baseline is not None and STDIN in paths:
        raise click.UsageError("--write-baseline cannot be used with '-': name the files")
    change = partial(
        Config.changed,
        select=chosen(select, "--select") if select else None,
        extend_select=chosen(extend_select, "--extend-select"),
        ignore=chosen(ignore, "--ignore"),
        per_file_ignores=per_file(per_file_ignores),
        min_severity=Severity(min_severity) if min_severity else None,
        min_confidence=Confidence(min_confidence) if min_confidence else None,
        minor=minor,
        fail_on=Severity(fail_on) if fail_on else None,
        target=supported(torch_version, python_version, platform),
    )
    configurations = Configurations(change)
    if place is not None:
        if paths:
            said = (
                f": say `--why {paths[0]}:{place}`"
                if place.isdecimal()
                else ", such as train.py:42: leave out the paths"
            )
            raise click.UsageError(f"--why names file and line{said}")
        print_why(place, configurations)
        return 0
    named = (stdin_filename or ".",) if STDIN in paths else paths or (".",)
    for one in named:
        configurations.near(one)  # a baseline holds where its configuration is known
    if show_settings:
        print_settings(configurations, named)
        return 0
    sources: dict[str, bytes] = {}
    notes: list[str] = []
    if STDIN in paths:
        name = stdin_filename or STDIN
        sources[name] = sys.stdin.buffer.read()
        files = [Found(name, named=True)]
    else:
        discoverer = Discoverer(configurations.patterns, force_exclude=force_exclude)
        discovery = discoverer.discover(named)
        files, notes = discovery.files, discovery.notes
    for note in notes:
        click.echo(f"Warning: {note}", err=True)
    something_there = bool(files)
    changes = _changes(diff_base, files, sources)
    if changes is not None:
        files = changes.files
    if show_files:
        from accel_advisor.linting.linter import to_lint

        for file in files:
            configurations.of(file.filename)
        files = to_lint(files, configurations)
        click.echo("".join(f"{one.filename}\n" for one in files), nl=False)
        return 0
    ranked = _ranking(measured)
    form = _form(add_ignore, add_noqa)
    why = _reason(reason, form)
    held = _held(configurations, baseline, no_baseline or write_baseline is not None)
    run = partial(_report, files, configurations, jobs=jobs, use_cache=not no_cache)
    report = run(sources)
    for failure in report.failures:
        click.echo(f"Error: {failure}", err=True)
    if not something_there and not force_exclude:
        from accel_advisor.commands.nothing_there import nothing_there

        raise Failure(nothing_there(named))
    filenames = [one.filename for one in files if os.path.realpath(one.filename) not in report.left_out]
    if write_baseline is not None:
        from accel_advisor.linting.adoption import write_baseline as write

        return 0 if write(report, write_baseline, filenames, configurations) else 2
    new = held.new if held is not None else partial(_shown, configurations)
    if changes is not None:
        new = partial(_new_on_changed_lines, new, changes)
    if make_fixes or diff:
        from accel_advisor.linting.fix_loop import fix

        allow = {Applicability.SAFE} | ({Applicability.UNSAFE} if unsafe_fixes else set())
        outcome = fix(report, allow, new)
        if diff:
            return print_diff(outcome, exit_zero)
        if not _write(outcome.after, outcome.read, sources):
            return 2
        report = replace(outcome.report, fixed=outcome.fixed)
    if form is not None:
        from accel_advisor.linting.adoption import silence

        silenced = silence(replace(report, findings=new(report)), form, why)
        if not _write(silenced.after, report.sources, sources):
            return 2
        report = run({name: silenced.after.get(name, raw) for name, raw in sources.items()})
        for sentence in silenced.sentences():
            click.echo(sentence, err=True)
    if changes is None:
        left = [one for one in report.findings if configurations.would_show(one) and not configurations.shows(one)]
        report = replace(report, minor=len(joined(left)))
    if held is not None:
        report = held.without_known(report, filenames)
    else:
        report = replace(report, findings=_shown(configurations, report))
    if changes is not None:
        report = changes.only(report)
    findings = once_in_copies(joined(ranked(report.findings)), report)
    findings = by_step(findings) if output_format in FOR_PEOPLE and not statistics else findings
    report = replace(report, findings=by_call(findings) if output_format == DEFAULT and not statistics else findings)
    to_stderr = bool(sources) and (make_fixes or form is not None)
    print_report(report, output_format, output_file, statistics=statistics, err=to_stderr)
    if report.broken:
        return 2
    return int(any(map(configurations.fails, report.findings)) and not exit_zero)


def _ranking(measured: str | None) -> Callable[[list[Finding]], list[Finding]]:
    """How findings are ordered: as they stand, unless a trial has measured them.

    Raises:
        Failure: the record of that trial cannot be used.
    """
    if measured is None:
        return list
    from accel_advisor.tuning.pricing.measured_findings import MeasuredPrices
    from accel_advisor.tuning.record.record_file import RecordError

    try:
        return MeasuredPrices(Path(measured)).ranked
    except RecordError as error:
        raise Failure(f"--measured: {error}") from error


def _shown(configurations: Configurations, report: Report) -> list[Finding]:
    """The findings of a report that are severe enough to be shown."""
    return [one for one in report.findings if configurations.shows(one)]


def _changes(ref: str | None, files: Sequence[Found], sources: Mapping[str, bytes]) -> ChangedFindings | None:
    """What changed since a commit; None where that was not asked."""
    if ref is None:
        return None
    from accel_advisor.linting.changed_findings import ChangedFindings
    from accel_advisor.project.changed_lines import ChangedLines

    changes = ChangedFindings(ChangedLines(ref), files, sources)
    if files and not changes.files:
        click.echo(f"Nothing that is linted changed since {ref}.", err=True)
    return changes


def _new_on_changed_lines(
    new: Callable[[Report], list[Finding]], changes: ChangedFindings, report: Report
) -> list[Finding]:
    return changes.on_changed_lines(report, new(report))


def _refuse_both(given: Mapping[str, bool]) -> None:
    named = [option for option, one in given.items() if one]
    if len(named) > 1:
        raise click.UsageError(f"{named[0]} cannot be used with {named[1]}")


def _form(add_ignore: bool, add_noqa: bool) -> Form | None:
    if not add_ignore and not add_noqa:
        return None
    from accel_advisor.source.ignore_comments import Form

    return Form.ACCEL if add_ignore else Form.NOQA


def _reason(reason: str | None, form: Form | None) -> str:
    if reason is None:
        return ""
    from accel_advisor.linting.adoption import checked_reason

    return checked_reason(reason, form)


def _held(configurations: Configurations, named: str | None, without: bool) -> Held | None:
    """The baselines that hold, if any."""
    if named is None and (without or not any(one.baseline for one in configurations.known)):
        return None
    from accel_advisor.linting.adoption import Held

    return Held.named(configurations, named) if named is not None else Held.configured(configurations)


def _report(
    files: list[Found], configurations: Configurations, sources: dict[str, bytes], *, jobs: int | None, use_cache: bool
) -> Report:
    from accel_advisor.linting.linter import lint as run
    from accel_advisor.machine.cores import usable_cores

    caches = None
    if use_cache:
        from accel_advisor.linting.cache import Caches

        caches = Caches()
    report = run(files, configurations, jobs=jobs or usable_cores(), memory=caches, sources=sources)
    if caches is not None and not sources:
        caches.save()
    return report


def _write(after: Mapping[str, bytes], read: Mapping[str, bytes], sources: Mapping[str, bytes]) -> bool:
    """Replaces files, unless they are no longer as they were read, or writes the new text of stdin to stdout; says why
    where it cannot."""
    from accel_advisor.editing.fixer import write_all

    for name, raw in sources.items():
        sys.stdout.buffer.write(after.get(name, raw))
        sys.stdout.buffer.flush()
    try:
        write_all({name: raw for name, raw in after.items() if name not in sources}, read)
    except OSError as error:
        click.echo(f"Error: {error.filename}: cannot be written: {error.strerror}; no file was changed", err=True)
        return False
    return True
