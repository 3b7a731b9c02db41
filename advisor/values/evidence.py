"""How something is known: proven by the code, or evident from what stands around it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from accel_advisor.finding import Confidence


class Ground(Enum):
    """What an expert reader goes by where the code does not say it, and what the reader then takes for granted."""

    GPU = "the GPU that the program names", "the device is a GPU"
    MOVES = "what the program moves to a device", "the device is a GPU"
    LAYERS = "the layers that the program builds", "the layers of the program are those of the model"
    LOOP = "the loop over it", "the loop goes over a DataLoader"
    MOVE = "the call that moves it", "the device is a GPU"
    METHOD = "a method that only tensors have", "the value is a tensor"
    NAME = "its name", "the loop goes over a DataLoader"
    ANNOTATION = "its annotation", "the annotation holds"
    DOCSTRING = "its docstring", "the docstring is right"
    DEFAULT = "the default of an option", "the option keeps its default"
    WORKERS = "the number of workers that it is given", "there are any"
    EPOCHS = "the loop over epochs", "no epoch changes the data set"
    INPUTS = "what it is computed from", "the value is a tensor"
    FORMULA = "the tensor that it is computed with", "the value is a tensor"
    KEPT = "what it was before an unknown call", "unknown calls hand back what they are given"
    USE = "what is done with it", "the file holds a checkpoint"
    CALLED = "what it is called", "the file holds a checkpoint"
    QUEUE = "the work that the GPU was given before", "what is not known does not wait for the GPU"
    MODE = "its `eval()`", "what is put in evaluation mode is a model"
    HOOK = "its use as a hook", "the training registers this hook"
    HELPER = "the tensor that it goes with", "the steps call this function"
    OPTIMIZER = "the optimizer that it is a step of", "the device is a GPU"
    STEP = "its backward pass and the step of an optimizer", "a training calls this function at each step"
    CHOICE = "what the program can choose from", "the program chooses among its own classes and functions"

    def __init__(self, reason: str, assumption: str) -> None:
        self.reason = reason
        self.assumption = assumption


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
        *others, last = [ground.reason for ground in self.grounds] or [""]
        return f"{', '.join(others)} and {last}" if others else last

    @property
    def clause(self) -> str:
        """What it takes for granted, for a message: ``, assuming that the device is a GPU``; empty where it is
        proven."""
        assumed = dict.fromkeys(f"that {ground.assumption}" for ground in self.grounds)
        return f", assuming {' and '.join(assumed)}" if assumed else ""


PROVEN = Evidence()
"""The code says it."""
