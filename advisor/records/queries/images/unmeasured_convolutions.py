"""Convolutional networks that are trained while cuDNN chooses its algorithms without measuring them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call, calls
from accel_advisor.records.loaders import loaders_in
from accel_advisor.records.queries.images.fixed_sizes import FixedSize, draws_sizes, fixed_size
from accel_advisor.records.queries.steps.training_steps import first_training, training_loop
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop, Transfer
    from accel_advisor.records.operations import OperationContext

_CONVOLUTIONS = calls(*(f"torch.nn.{name}" for name in ("Conv2d", "Conv3d", "ConvTranspose2d", "ConvTranspose3d")))
_NETS = re.compile(r"(?:wide_)?res(?:ne|2ne)|vgg|densenet|inception|googlenet|mobilenet|efficientnet|regnet|shufflenet")
_NAMED_SO = re.compile(r"(?:torch\.)?(?:nn\.)?Conv(?:Transpose)?[23]d")
_INTERPOLATES = Call("torch.nn.functional.interpolate")
_MENTIONS = re.compile(
    r"\.benchmark\b|cudnn_?benchmark|\bbenchmark[\"']?\s*[:=](?!=)|cudnn\.?_?deterministic|deterministic_algorithms"
    r"|(?<!_)deterministic[\"']?\s*[:=]\s*true|set_deterministic"
)
"""What a program says, in small letters, that has thought of how cuDNN chooses, or that asks for equal results."""
_MENTIONED = ("benchmark", "deterministic")
"""Words one of which stands in each of these: most texts have none, and to look for one takes a tenth of the time."""
LEAVE_MODELS = frozenset({"accelerate", "deepspeed"})
"""Frameworks that leave it to the program how cuDNN chooses."""
_MOST_TEXTS = 2048
_ENOUGH = 2
"""Convolutions from which a network is one of convolutions, and none that cuts its image into patches with one."""


@dataclass(frozen=True, slots=True)
class UnmeasuredTraining:
    """A training of a convolutional network on CUDA, with images of one size, for which nothing is measured.

    Attributes:
        loop: the first loop that trains.
        size: what fixes the size.
        move: the first move of a model to CUDA in the document of the loop, if it has one.
    """

    loop: Loop
    size: FixedSize
    move: Transfer | None


def unmeasured_training(facts: Facts) -> UnmeasuredTraining | None:
    """The first training of a program, where it is such a one; None where the program says anything of the choice of
    algorithms, where its model may have no convolutions to speak of, and where its shapes may vary."""
    loop = facts.program.once(first_training)
    if (
        loop is None
        or loop.document is not facts.document
        or facts.frameworks - LEAVE_MODELS
        or not facts.names_gpu_anywhere
    ):
        return None
    if any(_mentions_choice(one.document.text) for one in facts.program) or not _convolves(facts):
        return None
    if any(one.gives("batch_size", 1) for one in loaders_in(loop)) or _resizes_in_step(facts):
        return None
    if draws_sizes(loop.document):
        return None
    size = fixed_size(facts)
    if size is None:
        return None
    return UnmeasuredTraining(loop, size, next((one for one in facts.transfers if one.moves_models), None))


@lru_cache(maxsize=_MOST_TEXTS)
def _mentions_choice(text: str) -> bool:
    small = text.lower()
    return any(word in small for word in _MENTIONED) and _MENTIONS.search(small) is not None


def _convolves(facts: Facts) -> bool:
    """Whether a program builds at least some convolutions whose kernels are larger than a pixel, or a network of
    torchvision that is made of them."""
    contexts = [context for one in facts.program.operations_of(*_CONVOLUTIONS) for context in one.contexts]
    if sum(map(_looks_around, contexts)) >= _ENOUGH:
        return True
    # a class that the program takes by its name may never be seen to be built
    if sum(len(one.document.once(_written)) for one in facts.program) >= _ENOUGH:
        return True
    built = (one for each in facts.program for one in each.operations if one.what.owner == "torchvision.models")
    return any(_NETS.match(one.what.name) for one in built)


def _looks_around(context: OperationContext) -> bool:
    kernel = context.given("kernel_size", 2)
    sides = kernel.items
    if sides is not None:
        return not all(one.is_literal(1) for one in sides)
    return not kernel.is_literal(1)


def _written(tree: cst.Module) -> list[cst.Call]:
    """The calls in a document that build such convolutions, by the names of the layers."""
    calls_of = (one for one in descendants(tree, cst.Call) if _NAMED_SO.fullmatch(dotted(one.func)))
    return [one for one in calls_of if not any(_is_one(arg, at) for at, arg in enumerate(one.args))]


def _is_one(argument: cst.Arg, at: int) -> bool:
    """Whether an argument of a convolution says that its kernel is a single pixel."""
    named = argument.keyword.value == "kernel_size" if argument.keyword is not None else at == 2
    return named and isinstance(argument.value, cst.Integer) and argument.value.evaluated_value == 1


def _resizes_in_step(facts: Facts) -> bool:
    """Whether a step resizes its batch, outside of the model: each time to another size, it may be."""
    contexts = (context for one in facts.program.operations_of(_INTERPOLATES) for context in one.contexts)
    resized = (one for one in contexts if "forward" not in one.functions and training_loop(one) is not None)
    return any(one.given("input", 0).source is not None for one in resized)
