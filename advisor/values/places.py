"""Where tensors and modules live."""

from __future__ import annotations

from collections.abc import Iterable

Place = frozenset[frozenset[str]]
"""Where something lives: alternatives, each the set of device kinds that one device expression stands for.

``x.to(device)`` with ``device`` either cuda or cpu is *one* alternative with two kinds: it moves wherever the
machine has an accelerator. A value that is moved in one branch only has *two* alternatives.
"""

HOST: Place = frozenset({frozenset({"cpu"})})
SOMEWHERE: Place = frozenset({frozenset({"unknown"})})
WITH_MODEL: Place = frozenset({frozenset({"model"})})
"""Where a module of the project lives, seen from its own methods: with its parameters and its layers' results,
wherever the model was moved to."""

_INPUT = "input "


def place_of_input(forward: object, name: str) -> Place:
    """Where an argument of ``forward`` lives, seen from inside: a place of its own for each parameter, so that it shows
    which of them reach a layer unmoved."""
    return frozenset({frozenset({f"{_INPUT}{id(forward)} {name}"})})


def input_at(place: Place) -> str | None:
    """The one input of a ``forward`` that lives in this place, or None."""
    kinds = union_of(place)
    only = next(iter(kinds)) if len(kinds) == 1 else ""
    return only if only.startswith(_INPUT) else None


def only_inputs_at(place: Place) -> frozenset[str]:
    """The inputs of a ``forward``, one or several, of which what lives in this place was computed; empty where it was
    computed of something else, too."""
    kinds = union_of(place)
    return kinds if all(one.startswith(_INPUT) for one in kinds) else frozenset()


def is_host(place: Place) -> bool:
    """Whether the place is proven to be the host."""
    return place == HOST


def is_cuda_capable(place: Place) -> bool:
    """Whether every alternative is, on some machine, a CUDA device: moved for certain."""
    return all("cuda" in kinds for kinds in place)


def is_on_accelerator(place: Place) -> bool:
    """Whether every alternative is where the model or its input is, or a CUDA device on some machine."""
    return bool(place) and all(any(_moves_along(kind) for kind in kinds) for kinds in place)


def _moves_along(kind: str) -> bool:
    return kind in ("cuda", "model") or kind.startswith(_INPUT)


def union_of(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    """All kinds of device in any of the sets."""
    return frozenset(kind for kinds in sets for kind in kinds)
