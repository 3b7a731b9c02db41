"""What the record of a run holds of a loop that takes its batches from no DataLoader; ``docs/json.md`` explains it."""

from __future__ import annotations

from dataclasses import dataclass

from accel_advisor.finding import Price


@dataclass(frozen=True, slots=True)
class PlainRecord:
    """A loop whose steps end with an optimizer's, ``step`` seconds each.

    Attributes:
        optimizer: the class of the one that ends a step.
        function, filename, row, cell: what fetches a batch, and where that is defined; None where it cannot be told
            apart, and ``cell`` where that is no notebook.
        calls: how often a step calls it.
        parts: shares of a step by name: ``fetch`` (left out where it cannot be told), ``transfer``, ``forward``,
            ``backward``, ``optimizer``, ``other``.
        fetch: what fetching takes of a step, None where that was not seen; where the function cannot be timed, from
            samples of the loop's stack.
        unreplayed: why the speed with data ready at once was not measured, in words; None where it was.
        text: the costliest of the loop's lines that make the batches, where ``function`` is None and they are known:
            then ``filename`` and ``row`` are its place, and ``fetch`` is what all of them take.
        advice: what to do about it, in sentences.
    """

    optimizer: str
    step: float
    function: str | None
    filename: str | None
    row: int | None
    calls: int
    parts: dict[str, Price]
    fetch: Price | None
    unreplayed: str | None
    advice: tuple[str, ...] = ()
    text: str | None = None
    cell: int | None = None
