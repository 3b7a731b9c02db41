"""Processes of their own: what is frozen, and how many objects there are, is not the tests' to say here."""

import subprocess
import sys

BEGIN = """\
import gc
import weakref

from accel_advisor.tuning.probe.script.garbage import uncollected


class Node:
    pass


def cycle():
    node = Node()
    node.own = node
    return weakref.ref(node)


full = []
gc.callbacks.append(lambda phase, info: full.append(phase) if info["generation"] == 2 else None)
gc.set_threshold(700, 10, 10)
"""


def run(*statements: str) -> None:
    script = BEGIN + "\n".join(statements)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_was_made_meanwhile_is_not_looked_through() -> None:
    run(
        "before = cycle()",
        "with uncollected():",
        "    assert before() is None",
        "    assert not gc.isenabled()",
        "    within = cycle()",
        "    made = [[] for _ in range(200_000)]",
        "assert gc.isenabled()",
        "more = [[] for _ in range(20_000)]",
        "gc.collect(1)",
        "assert full == []",
        "assert within() is not None",
        "assert any(each is made for each in gc.get_objects(2))",
        "assert gc.get_freeze_count() == 0",
        "gc.collect()",
        "assert within() is None",
    )


def test_what_a_script_froze_stays_frozen() -> None:
    run(
        "frozen = cycle()",
        "gc.freeze()",
        "count = gc.get_freeze_count()",
        "with uncollected():",
        "    within = cycle()",
        "assert within() is None",
        "assert gc.get_freeze_count() == count",
        "gc.unfreeze()",
        "gc.collect()",
        "assert frozen() is None",
    )


def test_who_sees_to_garbage_himself_is_left_alone() -> None:
    run(
        "gc.disable()",
        "left = cycle()",
        "with uncollected():",
        "    pass",
        "assert not gc.isenabled()",
        "assert left() is not None",
        "assert any(each is left() for each in gc.get_objects(0))",
        "assert full == []",
    )
