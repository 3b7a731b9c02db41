"""Functions that are a step of a training, by whomever they are called."""

from __future__ import annotations

import re
from functools import lru_cache

import libcst as cst

from accel_advisor.syntax.shapes import dotted, methods_of
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.values import Function

_REPEATED: frozenset[type[cst.CSTNode]] = frozenset({cst.For, cst.While, cst.FunctionDef, cst.ClassDef, cst.Lambda})
_OPTIMIZER = re.compile(r"opt(?!ion)|solver|scaler", re.IGNORECASE)
_MOST_KEPT = 1024


def is_step_of_optimizer(function: Function) -> bool:
    """Whether a function is what an optimizer of the project does at each step."""
    if function.name != "step" or function.owner is None:
        return False
    return any(base.startswith("torch.optim.") for base in function.owner.library_bases())


def is_step_of_training(function: Function) -> bool:
    """Whether a function computes gradients and has an optimizer take one step, in no loop of its own, or is a method
    that calls others for this, as that of an agent does for its actor and its critic."""
    return _takes_step(function.node) or calls_steps(function)


def calls_steps(function: Function) -> bool:
    """Whether a method calls, in no loop of its own, others of its class that compute gradients and take a step."""
    methods = methods_of(function.owner.node) if function.owner is not None else {}
    steps = {f"self.{name}" for name, method in methods.items() if method is not function.node and _takes_step(method)}
    return bool(steps) and not steps.isdisjoint(_called_outside_of_loops(function.node))


@lru_cache(maxsize=_MOST_KEPT)
def _takes_step(node: cst.FunctionDef | cst.Lambda) -> bool:
    outside = _called_outside_of_loops(node)
    if not any(one.endswith(".step") and _OPTIMIZER.search(one) for one in outside):
        return False
    called = [dotted(one.func) for one in descendants(node.body, cst.Call)]
    return any("backward" in one.rpartition(".")[2] for one in called)


def _called_outside_of_loops(node: cst.FunctionDef | cst.Lambda) -> list[str]:
    return [dotted(one.func) for one in descendants(node.body, cst.Call, but=_REPEATED)]
