"""Whether an iterable data set shares itself out among workers: read from the code that its iteration would run.

Nothing is run for it. A data set that asks :func:`torch.utils.data.get_worker_info`, and names a worker's number
and of how many there are, divides its samples by them; one that does not would yield all of them in each worker. A
worker that is asked for its seed alone divides nothing.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

MOST_VISITED = 1000
"""Objects that are looked at before it is given up."""
_DIVIDES = {"get_worker_info", "num_workers", "id"}
_FOREIGN = frozenset({"torch", "numpy", "builtins", *sys.stdlib_module_names}) - {"__main__"}


def shares_of(loader: Any) -> int | None:
    """How many workers a loader's data set can be shared out among: None for any number, 1 for an iterable one of which
    nothing shows that it is shared out."""
    from torch.utils.data import IterableDataset

    dataset = loader.dataset
    if not isinstance(dataset, IterableDataset):
        return None
    start = _names(loader.worker_init_fn)  # which gets the worker's number, and need not ask for it
    if not (_names(dataset) >= _DIVIDES or start >= _DIVIDES - {"id"}):
        return 1
    # datasets.IterableDataset has no work for more workers than it has files.
    shards = getattr(dataset, "num_shards", None) if type(dataset).__module__.startswith("datasets.") else None
    return shards if isinstance(shards, int) and shards > 0 else None


def _names(value: Any) -> set[str]:
    reading = _Reading()
    reading.visit(value)
    return reading.names


class _Reading:
    """The names in all code that iterating some objects can reach, as far as it is theirs and not torch's."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._seen: dict[tuple[int, int], Any] = {}

    def visit(self, value: Any, owner: Any = None) -> None:
        """Read a function, or what making, iterating or calling an object runs."""
        key = (id(value), id(owner))  # one function reads other things for each of its owners
        if value is None or key in self._seen or len(self._seen) > MOST_VISITED:
            return
        self._seen[key] = (value, owner)
        if isinstance(value, functools.partial):
            self.visit(value.func)
        elif isinstance(value, property):
            self.visit(value.fget, owner)
        elif isinstance(value, (MethodType, staticmethod, classmethod)):
            self.visit(value.__func__, owner)
        elif isinstance(value, FunctionType):
            self._read(value, owner)
        elif isinstance(value, (list, tuple)):
            for part in value[:64]:
                self.visit(part)
        else:
            for name in ("__iter__", "__next__", "__call__", *(("__init__",) if isinstance(value, type) else ())):
                self._attribute(value, name)

    def _attribute(self, owner: Any, name: str) -> None:
        kind = owner if isinstance(owner, type) else type(owner)
        for base in kind.__mro__:
            if not _foreign(base):
                self.visit(vars(base).get(name), owner)
        if owner is not kind:
            self.visit(getattr(owner, "__dict__", {}).get(name))

    def _read(self, function: FunctionType, owner: Any) -> None:
        if _foreign(function):
            return
        names = {name for code in _codes(function.__code__) for name in code.co_names}
        self.names |= names
        for cell in function.__closure__ or ():
            with contextlib.suppress(ValueError):  # one that is still empty
                self.visit(cell.cell_contents)
        for name in names:
            if owner is not None:
                self._attribute(owner, name)
            known = function.__globals__.get(name)
            if isinstance(known, ModuleType) and not _foreign(known):
                for other in names:
                    self.visit(vars(known).get(other))
            elif isinstance(known, (FunctionType, type)):
                self.visit(known)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _foreign(value: Any) -> bool:
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return not isinstance(name, str) or name.partition(".")[0] in _FOREIGN
