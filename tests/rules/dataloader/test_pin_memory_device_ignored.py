"""ACC118 pin-memory-device-ignored, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_in, fixed, severities
from ..programs import NUMBERS
from .programs import SAMPLERS

SILENT = [
    "DataLoader(data, pin_memory=True)",
    "DataLoader(data, pin_memory=True, pin_memory_device='xpu')",
    "DataLoader(data, pin_memory=True, pin_memory_device=conf.device)",
]


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC118", NUMBERS + source, tmp_path)


PAIRS = {
    "xpu": Pair(SAMPLERS + "DataLoader(data, pin_memory=True, pin_memory_device='xpu')", "xpu", "cuda"),
    "a setting": Pair(SAMPLERS + "DataLoader(data, pin_memory=True, pin_memory_device=conf.d)", "conf.d", "'cuda'"),
    "not given": Pair(SAMPLERS + "DataLoader(data, pin_memory=True)", "=True", "=True, pin_memory_device='cuda'"),
    "an empty name": Pair(SAMPLERS + "DataLoader(data, pin_memory=True, pin_memory_device='')", "''", "'cuda'"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC118", PAIRS[case], tmp_path)


REPORTED = ["DataLoader(data, pin_memory=True, pin_memory_device='cuda')"]


@pytest.mark.parametrize("source", REPORTED)
def test_reported(source: str, tmp_path: Path) -> None:
    assert severities("ACC118", NUMBERS + source, tmp_path) == ["info"]


def test_dropping_the_device_is_safe_where_torch_ignores_it(tmp_path: Path) -> None:
    source = NUMBERS + "DataLoader(data, pin_memory_device='cuda', pin_memory=True)\n"
    wanted = {"torch>=2.13": ["safe"], "torch": ["unsafe"], "torch>=2.4": ["unsafe"], "torch==2.4": []}
    for stated, fixes in wanted.items():
        found = findings_in(source, tmp_path, {"requirements.txt": f"{stated}\n"})[1]
        assert [str(one.fix.applicability) for one in found if one.code == "ACC118" and one.fix] == fixes


def test_drops_the_device(tmp_path: Path) -> None:
    after = fixed("ACC118", NUMBERS + "DataLoader(data, pin_memory_device='cuda', pin_memory=True)\n", tmp_path)
    assert after.endswith("DataLoader(data, pin_memory=True)\n")
