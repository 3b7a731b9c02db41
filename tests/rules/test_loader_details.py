"""ACC118 to ACC124, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import findings_in, fixed
from .programs import IMPORTS

HEAD = (
    IMPORTS
    + """
import os, multiprocessing, conf
import numpy as np
data = [1, 2, 3]
model = nn.Linear(1, 1)
class Rows(IterableDataset):
    def __iter__(self): return iter(conf.rows())
"""
)
GROUP = "torch.distributed.init_process_group('gloo')\n"
TRAIN = "\nfor x in loader:\n    model(x).sum().backward()\n"

SILENT = {
    "ACC118": [
        "DataLoader(data, pin_memory=True)",
        "DataLoader(data, pin_memory=True, pin_memory_device='xpu')",
        "DataLoader(data, pin_memory=True, pin_memory_device=conf.device)",
    ],
    "ACC119": [
        "DataLoader(data, num_workers=os.cpu_count())",
        GROUP + "DataLoader(data, num_workers=os.cpu_count() // 8)",
        GROUP + "DataLoader(data, num_workers=os.cpu_count() - 1)",
        GROUP + "DataLoader(data, num_workers=4)",
    ],
    "ACC120": ["DataLoader(data, num_workers=15)", "DataLoader(data, num_workers=conf.n)"],
    "ACC122": [
        "loader = DataLoader(data, batch_size=1)" + TRAIN,
        "loader = DataLoader(data, batch_size=None)" + TRAIN,
        "loader = DataLoader(data, batch_sampler=conf.sampler)" + TRAIN,
        "loader = DataLoader(Rows())" + TRAIN,
        "loader = DataLoader(data)\nfor x in loader:\n    model(x)\n",
        "from torch_geometric.loader import DataLoader\nloader = DataLoader(data)" + TRAIN,
    ],
    "ACC123": [
        "loader = DataLoader(data, num_workers=2, in_order=True)" + TRAIN,
        "loader = DataLoader(data, in_order=False)" + TRAIN,
        "loader = DataLoader(Rows(), num_workers=1, in_order=False)" + TRAIN,
        "loader = DataLoader(data, num_workers=2, in_order=False)\nfor x in loader:\n    model(x)\n",
    ],
    "ACC124": [
        "torch.tensor([1.0, 2.0])",
        "torch.tensor([float(x) for x in conf.rows()])",
        "torch.tensor([conf.load(x) for x in data])",
        "torch.tensor(np.stack([np.load(x) for x in conf.names]))",
        "torch.stack([torch.from_numpy(np.load(x)) for x in conf.names])",
    ],
}
LOUD = {
    "ACC118": ["DataLoader(data, pin_memory=True, pin_memory_device='cuda')"],
    "ACC119": [
        GROUP + "DataLoader(data, num_workers=os.cpu_count())",
        GROUP + "DataLoader(data, num_workers=multiprocessing.cpu_count())",
    ],
    "ACC120": ["DataLoader(data, num_workers=16)"],
    "ACC122": ["loader = DataLoader(data)" + TRAIN],
    "ACC123": ["loader = DataLoader(data, num_workers=2, in_order=False)" + TRAIN],
    "ACC124": [
        "torch.tensor([np.load(x) for x in conf.names])",
        "torch.tensor([np.zeros(3), np.ones(3)])",
    ],
}


def severities(source: str, folder: Path, code: str) -> list[str]:
    # off-by-default rules run where the program names them
    found = findings_in(f"{HEAD}{source}\n# {code}\n", folder)[1]
    return [str(one.severity) for one in found if one.code == code]


@pytest.mark.parametrize(("code", "source"), [(code, one) for code, cases in SILENT.items() for one in cases])
def test_silent(code: str, source: str, tmp_path: Path) -> None:
    assert severities(source, tmp_path, code) == []


@pytest.mark.parametrize(("code", "source"), [(code, one) for code, cases in LOUD.items() for one in cases])
def test_reports(code: str, source: str, tmp_path: Path) -> None:
    assert severities(source, tmp_path, code) == ["info"]


def test_dropping_the_device_is_safe_where_torch_ignores_it(tmp_path: Path) -> None:
    source = HEAD + "DataLoader(data, pin_memory_device='cuda', pin_memory=True)\n"
    for least, applicability in (("2.13", "safe"), ("2.4", "unsafe")):
        found = findings_in(source, tmp_path, {"requirements.txt": f"torch>={least}\n"})[1]
        assert [str(one.fix.applicability) for one in found if one.code == "ACC118" and one.fix] == [applicability]


def test_drops_the_device(tmp_path: Path) -> None:
    after = fixed(HEAD + "DataLoader(data, pin_memory_device='cuda', pin_memory=True)\n", tmp_path, "ACC118")
    assert after.endswith("DataLoader(data, pin_memory=True)\n")
