"""Models that DataParallel runs in threads, which take no dtype from an autocast around the call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, calls
from accel_advisor.records.queries.models.unwrapping import never_learns, never_runs
from accel_advisor.syntax.shapes import dotted, methods_of
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.transfers import ModuleCallContext
    from accel_advisor.source.document import Document

_CALLING_BACK = AnyCall("DataParallelWithCallback")
"""What libraries derive from it, whose result is not known."""
_WRAPPERS = (*calls("torch.nn.DataParallel"), _CALLING_BACK)
_DEVICES = 1


def replicated_in(facts: Facts, loop: Loop, document: Document, step: cst.CSTNode) -> Iterator[Operation]:
    """Where DataParallel is put around what a loop that trains calls, or around a part of that; on some machines, or
    with some options, only.

    Args:
        document, step: where the loop calls its model.
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
        unknown = not known or wrapping.does(_CALLING_BACK)
        named = bool(around) or (unknown and _is_called_by_name(wrapping, document, loop.document))
        if any(around) or (named and _runs(facts, wrapping)):
            yield wrapping  # the step itself may compute no gradients, as of a model whose last layer alone learns


def classes_in(wrappings: tuple[Operation, ...]) -> tuple[str, ...]:
    """The names of the project's classes whose ``forward`` DataParallel calls; none where not all are known."""
    modules = [given.module for one in wrappings for given in one.given("module", 0).alternatives]
    lineages = [one.cls.lineage() for one in modules if one is not None and one.cls is not None]
    names = [next((one.name for one in each if "forward" in methods_of(one.node)), "") for each in lineages]
    return tuple(dict.fromkeys(names)) if len(names) == len(modules) and all(names) else ()


def _has_one_device(wrapping: Operation) -> bool:
    """Whether DataParallel is given a single device, as its call says, and so calls the model itself, in no thread:
    what settings list by default is something else on a machine of several."""
    found = [one.argument("device_ids", _DEVICES) for one in wrapping.contexts]
    lists = [one.node.value if one is not None and one.node is not None else None for one in found]
    return all(isinstance(one, (cst.List, cst.Tuple)) and len(one.elements) == 1 for one in lists)


def _runs(facts: Facts, wrapping: Operation) -> bool:
    home = next(one for one in facts.program if one.document is wrapping.document)
    if never_runs(home, wrapping):
        return False
    # a class that is told by a flag whether it trains puts its part into evaluation mode by another
    return dotted(_target(wrapping)).startswith("self.") or not never_learns(home, wrapping)


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


def _is_called_by_name(wrapping: Operation, *documents: Document) -> bool:
    """Whether something is called by the name that a wrapper is bound to, in some documents, or, where that belongs to
    an object, in the document that the object's class is in."""
    owner, _, name = dotted(_target(wrapping)).rpartition(".")
    own = [wrapping.document] if owner == "self" else []
    return bool(name) and any(
        dotted(one.func).removesuffix(".forward").rpartition(".")[2] == name
        for document in (*documents, *own)
        for one in descendants(document.tree, cst.Call)
    )


def _target(wrapping: Operation) -> cst.BaseExpression | None:
    statement = wrapping.statement
    single = isinstance(statement, cst.Assign) and len(statement.targets) == 1
    return statement.targets[0].target if isinstance(statement, cst.Assign) and single else None
