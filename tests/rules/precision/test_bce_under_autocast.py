"""ACC406 bce-under-autocast, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS, MODEL

HEAD = IMPORTS + MODEL + "from torch.nn import functional as F\nz = torch.zeros(4).cuda()\ny = torch.ones(4).cuda()\n"
SILENT = {
    "outside": "F.binary_cross_entropy(torch.sigmoid(z), y)",
    "with logits": "with torch.autocast('cuda'):\n    F.binary_cross_entropy_with_logits(z, y)",
    "on the cpu": "with torch.autocast('cpu'):\n    F.binary_cross_entropy(torch.sigmoid(z), y)",
    "an island": (
        "with torch.autocast('cuda'):\n    p = torch.sigmoid(z)\n    with torch.autocast('cuda', enabled=False):\n"
        "        F.binary_cross_entropy(p.float(), y)"
    ),
    "perhaps off": "import conf\nwith torch.autocast('cuda', enabled=conf.amp):\n    F.binary_cross_entropy(z, y)",
    "off": "with torch.cuda.amp.autocast(False):\n    F.binary_cross_entropy(z, y)",
    "a device that is not known": "import conf\nwith torch.autocast(conf.device):\n    F.binary_cross_entropy(z, y)",
    "another loss": "crit = nn.BCEWithLogitsLoss()\nwith torch.autocast('cuda'):\n    crit(z, y)",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC406", HEAD + source + "\n", tmp_path)


SILENT_PROGRAMS = {
    "disabled inside": """
import torch.nn.functional as F
z = torch.zeros(3).cuda()
with torch.autocast("cuda"):
    with torch.autocast("cuda", enabled=False):
        loss = F.binary_cross_entropy(torch.sigmoid(z.float()), z)
""",
    "cpu autocast": """
import torch.nn.functional as F
z = torch.zeros(3)
with torch.autocast("cpu"):
    loss = F.binary_cross_entropy(torch.sigmoid(z), z)
""",
    "logits": """
import torch.nn.functional as F
z = torch.zeros(3)
with torch.autocast("cuda"):
    loss = F.binary_cross_entropy_with_logits(z, z)
""",
    "flag": """
import argparse
p = argparse.ArgumentParser(); p.add_argument("--amp", action="store_true"); a = p.parse_args()
crit = nn.BCELoss()
z = torch.zeros(3)
with torch.autocast("cuda", enabled=a.amp):
    loss = crit(torch.sigmoid(z), z)
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC406", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


BCE = IMPORTS + "import conf, contextlib\nfrom torch.nn import functional as F\nz = torch.zeros(4).cuda()\n"
REGIONS = {
    "of the CPU": "torch.autocast('cpu')",
    "of the CPU under the old name": "torch.cpu.amp.autocast()",
    "of MPS": "torch.autocast('mps')",
    "perhaps of the CPU": "torch.autocast('cuda' if torch.cuda.is_available() else 'cpu')",
    "of a device that is not known": "torch.autocast(conf.device)",
    "off": "torch.autocast('cuda', enabled=False)",
    "off by position": "torch.autocast('cuda', torch.float16, False)",
    "off under the old name": "torch.cuda.amp.autocast(False)",
    "perhaps off": "torch.autocast('cuda', enabled=conf.amp)",
    "with other arguments": "torch.autocast('cuda', **conf.kw)",
    "perhaps another manager": "(torch.autocast('cuda') if conf.amp else contextlib.nullcontext())",
    "with an island": "torch.autocast('cuda'), torch.autocast('cuda', enabled=False)",
    "with an island under the old name": "torch.autocast('cuda'), torch.cuda.amp.autocast(enabled=False)",
    "that is none": "contextlib.nullcontext()",
}


@pytest.mark.parametrize("region", REGIONS.values(), ids=REGIONS.keys())
def test_silent_for_one_reason(region: str, tmp_path: Path) -> None:
    source = f"{BCE}with {region}:\n    F.binary_cross_entropy(torch.sigmoid(z), z)\n"
    check_pair("ACC406", Pair(source, region, "torch.autocast('cuda')"), tmp_path)


def test_bce_is_forbidden_for_float32_too(tmp_path: Path) -> None:
    source = f"{BCE}with torch.autocast('cuda'):\n    F.binary_cross_entropy_with_logits(z, z)\n"
    instead = "binary_cross_entropy(torch.sigmoid(z).float(), z)"
    check_pair("ACC406", Pair(source, "binary_cross_entropy_with_logits(z, z)", instead), tmp_path)
    torch = pytest.importorskip("torch")
    with torch._subclasses.fake_tensor.FakeTensorMode():  # tensors of a device that need not be there
        z = torch.empty(4, device="cuda")
        torch.set_autocast_enabled("cuda", True)
        try:
            with pytest.raises(RuntimeError, match="unsafe to autocast"):
                torch.nn.functional.binary_cross_entropy(torch.sigmoid(z).float(), z)
        finally:
            torch.set_autocast_enabled("cuda", False)


def test_reported(tmp_path: Path) -> None:
    source = """
crit = nn.BCELoss()
with torch.autocast("cuda", dtype=torch.float16):
    F.binary_cross_entropy(torch.sigmoid(z), y)  # -> error none
    crit(torch.sigmoid(z), y)  # -> error none
def loss(p):
    return crit(p, y)  # -> error none
with torch.cuda.amp.autocast():
    loss(torch.sigmoid(z))
"""
    check_one("ACC406", HEAD + source, tmp_path)


REPORTED_PROGRAMS = {
    "bce": """
crit = nn.BCELoss()
model = nn.Sequential(nn.Linear(3, 1), nn.Sigmoid()).cuda()
with torch.autocast("cuda"):
    loss = crit(model(torch.zeros(3, device="cuda")), torch.zeros(1, device="cuda"))  # -> error none
""",
    "float32": """
import torch.nn.functional as F
z = torch.zeros(3).cuda()
y = torch.zeros(3).cuda()
with torch.autocast("cuda"):
    p = torch.sigmoid(z)
    loss = F.binary_cross_entropy(p.float(), y.float())  # -> error none
""",
    "old name, decorator": """
import torch.nn.functional as F
@torch.cuda.amp.autocast()
def step(z, y):
    return F.binary_cross_entropy(torch.sigmoid(z), y)  # -> error none
step(torch.zeros(3).cuda(), torch.zeros(3).cuda())
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC406", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
