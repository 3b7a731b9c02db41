"""ACC310 default-device-with-dataloader, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

SILENT_PROGRAMS = {
    "no workers": """
torch.set_default_device("cuda")
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
""",
    "cpu default": """
torch.set_default_device("cpu")
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4, num_workers=2)
""",
    "either": """
torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC310", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


SILENT = {
    "no workers": "torch.set_default_device('cuda')\nl = DataLoader([1], pin_memory=True)",
    "no loader": "torch.set_default_device('cuda')",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC310", IMPORTS + source, tmp_path)


PAIRS = {
    "around the model": Pair(
        IMPORTS + "with torch.device('cuda'):\n    m = nn.Linear(8, 2)\nl = DataLoader([1], num_workers=2)\n",
        "with torch.device('cuda'):\n    m",
        "torch.set_default_device('cuda')\nm",
    ),
    "no workers": Pair(
        IMPORTS + "torch.set_default_device('cuda')\nl = DataLoader([1], num_workers=0)\n",
        "num_workers=0",
        "num_workers=2",
    ),
    "unknown workers": Pair(
        IMPORTS + "import conf\ntorch.set_default_device('cuda')\nl = DataLoader([1], num_workers=conf.n)\n",
        "conf.n",
        "2",
    ),
    "on the host": Pair(
        IMPORTS + "torch.set_default_device('cpu')\nl = DataLoader([1], num_workers=2)\n", "'cpu'", "'cuda'"
    ),
    "unknown device": Pair(
        IMPORTS + "import conf\ntorch.set_default_device(conf.device)\nl = DataLoader([1], num_workers=2)\n",
        "conf.device",
        "'cuda'",
    ),
    "no loader of torch": Pair(
        IMPORTS
        + "from fastai.data.load import DataLoader as Other\ntorch.set_default_device('cuda')\nl = Other([1], num_workers=2)\n",
        "= Other",
        "= DataLoader",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC310", PAIRS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = "torch.set_default_device('cuda')\nl = DataLoader([1], num_workers=2)\n"
    assert len(findings_of("ACC310", IMPORTS + source, tmp_path)) == 1
