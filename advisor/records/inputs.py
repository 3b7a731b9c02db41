"""Which arguments of a module's call must be where the module is: those that reach the weights of a layer unmoved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel_advisor.values.places import HOST, Place, input_at, is_cuda_capable, only_inputs_at, place_of_input, union_of
from accel_advisor.values.values import Tensor

if TYPE_CHECKING:
    from accel_advisor.records.transfers import ArgumentPlace

WEIGHTS = "weights"
"""What an argument becomes that a layer of a library combines with its weights."""


class Inputs:
    """What becomes of the inputs of each ``forward``, as its own code shows; nothing where that does not say."""

    def __init__(self) -> None:
        self._next: dict[str, set[str]] = {}
        self._tensors: set[str] = set()
        self._on_host: set[str] = set()
        self._on_gpu: set[str] = set()
        self._handed_on: dict[str, set[str]] = {}

    def follow(self, arguments: tuple[ArgumentPlace, ...], within: object) -> None:
        """A module that is where the model is is called on these arguments, under no condition, within a method of the
        model, if one is given: inputs of the ``forward`` around it among them go on into it."""
        for argument in arguments:
            value = argument.value
            moved = isinstance(value, Tensor) and value.basis.proven and value.place and is_cuda_capable(value.place)
            if moved and within is not None and argument.becomes == WEIGHTS:
                self._on_gpu |= union_of(place_of_input(within, ""))
            source = input_at(value.place) if isinstance(value, Tensor) else None
            if source is not None and argument.becomes and "*" not in source:  # of many, who knows which
                self._next.setdefault(source, set()).add(argument.becomes)

    def given(self, arguments: tuple[ArgumentPlace, ...]) -> None:
        """A module is called on these arguments, which it takes as they are."""
        for argument in arguments:
            value = argument.value
            if argument.becomes and isinstance(value, Tensor) and self.may_be_on_host(value.place):
                self._on_host.add(argument.becomes)

    def must_be_on_gpu(self, becomes: str) -> bool:
        """Whether the ``forward`` that has this input certainly combines the model's weights with what it moved to a
        GPU, on a machine that has one."""
        return becomes.startswith(tuple(self._on_gpu))

    def may_be_on_host(self, place: Place) -> bool:
        """Whether what lives here is on the host, or an input of a ``forward`` that was given what is."""
        source = input_at(place)
        return place == HOST or not self._on_host.isdisjoint({source, *self._handed_on.get(source or "", ())})

    def hand_on(self, place: Place, to: Place) -> None:
        """A method is given some of what a ``forward`` was given, which of it is not known: the parameter of the method
        is an input, too."""
        self._handed_on.setdefault("".join(union_of(to)), set()).update(union_of(place))

    def used_as_tensor(self, place: Place) -> None:
        """Something is done to what lives here that only a tensor can do."""
        source = input_at(place)
        if source is not None:
            self._tensors.add(source)

    def is_tensor(self, place: Place) -> bool:
        """Whether what lives here is computed of no inputs of a ``forward`` alone, or of one that is certainly a
        tensor."""
        sources = only_inputs_at(place)
        return not sources or any(one in self._tensors or self.reaches_weights(one) for one in sources)

    def are_all_of(self, place: Place) -> bool:
        """Whether what lives here is computed of inputs of a ``forward`` alone."""
        return bool(only_inputs_at(place))

    def reaches_weights(self, becomes: str) -> bool:
        """Whether what becomes this input certainly meets weights of the module, and must be where they are."""
        seen: set[str] = set()
        pending = [becomes]
        while pending:
            one = pending.pop()
            if one == WEIGHTS:
                return True
            if one not in seen:
                seen.add(one)
                pending += self._next.get(one, ())
        return False
