"""The command ``report``: what was recorded, shown again, side by side, or over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from accel_advisor.commands.failure import Failure, console_here
from accel_advisor.tuning.record.record_file import RecordError

if TYPE_CHECKING:
    from accel_advisor.tuning.record.history import History
    from accel_advisor.tuning.record.schema import Record


@click.command(name="report")
@click.argument("files", nargs=-1, metavar="FILE...", type=click.Path(path_type=Path))
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write a page, too: one file."
)
def report(files: tuple[Path, ...], html: Path | None) -> None:
    """Show what `tune --json` recorded.

    One FILE is shown as tune shows it; several are compared, each with the first one. A history, as `tune --history`
    writes it, is drawn.
    """
    if not files:
        raise Failure("name what `accel-advisor tune --json FILE` or `--history FILE` recorded")
    if html is not None:
        _check_page(html, files)
    names = [str(path) for path in files]
    try:
        content = _read(files)
    except RecordError as error:
        raise Failure(str(error)) from error
    if html is not None:
        _write(content, names, html)
    _print(content, names)


def _check_page(html: Path, files: tuple[Path, ...]) -> None:
    from accel_advisor.tuning.page.page import MISSING, available

    if not html.absolute().parent.is_dir():
        raise Failure(f"--html {html}: the folder {html.parent} does not exist")
    if any(html.resolve() == path.resolve() for path in files):
        raise Failure(f"--html {html}: this is what is to be read; name another file")
    if not available():
        raise Failure(MISSING)


def _read(files: tuple[Path, ...]) -> History | tuple[Record, ...]:
    """One history, or records.

    Raises:
        RecordError: a file is neither, or a history stands among others.
    """
    from accel_advisor.tuning.record.history import is_history, read_history
    from accel_advisor.tuning.record.record_file import read_record

    if not any(is_history(path) for path in files):
        return tuple(read_record(path) for path in files)
    if len(files) > 1:
        found = next(path for path in files if is_history(path))
        raise RecordError(f"{found}: is a history, and a history is drawn by itself")
    return read_history(files[0])


def _write(content: History | tuple[Record, ...], names: list[str], html: Path) -> None:
    from accel_advisor.editing.fixer import write_atomically
    from accel_advisor.tuning.page import page
    from accel_advisor.tuning.record.history import History

    if isinstance(content, History):
        text = page.history_page(content)
    elif len(content) == 1:
        text = page.trial_page(content[0])
    else:
        text = page.comparison_page(content, names)
    try:
        write_atomically(html, text.encode())
    except OSError as error:
        raise Failure(f"--html {html}: cannot be written: {error.strerror or error}") from error


def _print(content: History | tuple[Record, ...], names: list[str]) -> None:
    from accel_advisor.tuning.record.history import History
    from accel_advisor.tuning.showing.comparison import print_comparison
    from accel_advisor.tuning.showing.sparkline import print_history
    from accel_advisor.tuning.showing.summary import print_record

    console = console_here()
    if isinstance(content, History):
        print_history(content, console)
        for number in content.torn:
            click.echo(f"{names[0]}:{number}: this line was cut short when it was written, and is left out", err=True)
    elif len(content) == 1:
        print_record(content[0], console)
    else:
        print_comparison(content, names, console)
