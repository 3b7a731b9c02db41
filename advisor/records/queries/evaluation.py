"""Loops that evaluate a model: what shows it, and what wants gradients of what they compute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, Call, any_calls, calls, within
from accel_advisor.records.loaders import loaders_in
from accel_advisor.records.queries.evaluations.computing_methods import computing_methods
from accel_advisor.records.queries.evaluations.frozen_models import FREEZES, calls_frozen_ones, wants_gradients
from accel_advisor.records.queries.models.chosen_training import Choice, told_to_evaluate
from accel_advisor.records.queries.old_torch import knows_0_4
from accel_advisor.syntax.shapes import dotted, methods_reached, names_read_in, words_of
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.evidence import PROVEN, Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop, Program
    from accel_advisor.records.given import Given, Module
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.records.transfers import ModuleCall, ModuleCallContext
    from accel_advisor.source.document import Document

_EVALUATES = frozenset("eval evaluate evaluation val valid validate validation test".split())
_GENERATES = frozenset("sample samples sampling generate visualize predict prediction inference infer demo".split())
_DIFFERENTIATES = frozenset(
    (
        "attack adversarial adv fgsm pgd perturb saliency explain attribute maml meta penalty grad "
        "gradcam cam gradient gradients tta adapt adaptation export onnx"
    ).split()
)
SETS_RECORDING = calls("torch.set_grad_enabled", "torch.autograd.set_grad_enabled")
SWITCHES = any_calls("eval", "train")
_BACKWARD, _GRAD = AnyCall("backward"), Call("torch.autograd.grad")
_GRADIENTS = (
    *FREEZES,
    *calls("torch.autograd.grad", "torch.autograd.backward"),
    *within("torch.func", "torch.autograd.functional"),
)
_EXPORTS = within("torch.onnx", "torch.export")
_VARIABLE = Call("torch.autograd.Variable")
_STOPS = frozenset({"no_grad", "inference_mode", "set_grad_enabled"})
_Calls = list[tuple["ModuleCall", "ModuleCallContext"]]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A loop that evaluates a model while autograd records for nothing.

    Attributes:
        document, call: where the model is called; no call where that is no plain one.
        basis: what shows that it is a model in evaluation.
        choice: what tells the same loop that it evaluates; None where it never trains.
        in_step: whether the loop trains, too, and evaluates in each of its passes.
        at_once: whether the loop does whatever it does, and nothing but values is used of what the model computes.
        volatile: whether it asks for the same as no_grad() with an argument that torch ignores since 0.4.
    """

    loop: Loop
    document: Document
    call: cst.Call | None
    basis: Evidence = PROVEN
    choice: Choice | None = None
    in_step: bool = False
    at_once: bool = False
    volatile: bool = False

    @property
    def where(self) -> str:
        """What the loop goes over, or when it evaluates: `` over `loader` ``; empty where neither is known."""
        loaders = loaders_in(self.loop)
        over = f" over `{loaders[0].label}`" if loaders else ""
        over = over if self.choice is None else f" where `{self.choice.name}` is {self.choice.value!r}"
        return f"{over}, with `volatile=True`, which does nothing since torch 0.4" if self.volatile else over

    @property
    def imports_torch(self) -> bool:
        """Whether its function imports torch itself, and its module does not, so that no decorator can name that."""
        function, tree = self.loop.function, self.loop.document.tree
        inside = descendants(function, cst.ImportAlias) if function is not None else ()
        outside = descendants(tree, cst.ImportAlias, but=frozenset({cst.FunctionDef}))
        within, beside = ("torch" in [dotted(one.name) for one in each] for each in (inside, outside))
        return within and not beside

    @property
    def model(self) -> str:
        """The code of what is called; empty where that is no plain call."""
        return self.document.code(self.call.func) if self.call is not None else ""


