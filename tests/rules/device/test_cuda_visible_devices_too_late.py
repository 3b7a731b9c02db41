"""ACC311 cuda-visible-devices-too-late, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair
from ..programs import IMPORTS

SILENT_PROGRAMS = {
    "in order": """
import os
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
""",
    "for processes": """
import os, subprocess
print(torch.cuda.is_available())
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
subprocess.run(["python", "worker.py"])
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC311", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


HOST = "import os\nimport conf\nnet = nn.Linear(8, 2)\n"
SILENT = {
    "before": HOST + "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\nnet.cuda()",
    "only imports before": "import os\nimport torch\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'",
    "another variable": HOST + "net.cuda()\nos.environ['OMP_NUM_THREADS'] = '1'",
    "only the seed before": HOST + "torch.cuda.manual_seed(1)\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'",
    "in functions": (
        HOST + "def b():\n    net.cuda()\ndef a():\n    os.environ['CUDA_VISIBLE_DEVICES'] = '1'\na()\nb()"
    ),
    "on a condition": HOST
    + "print(torch.cuda.is_available())\nif conf.gpu:\n    os.environ['CUDA_VISIBLE_DEVICES'] = '1'",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC311", IMPORTS + source, tmp_path)


PAIR_HOST = IMPORTS + "import os, conf\nmodel = nn.Linear(8, 2)\n"
MOVE = "model.cuda()\n"
PAIRS = {
    "set before": Pair(
        PAIR_HOST + "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n" + MOVE + "# later\n",
        "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n" + MOVE,
        MOVE + "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n",
    ),
    "only imports before": Pair(
        IMPORTS + "import os, torchvision\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n",
        "import os, torchvision\n",
        "import os, torchvision\nprint(torch.cuda.device_count())\n",
    ),
    "only the model before": Pair(
        PAIR_HOST + "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n",
        "model = nn.Linear(8, 2)\n",
        "model = nn.Linear(8, 2).cuda()\n",
    ),
    "only a seed before": Pair(
        PAIR_HOST + "torch.cuda.manual_seed_all(1)\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n",
        "torch.cuda.manual_seed_all(1)",
        "torch.cuda.device_count()",
    ),
    "for processes": Pair(
        PAIR_HOST
        + "import subprocess\nmodel.cuda()\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\nsubprocess.run(['x'])\n",
        "subprocess.run(['x'])\n",
    ),
    "on a condition": Pair(
        PAIR_HOST + "model.cuda()\nif conf.one:\n    os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n",
        "if conf.one:\n    ",
        "",
    ),
    "started on a condition": Pair(
        PAIR_HOST + "if conf.gpu:\n    model.cuda()\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n",
        "if conf.gpu:\n    ",
        "",
    ),
    "in functions whose order is not known": Pair(
        PAIR_HOST + "def place():\n    model.cuda()\ndef choose():\n    os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n",
        "def choose():\n",
    ),
    "another variable": Pair(
        PAIR_HOST + "model.cuda()\nos.environ['OMP_NUM_THREADS'] = '1'\n", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC311", PAIRS[case], tmp_path)


REPORTED_PROGRAMS = {
    "after a question": """
import os
if torch.cuda.is_available():
    print("gpu")
os.environ["CUDA_VISIBLE_DEVICES"] = "1"  # -> warning none
""",
    "device_count before": """
import os
def main():
    n = torch.cuda.device_count()
    os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"  # -> warning none
main()
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC311", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = "net.cuda()\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'  # -> ACC311 warning none\n"
    check(IMPORTS + HOST + source, tmp_path)
