"""Compiled models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from accel_advisor.tuning.probe.knobs.knob import Knob
from accel_advisor.tuning.probe.knobs.knob_statements import OnceForModel
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining


@dataclass(frozen=True, slots=True)
class Compile(Knob):
    """``torch.compile``, in place."""

    name: ClassVar[str] = "compile"
    order: ClassVar[int] = 80
    caution: ClassVar[str] = "every start takes longer, by its warm-up"

    @property
    def written(self) -> tuple[OnceForModel]:
        return (OnceForModel("{model}.compile()"),)

    def turn(self, torch: Any, training: ComparedTraining) -> None:
        def turn(model: Any) -> bool:
            if model._compiled_call_impl is not None or type(model).__name__ == "OptimizedModule":
                training.refuse("the script compiles its model itself")
            model.compile()
            return True

        training.turn_models(turn)
