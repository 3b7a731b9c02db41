"""What a person sees while it runs: what is being tried, and what is known so far. Only on a terminal."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from .search import Search
from .settings import describe
from .wording import interval_text

_ROWS = 8


class Screen:
    """A live table on a terminal; silent elsewhere. Its :meth:`show` is a :data:`~.session.Watch`."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, transient=True, refresh_per_second=4) if console.is_terminal else None
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, purpose: str, search: Search | None) -> None:
        """Shows what is being done, in words, and the search as far as it is."""
        if self._live is not None:
            self._live.update(self._render(purpose, search))

    def _render(self, purpose: str, search: Search | None) -> RenderableType:
        spinner = Spinner("dots", Text(f"{purpose}  {time.monotonic() - self._began:.0f} s"))
        if search is None:
            return spinner
        bar = ProgressBar(total=search.budget, completed=min(search.spent, search.budget), width=40)
        table = Table(box=None, pad_edge=False)
        table.add_column("tried so far")
        table.add_column("against now")
        ranked = sorted(search.readings.tried, key=lambda settings: search.readings.potential(settings) or float("inf"))
        for settings in ranked[:_ROWS]:
            final = search.gain if settings == search.chosen else None
            against = final or search.readings.against_baseline(settings)
            table.add_row(describe(settings), interval_text(against) if against else "")
        return Group(spinner, bar, table) if ranked else Group(spinner, bar)
