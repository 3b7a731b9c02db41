"""Activations that are computed again in the backward pass, so that they are not kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from accel_advisor.tuning.probe.knobs.batch_size_knob import BatchSize, doubles, resize
from accel_advisor.tuning.probe.knobs.knob import Knob, Situation
from accel_advisor.tuning.probe.knobs.knob_statements import LoaderSetting, OnceForModel, Statement
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining
from accel_advisor.tuning.probe.turning.repeated_blocks import OWN, Recomputing

_LOOP = (
    "for {block} in {blocks}:\n    {block}.forward = "
    "functools.partial(torch.utils.checkpoint.checkpoint, {block}.forward, use_reentrant=False)"
)


@dataclass(frozen=True, slots=True)
class ActivationCheckpointing(Knob):
    """The repeated blocks of a model under ``torch.utils.checkpoint``, and the size of a batch that goes with it."""

    batch_size: int | None = None
    name: ClassVar[str] = "activation_checkpointing"
    order: ClassVar[int] = 100
    most_values: ClassVar[int] = BatchSize.most_values + 1
    climbs: ClassVar[bool] = True
    makes_room_for: ClassVar[type[Knob]] = BatchSize

    @classmethod
    def values(cls, situation: Situation) -> tuple[Self, ...]:
        """The batches for which there was no room, and larger ones."""
        full = situation.no_room.get(BatchSize)
        if full is None or full.new_batch_size is None:
            return ()
        return tuple(cls(size) for size in doubles(situation.info, full.new_batch_size))

    @property
    def new_batch_size(self) -> int | None:
        return self.batch_size

    @property
    def written(self) -> tuple[Statement, ...]:
        model = OnceForModel(
            _LOOP,
            imports=("functools", "torch.utils.checkpoint"),
            method='{blocks}(gradient_checkpointing_kwargs={"use_reentrant": False})',
        )
        return (model,) if self.batch_size is None else (model, LoaderSetting("batch_size", self.batch_size))

    def shown(self, device: str = "cuda", blocks: str = "") -> str:
        """With the size of the batch first, since the other part is long."""
        return "; ".join(one.shown(device, blocks) for one in reversed(self.written))

    def turn(self, torch: Any, training: ComparedTraining) -> None:
        recomputing = Recomputing(training.refuse)
        training.blocks = recomputing.blocks
        training.check(lambda: OWN if recomputing.own else "")

        def turn(model: Any) -> bool:
            turned = recomputing.turn(model)
            training.own = training.own or ("" if turned else "the model has no repeated blocks")
            return turned

        training.turn_models(turn)
        if self.batch_size is not None:
            resize(self.batch_size, torch, training)
