"""What the record of an operation says of the place where it stands, so that rules need not ask its node."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.records.actions import AnyCall
from accel_advisor.records.operations import Operation
from accel_advisor.source.document import Document


def stack_in(statement: str) -> Operation:
    """The call of ``torch.stack`` in a statement."""
    text = f"import torch\nfrom torch import stack\n\ntensors = [torch.zeros(2)]\n{statement}\n"
    document = Document.from_bytes("train.py", text.encode())
    (found,) = analyze([document], Path.cwd()).facts["train.py"].operations_of(AnyCall("stack"))
    return found


@pytest.mark.parametrize(
    ("statement", "targets", "assigned"),
    [
        ("x = torch.stack(tensors)", ["x"], True),
        ("x.y = torch.stack(tensors)", ["x.y"], True),
        ("x = y = torch.stack(tensors)", ["x", "y"], False),
        ("x = torch.stack(tensors) + 1", [], True),
        ("x += torch.stack(tensors)", [], False),
        ("torch.stack(tensors)", [], False),
    ],
)
def test_targets_are_those_of_the_whole_result(statement: str, targets: list[str], assigned: bool) -> None:
    operation = stack_in(statement)
    assert [operation.document.code(one) for one in operation.targets] == targets
    assert (operation.assigned is not None) == assigned


@pytest.mark.parametrize(
    ("call", "callee", "receiver", "arguments"),
    [
        ("torch.stack(tensors, dim=0)", "torch.stack", "torch", ["tensors", "dim=0"]),
        ("stack(*tensors)", "stack", None, ["*tensors"]),
    ],
)
def test_a_call_in_its_own_words(call: str, callee: str, receiver: str | None, arguments: list[str]) -> None:
    operation = stack_in(call)
    code = operation.document.code
    assert code(operation.callee) == callee
    assert (operation.receiver and code(operation.receiver)) == receiver
    assert [code(one) for one in operation.arguments] == arguments


@pytest.mark.parametrize(
    ("call", "expression", "spelled"),
    [
        ("torch.stack(tensors, dim=0)", "0", True),
        ("torch.stack(tensors, dim=len(tensors))", "len(tensors)", False),
        ("torch.stack(tensors, **{'dim': 0})", None, False),
    ],
)
def test_an_argument_is_spelled_where_the_call_holds_it(call: str, expression: str | None, spelled: bool) -> None:
    operation = stack_in(call)
    argument = operation.contexts[0].argument("dim", 1)
    assert argument is not None
    assert (argument.expression and operation.document.code(argument.expression)) == expression
    assert argument.is_spelled == spelled
