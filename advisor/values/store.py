"""The store that holds the value of every name and cell at the point that the interpreter has reached."""

from __future__ import annotations

from collections.abc import Hashable
from functools import reduce

from accel_advisor.values.scope import Scope
from accel_advisor.values.values import ABSENT, MOST_PARTS, UNKNOWN, Compound, Module, Value, join

OPEN = "\0open"
"""Entry of a Mapping that says whether it may hold keys beyond those that are stored."""
ESCAPED = "\0escaped"
"""Entry of a Module or Instance that says that it was handed to code that is not known."""
TAKES_AS_GIVEN = "\0takes as given"
"""Set for a wrapper that does not move the inputs of ``forward``: DistributedDataParallel that is given no devices."""
ANY = "\0any"
"""Entry of a Mapping or list for the value under a key that is not known."""

Layer = dict[object, dict[Hashable, Value]]


def _home(owner: object) -> object:
    """What the contents of an owner are kept under: a compiled module has those of the module itself."""
    return owner.plain if type(owner) is Module else owner


class Store:
    """Values by owner and name, in layers: a branch writes into a layer of its own, and all branches are joined.

    An owner is a scope or a cell. Joining costs as much as the branches wrote, not as much as the store holds.
    """

    def __init__(self) -> None:
        self._layers: list[Layer] = [{}]

    def get(self, owner: object, name: Hashable) -> Value | None:
        """The value of a name, or None where nothing was ever stored."""
        owner = _home(owner)
        for layer in reversed(self._layers):
            held = layer.get(owner)
            if held is not None and name in held:
                return held[name]
        return None

    def set(self, owner: object, name: Hashable, value: Value) -> None:
        """Stores a value in the current layer; one with too many parts is Unknown from here on."""
        if isinstance(value, Compound) and value.parts > MOST_PARTS:
            value = UNKNOWN
        self._layers[-1].setdefault(_home(owner), {})[name] = value

    def entries(self, owner: object) -> dict[Hashable, Value]:
        """Everything stored under one owner."""
        found: dict[Hashable, Value] = {}
        for layer in self._layers:
            found.update(layer.get(_home(owner), {}))
        return found

    @property
    def level(self) -> int:
        """How many layers there are."""
        return len(self._layers)

    def since(self, level: int) -> Layer:
        """What was written in the layers above the first ``level``, as one layer."""
        flat: Layer = {}
        for layer in self._layers[level:]:
            for owner, held in layer.items():
                flat.setdefault(owner, {}).update(held)
        return flat

    def lift(self) -> list[Layer]:
        """Takes away all layers but the bottom one, until :meth:`drop` puts them back."""
        above = self._layers[1:]
        del self._layers[1:]
        return above

    def drop(self, layers: list[Layer]) -> None:
        """Puts back what :meth:`lift` took away."""
        self._layers[1:] = layers

    def abandon(self, level: int) -> None:
        """Forgets the layers above the first ``level``: their branches were never finished."""
        del self._layers[max(level, 1) :]

    def push(self) -> None:
        """Begins a branch."""
        self._layers.append({})

    def pop(self) -> Layer:
        """Ends a branch, and returns what it wrote."""
        return self._layers.pop()

    def merge(self, branches: list[Layer]) -> bool:
        """Joins branches that started from here into the current layer.

        Returns:
            Whether a name that had a value before has another one now.
        """
        changed = False
        written: dict[tuple[object, Hashable], list[tuple[int, Value]]] = {}
        for index, branch in enumerate(branches):
            for owner, held in branch.items():
                for name, value in held.items():
                    written.setdefault((owner, name), []).append((index, value))
        for (owner, name), found in written.items():
            before = self.get(owner, name)
            # A name that one branch leaves unbound would raise there; a dict entry is really absent.
            missing = before if before is not None or isinstance(owner, Scope) else ABSENT
            if missing is not None and len(found) < len(branches):
                first = next((place for place, (index, _) in enumerate(found) if place != index), len(found))
                found.insert(first, (first, missing))
            result = reduce(join, (value for _, value in found))
            changed |= before is not None and result != before
            self.set(owner, name, result)
        return changed
