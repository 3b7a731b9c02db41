"""ACC309 hard-coded-cuda, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.rule import registry

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

HOST = "import os\nimport conf\nnet = nn.Linear(8, 2)\n"
SILENT = {
    "asks": HOST + "print(torch.cuda.is_available())\nnet.cuda()",
    "on a condition": HOST + "net = net.cuda() if conf.gpu else net",
    "distributed": HOST + "torch.distributed.init_process_group('nccl')\nnet.cuda()",
    "on the host": HOST + "net.to('cpu')",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC309", IMPORTS + source, tmp_path)


PAIR_HOST = IMPORTS + "import os, conf\nmodel = nn.Linear(8, 2)\n"
MOVE = "model.cuda()\n"
PAIRS = {
    "asks": Pair(PAIR_HOST + "print(torch.cuda.is_available())\n" + MOVE, "print(torch.cuda.is_available())\n"),
    "asserts": Pair(PAIR_HOST + "assert torch.cuda.is_available()\n" + MOVE, "assert torch.cuda.is_available()\n"),
    "asks in another file": Pair(
        PAIR_HOST + "import other\n" + MOVE,
        "import other\n",
        "",
        {"other.py": "import torch\nhas = torch.cuda.is_available()\n"},
    ),
    "NCCL": Pair(
        PAIR_HOST + "torch.distributed.init_process_group('nccl')\n" + MOVE,
        "torch.distributed.init_process_group('nccl')\n",
    ),
    "Triton": Pair(PAIR_HOST + "import triton\n@triton.jit\ndef kernel(x):\n    pass\n" + MOVE, "@triton.jit\n"),
    "kernels of its own": Pair(
        PAIR_HOST + "from torch.utils import cpp_extension\nk = cpp_extension.load('k', ['k.cu'])\n" + MOVE,
        "k = cpp_extension.load('k', ['k.cu'])\n",
    ),
    "inline kernels": Pair(
        PAIR_HOST + "from torch.utils.cpp_extension import load_inline\nk = load_inline('k', ['k'])\n" + MOVE,
        "k = load_inline('k', ['k'])\n",
    ),
    "on a condition": Pair(PAIR_HOST + "if conf.gpu:\n    model.cuda()\n", "if conf.gpu:\n    model.cuda()\n", MOVE),
    "on the host": Pair(PAIR_HOST + "model.to('cpu')\n", "'cpu'", "'cuda'"),
    "counts": Pair(PAIR_HOST + "print(torch.cuda.device_count())\n" + MOVE, "print(torch.cuda.device_count())\n"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC309", PAIRS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    found = findings_of("ACC309", IMPORTS + HOST + "net.cuda()\nnet.to('cuda')\n", tmp_path)
    assert len(found) == 1
    assert len(found[0].related) == 1


def test_off_unless_asked_for() -> None:
    assert not registry()["ACC309"].enabled
