"""What a person sees while it runs: on a terminal what is being tried and what is known so far, elsewhere a line for
each phase."""

from __future__ import annotations

import sys
import time
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from accel_advisor.tuning.search.purposes import Doing
from accel_advisor.tuning.search.search import Search
from accel_advisor.tuning.search.settings import describe
from accel_advisor.tuning.wording.figures import interval_text

_ROWS = 8


class Screen:
    """A live table on a terminal; elsewhere a line on stderr for each phase. Its :meth:`show` is a
    :data:`~.session.Watch`."""

    def __init__(self, console: Console) -> None:
        self._spinner = Spinner("dots")
        self._began = self._asked = time.monotonic()
        self._words = self._phase = ""
        self._spent = self._budget = 0.0
        self._table: Table | None = None
        self._live = (
            Live(get_renderable=self._render, console=console, transient=True, refresh_per_second=4)
            if console.is_terminal
            else None
        )

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, doing: Doing, search: Search | None) -> None:
        """Shows what is being done, and the search as far as it is."""
        if self._live is None:
            if doing.phase != self._phase:
                self._phase = doing.phase
                print(f"{time.monotonic() - self._began:4.0f} s  {doing.phase}", file=sys.stderr, flush=True)
            return
        # The table is made here and not while it is drawn: that happens in a thread of its own.
        self._table = _table(search) if search is not None else None
        self._spent, self._budget = (search.spent, search.budget) if search is not None else (0.0, 0.0)
        self._words, self._asked = doing.words, time.monotonic()

    def _render(self) -> RenderableType:
        """Drawn again several times a second, so that time goes on while a block runs."""
        now = time.monotonic()
        self._spinner.update(text=Text(f"{self._words}  {now - self._began:.0f} s"))
        if self._table is None:
            return self._spinner
        spent = min(self._spent + now - self._asked, self._budget)
        bar = ProgressBar(total=self._budget, completed=spent, width=40)
        return Group(self._spinner, bar, self._table) if self._table.row_count else Group(self._spinner, bar)


def _table(search: Search) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("tried so far")
    table.add_column("against now")
    ranked = sorted(search.readings.tried, key=lambda settings: search.readings.potential(settings) or float("inf"))
    for settings in ranked[:_ROWS]:
        final = search.gain if settings == search.chosen else None
        against = final or search.readings.against_baseline(settings)
        table.add_row(describe(settings), interval_text(against) if against else "")
    return table
