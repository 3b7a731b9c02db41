"""What goes wrong when workers run a data set: handles and generators that they would share or copy, streams that none
of them divides (rules.md D03, D10, D11)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.resolution import value_of
from accel_advisor.records.dataset_facts import Hold, Veto, VetoKind
from accel_advisor.syntax.shapes import methods_of, self_attribute
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.python_functions import FEEDS, GIVES_CONTENTS
from accel_advisor.tables.sample_work import HANDLES, OBJECT_LISTS, RANDOM_STATES, SAME_IN_EVERY_WORKER
from accel_advisor.values.values import (
    Class,
    Configured,
    Constant,
    Instance,
    Iterated,
    Mapping,
    Opaque,
    Qualified,
    Sequence,
    Tensor,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine

ENTRANCES = ("__getitem__", "__getitems__", "__iter__", "__next__")
"""Methods of a data set that workers call."""


def sample_methods(cls: Class) -> dict[str, tuple[Class, cst.FunctionDef]]:
    """The methods that making a sample runs: the entrances, and what they call on ``self``."""
    table: dict[str, tuple[Class, cst.FunctionDef]] = {}
    for one in reversed(cls.lineage()):
        table.update({name: (one, node) for name, node in methods_of(one.node).items()})
    found: dict[str, tuple[Class, cst.FunctionDef]] = {}
    pending = [name for name in ENTRANCES if name in table]
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found[name] = table[name]
        for node in descendants(table[name][1].body, cst.Attribute):
            used = self_attribute(node)
            if used in table and used != "__init__":
                pending.append(str(used))
    return found


def holds(machine: Machine, cls: Class) -> Iterator[Hold]:
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


def held_objects(machine: Machine, cls: Class) -> tuple[Hold, ...]:
    """Lists and dicts of Python objects that a data set keeps, and reads for its samples as they are."""
    held = [one for one in holds(machine, cls) if not one.callee or one.callee in OBJECT_LISTS]
    return tuple(one for one in held if _used_as_it_is(cls, one.name))


def held_vetoes(machine: Machine, cls: Class) -> list[Veto]:
    """Handles and random generators that a data set makes before the workers start."""
    found: list[Veto] = []
    for held in holds(machine, cls):
        if held.callee in HANDLES:
            kind: VetoKind = "handle"
            words = f"it opens `self.{held.name}` before the workers start, which would share the handle"
        elif held.callee in RANDOM_STATES:
            kind = "generator"
            words = f"it keeps a random generator in `self.{held.name}`, of which every worker would get the same copy"
        else:
            continue
        certain = _used_as_it_is(cls, held.name) and not _is_shared_on_purpose(held)
        certain &= held.name not in machine.recorder.written.get(cls, ())
        found.append(Veto(kind, words, held.name, certain, held.cls.document, held.node))
    return found


def _is_shared_on_purpose(held: Hold) -> bool:
    """Whether a handle is opened in the way that readers in several processes are told to open it."""
    args = held.node.args if isinstance(held.node, cst.Call) else ()
    return held.callee == "lmdb.open" and any(one.keyword and one.keyword.value in ("lock", "readonly") for one in args)


def pickles_itself(cls: Class) -> bool:
    """Whether a class says by itself what of it reaches a worker that is not forked."""
    own = {name for one in cls.lineage() for name in methods_of(one.node)}
    return not own.isdisjoint({"__getstate__", "__setstate__", "__reduce__"})


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
                # a generator that is seeded anew for each sample is no copy
                assigned += self_attribute(node.value) == name
    if assigned != 1 or "?" in cls.library_bases():
        return False
    reading = (function for _, function in sample_methods(cls).values())
    read = (node for function in reading for node in descendants(function.body, cst.Attribute))
    return any(self_attribute(node) == name for node in read)


def stream_veto(machine: Machine, instance: Instance) -> Veto | None:
    """An IterableDataset that every worker would read whole."""
    cls = instance.cls
    mentioned = {node.value for one in cls.lineage() for node in descendants(one.node, cst.Name)}
    if "get_worker_info" in mentioned:
        return None
    divided = any("worker" in name.lower() or "shard" in name.lower() for name in mentioned)
    certain = not divided and "?" not in cls.library_bases() and reads_everything(machine, instance)
    words = "it is an IterableDataset that does not share its samples out among workers"
    return Veto("stream", words, certain=certain, document=cls.document, node=cls.node.name)


def knows_its_rank(cls: Class) -> bool:
    """Whether a data set mentions ranks or the world size, or has a base that is not known."""
    words = (node for one in cls.lineage() for node in descendants(one.node, cst.Name, cst.SimpleString))
    names = {node.value.lower() for node in words if isinstance(node, (cst.Name, cst.SimpleString))}
    return "?" in cls.library_bases() or any("rank" in name or "world" in name or "shard" in name for name in names)


def may_differ_by_rank(held: Value) -> bool:
    """Whether what a data set keeps may be worth something else in another process: its rank, say."""
    if isinstance(held, Configured):
        return bool(held.variable)
    return isinstance(held, Unknown) or (isinstance(held, Opaque) and not held.name.startswith(SAME_IN_EVERY_WORKER))


def reads_everything(machine: Machine, instance: Instance) -> bool:
    """Whether all that ``__iter__`` goes over is known to be the same in every worker, and to end."""
    methods = sample_methods(instance.cls)
    if "__iter__" not in methods or "__next__" in methods:
        return False
    sources = 0
    for owner, function in methods.values():
        for node in descendants(function.body):
            taken: list[cst.BaseExpression] = []
            if isinstance(node, (cst.For, cst.CompFor)):
                taken.append(node.iter)
            elif isinstance(node, cst.From):
                taken.append(node.item)
            elif isinstance(node, cst.While) or (isinstance(node, cst.Call) and _is_random(machine, owner, node)):
                return False
            elif isinstance(node, cst.Return) and function.name.value == "__iter__" and node.value is not None:
                taken.append(node.value)
            sources += len(taken)
            if not all(_is_common(machine, instance, owner, function, one, 0) for one in taken):
                return False
    return sources > 0


def _is_random(machine: Machine, owner: Class, call: cst.Call) -> bool:
    """Whether a call draws at random, other than an order."""
    callee = value_of(machine, owner.scope.globals, call.func)
    drawn = callee.name if isinstance(callee, Qualified) else ""
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    random = drawn.startswith(("random.", "numpy.random.", "torch.rand", "torch.normal", "torch.bernoulli"))
    drawing = name in (
        "choice",
        "choices",
        "randint",
        "random",
        "integers",
        "normal",
        "uniform",
        "sample",
        "exponential_",
    )
    return (random or drawing) and name not in ("shuffle", "permutation", "randperm", "seed", "Random", "default_rng")


def _is_common(
    machine: Machine,
    instance: Instance,
    owner: Class,
    function: cst.FunctionDef,
    node: cst.BaseExpression,
    depth: int,
) -> bool:
    """Whether an expression in a data set's method is worth the same in every worker."""
    if depth > 8:
        return False

    def common(one: cst.BaseExpression) -> bool:
        return _is_common(machine, instance, owner, function, one, depth + 1)

    name = self_attribute(node)
    if name is not None:
        held = machine.store.get(instance, name)
        if isinstance(held, Opaque):
            return held.name.startswith(SAME_IN_EVERY_WORKER)
        return isinstance(held, (Sequence, Iterated, Tensor, Constant, Configured, Mapping))
    if isinstance(node, cst.Subscript):
        return common(node.value)
    if isinstance(node, (cst.List, cst.Tuple, cst.SimpleString)):
        return True
    if isinstance(node, cst.Name):
        bound = list(_bindings(function, node.value))
        return bool(bound) and all(one is None or common(one) for one in bound)
    if not isinstance(node, cst.Call):
        return False
    method = self_attribute(node.func)
    if method is not None:
        return method in sample_methods(instance.cls)
    if isinstance(node.func, cst.Attribute) and node.func.attr.value in GIVES_CONTENTS:
        return common(node.func.value)
    callee = value_of(machine, owner.scope.globals, node.func)
    if not isinstance(callee, Qualified):
        return False
    if callee.name in FEEDS:
        fed = node.args[1:] if callee.name in ("map", "filter") else node.args
        return all(common(arg.value) for arg in fed if not isinstance(arg.value, (cst.Integer, cst.Lambda)))
    return callee.name.startswith(SAME_IN_EVERY_WORKER)


def _bindings(function: cst.FunctionDef, name: str) -> Iterator[cst.BaseExpression | None]:
    """The expressions that a local name is bound to; None for a loop's target, whose iterable is looked at itself."""
    for node in descendants(function.body):
        if isinstance(node, (cst.For, cst.CompFor)):
            if any(one.value == name for one in descendants(node.target, cst.Name)):
                yield None
        elif isinstance(node, cst.WithItem):
            if node.asname is not None and isinstance(node.asname.name, cst.Name) and node.asname.name.value == name:
                yield node.item
        elif isinstance(node, cst.Assign) and any(
            one.value == name for target in node.targets for one in descendants(target.target, cst.Name)
        ):
            yield node.value
