"""What ``lint`` prints: a report, a diff, the configuration, and what became of a line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from accel_advisor.commands.failure import Failure
from accel_advisor.output import Screen, rendered

if TYPE_CHECKING:
    from accel_advisor.config import Config
    from accel_advisor.configurations import Configurations
    from accel_advisor.linting.fix_loop import FixOutcome
    from accel_advisor.linting.report import Report


def print_report(report: Report, output_format: str, output_file: str | None, *, statistics: bool, err: bool) -> None:
    """Prints a report to a file, else to stdout, or to stderr with ``err``.

    Raises:
        UsageError: the file cannot be written.
    """
    if statistics:
        from accel_advisor.commands import rule_counts

        text = rule_counts.render(report, as_json=output_format == "json")
    else:
        text = rendered(report, output_format, Screen(_colour(), _width()) if output_file is None else Screen())
    if output_file is None:
        click.echo(text, nl=False, err=err, color=True)
        return
    from accel_advisor.editing.fixer import write_atomically

    try:
        write_atomically(output_file, text.encode())
    except OSError as error:
        raise click.UsageError(f"--output-file: {output_file} cannot be written: {error.strerror}") from error


def print_diff(outcome: FixOutcome, exit_zero: bool) -> int:
    """Prints what the fixes change; gives the exit status."""
    from accel_advisor.editing.fixer import diff

    for name in sorted(outcome.after):
        relative = os.path.relpath(name)
        shown = name if relative.startswith(os.pardir) else relative.replace(os.sep, "/")
        click.echo(diff(shown, outcome.before[name], outcome.document_after(name)), nl=False)
    fixes, files = len(outcome.fixed), len(outcome.after)
    counted = f"{fixes} fix{'' if fixes == 1 else 'es'} in {files} file{'' if files == 1 else 's'}"
    click.echo(f"{counted}; nothing was written.", err=True)
    if outcome.report.broken:
        return 2
    return int(bool(outcome.after) and not exit_zero)


def print_settings(configurations: Configurations, named: Iterable[str]) -> None:
    """Prints the configuration that holds for some paths, with what the project declares.

    Raises:
        UsageError: several configurations hold for them.
    """
    import json

    from accel_advisor.project.requirements import Requirements

    requirements = Requirements()
    holding: set[Config] = set()
    for path in named:
        folder = os.path.abspath(path if os.path.isdir(path) else os.path.dirname(path))
        config, stated = configurations.of(path), requirements.of(folder, configurations.root(folder))
        holding.add(replace(config, target=config.target.over(stated.target)))
    if len(holding) > 1:
        raise click.UsageError("--show-settings: several configurations hold for these paths; name one of them")
    click.echo(json.dumps(holding.pop().settings(), indent=2))


def print_why(place: str, configurations: Configurations) -> None:
    """Prints what became of a line, ``FILE:LINE``.

    Raises:
        Failure: there is no such line.
    """
    from accel_advisor.output.text import printable
    from accel_advisor.why.explanation import WhyError, explained

    try:
        click.echo("\n".join(map(printable, explained(place, configurations))))
    except WhyError as error:
        raise Failure(f"--why: {error}") from error


def _colour() -> bool:
    """Colour follows NO_COLOR, then FORCE_COLOR, then the terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def _width() -> int | None:
    """Columns of the terminal, or what COLUMNS says; None where the output goes elsewhere."""
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS", "").isdecimal():
        return None
    import shutil

    return shutil.get_terminal_size().columns
