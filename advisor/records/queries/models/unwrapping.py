"""Wrappers of models that never run, or never learn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import any_calls
from accel_advisor.syntax.shapes import dotted, last_name, methods_of, names_read_in
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.given import Given
    from accel_advisor.records.operations import Operation

_DATA = re.compile(r"data_?(?:set|loader)|loader$", re.IGNORECASE)
_EVALUATES = any_calls("eval", "no_grad", "inference_mode")
_LEARNS = frozenset({"backward", "train", "step"})
"""Methods that a class calls which trains what it holds."""
_QUESTIONS = frozenset({"isinstance", "issubclass", "hasattr", "getattr", "type", "print", "id"})
"""Functions that a model may be given to without running it."""
_GIVES = frozenset({"module", "state_dict"})
"""What a wrapper that never runs is asked for."""


def never_runs(facts: Facts, wrapping: Operation) -> bool:
    """Whether what wraps a model is bound to a name and neither called nor handed on: it is taken off again before
    (``model = model.module``), as after loading the weights of a wrapped one, or only gives its state, as where saved
    names are to begin with ``module.``."""
    statement = wrapping.statement
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0].target
    if not isinstance(target, cst.Name):
        return False
    name = target.value
    around = list(descendants(wrapping.function or wrapping.document.tree))
    start = next((at for at, one in enumerate(around) if one is statement), len(around))
    own = {id(one) for one in descendants(statement)}
    idle: set[int] = set()
    gives = False
    for one in around[start + 1 :]:
        if id(one) in own:
            continue
        rebinds = isinstance(one, cst.Assign) and any(dotted(each.target) == name for each in one.targets)
        if isinstance(one, cst.Assign) and rebinds and dotted(one.value) == f"{name}.module":
            return True
        if isinstance(one, cst.AssignTarget) or (isinstance(one, cst.Attribute) and one.attr.value != "forward"):
            idle.add(id(one.target if isinstance(one, cst.AssignTarget) else one.value))
            gives |= isinstance(one, cst.Attribute) and one.attr.value in _GIVES and dotted(one.value) == name
        elif isinstance(one, cst.Call) and isinstance(one.func, cst.Name) and one.func.value in _QUESTIONS:
            idle |= {id(argument.value) for argument in one.args}
        elif dotted(one) == name and id(one) not in idle:
            return False
    if wrapping.function is not None or not gives:
        return gives
    return not facts.is_read_elsewhere(name) and not any(_reads(one, name) for one in around[:start])


def never_learns(facts: Facts, wrapping: Operation) -> bool:
    """Whether a model is wrapped only to evaluate it: what is wrapped is in evaluation mode, the file puts it into
    that mode and trains nothing, the function where it does so puts the model into that mode and comes to no training,
    all calls of it that are seen stand outside of trainings, the classes of the object that holds it only evaluate, or
    every training calls it where autograd records nothing; or the program trains nothing at all, and evaluates."""
    if not facts.trains and not facts.frameworks and facts.does(*_EVALUATES):
        return True
    if isinstance(wrapping.function, cst.FunctionDef) and _is_held_to_evaluate(facts, wrapping.function):
        return True
    statement, function = wrapping.statement, wrapping.function
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return False
    target = dotted(statement.targets[0].target)
    if not target:
        return False
    learning = [loop for one in facts.program for loop in one.loops if loop.learns]
    if _only_evaluates(facts, target):
        return True
    if not learning:
        return False
    if _ends_in_eval(statement.value) or _is_called_elsewhere(facts, wrapping, learning):
        return True
    if isinstance(function, cst.FunctionDef):
        name = function.name.value
        reached = any(loop.function is function or name in loop.functions for loop in learning)
        if not reached and _evaluates(function, target):
            return True
    if "." not in target:
        return False
    called = [one for loop in learning for one in facts.program.calls_in.get(loop, ())]
    part = target.rpartition(".")[2]
    graphs = [context.graphs for call, context in called if dotted(call.node.func).endswith(f".{part}")]
    return bool(graphs) and not any(graphs)


def _is_held_to_evaluate(facts: Facts, function: cst.FunctionDef) -> bool:
    """Whether a method makes a model for an object whose class, with its bases in the program and those that derive
    from it, puts it into evaluation mode, and computes no gradients; nor is it called from elsewhere."""
    classes = [one for each in facts.program for one in descendants(each.document.tree, cst.ClassDef)]
    owner = next((one for one in classes if any(each is function for each in methods_of(one).values())), None)
    if owner is None:
        return False
    family = _reach(owner, classes, up=True) + _reach(owner, classes, up=False)
    inside = {id(call): call for one in family for call in descendants(one, cst.Call)}
    called = [dotted(one.func) for one in inside.values()]
    methods = {one.rpartition(".")[2] for one in called}
    if "eval" not in methods or not methods.isdisjoint(_LEARNS):
        return False
    sets = [one for each in family for one in descendants(each, cst.Assign) if _gives(one.value, function)]
    held = {dotted(each.target) for one in sets for each in one.targets}
    parts = [f".{one.partition('.')[2]}." for one in held if one.startswith("self.")]
    outside = [
        f"{dotted(one.func)}."
        for each in facts.program
        for one in descendants(each.document.tree, cst.Call)
        if id(one) not in inside
    ]
    return bool(parts) and not any(
        part in one and not one.startswith(f"self{part}") for part in parts for one in outside
    )


def _reach(owner: cst.ClassDef, classes: list[cst.ClassDef], *, up: bool) -> list[cst.ClassDef]:
    """A class with its bases, or with those that derive from it, directly or through others, by their names."""
    found, pending = [owner], [owner]
    while pending:
        one = pending.pop()
        near = [each for each in classes if (_derives(one, each) if up else _derives(each, one))]
        new = [each for each in near if each not in found]
        found, pending = found + new, pending + new
    return found


def _derives(one: cst.ClassDef, base: cst.ClassDef) -> bool:
    return any(last_name(each.value) == base.name.value for each in one.bases)


def _gives(value: cst.BaseExpression, function: cst.FunctionDef) -> bool:
    """Whether an expression calls a method of this name of the object itself, or stands in it."""
    inside = any(one is value for one in descendants(function))
    calls = (dotted(one.func) for one in descendants(value, cst.Call))
    return inside or any(one == f"self.{function.name.value}" for one in calls)


def _only_evaluates(facts: Facts, target: str) -> bool:
    """Whether a script puts what bears a name into evaluation mode, nothing back, computes no gradients, and goes over
    no data set: it looks at single samples, which a wrapper cannot divide."""
    tree = facts.document.tree
    called = {dotted(one.func) for one in descendants(tree, cst.Call)}
    methods = {one.rpartition(".")[2] for one in called}
    bound = {dotted(one.target) for one in descendants(tree, cst.AssignTarget)}
    return (
        f"{target}.eval" in called
        and methods.isdisjoint(_LEARNS)
        and not any(_DATA.search(one) for one in methods | bound)
    )


def _ends_in_eval(value: cst.BaseExpression) -> bool:
    """Whether what is wrapped, or the wrapper, is put into evaluation mode where it is made."""
    return any(
        isinstance(one.func, cst.Attribute) and one.func.attr.value == "eval" for one in descendants(value, cst.Call)
    )


def _is_called_elsewhere(facts: Facts, wrapping: Operation, learning: list[Loop]) -> bool:
    """Whether the wrapper is seen to be called, and never where a training learns."""
    learning_calls = [one for loop in learning for _, one in facts.program.calls_in.get(loop, ()) if one.graphs]
    if any(one.escaped and not one.nested for one in learning_calls):
        return False  # which may be one of several
    learned = set(map(id, learning_calls))
    calls = [context for one in facts.program for call in one.module_calls for context in call.contexts]
    own = [one for one in calls if any(_made_by(each, wrapping) for each in one.called.alternatives)]
    return bool(own) and not any(id(one) in learned for one in own)


def _made_by(given: Given, wrapping: Operation) -> bool:
    return given.module is not None and given.module.node is wrapping.node


def _evaluates(scope: cst.CSTNode, target: str) -> bool:
    """Whether the text of a function puts what a name stands for into evaluation mode, and never back."""
    called = {dotted(one.func) for one in descendants(scope, cst.Call)}
    return f"{target}.eval" in called and f"{target}.train" not in called


def _reads(node: cst.CSTNode, name: str) -> bool:
    """Whether a node is a function that may run what a name of its module stands for."""
    if not isinstance(node, (cst.FunctionDef, cst.Lambda)) or name in names_read_in(node.params):
        return False
    return any(dotted(one) == name for one in descendants(node.body))
