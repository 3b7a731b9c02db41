"""The training loops of a program whose model is known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.loaders import loaders_in
from accel_advisor.syntax.shapes import names_bound_in, names_read_in
from accel_advisor.syntax.variation import bindings
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.frameworks import TRAINING_STEPS
from accel_advisor.tables.torch_functions import AUTOCASTS
from accel_advisor.values.evidence import PROVEN, Evidence
from accel_advisor.values.places import is_cuda_capable
from accel_advisor.values.values import Module

if TYPE_CHECKING:
    from accel_advisor.records.conditions import Condition
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.records.transfers import ModuleCall


@dataclass(frozen=True, slots=True)
class Training:
    """A loop over a loader that trains a model on a GPU.

    Attributes:
        layers: full names of the library layers that the model certainly has.
    """

    loop: Loop
    module: Module
    layers: frozenset[str]

    def has(self, *names: str) -> bool:
        """Whether the model has a layer of ``torch.nn`` of one of these names."""
        return any(f"torch.nn.{name}" in self.layers for name in names)

    @property
    def convolves(self) -> bool:
        """Whether the model convolves images: its own layers say so, or torchvision's classification models."""
        vision = any(name.startswith("torchvision.models.resn") for name in self.layers)
        return vision or self.has("Conv2d", "ConvTranspose2d")

    @property
    def attends(self) -> bool:
        """Whether the model has attention layers of torch."""
        return self.has("MultiheadAttention", "Transformer", "TransformerEncoderLayer", "TransformerDecoderLayer")


def trainings(facts: Facts) -> Iterator[Training]:
    """The training loops of a document, in source order, whose model is seen to be built and moved to CUDA, without a
    framework that would have settings of its own; those over batches of graphs, which are no matrices, are left
    out."""
    if facts.frameworks:
        return
    models: dict[Loop, Module] = {}
    for call in (call for each in facts.program for call in each.module_calls if not call.loss):
        for context in call.contexts:
            module = context.module
            if context.loop is None or context.loop in models or not isinstance(module, Module):
                continue
            if context.place and is_cuda_capable(context.place) and module.has_state and not context.escaped:
                models[context.loop] = module
    for loop in facts.loops:
        graphs = any(one.constructor.name.startswith(("torch_geometric.", "dgl.")) for one in loaders_in(loop))
        if loop.loaders and loop.backward and not graphs and loop in models:
            yield Training(loop, models[loop], facts.layers.of(models[loop]))


def first_step(facts: Facts, first: Loop | None) -> ModuleCall | None:
    """The first call of a model, outside of models, in a loop that trains: one in the loop's own
    text, or else in its file, where there is any, and outside of autocast."""
    if first is None:
        return None
    called = facts.program.calls_in.get(first, ())
    steps = [(call, context.regions) for call, context in called if not call.loss and not context.nested]
    plain = [call for call, around in steps if AUTOCASTS.isdisjoint(one.made_by for one in around)]
    found = plain or [call for call, _ in steps]
    beside = [call for call in found if call.document is first.document] or found
    inside = (call for call in beside if first.holds(call.document, call.node))
    return next(inside, beside[0] if beside else None)


def happens_often(facts: Facts, *operations: Operation) -> bool:
    """Whether one of these operations happens in ``forward``, or in a loop that takes batches or trains at every step,
    or in one of the branches of which each step takes one, but for one that is taken every n steps."""
    contexts = [context for one in operations for context in one.contexts]
    if any(runs_often(facts, one) for one in contexts) or any(map(_is_of_a_step, operations)):
        return True
    outside = [one for one in contexts if "__init__" not in one.functions and one.period.absent]
    sides = (one.alternative_in(loop) for one in outside for loop in _busy(facts, one))
    return any(side is not None and not side.rare for side in sides)


def _is_of_a_step(operation: Operation) -> bool:
    """Whether it happens in a method that a framework calls at each step, which nothing skips."""
    steps = [one for one in operation.contexts if not TRAINING_STEPS.isdisjoint(one.functions)]
    return operation.framework is not None and any(not one.guarded for one in steps)


