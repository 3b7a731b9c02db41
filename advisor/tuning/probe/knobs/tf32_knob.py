"""Products of float32 matrices by the units for TensorFloat-32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from accel_advisor.tuning.probe.knobs.knob import Knob, Situation
from accel_advisor.tuning.probe.knobs.knob_statements import BehindImports
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining, precision_of


@dataclass(frozen=True, slots=True)
class Tf32(Knob):
    """Allows less than full float32 in products of matrices."""

    name: ClassVar[str] = "tf32"
    order: ClassVar[int] = 30
    device: ClassVar[str] = "cuda"
    caution: ClassVar[str] = "products of float32 matrices keep 10 bits of a number"

    @classmethod
    def not_needed(cls, situation: Situation) -> str:
        return "" if situation.before.precision == "highest" else "the script allows less than full float32 already"

    @property
    def written(self) -> tuple[BehindImports]:
        return (BehindImports(('{torch}.set_float32_matmul_precision("high")',)),)

    def turn(self, torch: Any, training: ComparedTraining) -> None:
        torch.set_float32_matmul_precision("high")
        own = "the script sets the precision of float32 products itself"
        training.check(lambda: own if precision_of(torch) == "highest" else "")
