"""ACC417, ACC418, ACC419 and ACC420, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import fixed
from .programs import IMPORTS
from .single import check_one

LOADER = "import conf\nloader = DataLoader(TensorDataset(torch.zeros(64, 3, 8, 8)), batch_size=16)\n"
NET = "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())\n"
LOOP = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in loader:{mark}
    net(x.cuda()).sum().backward()
    optimizer.step()
for (x,) in loader:
    net(x.cuda()).sum().backward()
    optimizer.step()
"""
EVALUATION = "net.cuda()\nfor (x,) in loader:\n    net(x.cuda())\n"


def program(*lines: str, net: str = NET, mark: str = "") -> str:
    return IMPORTS + LOADER + net + "\n".join(lines) + LOOP.format(mark=mark)


PRECISION_SILENT = {
    "autocast": program("net.cuda()", "with torch.autocast('cuda'):", "    pass"),
    "the old autocast": program("net.cuda()", "with torch.cuda.amp.autocast():", "    pass"),
    "autocast of a forward": program("@torch.autocast('cuda')", "def f(x):", "    return x", "net.cuda()"),
    "half": program("net.cuda().half()"),
    "bfloat16": program("net.cuda().bfloat16()"),
    "float64": program("net.cuda().double()"),
    "TF32": program("torch.set_float32_matmul_precision('high')", "net.cuda()"),
    "on the host": program(),
    "a device that is not known": program("net.to(conf.device)"),
    "a model that is not known": program("net.cuda()", net="net = conf.net\n"),
    "given to something unknown": program("net.cuda()", "conf.prepare(net)"),
    "a small model": program("net.cuda()", net="net = nn.Linear(8, 2)\n"),
    "Fourier transforms": program("net.cuda()", "torch.fft.rfft(torch.zeros(8))"),
    "reinforcement learning": program("import gym", "env = gym.make('CartPole-v1')", "net.cuda()"),
    "graphs": program("from torch_geometric.loader import DataLoader as G", "loader = G(conf.data)", "net.cuda()"),
    "a framework": program("from accelerate import Accelerator", "a = Accelerator()", "net.cuda()"),
    "no training": IMPORTS + LOADER + NET + EVALUATION,
}


@pytest.mark.parametrize("source", PRECISION_SILENT.values(), ids=PRECISION_SILENT.keys())
def test_no_mixed_precision_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC417", source, tmp_path)


@pytest.mark.parametrize("layer", ["nn.Conv2d(3, 8, 3)", "nn.TransformerEncoderLayer(8, 2)"])
def test_no_mixed_precision_reported_once(layer: str, tmp_path: Path) -> None:
    check_one("ACC417", program("net.cuda()", net=f"net = nn.Sequential({layer})\n", mark="  # -> info none"), tmp_path)


def test_no_mixed_precision_sees_torchvision_and_classes(tmp_path: Path) -> None:
    vision = "import torchvision\nnet = torchvision.models.resnet50()\n"
    check_one("ACC417", program("net.cuda()", net=vision, mark="  # -> info none"), tmp_path)
    own = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.c = nn.Conv2d(3, 8, 3)\n"
    check_one("ACC417", program("net.cuda()", net=own + "net = Net()\n", mark="  # -> info none"), tmp_path)


COMPILE_SILENT = {
    "compiled": program("net.cuda()", "net = torch.compile(net)"),
    "compiled in place": program("net.cuda()", "net.compile()"),
    "a compiled part": program("net.cuda()", "@torch.compile", "def f(x):", "    return x"),
    "scripted": program("net.cuda()", "net = torch.jit.script(net)"),
    "graphs": program("net.cuda()", "g = torch.cuda.CUDAGraph()"),
    "on the host": program(),
    "a recurrent model": program("net.cuda()", net="net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.LSTM(8, 2))\n"),
    "a collate function": program("loader = DataLoader(conf.data, collate_fn=conf.collate)", "net.cuda()"),
    "a small model": program("net.cuda()", net="net = nn.Linear(8, 2)\n"),
    "a framework": program("from accelerate import Accelerator", "a = Accelerator()", "net.cuda()"),
    "no training": IMPORTS + LOADER + NET + EVALUATION,
}


