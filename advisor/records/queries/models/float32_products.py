"""Attention layers whose matrix products run in full float32."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel_advisor.records.actions import AnyCall, AnySets, Call, calls, methods
from accel_advisor.records.queries.precision import is_exact

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Transfer

SINCE = (1, 12)
"""The version of torch that brought the setting."""
_LAYERS = calls(
    "torch.nn.Transformer",
    "torch.nn.TransformerEncoderLayer",
    "torch.nn.TransformerDecoderLayer",
    "torch.nn.MultiheadAttention",
)
_DECIDES = (
    *(AnySets("allow_tf32"), AnySets("fp32_precision"), AnyCall("autocast")),
    *methods("Module", "half", "bfloat16", "double"),
    *calls("torch.set_float32_matmul_precision", "torch.set_default_dtype"),
    *calls("torch.use_deterministic_algorithms", "torch.set_default_tensor_type"),
)


def moved_in_float32(facts: Facts) -> Transfer | None:
    """The first move to CUDA of a model in a program that trains attention layers of ``torch.nn`` and never says which
    precision float32 products may have; None where it says so, needs every digit, or may have no setting for it."""
    if not facts.supports(SINCE):
        return None
    if not facts.trains or facts.frameworks or not facts.does(*_LAYERS) or facts.does(*_DECIDES):
        return None
    settings = facts.program.operations_of(Call("transformers.TrainingArguments"))
    if is_exact(facts) or any(not one.lacks("tf32") for one in settings):
        return None
    moves = (one for each in facts.program for one in each.transfers if one.moves_models)
    return next(moves, None)
