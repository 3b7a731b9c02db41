"""Models that DataParallel runs in threads, which take no dtype from an autocast around the call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, calls
from accel_advisor.records.queries.models.unwrapping import never_learns, never_runs
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.transfers import ModuleCallContext
    from accel_advisor.source.document import Document

_WRAPPERS = (*calls("torch.nn.DataParallel"), AnyCall("DataParallelWithCallback"))


def replicated_in(facts: Facts, loop: Loop, step: cst.CSTNode) -> Iterator[Operation]:
    """Where DataParallel is put around what a loop that trains calls, or around a part of that; on some machines, or
    with some options, only.

    Args:
        step: where the loop calls its model.
    """
    wrappings = [one for one in facts.program.operations_of(*_WRAPPERS) if not _has_one_device(one)]
    called = [
        (dotted(call.node.func).removesuffix(".forward"), context, call.node is step)
        for call, context in (facts.program.calls_in.get(loop, ()) if wrappings else ())
        if not call.loss and (context.graphs or call.node is step)
    ]
    known = any(here and any(one.kind for one in context.models) for _, context, here in called)
    for wrapping in wrappings:
        around = [here for name, context, here in called if _is_around(wrapping, name, context)]
        named = bool(around) or (not known and _is_called_in(wrapping, loop.document))
        if any(around) or (named and _runs(facts, wrapping)):
            yield wrapping  # the step itself may compute no gradients, as of a model whose last layer alone learns


def classes_in(wrappings: tuple[Operation, ...]) -> tuple[str, ...]:
    """The names of the project's classes whose ``forward`` DataParallel calls; none where not all are known."""
    modules = [given.module for one in wrappings for given in one.given("module", 0).alternatives]
    names = [one.cls.name for one in modules if one is not None and one.cls is not None]
    return tuple(dict.fromkeys(names)) if len(names) == len(modules) else ()


def _has_one_device(wrapping: Operation) -> bool:
    """Whether DataParallel is given a single device, and so calls the model itself, in no thread."""
    lists = [one.items for one in wrapping.given("device_ids", 1).alternatives]
    return all(one is not None and len(one) == 1 for one in lists)


def _runs(facts: Facts, wrapping: Operation) -> bool:
    home = next(one for one in facts.program if one.document is wrapping.document)
    return not never_runs(home, wrapping) and not never_learns(home, wrapping)


def _is_around(wrapping: Operation, name: str, context: ModuleCallContext) -> bool:
    """Whether it wraps a module that is called, by this name, or a part of it."""
    if any(one.plain.node is wrapping.node for one in context.models):
        return True
    classes = [cls.node for one in context.models if one.cls is not None for cls in one.cls.lineage()]
    target = _target(wrapping)
    if isinstance(target, cst.Subscript):
        return bool(dotted(target.value)) and name.startswith(f"{dotted(target.value)}.")
    bound = dotted(target)
    if bound.startswith("self."):
        return any(one is wrapping.function for cls in classes for one in descendants(cls, cst.FunctionDef))
    return bool(name) and bound.startswith(f"{name}.")


def _is_called_in(wrapping: Operation, document: Document) -> bool:
    """Whether something is called in a document by the name that a wrapper is bound to."""
    name = dotted(_target(wrapping)).rpartition(".")[2]
    return bool(name) and any(
        dotted(one.func).removesuffix(".forward").rpartition(".")[2] == name
        for one in descendants(document.tree, cst.Call)
    )


def _target(wrapping: Operation) -> cst.BaseExpression | None:
    statement = wrapping.statement
    single = isinstance(statement, cst.Assign) and len(statement.targets) == 1
    return statement.targets[0].target if isinstance(statement, cst.Assign) and single else None
