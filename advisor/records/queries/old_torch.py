"""What the code of a program says of the torch that it runs with: what breaks with a newer one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel_advisor.records.actions import Act, any_calls, calls, methods
from accel_advisor.syntax.shapes import names_read_in

if TYPE_CHECKING:
    from accel_advisor.project.target import Version
    from accel_advisor.records.conditions import Condition
    from accel_advisor.records.facts import Facts, Program
    from accel_advisor.records.operations import Operation

_WITHOUT_FIRST = (1, 0)
"""The torch since which what has no dimensions has no first element, which read its value until then."""
_HAS_ITEM = (0, 4)
_SINCE_0_4 = (*any_calls("no_grad", "inference_mode"), *calls("torch.device", "torch.tensor"))
_ITEM = (*methods("Tensor", "item"), *methods("?", "item"))


def breaks_with(facts: Facts, version: Version) -> bool:
    """Whether a program cannot run with a version of torch, nor with later ones, for what it does, and the project does
    not say that it does. One that was never brought to a newer torch is still run with that of its README."""
    first = facts.program.once(_first_that_breaks)
    if first is None or facts.needs(first):
        return False
    used = facts.target.used_with("torch")
    return first <= version or (used is not None and used < version)


def knows(facts: Facts, version: Version) -> bool:
    """Whether a program shows that it runs with a version of torch or later ones only: it does what came with 0.4."""
    return version <= _HAS_ITEM and facts.program.once(knows_0_4)


def first_is_a_value(facts: Facts) -> bool:
    """Whether the first element of what has no dimensions may be its value, which the host waits for: torch 0.4 made a
    tensor of it, and later ones raise."""
    return facts.target.starts_at("torch", _HAS_ITEM) is not True and not _knows(facts)


def _first_that_breaks(program: Program) -> Version | None:
    """The first torch with which no training of a program gets through a step, since each reads its loss as torch did
    until 0.4. None where the program does what came with 0.4, too: then it is not known which of both it is up to."""
    trainings = [facts for facts in program if any(loop.backward for loop in facts.loops)]
    breaks = bool(trainings) and all(map(_reads_first, trainings)) and not knows_0_4(program)
    return _WITHOUT_FIRST if breaks else None


def _reads_first(facts: Facts) -> bool:
    contexts = (context for one in facts.operations_of(Act.READS_FIRST) for context in one.contexts)
    return any(loop.backward for context in contexts for loop in context.loops)


def knows_0_4(program: Program) -> bool:
    """Whether anything that a program does came with torch 0.4. An array of NumPy has had an ``item`` all along."""
    return any(_knows(facts) for facts in program)


def _knows(facts: Facts) -> bool:
    if not all(map(_is_of_a_version, facts.operations_of(*_SINCE_0_4))):
        return True
    read = (one.receiver for one in facts.operations_of(*_ITEM) if not _is_of_a_version(one))
    return any(one is not None and not facts.document.code(one).endswith(".numpy()") for one in read)


def _is_of_a_version(operation: Operation) -> bool:
    """Whether it happens only where a condition asks for a version: another branch does without it."""
    return all(any(map(_asks_for_version, context.conditions)) for context in operation.contexts)


def _asks_for_version(condition: Condition) -> bool:
    test = condition.test
    return test is not None and any("version" in name.lower() for name in names_read_in(test))
