"""What decides in which precision a program computes: autocast regions, gradient scalers, dtypes, and its subject."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import PurePath
from typing import TYPE_CHECKING

from accel_advisor.records.actions import Call, Within, any_calls, calls, within
from accel_advisor.tables.torch_functions import ENABLED_AT
from accel_advisor.values.values import Constant, Module, Opaque, Qualified, Value, options_of

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts


_EXACT = (
    *any_calls("gradcheck", "gradgradcheck"),
    *calls("torch.autograd.grad", "torch.autograd.functional.hessian", "torch.autograd.functional.jacobian"),
    *calls("torch.func.hessian", "torch.func.jacrev", "torch.func.jacfwd", "torch.optim.LBFGS"),
    *calls("torch.cholesky", "torch.inverse", "torch.svd", "torch.det", "torch.logdet", "torch.complex"),
    *within("torch.linalg", "torch.fft", "gpytorch", "botorch", "torchdiffeq", "scipy", "sympy", "ase", "e3nn"),
)
_SUBJECTS = re.compile(
    r"phys|pinn|(?<![a-z])(?:ode|pde)s?(?![a-z])|geometr|solver|hess|kalman|orbit|molec|chem|quantum|simulat|gauss|energy",
    re.IGNORECASE,
)


def is_off(made: Opaque) -> bool:
    """Whether a region of autocast, or a scaler, is certainly made with ``enabled=False``."""
    enabled = _enabled(made)
    return isinstance(enabled, Constant) and enabled.value is False


def is_on(facts: Facts, made: Opaque) -> bool:
    """Whether a region of autocast, or a scaler, is certainly made without ``enabled``, or with a literal True."""
    enabled = _enabled(made)
    unseen = any(context.open for call in facts.program.operations_of(Call(made.name)) for context in call.contexts)
    return isinstance(enabled, Constant) and enabled.value is True and not unseen


def _enabled(made: Opaque) -> Value:
    position = ENABLED_AT.get(made.name, len(made.arguments))
    given = made.arguments[position] if position < len(made.arguments) else Constant(True)
    return dict(made.keywords).get("enabled", given)


def hands_scaler_over(facts: Facts) -> bool:
    """Whether a gradient scaler is given to something outside of torch, which may scale, unscale or update with it."""
    return any(
        isinstance(value, Opaque) and value.name.endswith(".GradScaler")
        for each in facts.program
        for operation in each.operations
        if not operation.does(Within("torch"))
        for context in operation.contexts
        for _, argument in context.arguments
        for value in options_of(argument.value)
    )


def speaks_of(facts: Facts, dtypes: Collection[str]) -> bool:
    """Whether any call of the program is given one of these dtypes."""
    return any(
        isinstance(value, Qualified) and value.name in dtypes
        for each in facts.program
        for operation in each.operations
        for context in operation.contexts
        for _, argument in context.arguments
        for value in options_of(argument.value)
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
    models = (context.module for each in facts.program for call in each.module_calls for context in call.contexts)
    names += [one.kind.rpartition(".")[2] for one in models if isinstance(one, Module)]
    return any(_SUBJECTS.search(name) for name in names)
