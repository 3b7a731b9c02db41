"""ACC418 float64-in-training, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import CONVOLUTIONS, IMAGE_LOADER, IMAGES, IMPORTS, image_program

EVALUATION = "net.cuda()\nfor (x,) in loader:\n    net(x.cuda())\n"
SILENT = {
    "float32": image_program("net.cuda().float()"),
    "on the host": image_program("net.double()"),
    "an option": image_program("net.cuda()", "torch.set_default_dtype(conf.dtype)"),
    "on a condition": image_program("net.cuda()", "if conf.exact:", "    net.double()"),
    "float32 by default": image_program("net.cuda()", "torch.set_default_dtype(torch.float32)"),
    "the loss only": image_program("net.cuda()", "loss = net(torch.zeros(2, 3, 8, 8).cuda()).double().sum()"),
    "a sum": image_program("net.cuda()", "total = torch.zeros(1, dtype=torch.float64)"),
    "a gradient check": image_program("net.cuda().double()", "torch.autograd.gradcheck(net, torch.zeros(2, 3, 8, 8))"),
    "gradients of the input": image_program("net.cuda().double()", "torch.autograd.grad(conf.y, conf.x)"),
    "linear algebra": image_program("net.cuda().double()", "torch.linalg.eigh(torch.zeros(2, 2))"),
    "science": image_program("import torchdiffeq", "net.cuda().double()", "torchdiffeq.odeint(net, conf.y, conf.t)"),
    "physics": image_program("def solve_pde(n):", "    n.double()", "solve_pde(net.cuda())"),
    "another model": image_program("net.cuda()", "other = nn.Linear(8, 2).double()"),
    "no training": IMPORTS + IMAGE_LOADER + CONVOLUTIONS + "net.double()\n" + EVALUATION,
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC418", source, tmp_path)


NEEDS = [
    "torch.autograd.functional.hessian(net, conf.x)\n",
    "torch.autograd.gradgradcheck(net, conf.x)\n",
    "torch.func.hessian(net)\n",
    "torch.optim.LBFGS(net.parameters())\n",
    "torch.fft.fft(torch.zeros(2))\n",
    "torch.inverse(torch.zeros(2, 2))\n",
    "import scipy.linalg\nscipy.linalg.eig(conf.a)\n",
    "import e3nn.o3\ne3nn.o3.spherical_harmonics(1)\n",
    "def geometry_of(x):\n    return torch.ones_like(x)\ngeometry_of(conf.x)\n",
    "class PINN(nn.Module):\n    def forward(self, x):\n        return x\nPINN()(conf.x)\n",
]


@pytest.mark.parametrize("line", NEEDS)
def test_silent_for_one_reason(line: str, tmp_path: Path) -> None:
    check_pair("ACC418", Pair(IMAGES.format(line).replace("net.cuda()", "net.cuda().double()"), line), tmp_path)


DOUBLES = {
    "a metric": ("metric = nn.Linear(8, 2).double()", "net.double()"),
    "the input of a metric": ("def accuracy(x):\n    return net(x.cuda()).double().mean()", "net.double()"),
    "an option": ("net.to(conf.dtype)", "net.to(torch.float64)"),
    "on a condition": ("if conf.exact: net.double()", "net.double()"),
}


@pytest.mark.parametrize(("condition", "instead"), DOUBLES.values(), ids=DOUBLES.keys())
def test_silent_about_other_things(condition: str, instead: str, tmp_path: Path) -> None:
    check_pair("ACC418", Pair(IMAGES.format(f"{condition}\n"), condition, instead), tmp_path)


@pytest.mark.parametrize(
    "lines",
    [
        ("net.cuda().double()  # -> warning none",),
        ("net.to(torch.float64)  # -> warning none", "net.cuda()"),
        ("net.to('cuda', torch.double)  # -> warning none",),
        ("torch.set_default_dtype(torch.float64)  # -> warning none", "net.cuda()"),
        ("torch.set_default_tensor_type('torch.DoubleTensor')  # -> warning none", "net.to('cuda')"),
    ],
)
def test_reported(lines: tuple[str, ...], tmp_path: Path) -> None:
    check_one("ACC418", image_program(*lines), tmp_path)
