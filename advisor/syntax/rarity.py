"""Branches that a program seldom takes, as their tests show: the first use of something, one pass of many, the first
passes, values that are not finite, nothing to go on with; those that it takes where it evaluates; and those that a flag
leads to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import libcst as cst

from accel_advisor.syntax.shapes import asks_for_something, dotted, is_amount, last_name, modulus_in
from accel_advisor.syntax.variation import bindings
from accel_advisor.syntax.walking import descendants

Literal = bool | str | None
"""The literals that flags and the names of phases are."""
Answers = Sequence[tuple[cst.BaseExpression, bool]]
"""Tests, and what each of them comes to."""
_RANGES = frozenset({"range", "xrange", "trange", "count"})
_COUNTER = re.compile(
    r"(?:^|_|\b)(?:i|it|iter|iters|iteration|iterations|step|steps|epochs?|batch_?(?:idx|i|id|num|nr)|idx)$"
)
_STAGE = re.compile(r"(?:^|_)(?:phase|mode|split|stage)$")
_TRAINING = frozenset({"train", "training", "fit"})
_EVALUATING = frozenset("test testing val valid validate validation eval evaluate evaluation infer inference".split())
_FAULTS = {"isnan": True, "isinf": True, "isfinite": False}
_WHOLE = frozenset({"any", "all", "bool", "item"})
"""Functions and methods that make one answer of many."""
_BEFORE = (cst.LessThan, cst.LessThanEqual)
_PAST = (cst.GreaterThan, cst.GreaterThanEqual)
_FEW = 10
"""Passes that are few beside those of a whole training."""


@lru_cache(maxsize=4096)
def rare_branch(condition: cst.If | cst.IfExp, function: cst.FunctionDef | cst.Lambda | None) -> int | None:
    """Which branch of a condition, 0 or 1, a program seldom takes by what its test asks; None where the test does not
    say. ``function`` is the function that it stands in, whose names stand for what they were bound to once."""
    if isinstance(condition, cst.IfExp):
        filled: cst.CSTNode | None = None
    elif isinstance(condition.orelse, cst.If):
        return None
    else:
        filled = condition.body
    seldom = _seldom(condition.test, filled, function.body if function is not None else None)
    return None if seldom is None else 0 if seldom else 1


@lru_cache(maxsize=4096)
def leaves_with_kept(condition: cst.If, function: cst.FunctionDef) -> bool:
    """Whether a branch returns an attribute for which its test asks, or an item of that, and the function fills the
    same attribute elsewhere: ``if hasattr(self, "mask"): return self.mask``. What follows then happens once, or anew
    for what the test compares."""
    last = condition.body.body[-1] if condition.body.body else None
    returned = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else None
    if not isinstance(returned, cst.Return) or condition.orelse is not None:
        return False
    given = returned.value
    while isinstance(given, cst.Subscript):
        given = given.value
    name = dotted(given)
    if "." not in name or name not in bindings(function.body) or name in bindings(condition.body):
        return False
    test = condition.test
    while isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        if _asks_whether_there(test.right, name):
            return True
        test = test.left
    return _asks_whether_there(test, name)


def _asks_whether_there(test: cst.BaseExpression, name: str) -> bool:
    """Whether a test is true where an attribute of this name is there and filled."""
    if isinstance(test, cst.Call) and dotted(test.func) == "hasattr" and len(test.args) == 2:
        owner, attribute = dotted(test.args[0].value), test.args[1].value
        text = attribute.evaluated_value if isinstance(attribute, cst.SimpleString) else None
        return isinstance(text, str) and f"{owner}.{text}" == name
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    only = test.comparisons[0]
    if isinstance(only.operator, (cst.IsNot, cst.NotEqual)):
        return dotted(test.left) == name and dotted(only.comparator) == "None"
    return isinstance(only.operator, cst.In) and dotted(only.comparator) == name


@lru_cache(maxsize=4096)
def lasting_branch(test: cst.BaseExpression, counting: cst.CSTNode | None = None) -> int | None:
    """Which branch of a condition, 0 or 1, all later passes take because a counter has gone past a bound, as that of
    ``self.steps > config["start"]``; None where the test asks for anything else. ``counting`` is the loop whose passes
    it tells apart: what that counts is a counter, whatever its name."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    name = dotted(test.left)
    if not _COUNTER.search(name) and not (name and name == _counted_by(counting)):
        return None
    operator = test.comparisons[0].operator
    if isinstance(operator, _PAST):
        return 0
    return 1 if isinstance(operator, _BEFORE) else None