def evaluations_with_graphs(facts: Facts) -> Iterator[Evaluation]:
    """The loops of a document that evaluate a model while autograd records for nothing: the first of each function, and
    each one outside of functions."""
    if facts.does(*SETS_RECORDING):
        return
    seen: set[int] = set()
    found: list[Loop] = []
    for loop in facts.loops:
        if loop.graph_free or id(loop.function) in seen:
            continue
        evaluation = _evaluation(facts, loop)
        if loop.backward:
            evaluation = _by_choice(facts, loop) or _in_a_step(facts, loop)
        needed = (
            evaluation is not None and not loop.backward and (_is_learnt_from(facts, loop) or wants_graphs(facts, loop))
        )
        if evaluation is None or needed or any(loop.is_within(one) for one in found):
            continue
        if loop.function is not None:
            seen.add(id(loop.function))
        found.append(loop)
        yield replace(evaluation, volatile=_passes_volatile(facts, loop))


def _evaluation(facts: Facts, loop: Loop) -> Evaluation | None:
    """How a loop evaluates a model, if it does: the model is in evaluation mode, or the function is named for it and
    trains nothing."""
    words = words_of(loop.functions[-1]) if loop.functions else frozenset[str]()
    made = facts.program.calls_in.get(loop, [])
    if words & _DIFFERENTIATES or any(not context.graphs for _, context in made):
        return None
    models = [(call, one) for call, one in made if not call.loss and one.model is not None and one.model.has_state]
    if any(records_nothing(one.model) for _, one in models if one.model is not None):
        return None
    if not loop.loaders:
        return _over_samples(facts, loop, models)
    evaluating = next((call for call, one in models if one.evaluating), None)
    if evaluating is None and models and words & _EVALUATES and not _learns_beside(loop):
        evaluating = models[0][0]
    built = any(one.model is not None and not one.model.evident for _, one in models)
    basis = PROVEN if built else Evidence.of(Ground.MODE)
    if evaluating is not None:
        return Evaluation(loop, evaluating.document, evaluating.node, basis)
    called = _called_after_eval(facts, loop) if loop.graphs or models else None
    return Evaluation(loop, facts.document, called, basis) if called is not None else None


def _by_choice(facts: Facts, loop: Loop) -> Evaluation | None:
    """How a loop that trains evaluates as well, where it is told to."""
    if not (loop.learns and loop.graphs and loop.loaders):
        return None
    words = words_of(loop.functions[-1]) if loop.functions else frozenset[str]()
    stops = any(one.value in _STOPS for one in descendants(loop.function or loop.node, cst.Name))
    if stops or words & _DIFFERENTIATES or facts.frameworks or facts.does(*_GRADIENTS):
        return None
    choice = told_to_evaluate(facts, loop)
    if choice is None:
        return None
    called = facts.program.calls_in.get(loop, ())
    made = [call for call, one in called if not (call.loss or one.nested) and one.model is not None]
    document, node = (made[0].document, made[0].node) if made else (facts.document, None)
    return Evaluation(loop, document, node, choice=choice)


def _in_a_step(facts: Facts, loop: Loop) -> Evaluation | None:
    """How a loop that trains evaluates in its passes, as where an epoch is one step: it puts the model that it
    trains in evaluation mode and calls it once more, and no backward pass may start from that."""
    if not loop.learns or facts.frameworks or facts.does(*_GRADIENTS):
        return None
    losses = [
        loss
        for operation in facts.program.operations_of(_BACKWARD)
        for context in operation.contexts
        if loop in context.loops
        for loss in _losses(operation, context)
    ]
    learnt = [_computed_by(facts, loss) for loss in losses]
    if not all(learnt):
        return None
    made = [(call, one) for call, one in facts.program.calls_in.get(loop, ()) if one.inner is loop and not one.nested]
    trained = [one.model for call, one in made if not one.evaluating and any(call.node in known for known in learnt)]
    for call, context in made:
        model = context.model
        unused = call.document is facts.document and not any(call.node in known for known in learnt)
        if model not in trained or model is None or call.loss or not model.has_state or records_nothing(model):
            continue
        if context.evaluating and context.graphs and unused:
            return Evaluation(loop, call.document, call.node, in_step=True)
    return None


