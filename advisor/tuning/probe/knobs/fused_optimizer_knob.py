"""One kernel for the whole step of an optimizer."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from dataclasses import dataclass
from typing import Any, ClassVar

from accel_advisor.tuning.probe.knobs.knob import Knob
from accel_advisor.tuning.probe.knobs.knob_statements import OptimizerArgument
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining, sites_of

FUSIBLE = ("Adagrad", "Adam", "AdamW", "SGD")


@dataclass(frozen=True, slots=True)
class FusedOptimizer(Knob):
    """The fused form of those optimizers of torch that have one."""

    name: ClassVar[str] = "fused_optimizer"
    order: ClassVar[int] = 50

    @property
    def written(self) -> tuple[OptimizerArgument]:
        return (OptimizerArgument("fused", "True"),)

    def turn(self, torch: Any, training: ComparedTraining) -> None:
        for name in FUSIBLE:
            _fuse(getattr(torch.optim, name), training)

        def missing() -> str:
            if training.sites:
                return ""
            return training.own or f"{training.stepped or 'its optimizer'} has no fused form in torch.optim"

        training.check(missing)


def _fuse(kind: Any, training: ComparedTraining) -> None:
    build = kind.__init__
    signature = inspect.signature(build)
    if "fused" not in signature.parameters:
        return

    @functools.wraps(build)
    def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        if type(optimizer) is not kind:
            build(optimizer, *args, **kwargs)
            return
        with contextlib.suppress(TypeError):
            given = signature.bind(optimizer, *args, **kwargs).arguments
            chosen = [name for name in ("fused", "foreach", "differentiable") if given.get(name) is not None]
            if chosen:
                training.own = f"the script itself passes {chosen[0]} to {kind.__name__}"
        if training.own:
            build(optimizer, *args, **kwargs)
            return
        build(optimizer, *args, **kwargs, fused=True)
        training.sites.append(sites_of(sys._getframe(1)))

    kind.__init__ = __init__