_TRAINS = frozenset("training is_training is_train istrain train_mode".split())
_EVALUATES = frozenset(
    "evaluate evaluating eval is_eval do_eval eval_mode eval_only test testing is_test do_test test_mode test_only"
    " inference is_inference".split()
)
"""What flags are called that ask whether a model is trained, or evaluated."""


@lru_cache(maxsize=4096)
def evaluating_branch(test: cst.BaseExpression) -> int | None:
    """Which branch of a condition, 0 or 1, is for evaluation: the second one of ``self.training``, the first one of
    ``phase == "test"``, ``args.evaluate`` or ``flips and not self.training``; None where the test asks for anything
    else."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = evaluating_branch(test.expression)
        return 1 - inner if inner is not None else None
    if isinstance(test, cst.BooleanOperation):
        # all hold in the first branch of `and`, and none in the second one of `or`
        branch = 0 if isinstance(test.operator, cst.And) else 1
        return branch if branch in (evaluating_branch(test.left), evaluating_branch(test.right)) else None
    if isinstance(test, (cst.Attribute, cst.Name)):
        flag = last_name(test).lower()
        return 1 if flag in _TRAINS else 0 if flag in _EVALUATES else None
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    asked, name = test.comparisons[0], last_name(test.left)
    if not isinstance(asked.comparator, cst.SimpleString) or not _STAGE.search(name):
        return None
    said = asked.comparator.evaluated_value
    if said not in _TRAINING | _EVALUATING or not isinstance(asked.operator, (cst.Equal, cst.NotEqual)):
        return None
    return int((said in _EVALUATING) is not isinstance(asked.operator, cst.Equal))


def _counted_by(loop: cst.CSTNode | None) -> str:
    """What a loop over a range calls the number of its pass."""
    if not isinstance(loop, cst.For) or not isinstance(loop.iter, cst.Call):
        return ""
    return dotted(loop.target) if last_name(loop.iter.func) in _RANGES else ""


def _seldom(test: cst.BaseExpression, filled: cst.CSTNode | None, body: cst.CSTNode | None) -> bool | None:
    """Whether a test is seldom true, or, with False, seldom false; None where neither is known."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        if _is_kept(test.expression, filled, body):
            return True
        inner = _seldom(test.expression, None, body)
        return None if inner is None else not inner
    if isinstance(test, cst.BooleanOperation):
        return _of_both(test, _seldom(test.left, filled, body), _seldom(test.right, filled, body))
    if isinstance(test, cst.Name) and body is not None:
        values = bindings(body).get(test.value) or [None]
        only = values[0] if len(values) == 1 else None
        return _counted(only) if only is not None else None
    faulty = _asks_for_faults(test)
    if faulty is not None:
        return faulty
    if is_amount(test.left if isinstance(test, cst.Comparison) else test) and asks_for_something(test):
        return False  # where it asks for nothing, it may be about to fill what is empty
    counted = _counted(test)
    return _asks_for_none(test, filled, body) if counted is None else counted


def _asks_for_faults(test: cst.BaseExpression) -> bool | None:
    """Whether a test is true only of values that are not finite, as ``torch.isnan(loss).any()`` is, or, with False,
    false only of them; None where it asks for anything else."""
    while isinstance(test, cst.Call):
        name = last_name(test.func)
        if name in _FAULTS:
            return _FAULTS[name]
        if name not in _WHOLE:
            return None
        inner = test.args[0].value if test.args else None
        test = inner or (test.func.value if isinstance(test.func, cst.Attribute) else test.func)
    return None


def _of_both(test: cst.BooleanOperation, left: bool | None, right: bool | None) -> bool | None:
    """What is known of a test from its two sides: one seldom true is enough for ``and``, and both for ``or``."""
    decisive = isinstance(test.operator, cst.And)
    if decisive in (left, right):
        return decisive
    return left if left is right else None


def _counted(test: cst.BaseExpression) -> bool | None:
    """Whether a test of a counter is seldom true, as ``step % 100 == 0`` and ``epoch < 3`` are, or seldom false."""
    if isinstance(test, cst.BooleanOperation):
        return _of_both(test, _counted(test.left), _counted(test.right))
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = _counted(test.expression)
        return None if inner is None else not inner
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    only = test.comparisons[0]
    if modulus_in(test.left) is not None:
        if isinstance(only.operator, cst.Equal):
            return True
        return False if isinstance(only.operator, cst.NotEqual) else None
    if not _COUNTER.search(dotted(test.left)) or not isinstance(only.comparator, cst.Integer):
        return None
    first = isinstance(only.operator, _BEFORE) and only.comparator.evaluated_value <= _FEW
    return True if first or isinstance(only.operator, cst.Equal) else None