def _over_samples(facts: Facts, loop: Loop, models: _Calls) -> Evaluation | None:
    """How a loop that takes no batches evaluates a model: sample by sample, in evaluation mode, and neither in a
    training step nor around one, as a loop over epochs is. A loop over the parts of a model is none."""
    within_module = not {"forward", "__call__"}.isdisjoint(loop.functions)
    if not isinstance(loop.node, cst.For) or within_module or any(outer.learns for outer in loop.outer):
        return None
    if any(one.backward and one.is_within(loop) for known in facts.program for one in known.loops):
        return None
    bound = names_read_in(loop.node.target)
    for call, context in models:
        if context.evaluating and context.inner is loop and bound.isdisjoint(names_read_in(call.node.func)):
            return Evaluation(loop, call.document, call.node)
    return None


def _learns_beside(loop: Loop) -> bool:
    """Whether the function of a loop trains in a loop around it."""
    return any(outer.backward and outer.function is loop.function for outer in loop.outer)


def records_nothing(model: Module) -> bool:
    """Whether a model itself may stop autograd in its ``forward``, or in a method whose result that returns."""
    classes = tuple(one.node for one in model.cls.lineage()) if model.cls is not None else ()
    methods = methods_reached(classes, "forward", "__call__", returned=True)
    return any(one.value in _STOPS for method in methods for one in descendants(method, cst.Name))


def _called_after_eval(facts: Facts, loop: Loop) -> cst.Call | None:
    """The loop's own call of what its function put in evaluation mode before, and not in training mode again, or of a
    method by which models of the program compute."""
    code, start = facts.document.code, facts.document.span(loop.node).start.offset
    evaluating: dict[str, bool] = {}
    for operation in facts.operations_of(*SWITCHES):
        node = operation.node
        if not (isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)):
            continue
        here = any(context.functions == loop.functions for context in operation.contexts)
        if here and facts.document.span(node).start.offset < start:
            stays = operation.what.name == "eval" or operation.gives("mode", False, 0)
            evaluating[code(node.func.value)] = stays
    if not any(evaluating.values()):
        return None
    called = list(descendants(loop.node, cst.Call))
    itself = next((one for one in called if evaluating.get(code(one.func).removesuffix(".forward"))), None)
    if itself is not None:
        return itself
    computes = facts.program.once(computing_methods)
    methods = (one for one in called if isinstance(one.func, cst.Attribute) and one.func.attr.value in computes)
    return next((one for one in methods if evaluating.get(code(one.func).rpartition(".")[0])), None)


def wants_graphs(facts: Facts, loop: Loop) -> bool:
    """Whether a loop may want graphs, or records none, but for a backward pass that may start from what it computes: it
    takes gradients itself, an export traces it, or a framework runs it, no part of the model has gradients, or it is
    written for a torch without ``no_grad``."""
    if (not facts.trains and wants_gradients(facts, loop)) or calls_frozen_ones(facts, loop):
        return True
    for operation in (operation for one in facts.program for operation in one.operations):
        inside = any(loop in context.loops for context in operation.contexts)
        if inside and (operation.framework or operation.does(*_GRADIENTS) or operation.gives("requires_grad", True)):
            return True
        if inside and _asks_volatile(operation) and _heeds_volatile(facts):
            return True
        beside = loop.functions and any(context.functions == loop.functions for context in operation.contexts)
        if beside and operation.does(*_EXPORTS):
            return True
    return any(call.framework for call, _ in facts.program.calls_in.get(loop, ()))


def _asks_volatile(operation: Operation) -> bool:
    return operation.what is _VARIABLE and not operation.lacks("volatile")


def _passes_volatile(facts: Facts, loop: Loop) -> bool:
    asks = (one for known in facts.program for one in known.operations_of(_VARIABLE) if _asks_volatile(one))
    return any(loop in context.loops for one in asks for context in one.contexts)


