"""The store that holds the value of every name and cell at the point that the interpreter has reached."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain

from accel_advisor.values.scope import Scope
from accel_advisor.values.values import ABSENT, MOST_PARTS, UNKNOWN, Compound, Module, Value, join

OPEN = "\0open"
"""Entry of a Mapping that says whether it may hold keys beyond those that are stored."""
ESCAPED = "\0escaped"
"""Entry of a Module or Instance that says that it was handed to code that is not known."""
BUILT = "\0built"
"""Set for a Module whose ``__init__`` was followed, so that its parts are known."""
PARTS = "\0parts"
"""Entry of a Module of a library for the Sequence of what it was given to hold."""
TAKES_AS_GIVEN = "\0takes as given"
"""Set for a wrapper that does not move the inputs of ``forward``: DistributedDataParallel that is given no devices."""
ANY = "\0any"
"""Entry of a Mapping or list for the value under a key that is not known."""

Layer = dict[object, dict[Hashable, Value]]
_NOTHING: dict[Hashable, Value] = {}


class Store:
    """Values by owner and name, in layers: a branch writes into a layer of its own, and all branches are joined.

    An owner is a scope or a cell; a compiled module shares what is kept of the module itself. Joining costs as much as
    the branches wrote, not as much as the store holds, and a look-up as many steps as there are layers that hold
    anything of the owner.
    """

    def __init__(self) -> None:
        self._bottom: Layer = {}
        self._layers: list[Layer] = []
        self._held: dict[object, list[dict[Hashable, Value]]] = {}
        """What each of the layers above the bottom one holds of an owner, from below."""

    def get(self, owner: object, name: Hashable) -> Value | None:
        """The value of a name, or None where nothing was ever stored."""
        if type(owner) is Module:
            owner = owner.plain
        for held in reversed(self._held.get(owner, ())):
            value = held.get(name)
            if value is not None:
                return value
        lowest = self._bottom.get(owner)
        return None if lowest is None else lowest.get(name)

    def set(self, owner: object, name: Hashable, value: Value) -> None:
        """Stores a value in the current layer; one with too many parts is Unknown from here on."""
        if isinstance(value, Compound) and value.parts > MOST_PARTS:
            value = UNKNOWN
        if type(owner) is Module:
            owner = owner.plain
        self._current(owner)[name] = value

    def _current(self, owner: object) -> dict[Hashable, Value]:
        """What the current layer holds of an owner."""
        layer = self._layers[-1] if self._layers else self._bottom
        held = layer.get(owner)
        if held is None:
            held = layer[owner] = {}
            if self._layers:
                self._held.setdefault(owner, []).append(held)
        return held

    def entries(self, owner: object) -> dict[Hashable, Value]:
        """Everything stored under one owner."""
        home = owner.plain if type(owner) is Module else owner
        found = dict(self._bottom.get(home, {}))
        for held in self._held.get(home, ()):
            found.update(held)
        return found

    @property
    def level(self) -> int:
        """How many layers there are."""
        return len(self._layers) + 1

    def since(self, level: int) -> Layer:
        """What was written in the layers above the first ``level``, as one layer."""
        flat: Layer = {}
        for layer in self._layers[level - 1 :]:
            for owner, held in layer.items():
                flat.setdefault(owner, {}).update(held)
        return flat

    def lift(self) -> list[Layer]:
        """Takes away all layers but the bottom one, until :meth:`drop` puts them back."""
        above, self._layers, self._held = self._layers, [], {}
        return above

    def drop(self, layers: list[Layer]) -> None:
        """Puts back what :meth:`lift` took away."""
        self._layers, self._held = layers, {}
        for layer in layers:
            for owner, held in layer.items():
                self._held.setdefault(owner, []).append(held)

    def abandon(self, level: int) -> None:
        """Forgets the layers above the first ``level``: their branches were never finished."""
        self.drop(self._layers[: max(level, 1) - 1])

    def push(self) -> None:
        """Begins a branch."""
        self._layers.append({})

    def pop(self) -> Layer:
        """Ends a branch, and returns what it wrote."""
        layer = self._layers.pop()
        for owner in layer:
            self._held[owner].pop()
        return layer

    def merge(self, branches: list[Layer], *, compare: bool = False) -> bool:
        """Joins branches that started from here into the current layer.

        Returns:
            Whether a name that had a value before has another one now, if they are to be compared; False otherwise.
        """
        if len(branches) == 1 and not compare:
            for owner, held in branches[0].items():
                self._current(owner).update(held)
            return False
        changed = False
        for owner in dict.fromkeys(chain.from_iterable(branches)):
            parts = [branch.get(owner, _NOTHING) for branch in branches]
            for name in dict.fromkeys(chain.from_iterable(parts)):
                result = self._joined(owner, name, parts)
                if compare and not changed:
                    before = self.get(owner, name)
                    changed = before is not None and result != before
                self.set(owner, name, result)
        return changed

    def _joined(self, owner: object, name: Hashable, parts: list[dict[Hashable, Value]]) -> Value:
        """What branches wrote under a name, with what was there before where one of them wrote nothing."""
        result: Value | None = None
        looked = False
        for part in parts:
            value = part.get(name)
            if value is None and not looked:
                looked = True
                # A name that one branch leaves unbound would raise there; a dict entry is really absent.
                value = self.get(owner, name) or (None if isinstance(owner, Scope) else ABSENT)
            if value is not None and value is not result:
                result = value if result is None else join(result, value)
        assert result is not None
        return result
