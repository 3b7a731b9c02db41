"""Models that nothing is known of but how they are used, and what keeps its meaning in a call that is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.iteration import element_at
from accel_advisor.syntax.model_names import models_named_in, reads_number
from accel_advisor.syntax.shapes import dotted
from accel_advisor.values.evidence import Evidence, Ground
from accel_advisor.values.places import SOMEWHERE
from accel_advisor.values.store import ESCAPED
from accel_advisor.values.values import (
    Constant,
    Loader,
    Module,
    Opaque,
    Sequence,
    Tensor,
    Unknown,
    Value,
    join_all,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.source.document import Document


def as_model(machine: Machine, value: Value, target: cst.Name | cst.Attribute, document: Document) -> Value:
    """A value that is bound to a name of a document: a model, where nothing is known of it but that its name is used as
    that of a model. It may be any, and what made it may keep it."""
    if not _may_be_any(value) or dotted(target) not in document.once(models_named_in):
        return value
    model = machine.recorder.evident_model(document, target)
    machine.move(model, SOMEWHERE)
    machine.store.set(model, ESCAPED, Constant(True))
    return model


def as_loss(machine: Machine, value: Value, target: cst.BaseExpression, made: cst.BaseExpression) -> Value:
    """A value that is bound in a loop: a tensor, where an unknown function made it and gradients flow back from its
    name; with their graph. One that a number is read out of is none."""
    if not machine.frame.loops:
        return value
    if type(target) is cst.Tuple or type(target) is cst.List:
        targets = [one.value for one in target.elements]
        if not isinstance(value, Unknown):
            return value
        found = [as_loss(machine, value, one, made) for one in targets]
        return value if all(isinstance(one, Unknown) for one in found) else Sequence(tuple(found))
    given = isinstance(value, Tensor) and Ground.INPUTS in value.basis.grounds
    if not (given or isinstance(value, Unknown)) or reads_number(made):
        return value
    function = machine.frame.function
    if dotted(target) not in machine.losses_in(function.node if function else machine.document.tree):
        return value
    known = value if isinstance(value, Tensor) else Tensor()
    others = [one for one in known.basis.grounds if one is not Ground.INPUTS]
    return Tensor(known.place, proven=False, grown=machine.grown(made), basis=Evidence.of(Ground.METHOD, *others))


def rebound(machine: Machine, target: cst.BaseExpression, value: Value, call: cst.Call) -> Value:
    """What is bound by ``model, loader = wrap(model, loader)``: models and loaders that an unknown function is given,
    and whose names get what it returns, are taken for what they were."""
    given = {dotted(one.value) for one in call.args} - {""}
    if not given or not (isinstance(value, Sequence) or _may_be_any(value)):
        return value
    if not (type(target) is cst.Tuple or type(target) is cst.List):
        return _kept(machine, target, value, given)
    targets = [one.value for one in target.elements]
    if not any(dotted(one) in given for one in targets):
        return value
    found = [element_at(machine, value, at, len(targets)) for at in range(len(targets))]
    return Sequence(tuple(_kept(machine, one, item, given) for one, item in zip(targets, found, strict=True)))


def _kept(machine: Machine, target: cst.BaseExpression, value: Value, given: set[str]) -> Value:
    if dotted(target) not in given or not _may_be_any(value):
        return value
    held = [_by_evidence(one) for one in options_of(machine.evaluate(target)) if isinstance(one, (Loader, Module))]
    return join_all(held) if held else value


def _by_evidence(held: Loader | Module) -> Value:
    kept = Evidence.of(Ground.KEPT)
    return Loader(held.call, held.delivers, held.basis | kept) if isinstance(held, Loader) else held


def _may_be_any(value: Value) -> bool:
    """Whether nothing is known of a value but, perhaps, which function of a library made it."""
    return isinstance(value, Unknown) or (isinstance(value, Opaque) and "." in value.name)
