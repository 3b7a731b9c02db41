"""Optimizers that update the parameters of a model on a GPU."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.parameters.parameter_sources import ParameterSources
from accel_advisor.syntax.shapes import owners
from accel_advisor.tables.torch_modules import WRAPPERS_THAT_MOVE_INPUTS
from accel_advisor.values.evidence import PROVEN, Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation, OperationContext

_CUDA = frozenset({"cuda", "cpu"})
_OTHERS = ("mps", "xpu", "hpu")


@dataclass(frozen=True, slots=True)
class Update:
    """An optimizer that updates a model on CUDA, or on the CPU where there is none.

    Attributes:
        optimizer: the call that builds it.
        basis: what shows where the model is.
    """

    optimizer: Operation
    basis: Evidence


def updates_on_gpu(facts: Facts, optimizers: Iterable[Operation]) -> list[Update]:
    """Those of some optimizers of a document that update a model on a GPU, as far as is known; not those of tensors
    that the program lists."""
    found = [(one, [_updated(facts, one, context) for context in one.contexts]) for one in optimizers]
    known = [(one, [basis for basis in bases if basis is not None], len(bases)) for one, bases in found]
    return [Update(one, reduce(or_, bases)) for one, bases, ways in known if bases and len(bases) == ways]


def _updated(facts: Facts, optimizer: Operation, context: OperationContext) -> Evidence | None:
    given = context.given("params", 0)
    module = given.parameters_of
    kinds = facts.device_kinds(module) if module is not None else frozenset[str]()
    if kinds:
        return PROVEN if "cuda" in kinds and kinds <= _CUDA else None
    if module is not None:
        listed = module.kind in WRAPPERS_THAT_MOVE_INPUTS  # which lives where what it holds was moved
    else:
        listed = given.holds_dicts or _gives_parameters(facts, optimizer)
    elsewhere = any(facts.names_device(kind) for kind in _OTHERS)
    return Evidence.of(Ground.GPU) if listed and facts.names_gpu_anywhere and not elsewhere else None


def _gives_parameters(facts: Facts, optimizer: Operation) -> bool:
    """Whether the text says that what an optimizer is given are the parameters of a model, or some of them."""
    document, function = facts.document, optimizer.function
    given = optimizer.node.args if isinstance(optimizer.node, cst.Call) else ()
    spelled = next((one.value for one in given if one.keyword is None or one.keyword.value == "params"), None)
    owner = document.once(owners).get(id(function))
    return spelled is not None and ParameterSources(document, function, owner).gives(spelled)
