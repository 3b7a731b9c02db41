"""What is around a statement: loops, conditions and context managers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from accel_advisor.records.conditions import Condition
from accel_advisor.records.loops import Loop
from accel_advisor.values.evidence import PROVEN, Evidence
from accel_advisor.values.values import Value


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is around a statement, whatever function it stands in.

    Attributes:
        loops, conditions: those around it, outermost first, and the exits before it.
        every: the modulus in the conditions, where it happens once in so many passes of the loop.
        around: the context managers and decorators around it, outermost first.
        basis: what shows that it happens there.
    """

    loops: tuple[Loop, ...] = ()
    conditions: tuple[Condition, ...] = ()
    every: Value | None = None
    around: tuple[Value, ...] = ()
    basis: Evidence = PROVEN

    @property
    def trains(self) -> bool:
        """Whether it happens in the steps of a training, under no condition that varies between or within them."""
        return self.in_training()

    def in_training(self, *, epochs: bool = False) -> bool:
        """The same; with ``epochs``, an epoch is one step over all of the data, since no loader is there."""
        steps = next((one for one in reversed(self.loops) if one.learns and one.repeats), None)
        if steps is None or (steps.goes_over_epochs and not epochs) or steps.evaluates_under(self.conditions):
            return False
        if any(one.never for one in self.conditions):
            return False
        inside = self.loops[self.loops.index(steps) :]
        return not any(one.varies in inside and not one.ordinary for one in self.conditions)

    @property
    def in_all_passes(self) -> Surroundings:
        """The same, but for conditions that tell passes apart and that neither make it rare, nor count passes, nor mean
        an evaluation."""
        told = [one for one in self.conditions if one.varies is not None and not one.ordinary]
        kept = {
            id(one) for one in told if one.rare or one.counts_off or one.evaluates or one.for_debugging or one.exits
        }
        spared = {id(one) for one in told} - kept
        return replace(self, conditions=tuple([one for one in self.conditions if id(one) not in spared]))

    @property
    def plain(self) -> bool:
        """Whether it happens whenever the loops around it do: under no condition that tells their passes apart, or that
        what a function is given never meets, and not for somebody alone who looks for a fault."""
        told = (
            one.for_debugging or one.never or (one.varies is not None and not one.ordinary) for one in self.conditions
        )
        return not any(told)

    @property
    def updates(self) -> bool:
        """Whether an optimizer takes steps in a loop around it."""
        return any(one.updates for one in self.loops)


NOTHING = Surroundings()
"""Around what is interpreted by itself."""
