"""What goes past an ``Accelerator`` that prepared a program's model and loaders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Method, methods
from accel_advisor.records.loaders import loaders_in
from accel_advisor.syntax.shapes import names_read_in

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.loaders import LoaderCall
    from accel_advisor.records.loops import Loop
    from accel_advisor.records.operations import Operation

_OWNER = "accelerate.Accelerator"
_PREPARES = methods(_OWNER, "prepare", "prepare_model", "prepare_data_loader", "prepare_optimizer", "prepare_scheduler")


def raw_backwards(facts: Facts) -> Iterator[Operation]:
    """The backward passes of a document over a prepared loader's batches that the Accelerator does not make, beside
    none that it makes."""
    right = facts.program.operations_of(Method(_OWNER, "backward"))
    for operation in facts.operations_of(Method("Tensor", "backward"), Method("?", "backward")):
        if not isinstance(operation.node, cst.Call) or any(operation.runs_with(one) for one in right):
            continue
        if _takes_prepared_batches(operation) and not _is_of_another_model(facts, operation):
            yield operation


def names_of_accelerators(facts: Facts) -> list[str]:
    """What the objects are called in a document whose ``prepare`` it calls, without repetition."""
    objects = (one.receiver for one in facts.operations_of(Method(_OWNER, "prepare")))
    return sorted({facts.document.code(one) for one in objects if one is not None})


def may_be_prepared(facts: Facts, loader: LoaderCall, loop: Loop | None) -> bool:
    """Whether what a loop goes over may be what an Accelerator prepared, of the loaders that one call builds for
    several callers: not where the function of the loop prepares others by their names."""
    while loop is not None and not (isinstance(loop.node, cst.For) and loader in loop.loaders):
        loop = loop.parent
    if loop is None or not isinstance(loop.node, cst.For) or len(loader.contexts) < 2:
        return True
    prepares = [one for one in facts.operations_of(*_PREPARES) if one.function is loop.function]
    given = [arg for one in prepares for arg in one.arguments]
    over = names_read_in(loop.node.iter)
    return not given or any(arg.star or over & names_read_in(arg.value) for arg in given)


def _takes_prepared_batches(backward: Operation) -> bool:
    """Whether it happens in loops only whose batches the Accelerator has moved."""
    loops = [context.loop for context in backward.contexts]
    return all(
        loop and not loop.from_host and any(one.moved_by == "accelerate" for one in loaders_in(loop)) for loop in loops
    )


def _is_of_another_model(facts: Facts, backward: Operation) -> bool:
    """Whether the loss comes from models that were never prepared, as far as the program builds them."""
    losses = [context.subject for context in backward.contexts]
    grown = {node for one in losses if one.is_tensor for node in one.graph}
    calls = [call for one in facts.program for call in one.module_calls if call.node in grown and not call.loss]
    used = [context.model for call in calls for context in call.contexts]
    models = {one for one in used if one is None or not one.evident}
    prepared = {
        argument.module
        for operation in facts.program.operations_of(*_PREPARES)
        for context in operation.contexts
        for given in context.values
        for argument in given.alternatives
        if argument.module is not None or argument.unknown
    }
    return bool(models) and not models & prepared
