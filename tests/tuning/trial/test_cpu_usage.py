"""Processor time of a tree of processes, those that have ended included."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from accel_advisor.tuning.trial.cpu_usage import Usage, processor_seconds

BUSY = "import time\nwhile time.process_time() < {seconds}: pass\n"
LEAST = 0.25
"""Seconds that must be seen of 0.3: the system tells user and system time in ticks of 10 ms and cuts off the rest."""


def test_nobody_knows_a_process_that_is_not_there() -> None:
    assert processor_seconds(None) == {}
    assert processor_seconds(2**30) == {}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports the time of children that have ended")
def test_children_count_while_they_live_and_when_they_have_ended() -> None:
    before = processor_seconds(os.getpid()).get(os.getpid())
    assert before is not None
    subprocess.run([sys.executable, "-c", BUSY.format(seconds=0.3)], check=True)
    ended = processor_seconds(os.getpid()).get(os.getpid())
    assert ended is not None
    assert ended - before >= LEAST
    program = BUSY.format(seconds=0.3) + "print('done', flush=True)\ninput()\n"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"done\n"
        both = processor_seconds(os.getpid(), child.pid)
        alive, own = both.get(os.getpid()), both.get(child.pid)
        child.communicate(b"\n")
    assert alive is not None
    assert own is not None
    assert alive - ended >= LEAST
    assert LEAST <= own <= alive


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports how busy its cores are")
def test_work_of_others_is_told_apart_from_that_of_the_trial() -> None:
    """A process that is no child of this one counts as other work; one that is does not."""
    orphan = (
        "import os, sys\n"
        "if os.fork(): sys.exit()\n"
        "os.setsid(); sys.stdout.write(f'{os.getpid()}\\n'); sys.stdout.flush()\n" + BUSY.format(seconds=1.0)
    )
    with subprocess.Popen([sys.executable, "-c", orphan], stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        stranger = int(starter.stdout.readline())
        starter.wait()
        before = Usage.now(os.getpid())
        with subprocess.Popen([sys.executable, "-c", BUSY.format(seconds=0.5)]) as own:
            own.wait()
        starter.stdout.read()  # until the stranger has ended
    after = Usage.now(os.getpid())
    seconds, cores, others = after.at - before.at, after.cores_since(before), after.others_since(before)
    assert cores is not None
    assert others is not None
    assert stranger not in (os.getpid(), starter.pid)
    assert cores * seconds >= 0.4
    assert others * seconds >= 0.7


def test_where_nothing_is_reported_nothing_is_said() -> None:
    unknown = Usage(1.0, None, None, None)
    assert unknown.cores_since(Usage(0.0, 0.0, 0.0, 0.0)) is None
    assert Usage(1.0, 1.0, 1.0, 2.0).others_since(unknown) is None
    assert Usage(2.0, 1.0, 1.0, 3.0).others_since(Usage(0.0, 0.0, 0.0, 0.0)) == 1.0
