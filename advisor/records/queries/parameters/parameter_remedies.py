"""What replaces a loop over parameters: one call over all of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.parameters.parameter_loops import AVERAGED_BY_TIMM
from accel_advisor.records.queries.parameters.parameter_updates import Update
from accel_advisor.syntax.shapes import dotted, last_name, names_read_in
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accel_advisor.project.target import Version
    from accel_advisor.records.queries.parameters.parameter_loops import ParameterLoop

SINCE: Version = (1, 12)
"""The torch from which on any of it is worth saying."""
_AVERAGES: Version = (2, 0)
"""The torch that brought ``torch._foreach_lerp_``."""
_COPIES: Version = (2, 2)
"""The torch that brought ``torch._foreach_copy_``."""
_TOTALS: Version = (2, 6)
"""The torch that brought ``torch.nn.utils.get_total_norm``."""
_BOUNDS = frozenset({"min", "minimum", "clamp", "clamp_", "clip", "clip_"})
_KEEPS_AVERAGE = re.compile(r"ema\b|ema_|_ema|average|shadow", re.IGNORECASE)


def remedy_of(loops: Sequence[ParameterLoop]) -> tuple[str, Version, str]:
    """What to call instead of the first of these loops, which stand in one document, as a clause of a message; and the
    version, and the package, that it came with."""
    first = loops[0]
    done = frozenset[Update]().union(*(one.updates for one in loops))
    if first.by_library:
        return "use `timm.utils.ModelEmaV3`, which does it over lists", AVERAGED_BY_TIMM, "timm"
    if Update.AVERAGE in first.updates:
        return _of_average(first), _AVERAGES, "torch"
    if Update.COPY in first.updates:
        call = "torch._foreach_copy_(copies, parameters)"
        return f"keep both lists of tensors and call `{call}` under `no_grad`", _COPIES, "torch"
    if Update.CLAMP in done:
        return "call `torch.nn.utils.clip_grad_value_(parameters, value)`, which works on lists", SINCE, "torch"
    if Update.NORM in done and Update.SCALE in done:
        if any(Update.SCALE in one.updates and _clips(one) for one in loops):
            call = "torch.nn.utils.clip_grad_norm_(parameters, max_norm)"
            return f"call `{call}`, which works on lists", SINCE, "torch"
        return "call `torch._foreach_norm` and `torch._foreach_mul_` with lists of the gradients", SINCE, "torch"
    if Update.NORM in done:
        call = "torch.nn.utils.get_total_norm(gradients)"
        return f"call `{call}`, which works on lists, and only in the steps that log it", _TOTALS, "torch"
    if Update.ZERO in first.updates:
        none = "set each gradient to None, as `optimizer.zero_grad(set_to_none=True)` does for those that it has"
        return f"{none}: that launches nothing", SINCE, "torch"
    name = "_foreach_mul_" if Update.SCALE in first.updates else "_foreach_add_"
    return f"call `torch.{name}` once with the list of all of them", SINCE, "torch"


def _clips(loop: ParameterLoop) -> bool:
    """Whether the factor that gradients are scaled by is bounded, or a maximum over something that is computed."""
    node, function = loop.node, loop.operation.function
    if not isinstance(node, cst.For):
        return False
    names = names_read_in(node.body)
    given = descendants(function if function is not None else loop.operation.document.tree, cst.Assign)
    factors = [one.value for one in given if any(dotted(each.target) in names for each in one.targets)]
    elements = names_read_in(node.target)
    parts = [each for code in (node.body, *factors) for each in descendants(code, cst.Call, cst.BinaryOperation)]
    return any(_is_bounded(one, elements) for one in parts)


def _is_bounded(node: cst.CSTNode, elements: frozenset[str]) -> bool:
    if isinstance(node, cst.Call):
        return last_name(node.func) in _BOUNDS
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Divide):
        return False
    most = names_read_in(node.left)
    return bool(most) and not most & elements and bool(names_read_in(node.right))


def _of_average(loop: ParameterLoop) -> str:
    """For moving averages of a model, and for targets that follow one, for which torch has no class."""
    call = "torch._foreach_lerp_(averages, parameters, 1 - decay)"
    functions = " ".join(loop.operation.contexts[0].functions)
    classes = "torch.optim.swa_utils"
    document, function = loop.operation.document, loop.operation.function
    # the batches that a normalization has seen are counted in a buffer of integers, which cannot be averaged
    states = "state_dict" in (document.code(function) if function is not None else document.text)
    tensors = "floating-point tensors" if states else "tensors"
    if not _KEEPS_AVERAGE.search(f"{loop.code} {functions} {document.filename}"):
        return f"keep both lists of {tensors} and call `{call}` under `no_grad`"
    return (
        f"keep both lists of {tensors} and call `{call}` under `no_grad`, or, from torch 2.1 on, "
        f"use `AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay))` of `{classes}`"
    )
