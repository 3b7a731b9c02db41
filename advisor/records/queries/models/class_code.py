"""What the code of a model's class does, whatever it is called with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act
from accel_advisor.syntax.shapes import called_for_result, decides, methods_of, names_read_in

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.given import Module
    from accel_advisor.records.operations import Operation

_CUTS = frozenset({"detach", "data", "no_grad", "item", "argmax", "set_grad_enabled"})
"""Names of what no gradient flows through."""


def may_change(model: Module) -> bool:
    """Whether a model of the project has code that may compute something else in another step."""
    classes = model.cls.lineage() if model.cls is not None else []
    methods = [method for one in classes for method in methods_of(one.node).items()]
    return any(decides(one) for name, one in methods if name != "__init__")


def uses_all_parameters(facts: Facts, model: Module) -> bool:
    """Whether a model's ``forward`` certainly does the same in every step, and every part that the model is built from
    is a layer of torch whose output goes into the one result."""
    if model.cls is None or len(model.cls.lineage()) > 1 or "?" in model.cls.library_bases():
        return False
    forward = methods_of(model.cls.node).get("forward")
    if forward is None or names_read_in(forward) & _CUTS or may_change(model):
        return False
    used = called_for_result(forward)
    for operation in facts.program.operations_of(Act.SETS_MODULE_ATTRIBUTE):
        for context in operation.contexts:
            owner, part = context.subject.module, context.value
            if owner is None or owner.cls is not model.cls or part.written:
                continue
            if part.module is None or not part.module.kind.startswith("torch.nn."):
                return False
            if _attribute_of(operation) not in used:
                return False
    return True


def _attribute_of(operation: Operation) -> str:
    return operation.node.attr.value if isinstance(operation.node, cst.Attribute) else ""
