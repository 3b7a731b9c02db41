"""What decides in which precision a program computes: autocast regions, gradient scalers, dtypes, and its subject."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import PurePath
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call, any_calls, calls, within
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.tensor_methods import COMPLEX, DOUBLES, HALVES
from accel_advisor.tables.torch_functions import AUTOCASTS, ENABLED_AT

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.given import Given
    from accel_advisor.records.operations import Operation, OperationContext

__all__ = [
    "AUTOCASTS",
    "COMPLEX",
    "DOUBLES",
    "HALVES",
    "is_exact",
    "is_off",
    "is_off_by_branch",
    "is_on",
    "speaks_of",
]

_EXACT = (
    *any_calls("gradcheck", "gradgradcheck"),
    *calls("torch.autograd.grad", "torch.autograd.functional.hessian", "torch.autograd.functional.jacobian"),
    *calls("torch.func.hessian", "torch.func.jacrev", "torch.func.jacfwd", "torch.optim.LBFGS"),
    *calls("torch.cholesky", "torch.inverse", "torch.svd", "torch.det", "torch.logdet", "torch.complex"),
    *within("torch.linalg", "torch.fft", "gpytorch", "botorch", "torchdiffeq", "sympy", "ase", "e3nn"),
    *within("scipy.integrate", "scipy.linalg", "scipy.sparse.linalg", "scipy.special"),
)
_SUBJECTS = re.compile(
    r"phys|pinn|(?<![a-z])(?:ode|pde)s?(?![a-z])|geometr|solver|hess|kalman|orbit|molec|chem|quantum|simulat|gauss|energy",
    re.IGNORECASE,
)


def is_off(made: Given) -> bool:
    """Whether a region of autocast, or a scaler, is certainly made with ``enabled=False``."""
    return made.argument("enabled", ENABLED_AT.get(made.made_by)).is_literal(False)


def is_off_by_branch(operation: Operation, context: OperationContext) -> bool:
    """Whether an operation stands in the branch that is taken where a region around it is switched off: the other one
    of ``if amp:`` under ``with autocast(enabled=amp):``."""
    code = operation.document.code
    asked = {
        code(argument.value)
        for statement in descendants(operation.function or operation.document.tree, cst.With)
        if any(one is operation.node for one in descendants(statement.body))
        for item in statement.items
        if isinstance(item.item, cst.Call)
        for argument in item.item.args
        if argument.keyword is not None and argument.keyword.value == "enabled"
    }
    for condition in context.conditions if asked else ():
        test, taken = condition.test, condition.branch == 0
        while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            test, taken = test.expression, not taken
        if test is not None and condition.branch is not None and not taken and code(test) in asked:
            return True
    return False


def is_on(facts: Facts, made: Given) -> bool:
    """Whether a region of autocast, or a scaler, is certainly made without ``enabled``, or with a literal True."""
    enabled = made.argument("enabled", ENABLED_AT.get(made.made_by))
    unseen = any(context.open for call in facts.program.operations_of(Call(made.made_by)) for context in call.contexts)
    return bool(made.made_by) and (enabled.absent or enabled.is_literal(True)) and not unseen


def speaks_of(facts: Facts, dtypes: Collection[str], besides: Collection[str] = ()) -> bool:
    """Whether any call of the program is given one of these dtypes; ``besides`` are functions whose dtype says nothing
    of what a model computes in."""
    return any(
        value.named in dtypes
        for each in facts.program
        for operation in each.operations
        if operation.what.full not in besides
        for context in operation.contexts
        for argument in context.values
        for value in argument.alternatives
    )


def is_exact(facts: Facts) -> bool:
    """Whether a program shows that it needs every digit: gradients of gradients, linear algebra, libraries of science,
    or files, functions and models that are named for such subjects."""
    if facts.does(*_EXACT):
        return True
    operations = [one for each in facts.program for one in each.operations]
    paths = [PurePath(each.document.filename) for each in facts.program]
    names = [path.name if path.is_absolute() else str(path) for path in paths]  # folders above say nothing of a project
    names += [name for one in operations for context in one.contexts for name in context.functions]
    models = (context.model for each in facts.program for call in each.module_calls for context in call.contexts)
    names += [one.kind.rpartition(".")[2] for one in models if one is not None]
    return any(_SUBJECTS.search(name) for name in names)
