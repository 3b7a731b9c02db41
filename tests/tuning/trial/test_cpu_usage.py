"""Processor time of a tree of processes, those that have ended included."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from accel_advisor.tuning.trial.cpu_usage import processor_seconds

BUSY = "import time\nwhile time.process_time() < {seconds}: pass\n"
LEAST = 0.25
"""Seconds that must be seen of 0.3: the system tells user and system time in ticks of 10 ms and cuts off the rest."""


def test_nobody_knows_a_process_that_is_not_there() -> None:
    assert processor_seconds(None) is None
    assert processor_seconds(2**30) is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports the time of children that have ended")
def test_children_count_while_they_live_and_when_they_have_ended() -> None:
    before = processor_seconds(os.getpid())
    assert before is not None
    subprocess.run([sys.executable, "-c", BUSY.format(seconds=0.3)], check=True)
    ended = processor_seconds(os.getpid())
    assert ended is not None
    assert ended - before >= LEAST
    program = BUSY.format(seconds=0.3) + "print('done', flush=True)\ninput()\n"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"done\n"
        alive, own = processor_seconds(os.getpid()), processor_seconds(child.pid)
        child.communicate(b"\n")
    assert alive is not None
    assert own is not None
    assert alive - ended >= LEAST
    assert LEAST <= own <= alive
