"""ACC305 plain-tensor-attribute, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import check, check_one, check_pair, fixed
from ..programs import IMPORTS
from .programs import net, net_pair

SILENT_PROGRAMS = {
    "moved by own method": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.w = torch.ones(3)
    def set_device(self, d):
        self.w = self.w.to(d)
    def forward(self, x):
        return self.fc(x) * self.w
""",
    "base overrides cuda": """
class Base(nn.Module):
    def _apply(self, fn, recurse=True):
        super()._apply(fn)
        self.w = fn(self.w)
        return self
class Net(Base):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.w = torch.ones(3)
    def forward(self, x):
        return self.fc(x) * self.w
""",
    "moved from outside": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.w = torch.ones(3)
    def forward(self, x):
        return self.fc(x) * self.w
net = Net().cuda()
net.w = net.w.cuda()
""",
    "conditional move in forward": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.w = torch.ones(3)
    def forward(self, x):
        if self.w.device != x.device:
            self.w = self.w.to(x.device)
        return self.fc(x) * self.w
""",
    "index only": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.idx = torch.tensor([0, 1])
    def forward(self, x):
        return self.fc(x)[:, self.idx]
""",
    "number input times attribute": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.ones(3)
    def forward(self, t):
        return t * self.w
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC305", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


def test_silent_in_a_program_that_stays_on_the_host(tmp_path: Path) -> None:
    source = net("self.s = torch.ones(8)", "return x * self.s + torch.zeros(8)") + (
        "model = Net()\nfor x, y in DataLoader(TensorDataset(torch.zeros(4, 8), torch.zeros(4))):\n"
        "    model(x).sum().backward()\n"
    )
    check_one("ACC305", source, tmp_path)


def test_silent_under_a_default_device(tmp_path: Path) -> None:
    source = net("self.s = torch.ones(8)", "return x * self.s + torch.zeros(8)")
    source = source.replace("class Net", "torch.set_default_device('cuda')\nclass Net")
    check_one("ACC305", source, tmp_path)


SILENT = {
    "no dimensions": ("self.s = torch.tensor(1.0)", "return x * self.s"),
    "only its value": ("self.s = torch.ones(8)", "return x * self.s.sum().item()"),
    "moved in forward": ("self.s = torch.ones(8)", "return x * self.s.to(x.device)"),
    "a buffer": ("self.register_buffer('s', torch.ones(8))", "return x * self.s"),
    "a parameter": ("self.s = nn.Parameter(torch.ones(8))", "return x * self.s"),
    "made there": ("self.s = torch.ones(8, device='cuda')", "return x * self.s"),
    "never used": ("self.s = torch.ones(8)", "return x"),
    "assigned again": ("self.s = torch.ones(8)", "self.s = x.mean(0)\nreturn x * self.s"),
    "moves by itself": (
        "self.s = torch.ones(8)",
        "return x * self.s\n\ndef _apply(self, fn):\n    self.s = fn(self.s)\n    return super()._apply(fn)",
    ),
}


@pytest.mark.parametrize(("init", "forward"), SILENT.values(), ids=SILENT.keys())
def test_silent_about_attributes_that_may_stay(init: str, forward: str, tmp_path: Path) -> None:
    source = net(init, forward).replace("        def _apply", "    def _apply")
    source = source.replace("            self.s = fn", "        self.s = fn").replace(
        "            return super", "        return super"
    )
    check_one("ACC305", source, tmp_path)


KEPT = "self.m = torch.ones(8)"
USED = "return self.fc(x) * self.m"
PAIRS = {
    "no dimensions": net_pair("self.m = torch.tensor(1.0)", USED, "torch.tensor(1.0)", "torch.ones(8)"),
    "only its value": net_pair(KEPT, "return self.fc(x) * self.m.sum().item()", "self.m.sum().item()", "self.m"),
    "only its values": net_pair(KEPT, "return self.fc(x) * sum(self.m.tolist())", "sum(self.m.tolist())", "self.m"),
    "only its shape": net_pair(KEPT, "return self.fc(x) * self.m.shape[0]", "self.m.shape[0]", "self.m"),
    "only its length": net_pair(KEPT, "return self.fc(x) * len(self.m)", "len(self.m)", "self.m"),
    "moved": net_pair(KEPT, "return self.fc(x) * self.m.to(x.device)", ".to(x.device)"),
    "assigned in forward": net_pair(
        KEPT, "self.m = self.m.to(x.device)\n" + USED, "self.m = self.m.to(x.device)\n        "
    ),
    "assigned in a loop": net_pair(
        KEPT,
        USED,
        "for i in range(3):\n    model.m = model.m.cuda()\n",
        "",
        "model = Net().cuda()\nfor i in range(3):\n    model.m = model.m.cuda()\n",
    ),
    "a class that applies": net_pair(
        KEPT,
        USED,
        "_apply(self, fn)",
        "other(self, fn)",
        "    def _apply(self, fn):\n        self.m = fn(self.m)\n        return self\n".replace(
            "self.m = fn(self.m)", "keep(fn)"
        ),
    ),
    "a class that moves": net_pair(
        KEPT, USED, "def to(self", "def other(self", "    def to(self, device):\n        return super().to(device)\n"
    ),
    "a class with cuda": net_pair(
        KEPT,
        USED,
        "def cuda(self",
        "def other(self",
        "    def cuda(self, device=None):\n        return super().cuda(device)\n",
    ),
    "a parameter": net_pair(
        "self.m = nn.Parameter(torch.ones(8))", USED, "nn.Parameter(torch.ones(8))", "torch.ones(8)"
    ),
    "a buffer": net_pair(
        "self.register_buffer('m', torch.ones(8))", USED, "self.register_buffer('m', torch.ones(8))", KEPT
    ),
    "made there": net_pair("self.m = torch.ones(8, device='cuda')", USED, ", device='cuda'"),
    "an index": net_pair("self.m = torch.arange(8)", "return self.fc(x)[:, self.m]", "[:, self.m]", " + self.m"),
    "the default device": net_pair(
        KEPT, USED, "torch.set_default_device('cuda')\n", "", "torch.set_default_device('cuda')\n"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC305", PAIRS[case], tmp_path)


REPORTED_PROGRAMS = {
    "loss with class weights": """
