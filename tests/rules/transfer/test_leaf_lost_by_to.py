"""ACC206 leaf-lost-by-to, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_pair
from ..programs import IMPORTS

SILENT = {
    "to the host": "w = torch.zeros(8, requires_grad=True).to('cpu')",
    "a parameter to the host": "w = nn.Parameter(torch.zeros(8)).to('cpu')",
    "made there": "w = nn.Parameter(torch.zeros(8, device='cuda'))",
    "a leaf on purpose": "w = torch.zeros(8, requires_grad=True).cuda()\nw.retain_grad()",
    "only an argument": "torch.autograd.gradcheck(torch.sin, (torch.randn(3, requires_grad=True).double(),))",
    "that dtype already": "w = torch.zeros(3, requires_grad=True, dtype=torch.float64).double()",
    "the default dtype": "w = torch.randn(3, requires_grad=True).float()",
    "the default dtype was set": "torch.set_default_dtype(torch.float64)\nw = torch.zeros(3, requires_grad=True).double()",
    "unknown dtype": "import conf\nw = nn.Parameter(conf.w).double()",
    "its data": "w = nn.Parameter(torch.zeros(3)).data.to('cuda')",
    "unknown device": "import conf\nw = nn.Parameter(torch.zeros(8)).to(conf.device)",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_about_leaves_that_stay(source: str, tmp_path: Path) -> None:
    check(IMPORTS + source + "\n", tmp_path)


PAIRS: dict[str, tuple[str, ...]] = {
    "to the host": ("w = torch.zeros(8, requires_grad=True).to('cpu')", "'cpu'", "'cuda'"),
    "a parameter to the host": ("w = nn.Parameter(torch.zeros(8)).to('cpu')", "'cpu'", "'cuda'"),
    "a parameter to the host by name": (
        "d = torch.device('cpu')\nw = nn.Parameter(torch.zeros(8)).to(d)",
        "'cpu'",
        "'cuda'",
    ),
    "there already": ("w = torch.zeros(8, requires_grad=True, device='cuda').to('cuda')", ", device='cuda'"),
    "there already, cuda()": ("w = torch.zeros(8, requires_grad=True, device='cuda').cuda()", ", device='cuda'"),
    "a parameter there already": ("w = nn.Parameter(torch.zeros(8, device='cuda')).to('cuda')", ", device='cuda'"),
    "a parameter of what is there": (
        "w = nn.Parameter(torch.zeros(8).cuda()).cuda()",
        ".cuda()).cuda()",
        ").cuda()",
    ),
    "a parameter there on any machine": (
        (
            "d = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
            "w = nn.Parameter(torch.zeros(8, device=d)).to(d)"
        ),
        ", device=d",
    ),
    "made there": ("w = nn.Parameter(torch.zeros(8, device='cuda'))", ", device='cuda')", ")).to('cuda'"),
    "no leaf": ("w = torch.zeros(8, requires_grad=False).cuda()", "False", "True"),
    "no leaf by default": ("w = torch.zeros(8).cuda()", "8)", "8, requires_grad=True)"),
    "perhaps no leaf": ("w = torch.zeros(8, requires_grad=conf.g).cuda()", "conf.g", "True"),
    "a frozen parameter": ("w = nn.Parameter(torch.zeros(8), requires_grad=False).cuda()", "False", "True"),
    "a leaf on purpose": ("w = torch.zeros(8, requires_grad=True).cuda()\nw.retain_grad()", "w.retain_grad()"),
    "only an argument": ("print(torch.randn(3, requires_grad=True).cuda())", "print(", "w = ("),
    "that dtype already": (
        "w = torch.zeros(3, requires_grad=True, dtype=torch.float64).double()",
        ", dtype=torch.float64",
    ),
    "the default dtype": ("w = torch.randn(3, requires_grad=True).float()", ".float", ".double"),
    "the default dtype was set": (
        ("torch.set_default_dtype(torch.float64)\nw = torch.zeros(3, requires_grad=True).double()"),
        "torch.set_default_dtype(torch.float64)\n",
    ),
    "unknown dtype": ("w = nn.Parameter(conf.w).double()", "conf.w", "torch.zeros(3)"),
    "its data": ("w = nn.Parameter(torch.zeros(3)).data.to('cuda')", ".data.to", ".to"),
    "detach": ("w = torch.zeros(3, requires_grad=True).detach().to('cuda')", ".detach()"),
    "unknown device": ("w = nn.Parameter(torch.zeros(8)).to(conf.device)", "conf.device", "'cuda'"),
    "a tensor to an unknown device": (
        "w = torch.zeros(8, requires_grad=True).to(conf.device)",
        "conf.device",
        "'cuda'",
    ),
    "a parameter of a module to an unknown device": (
        (
            "class N(nn.Module):\n    def __init__(self, device):\n        super().__init__()\n"
            "        self.w = nn.Parameter(torch.zeros(8)).to(device)"
        ),
        "to(device)",
        "to('cuda')",
    ),
    "made a leaf again": (
        "w = torch.zeros(8, requires_grad=True).to('cuda').detach().requires_grad_()",
        ".detach().requires_grad_()",
    ),
    "module": ("w = nn.Linear(8, 2).to('cuda')", "nn.Linear(8, 2)", "nn.Parameter(torch.zeros(8))"),
    "moved inside": ("w = nn.Parameter(torch.zeros(8).to('cuda'))", ".to('cuda'))", ").to('cuda')"),
    "a default device": (
        "torch.set_default_device('cuda')\nw = torch.zeros(8, requires_grad=True).to('cuda')",
        "torch.set_default_device('cuda')\n",
    ),
    "a parameter on the default device": (
        "torch.set_default_device('cuda')\nw = nn.Parameter(torch.zeros(8)).to('cuda')",
        "torch.set_default_device('cuda')\n",
    ),
    "under a device": (
        "with torch.device('cuda'):\n    w = nn.Parameter(torch.zeros(8)).to('cuda')",
        "with torch.device('cuda')",
        "if True",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC206", Pair(IMPORTS + "import conf\n" + source, *change), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(8)).to("cuda")  # -> ACC206 error none
v = torch.zeros(8, requires_grad=True).cuda()  # -> ACC206 error unsafe
u = torch.zeros(8, requires_grad=True).double()  # -> ACC206 error none
t = torch.randn(8, requires_grad=True).to(torch.float16)  # -> ACC206 error none
p = nn.Parameter(torch.zeros(8)).half()  # -> ACC206 error none
"""
    check(IMPORTS + source, tmp_path)
