"""How something is known: proven by the code, or evident from what stands around it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from accel_advisor.finding import Confidence


class Ground(Enum):
    """What an expert reader goes by where the code does not say it; the words are those of messages."""

    GPU = "the GPU that the program names"
    MOVES = "what the program moves to a device"
    TRAINING = "the training loop"
    LOOP = "the loop over it"
    MOVE = "the call that moves it"
    METHOD = "a method that only tensors have"
    NAME = "its name"
    ANNOTATION = "its annotation"
    DOCSTRING = "its docstring"
    DEFAULT = "the default of an option"
    INPUTS = "what it is computed from"
    FORMULA = "the tensor that it is computed with"
    KEPT = "what it was before an unknown call"
    MODE = "its `eval()`"
    CHOICE = "what the program can choose from"


_ORDER = {ground: at for at, ground in enumerate(Ground)}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the knowledge of a value rests on.

    Attributes:
        grounds: all that it takes, without repetition, in the order of :class:`Ground`; empty where the code says it.
    """

    grounds: tuple[Ground, ...] = ()

    @classmethod
    def of(cls, *grounds: Ground) -> Evidence:
        """Evidence that rests on these grounds together."""
        return cls(tuple(sorted(set(grounds), key=_ORDER.__getitem__)))

    def __or__(self, other: Evidence) -> Evidence:
        """What knowledge rests on that takes both."""
        if not other.grounds or self is other:
            return self
        return Evidence.of(*self.grounds, *other.grounds) if self.grounds else other

    @property
    def proven(self) -> bool:
        """Whether the code itself says it."""
        return not self.grounds

    @property
    def confidence(self) -> Confidence:
        """How sure a finding is that rests on it."""
        return Confidence.EVIDENT if self.grounds else Confidence.PROVEN

    @property
    def words(self) -> str:
        """The grounds in a row: ``the loop over it and its name``; empty where it is proven."""
        *others, last = [ground.value for ground in self.grounds] or [""]
        return f"{', '.join(others)} and {last}" if others else last

    @property
    def clause(self) -> str:
        """The grounds for a message, with what is before them: ``, judging by the loop over it and its name``; empty
        where it is proven."""
        return f", judging by {self.words}" if self.grounds else ""


PROVEN = Evidence()
"""The code says it."""
