"""A step of a training with a habit, and steps that are measured in turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Step = Callable[[], object]


def nothing() -> None:
    """Needs no preparation."""


@dataclass(frozen=True)
class Variant:
    """A step, and what it is compared with.

    Attributes:
        name: within its group.
        step: one step; it may return before the device is done.
        code: the rule that reports the habit; empty for steps that are only compared with.
        words: the habit, as a table says it.
        against: the name of the step without the habit.
        prepare: settings of the whole process, made before each of its blocks.
    """

    name: str
    step: Step
    code: str = ""
    words: str = ""
    against: str = ""
    prepare: Callable[[], None] = nothing


@dataclass(frozen=True)
class Group:
    """Steps that are measured in turns.

    Attributes:
        name: of the group.
        about: what a step does, in words.
        build: makes the steps; nothing of it is on the device before.
        block: the least number of seconds of a block.
    """

    name: str
    about: str
    build: Callable[[], list[Variant]]
    block: float = 0.12