def basis_of_often(facts: Facts, *operations: Operation) -> Evidence:
    """What shows that operations happen often, which do: a ``forward`` is called at each step, by whomever."""
    contexts = [context for one in operations for context in one.contexts if runs_often(facts, context)]
    if any("forward" in one.functions for one in contexts):
        return PROVEN
    return min((one.basis for one in contexts), key=lambda one: len(one.grounds), default=PROVEN)


def runs_often(facts: Facts, context: OperationContext) -> bool:
    """Whether it happens in ``forward``, where a condition may be the same for all calls, or in a loop that takes
    batches or trains, and not only in one around it, unless a condition skips some of its passes."""
    # an object that `forward` makes is made at every step
    outermost = next((one for one in context.functions if one in ("__init__", "forward")), "")
    if outermost == "__init__":
        return False
    if outermost:
        return not any(
            (one.varies is not None and not one.ordinary)
            or one.rare
            or (_is_of_call(one, context) and _keeps(one) and not _keeps_in_locals(facts, one))
            for one in context.conditions
        )
    if any(_keeps(one) for one in context.conditions if one.within is not None):
        return False
    return any(not context.is_skipped_in(loop) for loop in _busy(facts, context))


def _busy(facts: Facts, context: OperationContext) -> list[Loop]:
    """The loops around it that take batches or train, and not only in one that they hold."""
    busy = [loop for one in facts.program for loop in one.loops if loop.loaders or loop.backward]
    found = [loop for loop in context.loops if loop.loaders or loop.backward]
    return [
        loop
        for loop in found
        if loop.learns or (loop.loaders and not loop.counts) or not any(one.is_within(loop) for one in busy)
    ]


def _is_of_call(condition: Condition, context: OperationContext) -> bool:
    """Whether a condition is written in what a ``forward`` runs, or in a loop, and not where the program gets ready."""
    function = condition.function
    named = isinstance(function, cst.FunctionDef) and function.name.value in context.functions
    return condition.within is not None or named or isinstance(function, cst.Lambda)


def _keeps(condition: Condition) -> bool:
    """Whether a condition asks for what is bound under it, as code does that makes something once and keeps it."""
    if not isinstance(condition.node, cst.If):
        return True
    return _returns_what_is_kept(condition.node) if condition.exits else bool(_kept(condition.node))


def _returns_what_is_kept(condition: cst.If) -> bool:
    """Whether what is returned is what the condition asks for, or what an object holds, and not what a function makes
    of it."""
    asked = names_read_in(condition.test) - {"self"}
    returned = [one.value for one in descendants(condition, cst.Return) if one.value is not None]
    held = [one for one in returned if isinstance(one, (cst.Attribute, cst.Subscript)) and _is_held(one)]
    return bool(held) or any(not asked.isdisjoint(names_read_in(_receiver(one))) for one in returned)


def _receiver(node: cst.BaseExpression) -> cst.BaseExpression:
    """What methods are called on, or the function that is called; the expression itself, where it is no call."""
    while isinstance(node, cst.Call):
        node = node.func.value if isinstance(node.func, cst.Attribute) else node.func
    return node


def _is_held(node: cst.BaseExpression) -> bool:
    """Whether an expression is an attribute, or an item of one."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return isinstance(node, cst.Attribute)


def _keeps_in_locals(facts: Facts, condition: Condition) -> bool:
    """Whether what it keeps is gone when the function returns: parameters and other names that belong to one call."""
    if not isinstance(condition.node, cst.If) or condition.exits:
        return False
    plain, text = bindings(condition.node).keys(), facts.document.text
    return not any(
        "." in name or name not in plain or re.search(rf"^\s*(?:global|nonlocal)\b.*\b{name}\b", text, re.MULTILINE)
        for name in _kept(condition.node)
    )


def _kept(condition: cst.If) -> frozenset[str]:
    return (names_read_in(condition.test) - {"self"}) & names_bound_in(condition)
