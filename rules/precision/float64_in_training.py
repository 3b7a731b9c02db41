"""Models that are trained in float64."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import Method, calls, methods
from accel_advisor.records.facts import Facts
from accel_advisor.records.given import Given, Module
from accel_advisor.records.operations import Operation, OperationContext
from accel_advisor.records.queries.precision import DOUBLES, is_exact
from accel_advisor.records.queries.training_loops import trainings
from accel_advisor.rule import Rule

_DEFAULTS = calls("torch.set_default_dtype", "torch.set_default_tensor_type")
_CASTS = methods("Module", "to", "type")


class Float64InTraining(Rule):
    """A model is trained in float64 on a GPU.

    What it does
        Finds `model.double()`, `model.to(torch.float64)` and a default dtype of float64 in programs that train a model
        on CUDA and show no need of such precision.

    Why it costs time
        GPUs for consumers do 1/32 or 1/64 as many operations in float64 as in float32, those of data centers 1/2
        without and far less with tensor cores; every tensor takes twice the memory. MPS has no float64 at all.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda().double()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True):
            optimizer.zero_grad()
            model(x.cuda(non_blocking=True).double()).sum().backward()
            optimizer.step()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Linear(8, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True):
            optimizer.zero_grad()
            model(x.cuda(non_blocking=True)).sum().backward()
            optimizer.step()

    When to ignore it
        Where the problem needs it. The rule is silent beside gradients of gradients, gradient checks, linear algebra,
        Fourier transforms and LBFGS, with libraries of science, in names that mention physics and the like, about
        losses and metrics, which may well be summed up in float64, and where an option decides. It makes no fix: the
        model, its inputs and its targets have to change together, and arrays of NumPy are float64 without a word.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.set_default_dtype.html
    """

    code = "ACC418"
    name = "float64-in-training"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each conversion of a trained model, and each setting of the default, once."""
        found = [one for one in facts.operations if self._sets_default(one) or _doubles(one)]
        if not found or is_exact(facts):
            return
        trained = {one.module.plain for each in facts.program for one in trainings(each)}
        for operation in found:
            models = [_module_of(context) for context in operation.contexts]
            if not operation.guarded and (all(one in trained for one in models) or (models == [None] and trained)):
                claim = (
                    f"`{facts.document.code(operation.node)}` lets the GPU train in float64, which it does at a "
                    "fraction of its speed and with twice the memory"
                )
                remedy = "train in float32, inputs and targets included"
                yield self.finding(facts, operation.node, claim, remedy)

    def _sets_default(self, operation: Operation) -> bool:
        return operation.what in _DEFAULTS and all(_is_double(context.given("d", 0)) for context in operation.contexts)


def _doubles(operation: Operation) -> bool:
    """Whether a call makes a module's parameters float64."""
    if operation.what is Method("Module", "double"):
        return True
    given = [context.given("dtype", position) for context in operation.contexts for position in (0, 1)]
    return operation.what in _CASTS and any(_is_double(value) for value in given)


def _is_double(value: Given) -> bool:
    return value.named in DOUBLES or value.is_literal(*DOUBLES)


def _module_of(context: OperationContext) -> Module | None:
    return context.subject.module.plain if context.subject.module is not None else None
