"""The arguments of calls, and the parameters that they become."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from accel_advisor.records.operations import Argument
from accel_advisor.values.values import (
    Constant,
    Filed,
    Iterated,
    Loader,
    Mapping,
    Module,
    Sequence,
    Tensor,
    Value,
    options_of,
)


@dataclass(slots=True)
class Arguments:
    """The arguments of one call, evaluated once.

    Attributes:
        positional, keywords: what is given for certain, or (a Choice with :data:`ABSENT`) on some paths.
        open: whether there may be others: ``*args``, or a ``**kw`` whose entries are not all known.
        mappings: the dicts that were splatted.
        files: the files, or the parts of files, that were.
        rest: what else is given by position, of each as many as may be: ``*layers``.
    """

    node: cst.Call | None
    positional: list[Argument] = field(default_factory=list)
    keywords: dict[str, Argument] = field(default_factory=dict)
    open: bool = False
    starred: bool = False
    mappings: tuple[Mapping, ...] = ()
    files: tuple[Filed, ...] = ()
    rest: tuple[Value, ...] = ()

    def get(self, name: str, position: int | None = None) -> Value | None:
        """The value of an argument by keyword, or by position; None where it is not given."""
        if name in self.keywords:
            return self.keywords[name].value
        if position is not None and position < len(self.positional):
            return self.positional[position].value
        return None

    @property
    def sizes_only(self) -> bool:
        """Whether what else there may be is given by position: ``*shape``."""
        return self.starred and self.node is not None and not any(one.star == "**" for one in self.node.args)

    def values(self) -> list[Value]:
        """All values, in the order in which they were given."""
        return [one.value for one in (*self.positional, *self.keywords.values())]

    def operands(self, *, alone: bool) -> Iterator[Value]:
        """What a function of torch may compute with, the items of a list one by one. A list behind another operand is
        one of numbers, such as sizes; where the first operand is the only one (``alone``), all behind it are."""
        first = True
        for value in self.values():
            if isinstance(value, (Sequence, Iterated)):
                if first:
                    yield from value.items if isinstance(value, Sequence) else (value.element,)
            elif first or not alone:
                yield value
            first = first and isinstance(value, Constant)


@dataclass(slots=True)
class Joined:
    """The calls of one function that are followed as one.

    Attributes:
        bound: the joined values of the parameters.
        left: how often the function may still be followed.
        result: the join of what came out so far; None before the first time.
    """

    bound: dict[str, Value]
    left: int
    result: Value | None = None


def is_of_training(value: Value) -> bool:
    """Whether what a function is given may be a loader, a tensor or a model."""
    return any(isinstance(one, (Loader, Tensor, Module)) for one in options_of(value))
