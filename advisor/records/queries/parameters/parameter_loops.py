"""Loops of a training that launch kernels for each parameter of a model where one call over all of them would do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act, Method, any_calls, calls
from accel_advisor.records.queries.parameters.parameter_sources import ParameterSources, parameters_of
from accel_advisor.records.queries.parameters.parameter_updates import ParameterUpdate, Update
from accel_advisor.records.queries.steps.training_steps import training_loop
from accel_advisor.records.queries.training_loops import runs_often
from accel_advisor.syntax.shapes import dotted, modulus_in, owners
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.torch_modules import PARAMETERS
from accel_advisor.values.evidence import Evidence

if TYPE_CHECKING:
    from accel_advisor.project.target import Version
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.given import Module
    from accel_advisor.records.loops import Loop
    from accel_advisor.records.operations import Operation, OperationContext

AVERAGED_BY_TIMM: Version = (1, 0)
"""The timm that brought ``ModelEmaV3``, which goes over lists."""
_SHARDS = any_calls("FullyShardedDataParallel", "fully_shard", "distribute_tensor")
_OF_MODULES = (Method("Module", "parameters"), Method("Module", "named_parameters"), Method("Module", "state_dict"))
_STEPS = any_calls("step", "zero_grad")
_NORMS = calls("torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm")
_HOLDERS = frozenset({"Sequential", "ModuleList", "ModuleDict", "Transformer", "LSTM", "GRU", "RNN", "DataParallel"})
_OF_A_LAYER = 2
"""A weight and a bias."""
_KEPT_BY_TIMM = tuple(Method(f"timm.utils.{name}", "update") for name in ("ModelEma", "ModelEmaV2"))


@dataclass(frozen=True, slots=True)
class ParameterLoop:
    """A loop that treats the parameters of a model one by one, in each step of a training.

    Attributes:
        operation: the beginning of the loop, or the call that holds it.
        code: what it goes over, or calls, as it is written.
        updates: what it does with each parameter; of a call of a library, a moving average.
        function: the function that it stands in.
        basis: what shows that it happens in each step.
    """

    operation: Operation
    code: str
    updates: frozenset[Update]
    basis: Evidence

    @property
    def node(self) -> cst.CSTNode:
        """The loop, or the call."""
        return self.operation.node

    @property
    def by_library(self) -> bool:
        """Whether timm goes over the parameters."""
        return self.operation.what in _KEPT_BY_TIMM


def parameter_loops(facts: Facts) -> Iterator[ParameterLoop]:
    """The loops of a document, in the order of its text, whose body is such an update and nothing else, where models
    are on a GPU, whole in each process, and have more than one layer."""
    if not facts.names_gpu_anywhere or facts.does(*_SHARDS):
        return
    found = [*_written(facts), *_norms(facts), *_of_timm(facts)]
    yield from sorted(found, key=lambda one: facts.document.span(one.node).start.offset)


def _written(facts: Facts) -> Iterator[ParameterLoop]:
    for operation in facts.operations_of(Act.GOES_OVER):
        node = operation.node
        if not isinstance(node, cst.For):
            continue
        updates = ParameterUpdate(node.target, node.body).found
        if not updates or not _goes_over_parameters(operation, node.iter):
            continue
        basis = _in_each_step(facts, operation)
        if basis is not None and not _is_of_one_layer(facts, node.iter):
            head = f"for {facts.document.code(node.target)} in {facts.document.code(node.iter)}"
            yield ParameterLoop(operation, head, updates, basis)


def _norms(facts: Facts) -> Iterator[ParameterLoop]:
    """The norms of gradients that a comprehension takes."""
    for operation in facts.operations_of(*_NORMS):
        loop = next((one.inner for one in operation.contexts if one.inner is not None), None)
        node = loop.node if loop is not None else None
        if not isinstance(node, (cst.ListComp, cst.GeneratorExp)) or ".grad" not in facts.document.code(node.elt):
            continue
        if not _goes_over_parameters(operation, node):
            continue
        basis = _in_each_step(facts, operation)
        if basis is not None:
            yield ParameterLoop(operation, facts.document.code(operation.node), frozenset({Update.NORM}), basis)


def _of_timm(facts: Facts) -> Iterator[ParameterLoop]:
    if not facts.supports(AVERAGED_BY_TIMM, "timm"):
        return
    for operation in facts.operations_of(*_KEPT_BY_TIMM):
        basis = _in_each_step(facts, operation)
        if basis is not None:
            yield ParameterLoop(operation, operation.what.owner, frozenset({Update.AVERAGE}), basis)


def _goes_over_parameters(operation: Operation, iterable: cst.BaseExpression) -> bool:
    document, function = operation.document, operation.function
    owner = document.once(owners).get(id(function))
    if owner is not None and any("Optimizer" in document.code(base.value) for base in owner.bases):
        return False  # what an optimizer of the project does with each parameter is no single call
    return ParameterSources(document, function, owner).gives(iterable)


def _is_of_one_layer(facts: Facts, iterable: cst.BaseExpression) -> bool:
    """Whether all that a loop goes over are the parameters of single layers, a weight and a bias at most."""
    inside = {id(one) for one in descendants(iterable, cst.Call)}
    asked = [one for one in facts.operations_of(*_OF_MODULES) if id(one.node) in inside]
    modules = [context.subject.module for one in asked for context in one.contexts]
    return any(one is not None and (_is_layer(one) or _holds_few(facts, one)) for one in modules)


def _is_layer(module: Module) -> bool:
    """Whether a module is one of torch's own that holds no others."""
    package, _, name = module.kind.rpartition(".")
    return module.cls is None and package == "torch.nn" and name not in _HOLDERS


