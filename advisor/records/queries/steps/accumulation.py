"""Gradients that are accumulated over several steps: where the optimizer steps then, and what each of them exchanges
among processes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, AnySets, Call, Within, calls
from accel_advisor.syntax.model_names import is_named_as_model
from accel_advisor.syntax.shapes import dotted, names_read_in
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop, Program
    from accel_advisor.records.operations import Operation, OperationContext

_WRAPPER = Call("torch.nn.parallel.DistributedDataParallel")
_SETTLES = (
    *(AnyCall("no_sync"), AnySets("require_backward_grad_sync")),
    *calls("torch.distributed.fsdp.FullyShardedDataParallel", "torch.distributed.fsdp.fully_shard"),
)
_PLUGIN = "gradient_accumulation_plugin"
_OPTIMIZER = re.compile(r"(?:^|[._])opt(?:im\w*)?(?:_\w+)?$")


@dataclass(frozen=True, slots=True)
class NeedlessExchange:
    """A backward pass that averages gradients among processes more often than they are used.

    Attributes:
        backward: the call, in this document.
        step: the step of an optimizer that uses them.
        within: whether the step comes after a loop of backward passes, and not in some passes of the same loop.
        accelerated: whether ``accelerate`` wraps the model.
        option: the option of the command line that says over how many passes, where that is one by default; or empty.
    """

    backward: Operation
    step: Operation
    within: bool
    accelerated: bool
    option: str = ""


def needless_exchanges(facts: Facts) -> Iterator[NeedlessExchange]:
    """The backward passes of a document that average gradients among processes in every pass of a loop, where the step
    of an optimizer uses them in some passes only, or after that loop."""
    accelerated = facts.frameworks == {"accelerate"}
    if facts.does(*_SETTLES) or (accelerated and _accumulates(facts)):
        return
    if not accelerated and not (facts.trains_in_parallel and facts.does(_WRAPPER)):
        return
    steps = [one for one in facts.operations_of(AnyCall("step")) if _is_step(one)]
    clears = facts.operations_of(AnyCall("zero_grad"))
    seen: set[Loop | None] = set()
    for backward in facts.operations_of(AnyCall("backward")):
        if not seen.isdisjoint(_loops(backward)):
            continue
        for step in steps:
            after = _follows(facts, backward, step, steps)
            at_times = not accelerated and _some_passes(step) and _outpaces(backward, step)
            if not (after or at_times) or not any(one.runs_with(step) for one in clears if after or _some_passes(one)):
                continue
            every = step.contexts[0].period
            option = every.decided_by if every.default.is_literal(1) else ""
            yield NeedlessExchange(backward, step, after, accelerated, option)
            seen |= _loops(backward)
            break


def _accumulates(facts: Facts) -> bool:
    """Whether ``accelerate`` is asked to exchange gradients only where they are used."""
    made = facts.program.operations_of(Call("accelerate.Accelerator"))
    asks = any(not one.lacks(name) for one in made for name in ("gradient_accumulation_steps", _PLUGIN))
    return asks or facts.does(AnyCall("accumulate"))


def _follows(facts: Facts, backward: Operation, step: Operation, steps: list[Operation]) -> bool:
    """Whether a step comes after the passes of a loop that each call one model and then ``backward``."""
    if any(len(one.loops) < 2 or one.is_skipped_in(one.loops[0]) for one in backward.contexts):
        return False
    around, outer = _loops(backward), {context.loops[1] for context in backward.contexts}
    if _loops(step) != outer or any(not around.isdisjoint(_loops(one)) for one in steps):
        return False
    return not backward.gives("retain_graph", True) and all(loop is not None and _calls_one(loop) for loop in around)


def _calls_one(loop: Loop) -> bool:
    """Whether a loop calls a model that is the same in all its passes."""
    bound = names_read_in(loop.node.target) if isinstance(loop.node, cst.For) else frozenset[str]()
    called = [one.func for one in descendants(loop.node, cst.Call) if isinstance(one, cst.Call)]
    return any(is_named_as_model(one) and bound.isdisjoint(names_read_in(one)) for one in called)


def paces(program: Program) -> dict[Loop, frozenset[cst.CSTNode]]:
    """The conditions that count the passes of a loop off, where all optimizers that step in it do so under them: what
    happens there happens in each step of the training."""
    found: dict[Loop, frozenset[cst.CSTNode]] = {}
    for loop, context in _steps_in_loops(program):
        counted = () if context.period.absent else context.conditions
        nodes = frozenset(one.node for one in counted if one.varies is loop and one.branch == 0)
        found[loop] = found.get(loop, nodes) & nodes
    return found


class StepConditions:
    """The conditions under which all optimizers step that do so in a loop."""

    def __init__(self, program: Program) -> None:
        self._counted = program.once(paces)
        self._branches: dict[Loop, frozenset[tuple[cst.CSTNode, int | None]]] = {}
        for loop, context in _steps_in_loops(program):
            branches = frozenset((one.node, one.branch) for one in context.conditions if one.varies is loop)
            self._branches[loop] = self._branches.get(loop, branches) & branches

    def shared_with(self, context: OperationContext, loop: Loop) -> frozenset[cst.CSTNode]:
        """Those that an operation stands under as well, in the same branch: it happens in each step of the training,
        whatever other passes of the loop do (``if len(x) == 1: pass``, and the step in the other branch)."""
        branches = self._branches.get(loop, frozenset())
        shared = {one.node for one in context.conditions if (one.node, one.branch) in branches}
        return self._counted.get(loop, frozenset()) | shared


def _steps_in_loops(program: Program) -> Iterator[tuple[Loop, OperationContext]]:
    """The steps of optimizers in the passes of loops in which models learn."""
    for operation in program.operations_of(AnyCall("step")):
        if not operation.does(Within("torch.optim.lr_scheduler")):
            around = ((context.inner, context) for context in operation.contexts)
            yield from ((loop, context) for loop, context in around if loop is not None and loop.learns)


def _is_step(operation: Operation) -> bool:
    """Whether an optimizer makes a step: torch's own, or what is called so."""
    optimizes = operation.does(Within("torch.optim")) and not operation.does(Within("torch.optim.lr_scheduler"))
    node = operation.node.func if isinstance(operation.node, cst.Call) else None
    named = isinstance(node, cst.Attribute) and bool(_OPTIMIZER.search(dotted(node.value)))
    return optimizes or "GradScaler" in operation.what.owner or (operation.what.owner == "?" and named)


def _some_passes(operation: Operation) -> bool:
    """Whether it happens once in several passes of a loop over batches, or does so where somebody asks for it."""
    for context in operation.contexts:
        every = context.period
        once = every.written and every.literal in (None, 1)
        if every.absent or once or context.loop is None or context.inner is not context.loop:
            return False
    return True


def _outpaces(backward: Operation, step: Operation) -> bool:
    """Whether a backward pass happens in passes of a loop in which a step after it does not, whenever that is made."""
    return all(any(_is_oftener(one, seldom) for one in backward.contexts) for seldom in step.contexts)


def _is_oftener(often: OperationContext, seldom: OperationContext) -> bool:
    depth = min(len(often.functions), len(seldom.functions))
    if often.inner is not seldom.inner or often.functions[:depth] != seldom.functions[:depth]:
        return False
    branches = {one.node: one.branch for one in seldom.conditions}
    if any(branches.get(one.node, one.branch) != one.branch for one in often.conditions):
        return False
    counted = [{one.node for one in context.conditions if one.varies is not None} for context in (often, seldom)]
    return counted[0] < counted[1]


def _loops(operation: Operation) -> set[Loop | None]:
    return {context.inner for context in operation.contexts}
