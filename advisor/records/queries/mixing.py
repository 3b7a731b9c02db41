"""Where a tensor that was made on the host meets what lives with the model, or on the GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act, calls, methods
from accel_advisor.syntax.shapes import methods_of
from accel_advisor.tables.torch_modules import PARAMETERS
from accel_advisor.values.places import WITH_MODEL, is_host, is_on_accelerator
from accel_advisor.values.values import Birth, Module, Opaque, Sequence, Tensor, Value

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts

_JOINS = calls(
    *(f"torch.{name}" for name in "cat stack where add sub mul div matmul mm bmm einsum outer logical_and".split())
)
_METHODS = methods("Tensor", *"add sub mul div matmul mm bmm masked_fill gather index_select add_ mul_ sub_".split())


@dataclass(frozen=True, slots=True)
class Meeting:
    """An operation between a tensor on the host and another one that is elsewhere, which raises on a GPU.

    Attributes:
        node: the operation.
        born: where the tensor on the host was made.
        other: the expression of the tensor that it meets, where there is one.
    """

    node: cst.CSTNode
    born: Birth
    other: cst.BaseExpression | None

    @property
    def parameter(self) -> str:
        """The parameter that the tensor on the host meets, of the method that makes it; empty where it meets anything
        else, which may not be bound yet where it is made."""
        owner, other = self.born.owner, self.other
        method = methods_of(owner.node).get(self.born.functions[-1]) if owner is not None else None
        if method is None or not isinstance(other, cst.Name):
            return ""
        return next((one.name.value for one in method.params.params if one.name.value == other.value), "")


def meetings(facts: Facts) -> Iterator[Meeting]:
    """The operations of a document that mix places for certain, in the order in which they were met. What only those
    do who have no GPU mixes none."""
    for operation in facts.operations_of(Act.MIXES_PLACES, *_JOINS, *_METHODS):
        call = operation.node
        contexts = [one for one in operation.contexts if not any(each.without_gpu for each in one.conditions)]
        if isinstance(call, cst.BinaryOperation):
            sides: list[tuple[Value | None, cst.BaseExpression | None]]
            for context in contexts:
                sides = [(context.receiver, call.left), (context.get("value", 0), call.right)]
                yield from _meeting(facts, call, sides)
        elif operation.what is not Act.MIXES_PLACES:
            for context in contexts:
                sides = [(context.receiver, operation.receiver)] if operation.what in _METHODS else []
                for _, argument in context.arguments:
                    items = argument.value.items if isinstance(argument.value, Sequence) else (argument.value,)
                    sides += [(one, argument.expression if items == (argument.value,) else None) for one in items]
                yield from _meeting(facts, call, sides)
    for module_call in facts.module_calls:
        for at in module_call.contexts:
            if (
                isinstance(at.module, Module)
                and at.module.has_state
                and at.place == WITH_MODEL
                and not module_call.loss
            ):
                for given in at.arguments:
                    for one in given.value.items if isinstance(given.value, Sequence) else (given.value,):
                        born = _made_on_host(one)
                        if born is not None:
                            yield Meeting(module_call.node, born, module_call.node.func)


def _meeting(
    facts: Facts, node: cst.CSTNode, sides: list[tuple[Value | None, cst.BaseExpression | None]]
) -> Iterator[Meeting]:
    elsewhere = [expression for value, expression in sides if _elsewhere(facts, value)]
    for value, _ in sides:
        born = _made_on_host(value)
        if born is not None and elsewhere:
            yield Meeting(node, born, elsewhere[0])


def _made_on_host(value: Value | None) -> Birth | None:
    if isinstance(value, Tensor) and value.basis.proven and is_host(value.place) and not value.scalar:
        return value.born
    return None


def _elsewhere(facts: Facts, value: Value | None) -> bool:
    if isinstance(value, Opaque):
        return value.name in PARAMETERS
    if not isinstance(value, Tensor) or value.scalar or any(isinstance(one, str) for one in value.path):
        return False
    return value.basis.proven and is_on_accelerator(value.place) and facts.inputs.is_tensor(value.place)
