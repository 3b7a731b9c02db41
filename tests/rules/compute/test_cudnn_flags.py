"""ACC410 cudnn-flags, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, fixed
from ..programs import IMPORTS

SILENT = {
    "deterministic": "torch.backends.cudnn.deterministic = True\ntorch.backends.cudnn.benchmark = False",
    "fast": "torch.backends.cudnn.benchmark = True",
    "on": "torch.backends.cudnn.enabled = True",
    "under a condition": "import conf\nif conf.slow:\n    torch.backends.cudnn.enabled = False",
    "one or the other": (
        "import conf\nif conf.seed:\n    torch.backends.cudnn.deterministic = True\nelse:\n"
        "    torch.backends.cudnn.benchmark = True"
    ),
    "two functions": (
        "def a():\n    torch.backends.cudnn.deterministic = True\ndef b():\n    torch.backends.cudnn.benchmark = True"
    ),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC410", IMPORTS + source + "\n", tmp_path)


SILENT_PROGRAMS = {
    "seeded helper": """
def seed():
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
""",
    "either branch": """
import argparse
p = argparse.ArgumentParser(); p.add_argument("--det", action="store_true"); a = p.parse_args()
if a.det:
    torch.backends.cudnn.deterministic = True
else:
    torch.backends.cudnn.benchmark = True
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC410", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


CUDNN = "torch.backends.cudnn."
BOTH = f"{IMPORTS}import conf\n{CUDNN}deterministic = True\n{CUDNN}benchmark = True\n"
PAIRS = {
    "a helper that seeds": Pair(
        BOTH.replace("benchmark = True", "benchmark = False"), "benchmark = False", "benchmark = True"
    ),
    "an option to be fast": Pair(BOTH.replace("benchmark = True", "benchmark = conf.fast"), "conf.fast", "True"),
    "an option to be deterministic": Pair(
        BOTH.replace("deterministic = True", "deterministic = conf.exact"), "conf.exact", "True"
    ),
    "decided later": Pair(f"{BOTH}{CUDNN}benchmark = False\n", f"{CUDNN}benchmark = False\n"),
    "off on a condition": Pair(
        f"{IMPORTS}import conf\nif conf.debug:\n    {CUDNN}enabled = False\n", "if conf.debug:\n    "
    ),
    "off by an option": Pair(f"{IMPORTS}import conf\n{CUDNN}enabled = conf.cudnn\n", "conf.cudnn", "False"),
    "off around a part": Pair(
        f"{IMPORTS}{CUDNN}enabled = False\nprint(1)\n{CUDNN}enabled = True\n", f"{CUDNN}enabled = True\n"
    ),
    "what was is put back": Pair(
        f"{IMPORTS}import conf\n{CUDNN}enabled = False\nprint(1)\n{CUDNN}enabled = conf.before\n",
        f"{CUDNN}enabled = conf.before\n",
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC410", pair, tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
import torch.backends.cudnn as cudnn
cudnn.enabled = False  # -> warning unsafe
def seed():
    cudnn.benchmark = True  # -> info unsafe
    cudnn.deterministic = True
if __name__ == "__main__":
    seed()
"""
    check_one("ACC410", IMPORTS + source, tmp_path)
    text = fixed("ACC410", IMPORTS + source, tmp_path)
    assert "cudnn.enabled = True" in text
    assert "cudnn.benchmark = False" in text


REPORTED_PROGRAMS = {
    "both": """
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = True  # -> info unsafe
""",
    "on a condition, before a call": """
import conf
def work():
    torch.backends.cudnn.benchmark = True  # -> info none
def main():
    if conf.seed is not None:
        torch.backends.cudnn.deterministic = True
    work()
main()
""",
    "off": """
from torch.backends import cudnn
cudnn.enabled = False  # -> warning unsafe
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC410", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
