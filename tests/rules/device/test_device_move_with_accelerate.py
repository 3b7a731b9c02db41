"""ACC313 device-move-with-accelerate, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

PREPARED = (
    "from accelerate import Accelerator, DataLoaderConfiguration\n"
    "a = Accelerator(dataloader_config=DataLoaderConfiguration(non_blocking=True))\n"
    "loader = a.prepare(DataLoader(TensorDataset(torch.zeros(4, 8)), pin_memory=True))\n"
)
SILENT = {
    "not prepared": PREPARED
    + "e = nn.Linear(8, 2)\ne.to(a.device)\nfor (x,) in loader:\n    z = torch.ones(2, 2)\n    z = z.to(a.device)",
    "without placement": PREPARED.replace("non_blocking=True)", "non_blocking=True), device_placement=False")
    + "for (x,) in loader:\n    x = x.to(a.device)",
    "cast too": PREPARED + "for (x,) in loader:\n    x = x.to(a.device, torch.float16)",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC313", IMPORTS + source, tmp_path)


PAIR_ACCELERATE = (
    IMPORTS
    + "from accelerate import Accelerator\na = Accelerator()\nloader = a.prepare(DataLoader(TensorDataset(torch.zeros(4, 8))))\n"
)
PAIRS = {
    "not prepared": Pair(
        PAIR_ACCELERATE + "for (x,) in loader:\n    z = torch.ones(2)\n    z = z.to(a.device)\n", "z = z.to", "z = x.to"
    ),
    "a model that was not prepared": Pair(
        PAIR_ACCELERATE + "vae = nn.Linear(8, 2)\nfor (x,) in loader:\n    vae.to(a.device)\n", "vae.to(", "x.to("
    ),
    "without placement": Pair(
        PAIR_ACCELERATE.replace("Accelerator()", "Accelerator(device_placement=False)")
        + "for (x,) in loader:\n    x = x.to(a.device)\n",
        "device_placement=False",
    ),
    "with a cast": Pair(
        PAIR_ACCELERATE + "for (x,) in loader:\n    x = x.to(a.device, torch.float16)\n", ", torch.float16"
    ),
    "a loader that was not prepared": Pair(
        PAIR_ACCELERATE.replace(
            "a.prepare(DataLoader(TensorDataset(torch.zeros(4, 8))))", "DataLoader(TensorDataset(torch.zeros(4, 8)))"
        )
        + "for (x,) in loader:\n    x = x.to(a.device)\n",
        "loader = DataLoader(TensorDataset(torch.zeros(4, 8)))",
        "loader = a.prepare(DataLoader(TensorDataset(torch.zeros(4, 8))))",
    ),
    "another loader of the same function": Pair(
        IMPORTS
        + "from accelerate import Accelerator\na = Accelerator()\n"
        + "def build(n):\n    return DataLoader(TensorDataset(torch.zeros(n, 8)))\n"
        + "loader, rest = build(4), build(2)\nloader = a.prepare(loader)\n"
        + "for (x,) in loader:\n    print(x)\nfor batch in rest:\n    x = [one.to(a.device) for one in batch]\n",
        "in rest",
        "in loader",
    ),
    "placement of one call": Pair(
        PAIR_ACCELERATE.replace("(4, 8))))", "(4, 8))), device_placement=[False])")
        + "for (x,) in loader:\n    x = x.to(a.device)\n",
        ", device_placement=[False]",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC313", PAIRS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = IMPORTS + PREPARED + "for (x,) in loader:\n    x = x.to(a.device)\n"
    assert len(findings_of("ACC313", source, tmp_path)) == 1
