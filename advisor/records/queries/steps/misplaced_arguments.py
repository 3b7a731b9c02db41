"""Arguments of models and losses that are on the host, where what they meet is on the GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from accel_advisor.records.loaders import loader_of

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.transfers import ArgumentPlace, ModuleCall, ModuleCallContext

_OTHER_TARGETS = ("torch.nn.CTCLoss", "torch.nn.AdaptiveLogSoftmaxWithLoss")
"""Losses whose targets may stay on the host."""


def misplaced_arguments(facts: Facts) -> Iterator[tuple[ModuleCall, ArgumentPlace]]:
    """The calls of models and losses in a document that raise on a GPU, each with the first argument that is on the
    host for certain."""
    for call in facts.module_calls:
        if call.framework or not call.contexts:
            continue
        check = _is_target if call.loss else _is_input
        for index, argument in enumerate(call.contexts[0].arguments):
            if all(
                index < len(context.arguments) and check(facts, context, context.arguments[index])
                for context in call.contexts
            ):
                yield call, argument
                break


def _is_input(facts: Facts, context: ModuleCallContext, argument: ArgumentPlace) -> bool:
    """Whether an argument is on the host and meets weights that are on the GPU."""
    if context.escaped or context.moves_inputs or not _on_host(argument):
        return False
    return context.on_accelerator and facts.must_be_with_weights(argument)


def _is_target(facts: Facts, context: ModuleCallContext, argument: ArgumentPlace) -> bool:
    """Whether an argument of a loss is a target on the host, and the model's output is on the GPU."""
    if context.model is not None and context.model.kind in _OTHER_TARGETS:
        return False
    if argument.position != 1 and argument.keyword != "target":
        return False
    return context.arguments[0].given.on_accelerator and _on_host(argument)


def _on_host(argument: ArgumentPlace) -> bool:
    given = argument.given
    loader = loader_of(given)
    if given.is_scalar or not given.on_host or not given.basis.proven:
        return False
    if loader is None:
        return given.born is not None
    dataset = loader.dataset
    clean = dataset is not None and dataset.plain and dataset.on_host
    return given.is_plain_tensor and clean and not loader.moved_by and not loader.rewritten
