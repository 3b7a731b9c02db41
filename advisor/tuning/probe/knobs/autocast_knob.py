"""Mixed precision: products in bfloat16."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from accel_advisor.tuning.probe.knobs.knob import Knob
from accel_advisor.tuning.probe.knobs.knob_statements import OnceForModel
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining


@dataclass(frozen=True, slots=True)
class Autocast(Knob):
    """The forward pass of a model under autocast, in bfloat16."""

    name: ClassVar[str] = "autocast"
    order: ClassVar[int] = 70
    caution: ClassVar[str] = "it trains in bfloat16, which keeps 8 bits of a number: watch a whole training"

    @property
    def written(self) -> tuple[OnceForModel]:
        return (OnceForModel('{model}.forward = {torch}.autocast("{device}", {torch}.bfloat16)({model}.forward)'),)

    def turn(self, torch: Any, training: ComparedTraining) -> None:
        def turn(model: Any) -> bool:
            first = next(model.parameters())
            if torch.is_autocast_enabled(first.device.type):
                training.refuse("the script uses autocast itself")
            if first.dtype != torch.float32:
                training.refuse(f"the model's weights are {str(first.dtype).removeprefix('torch.')}, not float32")
            model.forward = torch.autocast(first.device.type, torch.bfloat16)(model.forward)
            return True

        training.turn_models(turn)
