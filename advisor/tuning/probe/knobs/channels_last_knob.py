"""The layout in memory that convolutions are fastest in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from accel_advisor.tuning.probe.knobs.knob import Knob
from accel_advisor.tuning.probe.knobs.knob_statements import OnceForModel
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining


@dataclass(frozen=True, slots=True)
class ChannelsLast(Knob):
    """The weights of convolutions with their channels last."""

    name: ClassVar[str] = "channels_last"
    order: ClassVar[int] = 60

    @property
    def written(self) -> tuple[OnceForModel]:
        return (OnceForModel("{model}.to(memory_format={torch}.channels_last)"),)

    def turn(self, torch: Any, training: ComparedTraining) -> None:
        def turn(model: Any) -> bool:
            kernels = [one for one in model.parameters() if one.dim() == 4]
            if not kernels:
                training.refuse("the model has no convolution of images")
            if all(one.is_contiguous(memory_format=torch.channels_last) for one in kernels):
                training.refuse("the weights of the model's convolutions have their channels last already")
            model.to(memory_format=torch.channels_last)
            return True

        training.turn_models(turn)
