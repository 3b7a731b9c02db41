"""The list of the knobs, and what a run of a script is to turn of them."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, astuple, dataclass
from typing import Any, Self

from accel_advisor.tuning.probe.channel.wire import Frame
from accel_advisor.tuning.probe.knobs.knob import Knob
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining


def _knobs() -> Iterator[type[Knob]]:
    """The knobs that the files of this folder define."""
    for name in sorted(os.listdir(os.path.dirname(__file__))):
        stem, suffix = os.path.splitext(name)
        if suffix == ".py" and stem.endswith("_knob"):
            module = importlib.import_module(f"{__name__.rpartition('.')[0]}.{stem}")
            for member in vars(module).values():
                if isinstance(member, type) and issubclass(member, Knob) and member.__module__ == module.__name__:
                    yield member


TRAINING_KNOBS: tuple[type[Knob], ...] = tuple(sorted(_knobs(), key=lambda knob: (knob.order, knob.name)))
"""In the order in which they are tried, and in which their statements follow each other."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run turns.

    Attributes:
        knob: None for the script as it is.
        loader: the stack of the loader that trains in the script as it is, outermost first.
    """

    knob: Knob | None = None
    loader: tuple[Frame, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON has it."""
        knob = self.knob
        return {
            "name": knob.name if knob is not None else "",
            "values": asdict(knob) if knob is not None else {},
            "loader": [astuple(frame) for frame in self.loader],
        }

    @classmethod
    def from_json(cls, plan: Mapping[str, Any]) -> Self:
        """Reads what :meth:`to_json` wrote."""
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in plan["values"].items()}
        loader = tuple(Frame(*frame) for frame in plan["loader"])
        return cls(next((kind(**values) for kind in TRAINING_KNOBS if kind.name == plan["name"]), None), loader)

    def install(self, training: ComparedTraining) -> None:
        """In the child: takes hold of torch, which must be imported, and turns the knob."""
        import torch

        training.install()
        if self.knob is not None:
            self.knob.turn(torch, training)
