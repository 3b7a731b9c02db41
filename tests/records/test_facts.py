"""What the facts of a program answer."""

from __future__ import annotations

from pathlib import Path

from accel_advisor.analysis.project import analyze
from accel_advisor.records.actions import Call
from accel_advisor.records.facts import Facts, Program
from accel_advisor.source.document import Document


def facts_of(text: str) -> Facts:
    document = Document.from_bytes("train.py", text.encode())
    return analyze([document], Path.cwd()).facts["train.py"]


def test_what_is_found_in_a_program_is_looked_for_once() -> None:
    program = Program([facts_of("import torch\n")])
    asked: list[Program] = []

    def documents(them: Program) -> int:
        asked.append(them)
        return len(them)

    assert [program.once(documents), program.once(documents)] == [1, 1]
    assert asked == [program]


def test_another_question_and_another_program_are_asked_anew() -> None:
    one, other = Program([facts_of("import torch\n")]), Program([])
    assert [one.once(len), one.once(bool), other.once(len), other.once(bool)] == [1, True, 0, False]


def test_operations_of_a_program_are_those_of_its_documents_in_order() -> None:
    first = facts_of("import torch\nx = torch.cat([])\n")
    second = facts_of("import torch\ny = torch.stack([])\nz = torch.cat([])\n")
    program = Program([first, second])
    cats = [operation.document for operation in program.operations_of(Call("torch.cat"))]
    assert cats == [first.document, second.document]
    assert len(program.operations_of(Call("torch.stack"))) == 1