def _asks_for_none(test: cst.BaseExpression, filled: cst.CSTNode | None, body: cst.CSTNode | None) -> bool | None:
    """Whether a test is true only where something that lasts is not there yet, and the branch makes it."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    only = test.comparisons[0]
    other = dotted(only.comparator) if isinstance(only.comparator, cst.Name) else ""
    if isinstance(only.operator, cst.NotIn) and _is_kept(only.comparator, filled, body):
        return True
    if isinstance(only.operator, (cst.Is, cst.Equal)) and other == "None":
        return True if _is_kept(test.left, filled, body) else None
    if not isinstance(test.left, cst.Call) or dotted(test.left.func) != "len" or len(test.left.args) != 1:
        return None
    if isinstance(only.operator, cst.Equal) and isinstance(only.comparator, cst.Integer):
        return True if _is_kept(test.left.args[0].value, filled, body) else None
    return None


def _is_kept(asked: cst.BaseExpression, filled: cst.CSTNode | None, body: cst.CSTNode | None) -> bool:
    """Whether what is asked for outlives the function, and the branch fills it."""
    if filled is None:
        return False
    if isinstance(asked, cst.Call) and dotted(asked.func) == "hasattr" and len(asked.args) == 2:
        owner, attribute = dotted(asked.args[0].value), asked.args[1].value
        text = attribute.evaluated_value if isinstance(attribute, cst.SimpleString) else None
        return isinstance(text, str) and f"{owner}.{text}" in bindings(filled)
    name = dotted(asked)
    if not name or name not in bindings(filled):
        return False
    if "." in name:
        return True
    if body is None:
        return False
    made = [value for value in bindings(body).get(name) or () if value is not None]
    return any(isinstance(one, cst.Subscript) and "." in dotted(one.value) for one in made)


class _Something:
    """What is none of the literals that a program compares a name with."""


def tests_of(node: cst.CSTNode, branch: int | None) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """The tests that a branch stands behind: its own, and those of the branches before it, which failed."""
    one: cst.CSTNode | None = node
    while isinstance(one, cst.If) and branch is not None and branch >= 0:
        yield one.test, branch == 0
        one, branch = one.orelse, branch - 1


def truth(test: cst.BaseExpression, name: str, value: object) -> bool | None:
    """What a test comes to where a name has a value; None where that does not decide it."""
    if isinstance(test, cst.Name):
        return bool(value) if test.value == name else None
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = truth(test.expression, name, value)
        return None if inner is None else not inner
    if isinstance(test, cst.BooleanOperation):
        sides = {truth(test.left, name, value), truth(test.right, name, value)}
        decisive = isinstance(test.operator, cst.Or)
        return decisive if decisive in sides else None if None in sides else not decisive
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1 and dotted(test.left) == name:
        compared = test.comparisons[0]
        other = literal(compared.comparator)
        if other and isinstance(compared.operator, (cst.Equal, cst.Is)):
            return value == other[0]
        if other and isinstance(compared.operator, (cst.NotEqual, cst.IsNot)):
            return value != other[0]
    return None


def literal(node: cst.BaseExpression | None) -> tuple[Literal] | None:
    """The value of a literal; None where it is none of True, False, None and a string."""
    if isinstance(node, cst.Name) and node.value in ("True", "False", "None"):
        return ({"True": True, "False": False, "None": None}[node.value],)
    text = node.evaluated_value if isinstance(node, cst.SimpleString) else None
    return (text,) if isinstance(text, str) else None


def exclude_each_other(one: Answers, other: Answers) -> bool:
    """Whether no value of a name that both ask for lets all of these answers be given."""
    asked = _plain_names(one) & _plain_names(other)
    tests = [test for test, _ in (*one, *other)]
    said = {each.evaluated_value for test in tests for each in descendants(test, cst.SimpleString)}
    values: list[object] = [True, False, None, _Something(), *said]
    return any(
        all(any(truth(test, name, value) is (not answer) for test, answer in (*one, *other)) for value in values)
        for name in asked
    )


def _plain_names(answers: Answers) -> set[str]:
    return {one.value for test, _ in answers for one in descendants(test, cst.Name)}
