"""ACC203 non-blocking-to-mps, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_pair, fixed
from ..programs import IMPORTS

MPS = 'device = torch.device("cuda" if torch.cuda.is_available() else "mps")\nx = torch.randn(4, 8)\n'
SILENT = {
    "no mps": "d = torch.device('cuda')\nx = x.to(d, non_blocking=True)",
    "it waits": "x = x.to(device)",
    "asks the device": "x = x.to(device, non_blocking=device.type == 'cuda')",
    "under a condition": "if device.type == 'cuda':\n    x = x.to(device, non_blocking=True)",
    "unknown": "import conf\nx = x.to(conf.device, non_blocking=True)",
    "there already": "m = torch.device('mps')\nx = torch.zeros(3, device='mps')\ny = x.to(m, non_blocking=True)",
    "behind an early return": (
        "def move(t):\n    if device.type == 'mps':\n        return t.to(device)\n"
        "    return t.to(device, non_blocking=True)\nmove(x)"
    ),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check(IMPORTS + MPS + source + "\n", tmp_path)


PAIR_MPS = 'import conf\ndevice = torch.device("cuda" if torch.cuda.is_available() else "mps")\nx = torch.randn(4, 8)\n'
MOVE = "x = x.to(device, non_blocking=True)"
PAIRS: dict[str, tuple[str, ...]] = {
    "no mps": ("d = torch.device('cuda')\nx = x.to(d, non_blocking=True)", "torch.device('cuda')", "device"),
    "cpu only": ("d = torch.device('cpu')\nx = x.to(d, non_blocking=True)", "torch.device('cpu')", "device"),
    "it waits": ("x = x.to(device)", "(device)", "(device, non_blocking=True)"),
    "asked to wait": ("x = x.to(device, non_blocking=False)", "False", "True"),
    "asks the device": ("x = x.to(device, non_blocking=device.type == 'cuda')", "device.type == 'cuda'", "True"),
    "asks the device beforehand": ("nb = device.type == 'cuda'\nx = x.to(device, non_blocking=nb)", "=nb", "=True"),
    "asks for CUDA": ("nb = torch.cuda.is_available()\nx = x.to(device, non_blocking=nb)", "=nb", "=True"),
    "behind an early return": (
        (
            "def move(t):\n    if device.type == 'mps':\n        return t.to(device)\n"
            "    return t.to(device, non_blocking=True)\nmove(x)"
        ),
        "return t.to(device)\n",
        "t.to(device)\n",
    ),
    "in a conditional expression": (
        "y = x.to(device, non_blocking=True) if device.type == 'cuda' else x.to(device)",
        " if device.type == 'cuda' else x.to(device)",
    ),
    "behind and": ("y = device.type == 'cuda' and x.to(device, non_blocking=True)", "device.type == 'cuda' and "),
    "behind an assertion": ("assert device.type == 'cuda'\n" + MOVE, "assert device.type == 'cuda'\n"),
    "behind continue": (
        ("for i in range(3):\n    if device.type == 'mps':\n        continue\n    y = x.to(device, non_blocking=True)"),
        "if device.type == 'mps':\n        continue\n    ",
    ),
    "unknown": ("x = x.to(conf.device, non_blocking=True)", "conf.device", "device"),
    "there already": (
        ("m = torch.device('mps')\nx = torch.zeros(3, device='mps')\ny = x.to(m, non_blocking=True)"),
        ", device='mps'",
    ),
    "by cuda()": ("x = x.cuda(non_blocking=True)", "x.cuda(", "x.to('mps', "),
    "mps is left out": (
        (
            "if torch.cuda.is_available():\n    d = torch.device('cuda')\n"
            "elif torch.backends.mps.is_available():\n    d = torch.device('cpu')\nelse:\n"
            "    d = torch.device('cpu')\nx = x.to(d, non_blocking=True)"
        ),
        "mps.is_available():\n    d = torch.device('cpu')",
        "mps.is_available():\n    d = torch.device('mps')",
    ),
    "a string without mps": (
        "d = 'cuda' if torch.cuda.is_available() else 'cpu'\nx = x.to(d, non_blocking=True)",
        "'cpu'",
        "'mps'",
    ),
    "module": (
        "x = nn.Linear(1, 1).to(torch.device('cuda'), non_blocking=True)",
        "nn.Linear(1, 1).to(torch.device('cuda')",
        "x.to(device",
    ),
    "mps to cpu": ("q = x.to('mps')\ny = q.to('cpu', non_blocking=True)", "'cpu'", "device"),
    "under a condition": ("if device.type == 'cuda':\n    " + MOVE, "if device.type == 'cuda':\n    "),
    "unless it is mps": ("if device.type != 'mps':\n    " + MOVE, "if device.type != 'mps':\n    "),
    "asks the device and more": (
        "y = x.to(device, non_blocking=device.type == 'cuda' and True)",
        "device.type == 'cuda' and ",
    ),
    "asks whether it is mps": (
        "y = x.to(device, non_blocking=device.type != 'mps')",
        "device.type != 'mps'",
        "True",
    ),
    "asks by text": (
        "d = 'mps'\nif 'cuda' in str(device):\n    y = x.to(device, non_blocking=True)",
        "d = 'mps'\nif 'cuda' in str(device):\n    ",
    ),
    "a loop behind an exit": (
        ("if device.type == 'mps':\n    raise SystemExit\nfor i in range(3):\n    y = x.to(device, non_blocking=True)"),
        "if device.type == 'mps':\n    raise SystemExit\n",
    ),
    "a loop behind an exit, by a string": (
        (
            "d = 'cuda' if torch.cuda.is_available() else 'mps'\nif d == 'mps':\n    raise SystemExit\n"
            "for i in range(3): y = x.to(d, non_blocking=True)"
        ),
        "if d == 'mps':\n    raise SystemExit\nfor i in range(3): ",
    ),
    "behind an exit": (
        "if device.type == 'mps':\n    raise SystemExit('no')\n" + MOVE,
        "if device.type == 'mps':\n    raise SystemExit('no')\n",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC203", Pair(IMPORTS + PAIR_MPS + source, *change), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = (
        "x = x.to(device, non_blocking=True)  # -> ACC203 error safe\n"
        "name = 'mps'\nz = x.to(name, non_blocking=True)  # -> ACC203 error unsafe\n"
        "q = x.to('mps', non_blocking=True)  # -> ACC203 error none\n"
    )
    check(IMPORTS + MPS + source, tmp_path)
    text = fixed("ACC203", IMPORTS + MPS + source, tmp_path)
    assert 'x = x.to(device, non_blocking=device.type == "cuda")' in text
    assert 'z = x.to(name, non_blocking=str(name).startswith("cuda"))' in text
