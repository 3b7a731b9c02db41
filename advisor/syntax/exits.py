"""How control comes out of a piece of program."""

from __future__ import annotations

from enum import Enum

import libcst as cst

from accel_advisor.syntax.walking import descendants


class Left(Enum):
    """Whether control left alternative bodies early: by return, raise, break or continue."""

    NEVER = 0
    SOMETIMES = 1
    ALWAYS = 2


def treats_alike(loop: cst.CSTNode) -> bool:
    """Whether every pass of a loop does the same with rows of the same length: it holds no branch, no early end, and
    no slice."""
    decides = (cst.If, cst.IfExp, cst.Match, cst.Try, cst.Continue, cst.Break, cst.Slice)
    return next(descendants(loop, *decides), None) is None
