"""Nothing is said of what runs only while somebody debugs, or never."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.configurations import Configurations
from accel_advisor.linting.linter import lint
from accel_advisor.project.discovery import Found

MOVE = "    x = torch.zeros(8); x.cuda()\n"


def codes(source: str, folder: Path) -> list[str]:
    path = folder / "train.py"
    path.write_text(f"import torch\nfrom conf import args\n\n{source}")
    return [one.code for one in lint([Found(str(path), True)], Configurations()).findings]


@pytest.mark.parametrize("test", ["args.debug", "DEBUG", "args.debug and args.verbose", "args.get_debug()"])
def test_silent_where_somebody_debugs(test: str, tmp_path: Path) -> None:
    assert codes(f"if {test}:\n{MOVE}", tmp_path) == []
    assert codes(f"if {test.replace('debug', 'fast').replace('DEBUG', 'FAST')}:\n{MOVE}", tmp_path) == ["ACC207"]


@pytest.mark.parametrize("test", ["not args.debug", "args.debug is None", "args.debug or args.train", "__debug__"])
def test_reports_where_nobody_may_debug(test: str, tmp_path: Path) -> None:
    assert codes(f"if {test}:\n{MOVE}", tmp_path) == ["ACC207"]


def test_reports_what_runs_otherwise(tmp_path: Path) -> None:
    assert codes(f"if args.debug:\n    pass\nelse:\n{MOVE}", tmp_path) == ["ACC207"]
    assert codes(f"if args.debug:\n    pass\n{MOVE.strip()}\n", tmp_path) == ["ACC207"]


@pytest.mark.parametrize("test", ["False", "0", "False and args.fast", "not True"])
def test_silent_where_nothing_runs(test: str, tmp_path: Path) -> None:
    assert codes(f"if {test}:\n{MOVE}", tmp_path) == []
    assert codes(f"if {test}:\n    pass\nelse:\n{MOVE}", tmp_path) == ["ACC207"]


@pytest.mark.parametrize("test", ["True", "1", "args.fast or True"])
def test_silent_where_nothing_runs_otherwise(test: str, tmp_path: Path) -> None:
    assert codes(f"if {test}:\n    pass\nelse:\n{MOVE}", tmp_path) == []
    assert codes(f"if {test}:\n{MOVE}", tmp_path) == ["ACC207"]
    assert codes(f"if {test}:\n    pass\nelif args.slow:\n{MOVE}", tmp_path) == []


@pytest.mark.parametrize("test", ["args.fast", "args.fast and True", "False or args.fast"])
def test_reports_what_may_run(test: str, tmp_path: Path) -> None:
    assert codes(f"if {test}:\n{MOVE}", tmp_path) == ["ACC207"]
