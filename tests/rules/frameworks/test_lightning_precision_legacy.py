"""ACC609 lightning-precision-legacy, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS
from .programs import LIGHTNING, LIGHTNING_DATA

SILENT = (
    "t = L.Trainer(precision='16-mixed')",
    "t = L.Trainer(precision=32)",
    "t = L.Trainer(precision=conf.precision)",
    "t = L.Trainer()",
    "import pytorch_lightning as pl\nt = pl.Trainer(precision=16)",
)


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC609", LIGHTNING_DATA + source + "\n", tmp_path)


SILENT_PROGRAMS = {
    "lightning 1 project": """
import pytorch_lightning as pl
t = pl.Trainer(precision=16)
""",
    "new": """
import lightning as L
t = L.Trainer(precision="16-mixed")
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC609", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


PAIRS = {
    "the new name": Pair(LIGHTNING + "L.Trainer(precision='16-mixed')\n", "'16-mixed'", "16"),
    "32": Pair(LIGHTNING + "L.Trainer(precision=32)\n", "32", "16"),
    "a setting": Pair(LIGHTNING + "L.Trainer(precision=conf.p)\n", "conf.p", "16"),
    "not given": Pair(LIGHTNING + "L.Trainer()\n", "Trainer()", "Trainer(precision=16)"),
    "the old package": Pair(
        LIGHTNING + "import pytorch_lightning as pl\npl.Trainer(precision=16)\n",
        "import pytorch_lightning as pl\npl.",
        "L.",
    ),
    "both packages": Pair(
        LIGHTNING.replace(
            "import lightning as L",
            "try:\n    import lightning as L\nexcept ImportError:\n    import pytorch_lightning as L",
        )
        + "L.Trainer(precision=16)\n",
        "import pytorch_lightning as L",
        "raise",
    ),
    "version 1": Pair(
        LIGHTNING + "L.Trainer(precision=16)\n",
        "lightning<2\n",
        "lightning>=2\n",
        {"requirements.txt": "lightning<2\n"},
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC609", PAIRS[case], tmp_path)


@pytest.mark.parametrize("precision", ["'bf16'", "16"])
def test_reported(precision: str, tmp_path: Path) -> None:
    check_one("ACC609", f"{LIGHTNING_DATA}t = L.Trainer(precision={precision})  # -> info safe\n", tmp_path)


REPORTED_PROGRAMS = {
    "old value": """
import lightning as L
t = L.Trainer(precision=16, max_epochs=3)  # -> info safe
""",
    "pytorch namespace": """
import lightning.pytorch as pl
t = pl.Trainer(precision="bf16")  # -> info safe
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC609", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
