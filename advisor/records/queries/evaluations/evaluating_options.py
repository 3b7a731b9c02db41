"""Branches of functions that only evaluations ask for, by what they give to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import dotted, named_parameters, words_of

if TYPE_CHECKING:
    from accel_advisor.records.conditions import Condition
    from accel_advisor.records.operations import Operation

_EVALUATES = frozenset("test testing eval evaluate evaluation val valid validate infer inference predict".split())
"""Words in the names of options that are for evaluations."""
_TARGETS = re.compile(r"(?:^|_)(?:targets?|labels?|gts?|gt_\w+|ground_?truths?)$", re.IGNORECASE)
"""What functions call what a loss is computed with."""


def is_for_evaluations(operation: Operation) -> bool:
    """Whether each way to an operation leads through a branch that a function takes only where it is asked to evaluate
    (``if test_emb:`` in ``def forward(self, x, test_emb=False)``), or where it is given no targets."""
    return bool(operation.contexts) and all(
        any(_asks_to_evaluate(one) or _has_no_targets(one) for one in context.conditions)
        for context in operation.contexts
    )


def _asks_to_evaluate(condition: Condition) -> bool:
    test = condition.test
    return isinstance(test, cst.Name) and not _EVALUATES.isdisjoint(words_of(test.value)) and condition.off_unless_asked


def _has_no_targets(condition: Condition) -> bool:
    """Whether it is the branch for a parameter that holds targets, and is None unless they are given."""
    test, function = condition.test, condition.function
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not isinstance(function, cst.FunctionDef):
        return False
    name, only = dotted(test.left), test.comparisons[0]
    if not _TARGETS.search(name) or dotted(only.comparator) != "None" or condition.branch is None:
        return False
    defaults = (one.default for one in named_parameters(function.params) if one.name.value == name)
    absent = 0 if isinstance(only.operator, cst.Is) else 1
    return condition.branch == absent and any(one is not None and dotted(one) == "None" for one in defaults)
