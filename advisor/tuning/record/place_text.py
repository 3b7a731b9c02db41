"""Where something stands, in words."""

from __future__ import annotations

from accel_advisor.source.program_lines import named_line
from accel_advisor.tuning.record.schema import FindingPrice, FunctionTime, LinePrice, Place


def place_text(at: Place | FunctionTime | LinePrice | FindingPrice) -> str:
    """Where something stands, as ``train.py:12``, or in a notebook ``train.ipynb:cell 3:4``."""
    return f"{at.filename}:{named_line(at.cell, at.row)}"