def _holds_few(facts: Facts, module: Module) -> bool:
    """Whether a module of the project has no more parameters than a layer, and no other module: a loss with its
    centers, a temperature. What it is given and never calls anything of is taken for no module."""
    owner = module.cls
    if owner is None or owner.library_bases() != {"torch.nn.Module"}:
        return False
    called = {_attribute_in(one.func) for cls in owner.lineage() for one in descendants(cls.node, cst.Call)}
    held = set[str]()
    for operation in facts.program.operations_of(Act.SETS_MODULE_ATTRIBUTE):
        name = _attribute_in(operation.node)
        for context in operation.contexts:
            if context.subject.module is None or context.subject.module.cls is not owner:
                continue
            if context.value.made_by in PARAMETERS:
                held.add(name)
            elif context.value.module is not None or name in called:
                return False
    return 0 < len(held) <= _OF_A_LAYER


def _attribute_in(node: cst.CSTNode) -> str:
    """The attribute of ``self`` that an expression begins with."""
    code = dotted(node)
    return code.split(".")[1] if code.startswith("self.") else ""


def _in_each_step(facts: Facts, operation: Operation) -> Evidence | None:
    """What shows that something happens in each step of a training, or wherever its optimizer takes one; None where
    that is not seen."""
    for context in operation.contexts:
        loop = training_loop(context) or _step_of_several_rounds(context)
        if loop is not None and not context.is_skipped_in(loop, _besides(facts, operation, context, loop)):
            return context.basis
        if loop is None and not context.loops and "forward" in context.functions and runs_often(facts, context):
            return context.basis
    return None


def _step_of_several_rounds(context: OperationContext) -> Loop | None:
    """The loop around an operation that takes batches, where a loop within it learns from each in several rounds."""
    found = next((one for one in context.loops if one.loaders and one.backward and one.repeats), None)
    return None if found is None or found.evaluates_under(context.conditions) else found


def _besides(facts: Facts, operation: Operation, context: OperationContext, loop: Loop) -> list[cst.CSTNode]:
    """The conditions that do not make an operation rarer than the steps of an optimizer: those that its steps stand
    under, too, and those that ask what the function of the operation was given."""
    contexts: list[OperationContext] = []
    for one in facts.program.operations_of(*_STEPS):
        called = one.document.code(one.node).partition("(")[0].lower()
        if "sched" not in called and "env" not in called and "lr_scheduler" not in one.what.owner:
            contexts += [each for each in one.contexts if loop in each.loops]
    given = parameters_of(operation.function)
    asked = (one for one in context.conditions if one.function is operation.function and one.test is not None)
    chosen = [one.node for one in asked if _asks_only(one.test, given)]
    return [*chosen, *(one.node for each in contexts for one in each.conditions)]


def _asks_only(test: cst.BaseExpression | None, names: frozenset[str]) -> bool:
    """Whether a condition compares parameters of a function with literals, and counts nothing."""
    if test is None or modulus_in(test) is not None:
        return False
    read = {one.value for one in descendants(test, cst.Name)} - {"inf", "math", "np", "float", "isinstance", "torch"}
    return bool(read) and read <= names
