"""The methods of a data set that making a sample runs."""

from __future__ import annotations

from functools import lru_cache

import libcst as cst

from accel_advisor.syntax.shapes import methods_of, self_attribute
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.values import Class

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
        pending += [used for used in _attributes_read(table[name][1]) if used in table and used != "__init__"]
    return found


@lru_cache(maxsize=2048)
def _attributes_read(method: cst.FunctionDef) -> tuple[str, ...]:
    """The attributes of ``self`` in the body of a method, in source order."""
    found = map(self_attribute, descendants(method.body, cst.Attribute))
    return tuple([name for name in found if name is not None])


def pickles_itself(cls: Class) -> bool:
    """Whether a class says by itself what of it reaches a worker that is not forked."""
    own = {name for one in cls.lineage() for name in methods_of(one.node)}
    return not own.isdisjoint({"__getstate__", "__setstate__", "__reduce__"})
