"""Which loops of a program are judged by their precision: those that train a model with work for tensor cores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import any_calls, calls
from accel_advisor.records.queries.evaluation import only_differentiates
from accel_advisor.records.queries.training_loops import first_step
from accel_advisor.records.queries.waits.host_training import loops_on_host, may_hold_another
from accel_advisor.syntax.imports import full_name, modules_imported
from accel_advisor.syntax.shapes import dotted, methods_of
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.canonical_names import canonical
from accel_advisor.tables.torch_modules import DROPS, NORMALIZES, STATELESS

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop, Program
    from accel_advisor.records.given import Module
    from accel_advisor.source.document import Document

SMALL_SETS = calls(*(f"torchvision.datasets.{name}MNIST" for name in ("", "Fashion", "K", "E", "Q")))
"""Data sets of digits and the like, which any model learns at once."""
_LINEAR = frozenset({"torch.nn.Linear", "torch.nn.Sequential"}) | STATELESS | DROPS | NORMALIZES
"""What a model is made of that multiplies by a matrix or two."""
_PRODUCTS = any_calls("matmul", "bmm", "mm", "einsum", "conv1d", "conv2d", "conv3d", "scaled_dot_product_attention")
"""What a ``forward`` may multiply by itself."""


def first_judged(program: Program) -> Loop | None:
    """The first loop of a program that trains, but for those of scripts that train on digits, and of documents that
    another one with such a loop imports, which has a finding of its own: one that takes batches, where there is any.
    Loops in which autocast has nothing to do are passed over."""
    small = {one.document for one in program if one.operations_of(*SMALL_SETS)}
    learning = {loop.document for each in program for loop in each.loops if loop.learns} - small
    imports: dict[str, set[Document]] = {}
    for one in learning:
        for name in one.once(modules_imported):
            imports.setdefault(name, set()).add(one)
    beneath = {one for one in learning if imports.get(_module_name(one), set()) - {one}}
    but = small | (beneath if beneath < learning else set())
    return next((one for one in program.trainings_but(but) if not _has_no_work(program, one)), None)


def other_judged(facts: Facts, first: Loop) -> Iterator[tuple[Document, cst.CSTNode]]:
    """Where the first loop of each other function of a program in which a model learns from batches calls it."""
    seen = {(id(first.document), id(first.function))}
    for each in facts.program:
        fed = [one for one in each.loops if one.learns and one.loaders and one.document is each.document]
        if each.document is not first.document and each.operations_of(*SMALL_SETS):
            continue
        for loop in sorted(fed, key=lambda one: each.document.order(one.node)):
            where = id(each.document), id(loop.function)
            if where in seen or not (loop.updates or loop.backward) or _has_no_work(facts.program, loop):
                continue
            seen.add(where)
            model = first_step(facts, loop)
            here = model is not None and model.document is each.document
            yield each.document, model.node if model is not None and here else loop.node


def _module_name(document: Document) -> str:
    path = PurePath(document.filename)
    return path.parent.name if path.stem == "__init__" else path.stem


def _has_no_work(program: Program, loop: Loop) -> bool:
    """Whether nothing learns in a loop, as in an attack on a finished model, or all does on the host, or what does is
    made of linear layers alone."""
    if loop in program.once(loops_on_host) or only_differentiates(program, loop):
        return True
    return _is_linear(program, loop)


def _is_linear(program: Program, loop: Loop) -> bool:
    """Whether all that a loop calls is seen to be made of linear layers, and nothing that it runs multiplies beside
    them, as in a probe of stored features."""
    called = [(call, context) for call, context in program.calls_in.get(loop, ()) if not call.loss]
    if not called or any(context.model is None or context.others for _, context in called):
        return False
    given = [one for _, context in called if not context.nested for one in context.arguments]
    if not all(one.given.source is not None for one in given):
        return False  # something else may have made it of the batch, as a deep model does
    models = {id(context.model): context.model for _, context in called if context.model is not None}
    if not all(_is_made_of_linear(program, one) for one in models.values()):
        return False
    return not any(loop in context.loops for one in program.operations_of(*_PRODUCTS) for context in one.contexts)


def _is_made_of_linear(program: Program, module: Module) -> bool:
    """Whether a module is built of such layers, each of which its text builds itself, and no list of them."""
    if may_hold_another(module) or not program[0].layers.of(module) <= _LINEAR:
        return False
    if module.cls is None:
        return module.kind in _LINEAR and _builds_layers(module.document, module.node)
    built = [(one.document, methods_of(one.node).get("__init__")) for one in module.cls.lineage()]
    return all(node is None or _builds_layers(document, node) for document, node in built)


def _builds_layers(document: Document, node: cst.CSTNode) -> bool:
    """Whether every call of a text builds such a layer, or is that of ``super``."""
    for call in descendants(node, cst.Call):
        name = canonical(full_name(document.imported, call.func))
        if name == "torch.nn.Sequential" and not all(isinstance(one.value, cst.Call) for one in call.args):
            return False
        if name not in _LINEAR and not dotted(call.func).startswith("super") and not _is_super(call):
            return False
    return True


def _is_super(call: cst.Call) -> bool:
    owner = call.func.value if isinstance(call.func, cst.Attribute) else None
    return isinstance(owner, cst.Call) and dotted(owner.func) == "super"
