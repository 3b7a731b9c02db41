"""Parameters, and tensors that require gradients, that are moved or cast as they are made: what is kept is no leaf."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, any_calls, calls
from accel_advisor.tables.torch_modules import PARAMETERS

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.transfers import Transfer

_PARAMETERS = calls(*PARAMETERS)
_FLOATS = calls(*(f"torch.{name}" for name in ("zeros", "ones", "rand", "randn", "empty", "eye", "linspace")))
"""Factories that make tensors of the default dtype."""
_CASTS = {"double": "torch.float64", "half": "torch.float16", "bfloat16": "torch.bfloat16"}
_OTHERS = frozenset({*_CASTS.values(), "torch.double", "torch.half"})


@dataclass(frozen=True, slots=True)
class LostLeaf:
    """A leaf that nothing holds.

    Attributes:
        call: the move or cast, whose result is assigned.
        leaf: what made the leaf.
        dtype: the full name of the dtype that it is cast to; None where it is moved.
        move: the move to a CUDA device, where it is known.
    """

    call: cst.Call
    leaf: Operation
    dtype: str | None = None
    move: Transfer | None = None

    @property
    def is_parameter(self) -> bool:
        """Whether it is an ``nn.Parameter``."""
        return self.leaf.what in _PARAMETERS

    @property
    def factory(self) -> cst.Call:
        """The call that made the leaf."""
        assert isinstance(self.leaf.node, cst.Call)
        return self.leaf.node


def lost_leaves(facts: Facts) -> Iterator[LostLeaf]:
    """The leaves that a document loses as it makes them, on a GPU at least."""
    if facts.does(AnyCall("retain_grad")):
        return  # which is for tensors that are no leaves on purpose
    made = {one.node: one for one in facts.operations if one.makes_tensor or one.what in _PARAMETERS}
    targets = {one.node: one for one in facts.transfers}
    for operation in facts.operations:
        call = operation.node
        if not isinstance(call, cst.Call) or operation.assigned is not call:
            continue
        leaf = made.get(operation.receiver) if operation.receiver is not None else None
        if leaf is None or leaf.node is call or not _is_leaf(leaf):
            continue
        move, dtype = targets.get(call), _cast(facts, made, leaf, operation)
        if dtype is not None:
            yield LostLeaf(call, leaf, dtype=dtype)
        elif not operation.does(*any_calls("to", "cuda")) or not _is_on_host(leaf, move):
            continue
        elif move is not None:
            if all(context.to_cuda for context in move.contexts):
                yield LostLeaf(call, leaf, move=move)
        elif leaf.what in _PARAMETERS and _goes_to_cuda(operation):
            yield LostLeaf(call, leaf)


def _cast(facts: Facts, made: dict[cst.CSTNode, Operation], leaf: Operation, cast: Operation) -> str | None:
    """The dtype that a leaf of the default one is turned into; None where it stays what it is, as far as is known."""
    dtype = _CASTS.get(cast.what.name)
    if cast.what.name == "to":
        dtype = cast.given("dtype").named or cast.given("dtype", 0).named
    if dtype not in _OTHERS or facts.does(*calls("torch.set_default_dtype", "torch.set_default_tensor_type")):
        return None
    if leaf.what in _PARAMETERS:
        held = leaf.arguments[0].value if leaf.arguments else None
        leaf = made.get(held, leaf) if held is not None else leaf
    return dtype if leaf.what in _FLOATS and leaf.lacks("dtype") else None


def _is_leaf(made: Operation) -> bool:
    if made.what in _PARAMETERS:
        return not made.gives("requires_grad", False, 1)
    return all(context.given("requires_grad").is_literal(True) for context in made.contexts)


def _is_on_host(leaf: Operation, move: Transfer | None) -> bool:
    """Whether a leaf is made on the host, as far as is known: where it is on the device already, a move returns it."""
    if leaf.what in _PARAMETERS:
        held = [context.given("data", 0) for context in leaf.contexts]
        return all(one.on_host for one in held if one.is_tensor)
    return move is None or all(context.from_host for context in move.contexts)


def _goes_to_cuda(move: Operation) -> bool:
    kinds = [context.given("device", 0).device_kinds for context in move.contexts]
    return move.what.name == "cuda" or all("cuda" in one for one in kinds)
