"""What is computed again at each forward pass although it is the same each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import calls
from accel_advisor.syntax.shapes import named_parameters, names_bound_in, names_read_in
from accel_advisor.tables.torch_functions import WINDOWS

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation, OperationContext

_WINDOWS = calls(*WINDOWS)
_FILTERS = calls(
    *("torchaudio.functional.melscale_fbanks", "torchaudio.functional.linear_fbanks", "librosa.filters.mel"),
    *("torchaudio.functional.create_fb_matrix", "torchaudio.functional.create_dct"),
)
_TRANSFORMS = calls(
    *(f"torchaudio.transforms.{name}" for name in ("Spectrogram", "MelSpectrogram", "MFCC", "LFCC", "MelScale")),
    *(f"torchaudio.transforms.{name}" for name in ("InverseMelScale", "InverseSpectrogram", "GriffinLim", "Resample")),
)
_TRIANGLES = calls("torch.tril", "torch.triu")
_PLACES = frozenset({"device", "dtype", "layout", "requires_grad", "pin_memory"})
"""Arguments that say where and how a tensor is made, and not what is in it."""
_CACHES = ("functools.lru_cache", "functools.cache", "functools.cached_property")


def rebuilt_constants(facts: Facts) -> Iterator[Operation]:
    """The calls of a document that compute a window, a filter bank or a mask at each forward pass, from arguments that
    do not depend on its input."""
    for operation in facts.operations_of(*_WINDOWS, *_FILTERS, *_TRANSFORMS, *_TRIANGLES):
        if any(map(_at_each_forward, operation.contexts)) and _is_constant(operation):
            yield operation


def _at_each_forward(context: OperationContext) -> bool:
    cached = any(name in _CACHES for name in context.managers)
    return "forward" in context.functions and not (context.guarded or cached or "__init__" in context.functions)


def _is_constant(operation: Operation) -> bool:
    """Whether a call's arguments are the same each time: literals, or made of attributes and names from outside of the
    function, which does not assign them."""
    node, function = operation.node, operation.function
    if not isinstance(node, cst.Call) or not isinstance(function, cst.FunctionDef):
        return False
    given = [arg for arg in node.args if arg.keyword is None or arg.keyword.value not in _PLACES]
    if any(arg.star for arg in given):
        return False
    if operation.does(*_TRIANGLES) and not (given and _fills(operation)):
        return False
    names = frozenset().union(*(_names_in(arg.value) for arg in given))
    params = function.params
    local = {one.name.value for one in named_parameters(params)}
    local |= {one.name.value for one in (params.star_arg, params.star_kwarg) if isinstance(one, cst.Param)}
    if names.isdisjoint((local | names_bound_in(function)) - {"self"}):
        return True
    seen = [
        argument.given for context in operation.contexts for key, argument in context.arguments if key not in _PLACES
    ]
    return bool(seen) and all(one.written for one in seen)


def _names_in(node: cst.BaseExpression) -> frozenset[str]:
    """The names that an argument is made of, but for where it is made."""
    if isinstance(node, cst.Call):
        inner = [arg.value for arg in node.args if arg.keyword is None or arg.keyword.value not in _PLACES]
        return names_read_in(node.func).union(*map(_names_in, inner))
    return names_read_in(node)


def _fills(operation: Operation) -> bool:
    """Whether a triangle is cut out of what a factory of torch fills."""
    return all(context.given("input", 0).born is not None for context in operation.contexts)
