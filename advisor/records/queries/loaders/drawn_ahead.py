"""Batches that a step draws while the GPU computes: after the model was called, before the backward pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.model_names import calls_of_backward
from accel_advisor.syntax.shapes import last_name
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, LoaderCall, Loop

_DRAWS = frozenset({"next", "__next__"})
_READS = frozenset({"item", "tolist", "cpu", "numpy", "synchronize"})
"""Methods that wait for the GPU, which has nothing left to do afterwards."""


def draws_ahead(facts: Facts, loader: LoaderCall) -> bool:
    """Whether every loop that learns from a loader's batches draws the next one while the GPU is busy: what a sample
    takes is hidden there, unless it takes long."""
    learning = [loop for loop in loader.loops if loop.learns]
    return bool(learning) and all(loop not in loader.passes and _draws_between(facts, loop) for loop in learning)


def _draws_between(facts: Facts, loop: Loop) -> bool:
    """Whether each draw of a loop's text stands between a call of a model and the backward pass, and nothing that waits
    stands between that call and the draw."""
    order, calls = loop.document.order, list(descendants(loop.node, cst.Call))
    called = facts.program.calls_in.get(loop, ())
    models = [order(one.node) for one, _ in called if not one.loss and loop.holds(one.document, one.node)]
    passes = [order(call) for call, _ in calls_of_backward(loop.node)]
    draws = [order(one) for one in calls if last_name(one.func) in _DRAWS]
    reads = [order(one) for one in calls if isinstance(one.func, cst.Attribute) and one.func.attr.value in _READS]
    if not (models and passes and draws):
        return False
    begun, ended = min(models), min(passes)
    return all(begun < one < ended for one in draws) and not any(begun < one < max(draws) for one in reads)
