"""Calls of models and losses of which nothing is known: what a ``forward`` that nothing calls is likely to run in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain

from accel_advisor.interpreter.frames import CalledModules, UnknownCalls
from accel_advisor.interpreter.parameters import takes
from accel_advisor.records.around import Surroundings
from accel_advisor.values.values import Function


class UnknownModels:
    """Those of a program, as far as it was interpreted."""

    def __init__(self, called: CalledModules) -> None:
        self._called = called
        self._by_depth: dict[bool, list[UnknownCalls]] = {}

    def training_with(self, forward: Function, *, losses: bool) -> Surroundings | None:
        """What is around a call, of a model or else of a loss if these are asked for, that this ``forward`` takes, in
        the steps of a training; around any call there where it takes none: it is a part of what runs then."""
        calls = self._calls(losses=losses)
        return _training_among(calls, partial(_may_be_called, forward)) or _training_among(calls)

    def _calls(self, *, losses: bool) -> list[UnknownCalls]:
        """First those within the fewest loops."""
        calls = [self._called.losses, self._called.unknown] if losses else [self._called.unknown]
        known = self._by_depth.get(losses, [])
        if len(known) != sum(map(len, calls)):  # there are only ever more of them
            known = sorted(chain.from_iterable(calls), key=lambda one: len(one.around.loops))
            self._by_depth[losses] = known
        return known


def _may_be_called(forward: Function, calls: UnknownCalls) -> bool:
    """Whether a ``forward`` takes what any of some calls gives."""
    return any(given is None or takes(forward, given, bound=True) for given in calls.given)


def _training_among(
    calls: list[UnknownCalls], fits: Callable[[UnknownCalls], bool] | None = None
) -> Surroundings | None:
    """What is around the first of the calls, or of those that fit, in the steps of a training that updates weights, or
    in one that does not: in each of its steps, or else in some."""
    ways: tuple[Callable[[Surroundings], bool], ...] = (
        lambda around: around.trains,
        lambda around: around.in_all_passes.trains,
    )
    for trains in ways:
        first = None
        for one in calls:
            if trains(one.around) and (fits is None or fits(one)):
                if one.around.updates:
                    return one.around
                first = first or one.around
        if first is not None:
            return first
    return None
