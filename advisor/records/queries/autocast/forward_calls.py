"""Which calls of modules run a ``forward`` of the program, and the functions that they stand in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.gradients.flows import flows_in
from accel_advisor.syntax.shapes import methods_of

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Program
    from accel_advisor.records.given import Module
    from accel_advisor.records.queries.gradients.data_flow import DataFlow


def forward_of(module: Module) -> cst.FunctionDef | None:
    """The ``forward`` that a module of a class of the program has, or inherits within it."""
    methods = (methods_of(one.node).get("forward") for one in module.cls.lineage()) if module.cls is not None else ()
    return next((one for one in methods if one is not None), None)


def calls_of_forward(facts: Facts, function: cst.CSTNode) -> list[tuple[cst.Call, DataFlow]]:
    """The calls of modules that run a function, which the graph of calls does not hold: ``self.head(x)``."""
    return facts.program.once(_by_forward).get(id(function), [])


def _by_forward(program: Program) -> dict[int, list[tuple[cst.Call, DataFlow]]]:
    found: dict[int, list[tuple[cst.Call, DataFlow]]] = {}
    for each in program:
        flows = each.document.once(flows_in)
        roots = {id(call): root for root in flows.roots for call in flows.calls_in(root)} if each.module_calls else {}
        for one in each.module_calls:
            models = [model for context in one.contexts for model in context.models]
            forwards = {id(forward) for forward in map(forward_of, models) if forward is not None}
            root = roots.get(id(one.node))
            if forwards and root is not None and (flow := flows.of(root)).holds(one.node):
                for forward in forwards:
                    found.setdefault(forward, []).append((one.node, flow))
    return found
