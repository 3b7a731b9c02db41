"""Room for the frames of Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

ROOM = 140_000
"""Words that the first frame asks for: above one MB, so that it is given two, most of the second of which is left."""


def with_room(run: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
    """Calls a function that calls others deeply.

    CPython keeps frames in pieces of 16 KB, each of which it takes from the system and gives back as soon as its first
    frame returns: where a loop stands at the end of one, each call in it costs two calls of the system and a page that
    is cleared. An interpretation stands there now and then, which was an eighth of its time. A frame that needs more
    gets a piece that holds it, and what is left of that serves a few thousand calls within.
    """
    return run(*args, **kwargs)


with_room.__code__ = with_room.__code__.replace(co_stacksize=ROOM)
