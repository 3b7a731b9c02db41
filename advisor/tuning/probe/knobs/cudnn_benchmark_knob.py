"""The fastest convolution of cuDNN, found by trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from accel_advisor.tuning.probe.knobs.knob import Knob, Situation
from accel_advisor.tuning.probe.knobs.knob_statements import BehindImports
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining


@dataclass(frozen=True, slots=True)
class CudnnBenchmark(Knob):
    """Lets cuDNN try its algorithms for each shape of a batch, and keep the fastest."""

    name: ClassVar[str] = "cudnn_benchmark"
    order: ClassVar[int] = 40
    device: ClassVar[str] = "cuda"
    caution: ClassVar[str] = (
        "it pays where the shapes of batches stay the same, and runs are no longer alike bit by bit"
    )

    @classmethod
    def not_needed(cls, situation: Situation) -> str:
        return "the script asks for it already" if situation.before.benchmark else ""

    @property
    def written(self) -> tuple[BehindImports]:
        return (BehindImports(("{torch}.backends.cudnn.benchmark = True",)),)

    def turn(self, torch: Any, training: ComparedTraining) -> None:
        cudnn = torch.backends.cudnn
        cudnn.benchmark = True
        training.check(lambda: "" if cudnn.benchmark else "the script sets torch.backends.cudnn.benchmark itself")
