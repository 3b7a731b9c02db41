"""What a data set keeps, and changes while it makes samples, that each worker process would share or have a copy of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.datasets.sample_methods import pickles_itself, sample_methods
from accel_advisor.interpreter.resolution import value_of
from accel_advisor.records.dataset_facts import Hold, Veto, VetoKind
from accel_advisor.syntax.shapes import dotted, keywords_of, methods_of, self_attribute
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.sample_work import HANDLES, OBJECT_LISTS, RANDOM_STATES
from accel_advisor.values.values import Class, Function, Qualified

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine

_FILLS = frozenset({"update", "setdefault", "append", "extend", "add"})
"""Methods that put something into a list, set or dict."""


def state_vetoes(machine: Machine, cls: Class) -> list[Veto]:
    """What in a data set's state argues against workers."""
    found = _held_vetoes(machine, cls)
    asked = ", ".join(sorted(_asked_for(machine, cls)))
    if asked:
        found.append(
            Veto(VetoKind.WRITTEN, f"code outside of it asks for {asked}, which workers would set for themselves")
        )
    for owner, function in sample_methods(cls).values():
        if (
            _is_cached(function)
            or any(map(_fills, descendants(function, cst.AssignTarget, cst.Call)))
            or _calls_cached(machine, owner, function)
        ):
            words = "it caches samples in the process, and every worker would have a cache of its own"
            found.append(Veto(VetoKind.CACHE, words, document=owner.document, node=function))
        elif any(self_attribute(node.target) is not None for node in descendants(function, cst.AugAssign)):
            words = "it counts in the process, and every worker would count for itself"
            found.append(Veto(VetoKind.WRITTEN, words, document=owner.document, node=function))
    return found


def _held_vetoes(machine: Machine, cls: Class) -> list[Veto]:
    """Handles and random generators that a data set makes before the workers start."""
    found: list[Veto] = []
    for held in _holds(machine, cls):
        if held.callee in HANDLES:
            kind = VetoKind.HANDLE
            words = f"it opens `self.{held.name}` before the workers start, which would share the handle"
        elif held.callee in RANDOM_STATES:
            kind = VetoKind.GENERATOR
            words = f"it keeps a random generator in `self.{held.name}`, of which every worker would get the same copy"
        else:
            continue
        certain = _used_as_it_is(cls, held.name) and not _is_shared_on_purpose(held)
        outside = (machine.recorder.written, machine.recorder.adjusted)
        certain &= not any(held.name in assigned.get(cls, ()) for assigned in outside)
        found.append(Veto(kind, words, held.name, certain, held.cls.document, held.node))
    return found


def held_objects(machine: Machine, cls: Class) -> tuple[Hold, ...]:
    """Lists and dicts of Python objects that a data set keeps, and reads for its samples as they are."""
    held = [one for one in _holds(machine, cls) if not one.callee or one.callee in OBJECT_LISTS]
    return tuple(one for one in held if _used_as_it_is(cls, one.name))


def _holds(machine: Machine, cls: Class) -> Iterator[Hold]:
    """What ``__init__`` keeps under attributes of a data set, where a library or a comprehension made it."""
    for one in cls.lineage():
        function = methods_of(one.node).get("__init__")
        for node in descendants(function, cst.Assign, cst.AnnAssign) if function is not None else ():
            if not isinstance(node, (cst.Assign, cst.AnnAssign)) or node.value is None:
                continue
            targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]
            names = [name for target in targets if (name := self_attribute(target)) is not None]
            if isinstance(node.value, cst.Call):
                callee = value_of(machine, one.scope.globals, _maker(node.value).func)
                if isinstance(callee, Qualified):
                    yield from (Hold(one, name, node.value, callee.name) for name in names)
            elif isinstance(node.value, (cst.ListComp, cst.DictComp)):
                yield from (Hold(one, name, node.value) for name in names)


def _maker(call: cst.Call) -> cst.Call:
    """The call that makes what a call gives back: ``torch.Generator().manual_seed(0)`` is its receiver."""
    func = call.func
    if isinstance(func, cst.Attribute) and func.attr.value == "manual_seed" and isinstance(func.value, cst.Call):
        return func.value
    return call


def _is_shared_on_purpose(held: Hold) -> bool:
    """Whether a handle is opened in the way that readers in several processes are meant to open it."""
    given = keywords_of(held.node) if isinstance(held.node, cst.Call) else {}
    return held.callee == "lmdb.open" and ("lock" in given or "readonly" in given)


def _used_as_it_is(cls: Class, name: str) -> bool:
    """Whether making a sample reads an attribute that nothing but one line of ``__init__`` ever sets or closes."""
    assigned = 0
    if pickles_itself(cls):
        return False
    for one in cls.lineage():
        for node in descendants(one.node, cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.Del, cst.Attribute):
            if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.Del)):
                assigned += self_attribute(node.target) == name
            elif isinstance(node, cst.Attribute) and node.attr.value in ("close", "seed", "manual_seed"):
                # a generator that is seeded again for each sample is no copy
                assigned += self_attribute(node.value) == name
    if assigned != 1 or "?" in cls.library_bases():
        return False
    reading = (function for _, function in sample_methods(cls).values())
    read = (node for function in reading for node in descendants(function.body, cst.Attribute))
    return any(self_attribute(node) == name for node in read)


def _asked_for(machine: Machine, cls: Class) -> set[str]:
    """Attributes that making a sample assigns, and that other code asks for: in the process, it would not see them."""
    assigned = {
        name
        for _, function in sample_methods(cls).values()
        for one in descendants(function.body, cst.AssignTarget)
        if isinstance(one, cst.AssignTarget) and (name := self_attribute(one.target)) is not None
    }
    asked = {name for owner in (None, *cls.lineage()) for name in machine.recorder.asked.get(owner, ())}
    return assigned & asked


def _is_cached(function: cst.FunctionDef) -> bool:
    decorators = [one.decorator for one in function.decorators]
    names = [dotted(one.func if isinstance(one, cst.Call) else one) for one in decorators]
    return any(name.endswith(("lru_cache", "cache", "memoize")) for name in names)


def _calls_cached(machine: Machine, owner: Class, function: cst.FunctionDef) -> bool:
    called = (value_of(machine, owner.scope.globals, node.func) for node in descendants(function, cst.Call))
    return any(
        isinstance(one, Function) and isinstance(one.node, cst.FunctionDef) and _is_cached(one.node) for one in called
    )


def _fills(node: cst.CSTNode) -> bool:
    """Whether something puts an entry into an attribute of the data set."""
    if isinstance(node, cst.AssignTarget):
        return isinstance(node.target, cst.Subscript) and self_attribute(node.target.value) is not None
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    return node.func.attr.value in _FILLS and self_attribute(node.func.value) is not None
