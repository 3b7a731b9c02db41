"""Wrappers of models all of whose uses are seen, and that no training calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import any_calls
from accel_advisor.syntax.shapes import dotted, last_name, mentioned_in, names_read_in, positional_parameters
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation

_QUESTIONS = frozenset("isinstance issubclass hasattr getattr type print id gradcheck gradgradcheck".split())
"""Functions that a model may be given to without taking a step with it."""
_CHECKS = any_calls("gradcheck", "gradgradcheck")
_GIVES_ITSELF = frozenset("cuda to cpu half float eval train requires_grad_".split())
_DEEPEST = 3


def is_idle(facts: Facts, wrapping: Operation, *, alone: bool) -> bool:
    """Whether what wraps a model is bound to a name, or to an attribute of an object, and all of its uses are seen,
    none of which calls it: it is asked for its parts, or handed to functions that do no more.

    Args:
        alone: whether nothing else is wrapped beside it: else functions that evaluate what they are given may call it.
    """
    if not facts.trains and not facts.does(*_CHECKS):
        return False  # what only looks at a model is advice already
    statement, function, made = wrapping.statement, wrapping.function, wrapping.node
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1 or facts.reflects:
        return False
    if not isinstance(made, cst.Call) or last_name(made.func) != "DataParallel":
        return False  # a class derived from it, whose own methods may call it
    target = statement.targets[0].target
    around = list(descendants(function or wrapping.document.tree))
    start = next((at for at, one in enumerate(around) if one is statement), len(around))
    done = {id(one) for one in (*around[:start], *descendants(statement))}
    uses = _Uses(facts, alone=alone)
    if isinstance(target, cst.Name):
        if function is None and (facts.is_read_elsewhere(target.value) or _reads_before(around[:start], target.value)):
            return False
        done |= _behind_another(around, statement, target.value)
        return uses.are_idle([one for one in around if id(one) not in done], target.value, function)
    if not isinstance(target, cst.Attribute) or not isinstance(target.value, cst.Name):
        return False
    name = f".{target.attr.value}"
    return all(
        uses.are_idle([one for one in descendants(tree) if id(one) not in done], name, None)
        for tree in (each.document.tree for each in facts.program)
    )


class _Uses:
    """What is done with wrappers.

    Args:
        alone: see :func:`is_idle`.
    """

    def __init__(self, facts: Facts, *, alone: bool) -> None:
        self._facts, self._alone = facts, alone

    def are_idle(self, nodes: Sequence[cst.CSTNode], name: str, scope: cst.CSTNode | None, depth: int = 0) -> bool:
        """Whether no node runs what a name stands for, or, where it begins with a dot, an attribute of any object.

        Args:
            scope: the function of the nodes; None for those of a module.
        """
        idle: set[int] = set()
        for one in nodes:
            if isinstance(one, cst.Assign) and _hands_on(one, name):
                return False
            idle |= self._idle_within(one, name, scope, depth)
            if _is(one, name) and id(one) not in idle:
                return False
        return True

    def _idle_within(self, node: cst.CSTNode, name: str, scope: cst.CSTNode | None, depth: int) -> set[int]:
        """The parts of a node that are only asked for something, by identity."""
        if isinstance(node, cst.Attribute):
            return {id(node.attr)} if node.attr.value == "forward" else {id(node.attr), id(node.value)}
        if isinstance(node, cst.AssignTarget):
            return {id(node.target)}
        if isinstance(node, (cst.For, cst.CompFor)):
            return {id(node.iter)}
        if isinstance(node, cst.FunctionDef):
            gives = (one.value for one in descendants(node.body, cst.Return) if _is(one.value, name))
            return {id(one) for one in gives if self._result_is_idle(node)}
        if isinstance(node, cst.Return) and _is(node.value, name) and isinstance(scope, cst.FunctionDef):
            return {id(node.value)} if self._result_is_idle(scope) else set()
        if not isinstance(node, cst.Call):
            return set()
        keywords = {id(arg.keyword) for arg in node.args if arg.keyword is not None}
        asks = last_name(node.func) in _QUESTIONS
        at = [place for place, arg in enumerate(node.args) if _is(arg.value, name)]
        return keywords | {id(node.args[one].value) for one in at if asks or self._takes_idly(node, one, depth)}

    def _takes_idly(self, call: cst.Call, at: int, depth: int) -> bool:
        """Whether all functions that a call may run do nothing of consequence with one of its arguments."""
        called = self._facts.call_graph.called_from(call)
        if call.args[at].keyword is not None or any(arg.star for arg in call.args[:at]) or depth > _DEEPEST:
            return False
        return bool(called) and all(self._leaves_idle(one, at, depth) for one in called)

    def _leaves_idle(self, function: cst.CSTNode, at: int, depth: int) -> bool:
        if not isinstance(function, cst.FunctionDef):
            return False
        names = [one.name.value for one in positional_parameters(function.params)]
        names = names[1:] if names[:1] in (["self"], ["cls"]) else names
        if at >= len(names):
            return False
        if not self._alone and _evaluates(function, names[at]):
            return True
        return self.are_idle(list(descendants(function.body)), names[at], function, depth + 1)

    def _result_is_idle(self, function: cst.FunctionDef) -> bool:
        """Whether what a function returns is gone over at most, wherever the program names it."""
        name = function.name.value
        trees = [one.document.tree for one in self._facts.program]
        loops = (one for tree in trees for one in descendants(tree, cst.For, cst.CompFor))
        gone = (one.iter for one in loops if isinstance(one, (cst.For, cst.CompFor)))
        over = [one.func for one in gone if isinstance(one, cst.Call)]
        gone_over = sum(last_name(one) == name for one in over)
        return gone_over == sum(one.document.once(mentioned_in)[name] for one in self._facts.program)


def _is(node: cst.CSTNode | None, name: str) -> bool:
    if name.startswith("."):
        return isinstance(node, cst.Attribute) and node.attr.value == name[1:]
    return isinstance(node, cst.Name) and node.value == name


def _hands_on(assign: cst.Assign, name: str) -> bool:
    """Whether another name is bound to what a method gives that returns the wrapper itself: ``other = net.cuda()``."""
    called = isinstance(assign.value, cst.Call)
    return called and _gives_itself(assign.value, name) and not all(_is(one.target, name) for one in assign.targets)


def _gives_itself(value: cst.BaseExpression, name: str) -> bool:
    """Whether an expression is the wrapper of this name, or what a method gives that returns it."""
    while isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
        if value.func.attr.value not in _GIVES_ITSELF:
            return False
        value = value.func.value
    return _is(value, name)


def _behind_another(nodes: Sequence[cst.CSTNode], statement: cst.Assign, name: str) -> set[int]:
    """What stands, by identity, behind a statement that binds a name to something else (``net = net.module``), in the
    same block as the one that binds it to a wrapper."""
    bodies = (one.body for one in nodes if isinstance(one, (cst.Module, cst.IndentedBlock)))
    lines = next((body for body in bodies if any(statement in _simple(line) for line in body)), ())
    own = next((at for at, line in enumerate(lines) if statement in _simple(line)), len(lines))
    binds = [one for line in lines[own + 1 :] for one in _simple(line) if isinstance(one, cst.Assign)]
    other = next((one for one in binds if any(_is(each.target, name) for each in one.targets)), None)
    if other is None or _gives_itself(other.value, name):
        return set()
    inside = {id(one) for one in descendants(other)}
    last = max(at for at, one in enumerate(nodes) if id(one) in inside)
    return {id(one) for one in (*descendants(other.targets[0]), *nodes[last + 1 :])}


def _simple(line: cst.CSTNode) -> Sequence[cst.BaseSmallStatement]:
    return line.body if isinstance(line, cst.SimpleStatementLine) else ()


def _evaluates(function: cst.FunctionDef, name: str) -> bool:
    """Whether a function puts what it is given into evaluation mode, and computes no gradients."""
    called = {dotted(one.func) for one in descendants(function.body, cst.Call)}
    return f"{name}.eval" in called and not any(one.rpartition(".")[2] == "backward" for one in called)


def _reads_before(nodes: Sequence[cst.CSTNode], name: str) -> bool:
    """Whether a function above reads a name of its module."""
    functions = (one for one in nodes if isinstance(one, (cst.FunctionDef, cst.Lambda)))
    return any(name in names_read_in(one.body) and name not in names_read_in(one.params) for one in functions)
