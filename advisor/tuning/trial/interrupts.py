"""When requests to end are heeded, and when they wait: what is done and what is reported of it must not part.

Signals are held back by their handlers and not by a mask: those of a process reach whichever of its threads has none,
and the handler runs in the main thread all the same.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

_POLITE = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Interrupts:
    """Ctrl-C while this is open: inside of :meth:`heeded` it raises KeyboardInterrupt, elsewhere it is only noted.
    Has no effect outside of the main thread, and none on a signal that is ignored or handled by somebody else.

    Attributes:
        heard: whether there was one.
    """

    def __init__(self) -> None:
        self.heard = False
        self._heeding = False
        self._open = False

    def __enter__(self) -> Self:
        if _in_main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._hear)
            self._open = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._open:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self.heard = True
        if self._heeding:
            raise KeyboardInterrupt

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """What may be cut short.

        Raises:
            KeyboardInterrupt: it was; also at once, where one came before.
        """
        self._heeding = True
        try:
            if self.heard:
                raise KeyboardInterrupt
            yield
        except KeyboardInterrupt:
            self.heard = True
            raise
        finally:
            self._heeding = False


@contextmanager
def undisturbed() -> Iterator[None]:
    """Requests to end wait until this is over, and are passed on then."""
    if not _in_main_thread():
        yield  # where they never come
        return
    waiting: list[int] = []
    before: dict[int, Any] = {}
    try:
        for number in _POLITE:
            handler = signal.getsignal(number)
            if handler not in (None, signal.SIG_IGN):
                before[number] = handler
                signal.signal(number, lambda number, _frame: waiting.append(number))
        yield
    finally:
        for number in reversed(before):
            signal.signal(number, before[number])
        for number in waiting:
            signal.raise_signal(number)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