class Focal(nn.Module):
    def __init__(self):
        super().__init__()
        self.alpha = torch.tensor([0.25, 0.75])  # -> warning unsafe
        self.fc = nn.Linear(3, 2)
    def forward(self, x, y):
        p = self.fc(x)
        return (p * self.alpha).sum()
""",
    "positional": """
class PE(nn.Module):
    def __init__(self, d):
        super().__init__()
        pe = torch.zeros(500, d)
        self.pe = pe.unsqueeze(0)  # -> warning unsafe
        self.drop = nn.Dropout(0.1)
    def forward(self, x):
        x = x + self.pe[:, : x.size(1)]
        return self.drop(x)
""",
    "error when moved": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("b", torch.ones(3))
        self.w = torch.ones(3)  # -> error unsafe
    def forward(self, x):
        return self.fc(x) * self.w + self.b
net = Net().cuda()
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC305", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = f"""{IMPORTS}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)  # -> ACC305 warning unsafe
        pe = torch.zeros(9, 8)
        pe[0] = 1
        self.pe = pe.unsqueeze(0)  # -> ACC305 warning unsafe
    def forward(self, x):
        y = x * self.scale
        return x + self.pe[:, : x.size(1)]
"""
    check(source, tmp_path)
    text = fixed("ACC305", source, tmp_path)
    assert 'self.register_buffer("scale", torch.ones(8), persistent=False)' in text
    assert 'self.register_buffer("pe", pe.unsqueeze(0), persistent=False)' in text
