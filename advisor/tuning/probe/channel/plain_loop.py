"""What parent and probe say to each other of a loop that takes its batches from no DataLoader."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Unreplayed(Enum):
    """Why no batch can be handed to a loop again in the place of fetching one."""

    NOT_FOUND = auto()
    """No function of the script's own gives in every step what the model takes."""
    GENERATOR = auto()
    """It is a generator, which runs already."""
    NOT_A_FUNCTION = auto()
    """What holds the code cannot be found, or is no plain function."""
    NEEDS_GRADIENTS = auto()
    """What it gives is a part of the graph that the backward pass goes through."""
    NOT_COPIED = auto()
    """What it gives cannot be copied."""


@dataclass(frozen=True, slots=True)
class PlainLoop:
    """A loop whose steps end with an optimizer's.

    Attributes:
        optimizer: the class of the one that ends a step.
        function: the qualified name of what fetches a batch; empty where it is not known.
        filename, row: where that is defined.
        calls: how often a step calls it.
        unreplayed: why it cannot be left out; None where it can.
        names_loader: whether the script names a DataLoader all the same: a loop that takes its batches from one may
            come later.
    """

    optimizer: str
    function: str = ""
    filename: str = ""
    row: int = 0
    calls: int = 0
    unreplayed: Unreplayed | None = None
    names_loader: bool = False


@dataclass(frozen=True, slots=True)
class Passes:
    """Seconds of a block in the passes of its steps: each moment belongs to the first of these that it was in."""

    forward: float
    backward: float
    optimizer: float