def _heeds_volatile(facts: Facts) -> bool:
    """Whether a program runs with a torch that does not ignore ``volatile``: its project asks for one, and nothing that
    it does needs a newer one."""
    return facts.target.rules_out("torch", (0, 4)) and not knows_0_4(facts.program)


def _is_learnt_from(facts: Facts, loop: Loop) -> bool:
    """Whether what the loop computes reaches a backward pass, or a ``forward`` differentiates by itself."""
    computed = {call.node: call for call, _ in facts.program.calls_in.get(loop, ())}
    own = {node for node, call in computed.items() if all(_is_inside(one.inner, loop) for one in call.contexts)}
    for operation in facts.program.operations_of(_BACKWARD, _GRAD):
        if operation.what is _GRAD and any("forward" in context.functions for context in operation.contexts):
            return True
        for context in operation.contexts:
            losses = _losses(operation, context)
            if any(value.graph & own for value in losses):
                return True
            told = [one for one in losses if _computed_by(facts, one)]
            if (not told or any(one.graph & computed.keys() for one in told)) and _happens_around(context, loop):
                return True  # what other loops call as well may have computed the loss there
    return False


def _is_inside(inner: Loop | None, loop: Loop) -> bool:
    return inner is not None and (inner is loop or inner.is_within(loop))


def _losses(operation: Operation, context: OperationContext) -> list[Given]:
    """What a backward pass may start from."""
    backward = operation.does(_BACKWARD)
    given: Iterable[Given] = (context.subject, *context.values) if backward else context.values[:1]
    return [one for one in given if one.is_tensor]


def _computed_by(facts: Facts, loss: Given) -> frozenset[cst.CSTNode]:
    """The calls of models and losses that a loss was computed by; empty where they are not all known."""
    graph = loss.graph
    nodes = set(map(id, graph))
    made = [call for one in facts.program for call in one.module_calls if id(call.node) in nodes]
    found = graph if made else frozenset[cst.CSTNode]()
    for given in (one.arguments[0].given for call in made if call.loss for one in call.contexts if one.arguments):
        before = _computed_by(facts, given) if given.is_tensor else frozenset[cst.CSTNode]()
        if not before:
            return before
        found |= before
    return found


def _happens_around(context: OperationContext, loop: Loop) -> bool:
    """Whether it happens in the function that runs a loop, or in one that calls that, as often as the loop begins: so
    that it may be given what the loop computes."""
    above = context.functions == loop.functions[: len(context.functions)]
    return above and all(one in loop.outer for one in context.loops)


def _loops_with_steps(program: Program) -> frozenset[Loop]:
    """The loops around the steps of a program, those of its optimizers among them."""
    contexts = (context for one in program.operations_of(AnyCall("step")) for context in one.contexts)
    return frozenset(loop for context in contexts for loop in context.loops)


def only_differentiates(program: Program, loop: Loop) -> bool:
    """Whether a loop computes gradients for their own sake, as an explanation of what a model sees does: the model was
    put in evaluation mode on the way to the loop, and nothing makes a step, there or in the loops around it."""
    if isinstance(loop.node, cst.FunctionDef):
        return False  # the step of an optimizer, or of a training that a framework runs
    if not program.once(_loops_with_steps).isdisjoint((loop, *loop.outer)):
        return False
    switches = [
        (one.what.name == "eval" or one.gives("mode", False, 0), context)
        for one in program.operations_of(*SWITCHES)
        for context in one.contexts
    ]
    before = [evaluating for evaluating, context in switches if _is_on_the_way(context, loop)]
    return bool(before) and all(before)


def _is_on_the_way(context: OperationContext, loop: Loop) -> bool:
    """Whether something happens in the functions that lead to a loop, or where one of them builds an object."""
    functions = context.functions[:-1] if context.functions[-1:] == ("__init__",) else context.functions
    return functions == loop.functions[: len(functions)]


def evaluates_by_name(function: str) -> bool:
    """Whether a function is named for the evaluation of a model, or for what is made with one."""
    return not (_EVALUATES | _GENERATES).isdisjoint(words_of(function))
