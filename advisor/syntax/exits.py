"""How control comes out of a piece of program."""

from __future__ import annotations

from enum import Enum


class Left(Enum):
    """Whether control left alternative bodies early: by return, raise, break or continue."""

    NEVER = 0
    SOMETIMES = 1
    ALWAYS = 2