@pytest.mark.parametrize("source", COMPILE_SILENT.values(), ids=COMPILE_SILENT.keys())
def test_compile_missing_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC420", source, tmp_path)


def test_compile_missing_silent_where_an_old_torch_is_supported(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch>=1.13\n")
    check_one("ACC420", program("net.cuda()"), tmp_path)


def test_compile_missing_reported_once(tmp_path: Path) -> None:
    check_one("ACC420", program("net.cuda()", mark="  # -> info none"), tmp_path)


CAST = "with torch.autocast('cuda'):\n    pass"
LAYOUT_SILENT = {
    "full precision": program("net.cuda()"),
    "channels last": program(CAST, "net.cuda().to(memory_format=torch.channels_last)"),
    "the images only": program(CAST, "net.cuda()", "x = torch.zeros(2, 3, 8, 8).to(memory_format=torch.channels_last)"),
    "volumes": program(CAST, "net.cuda()", net="net = nn.Sequential(nn.Conv3d(3, 8, 3), nn.Conv2d(3, 8, 3))\n"),
    "a vision transformer": program(
        CAST, "net.cuda()", net="net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.TransformerEncoderLayer(8, 2))\n"
    ),
    "no convolution": program(CAST, "net.cuda()", net="net = nn.Linear(8, 2)\n"),
    "kernels of one's own": program(
        CAST, "net.cuda()", "from torch.utils.cpp_extension import load", "k = load('k', [])"
    ),
    "on the host": program(CAST),
    "no training": IMPORTS + LOADER + NET + CAST + "\n" + EVALUATION,
}


@pytest.mark.parametrize("source", LAYOUT_SILENT.values(), ids=LAYOUT_SILENT.keys())
def test_layout_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC419", source, tmp_path)


@pytest.mark.parametrize(
    ("move", "after"),
    [
        ("net.cuda()", "net.cuda().to(memory_format=torch.channels_last)"),
        ("net = net.to('cuda')", "net.to('cuda', memory_format=torch.channels_last)"),
    ],
)
def test_layout_reported(move: str, after: str, tmp_path: Path) -> None:
    check_one("ACC419", program(CAST, f"{move}  # -> info unsafe"), tmp_path)
    assert after in fixed(program(CAST, move, "# ACC419"), tmp_path, "ACC419")


DOUBLE_SILENT = {
    "float32": program("net.cuda().float()"),
    "on the host": program("net.double()"),
    "an option": program("net.cuda()", "torch.set_default_dtype(conf.dtype)"),
    "on a condition": program("net.cuda()", "if conf.exact:", "    net.double()"),
    "float32 by default": program("net.cuda()", "torch.set_default_dtype(torch.float32)"),
    "the loss only": program("net.cuda()", "loss = net(torch.zeros(2, 3, 8, 8).cuda()).double().sum()"),
    "a sum": program("net.cuda()", "total = torch.zeros(1, dtype=torch.float64)"),
    "a gradient check": program("net.cuda().double()", "torch.autograd.gradcheck(net, torch.zeros(2, 3, 8, 8))"),
    "gradients of the input": program("net.cuda().double()", "torch.autograd.grad(conf.y, conf.x)"),
    "linear algebra": program("net.cuda().double()", "torch.linalg.eigh(torch.zeros(2, 2))"),
    "science": program("import torchdiffeq", "net.cuda().double()", "torchdiffeq.odeint(net, conf.y, conf.t)"),
    "physics": program("def solve_pde(n):", "    n.double()", "solve_pde(net.cuda())"),
    "another model": program("net.cuda()", "other = nn.Linear(8, 2).double()"),
    "no training": IMPORTS + LOADER + NET + "net.double()\n" + EVALUATION,
}


@pytest.mark.parametrize("source", DOUBLE_SILENT.values(), ids=DOUBLE_SILENT.keys())
def test_double_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC418", source, tmp_path)


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
def test_double_reported(lines: tuple[str, ...], tmp_path: Path) -> None:
    check_one("ACC418", program(*lines), tmp_path)
