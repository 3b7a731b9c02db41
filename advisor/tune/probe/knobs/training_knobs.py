"""The list of the knobs, and what a run of a script is to turn of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass
from typing import Any, Self

from accel_advisor.tune.probe.channel.wire import Frame
from accel_advisor.tune.probe.knobs.activation_checkpointing_knob import ActivationCheckpointing
from accel_advisor.tune.probe.knobs.autocast_knob import Autocast
from accel_advisor.tune.probe.knobs.batch_size_knob import BatchSize
from accel_advisor.tune.probe.knobs.channels_last_knob import ChannelsLast
from accel_advisor.tune.probe.knobs.compile_knob import Compile
from accel_advisor.tune.probe.knobs.cudnn_benchmark_knob import CudnnBenchmark
from accel_advisor.tune.probe.knobs.fused_optimizer_knob import FusedOptimizer
from accel_advisor.tune.probe.knobs.knob import Knob
from accel_advisor.tune.probe.knobs.tf32_knob import Tf32
from accel_advisor.tune.probe.knobs.thread_binding_knob import ThreadBinding
from accel_advisor.tune.probe.knobs.threads_knob import Threads
from accel_advisor.tune.probe.turning.compared_training import ComparedTraining

TRAINING_KNOBS: tuple[type[Knob], ...] = (
    Threads,
    ThreadBinding,
    Tf32,
    CudnnBenchmark,
    FusedOptimizer,
    ChannelsLast,
    Autocast,
    Compile,
    BatchSize,
    ActivationCheckpointing,
)
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
