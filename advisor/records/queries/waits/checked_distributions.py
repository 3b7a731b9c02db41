"""Distributions of torch whose arguments are checked wherever a model or a loop builds them again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, Within
from accel_advisor.records.queries.steps.host_waits import gpu_of
from accel_advisor.records.written_call import WrittenCall
from accel_advisor.syntax.imports import full_name
from accel_advisor.syntax.shapes import methods_of
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.evidence import Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation, OperationContext

_PACKAGE = "torch.distributions"
_CHECKED = frozenset(
    "Bernoulli Beta Binomial Categorical Cauchy ContinuousBernoulli Dirichlet Exponential Gamma Geometric Gumbel "
    "HalfNormal Kumaraswamy Laplace LogNormal LowRankMultivariateNormal Multinomial MultivariateNormal "
    "NegativeBinomial Normal OneHotCategorical Pareto Poisson RelaxedBernoulli RelaxedOneHotCategorical StudentT "
    "Uniform VonMises Weibull".split()
)
"""Distributions that are given tensors, and look whether their values are allowed."""
_SINCE = (1, 8)
"""The version of torch from which on they do so unless they are told not to."""


@dataclass(frozen=True, slots=True)
class CheckedDistribution(WrittenCall):
    """The building of a distribution that waits for the GPU to check its arguments.

    Attributes:
        node: the call.
        operation: the record of it; None where a class of the project that derives from it is called.
        basis: what shows that the arguments are on a GPU, and that it happens again and again.
    """

    node: cst.Call
    operation: Operation | None
    basis: Evidence


def checked_distributions(facts: Facts) -> Iterator[CheckedDistribution]:
    """Those in the ``forward`` of a module, or in a loop that takes no epochs, of a program that runs on a GPU: not
    where it switches the checks off, nor where it runs with a torch that makes none."""
    gpu = gpu_of(facts) or (Evidence.of(Ground.MOVES) if facts.frameworks else None)
    if gpu is None or not facts.supports(_SINCE) or facts.does(AnyCall("set_default_validate_args")):
        return
    built = [one for one in facts.operations_of(Within(_PACKAGE)) if one.what.name in _CHECKED]
    unused = _in_unused_classes(facts) if built else frozenset()
    for operation in built:
        if not isinstance(operation.node, cst.Call) or id(operation.node) in unused:
            continue
        again = [one for one in operation.contexts if _happens_again(one)]
        if again and operation.lacks("validate_args") and not any(map(_is_on_host, again)):
            yield CheckedDistribution(operation.node, operation, gpu | again[0].basis)
    yield from (CheckedDistribution(node, None, gpu) for node in _derived(facts))


def _in_unused_classes(facts: Facts) -> frozenset[int]:
    """The calls in classes that nothing builds: an older version of a model, say."""
    classes = [one for one in descendants(facts.document.tree, cst.ClassDef) if not facts.is_used(one)]
    return frozenset(id(call) for one in classes for call in descendants(one, cst.Call))


def _happens_again(context: OperationContext) -> bool:
    """Whether it is a part of a model's ``forward``, or of each pass of a loop within an epoch."""
    if context.functions[-1:] == ("forward",):
        return True
    loop = next((one for one in context.loops if one.repeats), None)
    return loop is not None and not loop.goes_over_epochs and not context.is_skipped_in(loop)


def _is_on_host(context: OperationContext) -> bool:
    return all(one.on_host or one.written for one in context.values)


def _derived(facts: Facts) -> Iterator[cst.Call]:
    """The calls, in the ``forward`` of a class, of classes of the same document that derive from such a distribution
    and take its arguments."""
    names: set[str] = set()
    for cls in descendants(facts.document.tree, cst.ClassDef):
        bases = [full_name(facts.document.imported, one.value) for one in cls.bases]
        checked = any(one.startswith(_PACKAGE) and one.rpartition(".")[2] in _CHECKED for one in bases)
        if checked and "__init__" not in methods_of(cls):
            names.add(cls.name.value)
    for cls in descendants(facts.document.tree, cst.ClassDef) if names else ():
        forward = methods_of(cls).get("forward")
        for call in descendants(forward, cst.Call) if forward is not None else ():
            given = {one.keyword.value for one in call.args if one.keyword is not None}
            splats = any(one.star for one in call.args)
            if (
                isinstance(call.func, cst.Name)
                and call.func.value in names
                and "validate_args" not in given
                and not splats
            ):
                yield call
