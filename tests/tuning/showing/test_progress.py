"""The live table on a real terminal: the time goes on while a block runs, and Ctrl-C keeps what is known."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

SECONDS = re.compile(rb"(\d+) s")


class Terminal:
    """The command under a terminal, and everything that it wrote there."""

    def __init__(self, folder: Path, temporary: Path, *args: str) -> None:
        self.number, other = pty.openpty()
        termios.tcsetwinsize(other, (40, 100))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "accel_advisor", "tune", *args],
            cwd=folder,
            env={**os.environ, "TMPDIR": str(temporary), "TERM": "xterm", "COLUMNS": "100", "LINES": "40"},
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
            preexec_fn=_heed_interrupts,
        )
        os.close(other)
        self.seen = b""

    def until(self, pattern: bytes, seconds: float = 120.0) -> bool:
        """Reads until the pattern stands in what was written since the last call, the end, or the time is over."""
        begin, limit = len(self.seen), time.monotonic() + seconds
        while not re.search(pattern, self.seen[begin:]) and time.monotonic() < limit:
            try:
                chunk = os.read(self.number, 4096)
            except OSError:  # the other side is closed
                break
            self.seen += chunk
        return bool(re.search(pattern, self.seen[begin:]))


def _heed_interrupts() -> None:
    """A shell that starts these tests in the background lets its children ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


ASKS_ITS_TERMINAL = """\
import os
rows, columns = os.popen("stty size").read().split()
for _ in range(3):
    try:
        input()
    except EOFError:
        continue
    raise SystemExit("somebody answered")
raise SystemExit(f"{rows} rows, {columns} columns, nothing to read")
"""


def test_a_script_that_asks_its_terminal_finds_one(tmp_path: Path, temporary: Path) -> None:
    (tmp_path / "train.py").write_text(ASKS_ITS_TERMINAL)
    terminal = Terminal(tmp_path, temporary, "train.py")
    try:
        assert terminal.until(rb"then tune it"), terminal.seen
        assert terminal.process.wait(60) == 2
    finally:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.number)
    assert b"40 rows, 100 columns, nothing to read" in b" ".join(terminal.seen.split()), terminal.seen


def test_an_interrupt_of_the_start_is_one_sentence(project: Path, temporary: Path) -> None:
    terminal = Terminal(project, temporary, "plain_loop.py")
    try:
        assert terminal.until(rb"starting the script"), terminal.seen
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.until(rb"interrupted before there was anything to report; nothing was changed"), terminal.seen
        assert terminal.process.wait(60) == 128 + signal.SIGINT
    finally:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.number)
    assert b"Traceback" not in terminal.seen


def test_the_time_goes_on_and_an_interrupt_keeps_what_is_known(project: Path, temporary: Path) -> None:
    terminal = Terminal(project, temporary, "plain_loop.py", "--budget", "60")
    try:
        assert terminal.until(rb"starting the script"), terminal.seen
        assert terminal.until(rb"ceilings"), terminal.seen
        assert terminal.until(rb"[1-9] workers"), terminal.seen
        first = [int(each) for each in SECONDS.findall(terminal.seen)]
        assert len(set(first)) > 1, first
        terminal.process.send_signal(signal.SIGINT)
        terminal.until(rb" s in all", 60)
        assert terminal.process.wait(60) == 128 + signal.SIGINT
    finally:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.number)
    end = terminal.seen.decode(errors="replace")
    assert "Interrupted; this is what was known by then." in end
    assert "of each step waits for data" in end
    assert "Traceback" not in end
    assert " s in all." in end
