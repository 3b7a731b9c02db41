"""A short soak of the language server: answers are those of a fresh lint whatever was edited, saved, renamed, asked and
cancelled before."""

from __future__ import annotations

import asyncio
import math
import os
from pathlib import Path

from benchmarks.server import soak


def test_random_actions(tmp_path: Path) -> None:
    result = asyncio.run(soak(Path(os.path.realpath(tmp_path)) / "project", 30, math.inf, seed=1, actions=25))
    assert result.differences == []
    assert result.compared
