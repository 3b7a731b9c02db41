"""What is recorded of calls of library functions besides the calls themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.arguments import Arguments
from accel_advisor.interpreter.iteration import element_of, entries
from accel_advisor.interpreter.loader_batches import loaders_of
from accel_advisor.records.actions import Act, Call
from accel_advisor.records.operations import Argument
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.values import Choice, Loader, Mapping, Opaque, Value

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine
    from accel_advisor.records.conditions import Condition

_ENDS = ("", "StopIteration", "Exception")
"""What a handler catches that is there for the end of the batches, or for that as well."""


def note_iterator(machine: Machine, arguments: Arguments) -> None:
    """Records ``iter(loader)`` in a loop, which begins another pass over the batches: in each turn, or where those of
    the pass before are used up."""
    frame = machine.frame
    if not (frame.loops and arguments.positional):
        return
    loop = frame.loops[-1]
    guards = [one for one in frame.conditions if one.varies is loop and not one.ordinary]
    given = arguments.positional[0]
    name = dotted(given.node.value) if given.node is not None else ""
    for loader in loaders_of(element_of(machine, given.value), whole=True):
        begun = loader.around if not guards else loader.renewed
        if loop not in begun and all(_is_at_the_end(one, name) for one in guards):
            begun.append(loop)


def _is_at_the_end(condition: Condition, loader: str) -> bool:
    """Whether a condition holds where the batches of a pass are used up: no further one comes, or as many were taken as
    the loader of this name has."""
    if isinstance(condition.node, cst.ExceptHandler):
        caught = condition.node.type
        return (dotted(caught) if caught is not None else "") in _ENDS
    test = condition.test
    asked = (one for one in descendants(test, cst.Call) if dotted(one.func) == "len") if test is not None else ()
    return any(dotted(arg.value) == loader for one in asked for arg in one.args)


def note_first_batch(machine: Machine, arguments: Arguments, node: cst.Call) -> None:
    """Records ``next(iter(loader))``, which begins the loader again."""
    given = arguments.positional[0].node
    inner = given.value if given is not None else None
    if isinstance(inner, cst.Call) and isinstance(inner.func, cst.Name) and len(inner.args) == 1:
        source = inner.args[0].value
        if inner.func.value == "iter" and isinstance(source, (cst.Name, cst.Attribute)):
            loader = machine.evaluate(source)
            if isinstance(loader, Loader):
                machine.recorder.operation(machine.frame, node, Act.TAKES_FIRST_BATCH, loader)


def note_trainer(machine: Machine, arguments: Arguments, node: cst.Call) -> None:
    """Records the Trainer that Lightning's command line builds, with its defaults."""
    defaults = arguments.get("trainer_defaults", 5)
    built = Arguments(node, [], open=True)
    if isinstance(defaults, Mapping):
        known, _ = entries(machine, defaults)
        built.keywords = {name: Argument(value) for name, value in known.items()}
    machine.recorder.operation(machine.frame, node, Call("lightning.Trainer"), None, built)


def note_saved_states(machine: Machine, saved: Value, node: cst.Call) -> None:
    """Records each ``state_dict()`` of a module among what is written to a file."""
    seen: set[Value] = set()
    pending = [saved]
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        if isinstance(one, Opaque) and one.name == "module.state_dict":
            machine.recorder.operation(machine.frame, node, Act.SAVES_STATE, one.arguments[0])
        elif isinstance(one, Mapping):
            pending += machine.store.entries(one).values()
        elif isinstance(one, Choice):
            pending += one.options
