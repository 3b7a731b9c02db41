"""Optimizers that could update all parameters of their models together, and do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel_advisor.records.actions import Call, calls, methods

if TYPE_CHECKING:
    from accel_advisor.project.target import Version
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.given import Given, Module
    from accel_advisor.records.operations import Operation

_FUSED, _LISTS, _BY_DEFAULT = (2, 4), (1, 12), (2, 0)
"""The first torch whose fused optimizers run on the CPU as well, the first whose optimizers take ``foreach``, and the
first in which they do so by themselves."""
_ASKED = methods("Module", "parameters", "named_parameters")
_OPTIMIZERS = calls("torch.optim.Adam", "torch.optim.AdamW", "torch.optim.SGD")
_OF_TRANSFORMERS = calls("transformers.AdamW", "transformers.optimization.AdamW")
_CHOOSES = ("fused", "foreach", "differentiable", "capturable")
_EMBEDDINGS = calls("torch.nn.Embedding", "torch.nn.EmbeddingBag")


def joint_update(facts: Facts) -> tuple[str, Version] | None:
    """The option of torch's optimizers that updates all parameters together, in a torch that the project may have, and
    the version that brought it; None where there is none, or it is the default."""
    if facts.supports(_FUSED):
        return "fused", _FUSED
    return ("foreach", _LISTS) if facts.supports(_LISTS) and not facts.supports(_BY_DEFAULT) else None


def separate_updates(facts: Facts) -> list[Operation]:
    """The optimizers of a document that choose no way to update their parameters, where all models whose parameters
    they are given may be on CUDA, and nowhere else but on the CPU; of SGD those with momentum."""
    return [one for one in facts.operations_of(*_OPTIMIZERS, *_OF_TRANSFORMERS) if _could_join(facts, one)]


def is_of_transformers(optimizer: Operation) -> bool:
    """Whether it is the ``AdamW`` of transformers, which has no option for it."""
    return optimizer.does(*_OF_TRANSFORMERS)


def has_sparse_gradients(facts: Facts) -> bool:
    """Whether an embedding of the program may have sparse gradients, which no fused optimizer takes."""
    return any(not one.lacks("sparse") for one in facts.program.operations_of(*_EMBEDDINGS))


def _could_join(facts: Facts, optimizer: Operation) -> bool:
    if not all(optimizer.lacks(name) for name in _CHOOSES):
        return False
    if optimizer.what is Call("torch.optim.SGD") and not _has_momentum(optimizer):
        return False
    modules = _modules_of(facts, optimizer)
    if is_of_transformers(optimizer) and not modules:
        return facts.names_gpu_anywhere
    kinds = [facts.device_kinds(one) for one in modules]
    return bool(kinds) and all("cuda" in one and one <= {"cuda", "cpu"} for one in kinds)


def _has_momentum(optimizer: Operation) -> bool:
    momentum = optimizer.given("momentum", 2)
    return not momentum.absent and not (momentum.written and momentum.literal == 0)


def _modules_of(facts: Facts, optimizer: Operation) -> list[Module]:
    """The models of an optimizer, in the order of the text: those whose ``parameters()`` it is given, or else, where it
    is given a list, a filter or a chain of them, those that its function asks for theirs. Empty where none is known."""
    given = [context.given("params", 0) for context in optimizer.contexts]
    whole = [one.parameters_of for each in given for one in each.alternatives]
    known = [one for one in whole if one is not None]
    if whole and len(known) == len(whole):
        return known
    if any(map(_is_by_hand, given)):
        return []
    asked = (one for one in facts.operations_of(*_ASKED) if one.function is optimizer.function)
    modules = [context.subject.module for one in asked for context in one.contexts]
    return [one for one in modules if one is not None]


def _is_by_hand(given: Given) -> bool:
    """Whether it is a list of tensors that are named one by one."""
    items = given.items
    return items is not None and any(one.is_tensor for one in items)
