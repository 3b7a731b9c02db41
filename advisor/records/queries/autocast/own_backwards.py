"""Functions of autograd whose backward passes compute again, or multiply, outside of the autocast of their forward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.imports import full_name
from accel_advisor.syntax.shapes import dotted, last_name, methods_of, names_read_in
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.torch_modules import FUNCTION_BASES

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Program
    from accel_advisor.source.document import Document

_AGAIN = frozenset({"torch.enable_grad", "torch.autograd.grad", "torch.autograd.backward", "torch.set_grad_enabled"})
_PRODUCTS = frozenset({"mm", "bmm", "matmul", "addmm", "baddbmm", "einsum"})
"""What takes factors of one type only."""
_LAYERS = tuple(f"torch.nn.{part}" for part in ("functional.conv", "functional.linear", "functional.bilinear", "grad."))
_FOLLOWS = frozenset({"custom_bwd", "amp_custom_bwd", "autocast"})
"""What a backward pass computes under, if its author thought of autocast."""
_OWN = frozenset({"ctx", "cls", "self"})


def outside_autocast(facts: Facts) -> list[tuple[Document, cst.ClassDef]]:
    """The functions of a program whose backward passes run a model again, or multiply what the forward pass kept: there
    no autocast is on, so that bfloat16 meets weights of float32, and torch raises."""
    return facts.program.once(_own_backwards)


def recovers_inputs(facts: Facts) -> bool:
    """Whether one of them gets its inputs back from its outputs by subtraction, as reversible layers do: what bfloat16
    rounds off is lost in each layer, and the gradients with it."""
    return any(
        isinstance(one.operator, cst.Subtract) and isinstance(one.left, cst.Name)
        for document, cls in outside_autocast(facts)
        for function in _reached(document, cls)
        for without in descendants(function, cst.With)
        if any(last_name(_called(item.item)) == "no_grad" for item in without.items)
        for one in descendants(without.body, cst.BinaryOperation)
    )


def _own_backwards(program: Program) -> list[tuple[Document, cst.ClassDef]]:
    found = []
    for facts in program:
        document = facts.document
        for cls in descendants(document.tree, cst.ClassDef):
            bases = [full_name(document.imported, one.value) for one in cls.bases]
            if FUNCTION_BASES.isdisjoint(bases) or not facts.is_used(cls):
                continue
            if _computes_outside(document, _reached(document, cls)):
                found.append((document, cls))
    return found


def _reached(document: Document, cls: cst.ClassDef) -> list[cst.FunctionDef]:
    """The backward pass of a function of autograd, and the methods and functions of its file that this comes to."""
    methods, functions = methods_of(cls), document.once(_functions)
    found: dict[int, cst.FunctionDef] = {}
    pending = [methods["backward"]] if "backward" in methods else []
    while pending:
        one = pending.pop()
        if id(one) in found:
            continue
        found[id(one)] = one
        for call in descendants(one, cst.Call):
            owner, _, name = dotted(call.func).rpartition(".")
            known = methods if owner in _OWN | {cls.name.value} else {} if owner else functions
            pending += [known[name]] if name in known else []
    return [*found.values()]


def _functions(tree: cst.Module) -> dict[str, cst.FunctionDef]:
    return {one.name.value: one for one in tree.body if isinstance(one, cst.FunctionDef)}


def _computes_outside(document: Document, functions: list[cst.FunctionDef]) -> bool:
    """Whether these compute what autocast is for, and none of them turns it on again."""
    words = frozenset[str]().union(*map(names_read_in, functions))
    if any(last in _FOLLOWS for last in (one.rpartition(".")[2] for one in words)):
        return False
    calls = (one for function in functions for one in descendants(function, cst.Call, cst.BinaryOperation))
    return any(_needs_autocast(document, one) for one in calls)


def _needs_autocast(document: Document, node: cst.CSTNode) -> bool:
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, cst.MatrixMultiply)
    called = _called(node)
    full = full_name(document.imported, called)
    return full in _AGAIN or full.startswith(_LAYERS) or last_name(called) in _PRODUCTS


def _called(node: cst.CSTNode) -> cst.CSTNode:
    return node.func if isinstance(node, cst.Call) else node
