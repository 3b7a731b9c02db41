"""What the user runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Command:
    """What the user runs: ``python script args`` or, where ``module`` is given, ``python -m module args``.

    Exactly one of ``script`` and ``module`` is set. ``python`` may be another interpreter than this one: the probe
    needs torch and the standard library there, nothing else. With ``ranks`` it is ``torchrun --nproc-per-node RANKS``
    in the place of ``python``.
    """

    script: Path | None
    module: str | None
    args: tuple[str, ...]
    cwd: Path
    python: str = sys.executable
    ranks: int | None = None

    def __post_init__(self) -> None:
        if (self.script is None) == (self.module is None):
            raise ValueError("a command has either a script or a module")

    @property
    def file(self) -> Path:
        """The script, or the file of the module where it would lie in the working folder."""
        if self.script is not None:
            return self.cwd / self.script
        base = self.cwd.joinpath(*(self.module or "").split("."))
        package = base / "__main__.py"
        return package if package.is_file() else base.with_suffix(".py")
