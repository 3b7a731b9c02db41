"""ACC420 torch-compile-missing, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, check_since
from ..programs import CONVOLUTIONS, IMAGE_LOADER, IMAGES, IMPORTS, image_program

EVALUATION = "net.cuda()\nfor (x,) in loader:\n    net(x.cuda())\n"
SILENT = {
    "compiled": image_program("net.cuda()", "net = torch.compile(net)"),
    "compiled in place": image_program("net.cuda()", "net.compile()"),
    "a compiled part": image_program("net.cuda()", "@torch.compile", "def f(x):", "    return x"),
    "scripted": image_program("net.cuda()", "net = torch.jit.script(net)"),
    "graphs": image_program("net.cuda()", "g = torch.cuda.CUDAGraph()"),
    "on the host": image_program(),
    "a recurrent model": image_program("net.cuda()", net="net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.LSTM(8, 2))\n"),
    "a collate function": image_program("loader = DataLoader(conf.data, collate_fn=conf.collate)", "net.cuda()"),
    "a small model": image_program("net.cuda()", net="net = nn.Linear(8, 2)\n"),
    "a framework": image_program("from accelerate import Accelerator", "a = Accelerator()", "net.cuda()"),
    "no training": IMPORTS + IMAGE_LOADER + CONVOLUTIONS + EVALUATION,
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC420", source, tmp_path)


def test_silent_where_an_old_torch_is_pinned(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==1.13\n")
    check_one("ACC420", image_program("net.cuda()"), tmp_path)


def images(line: str) -> Pair:
    """A convolutional network that is trained on CUDA, with one more line."""
    return Pair(IMAGES.format(line), line)


COMPILED = [
    "torch.jit.trace(net, conf.x)\n",
    "torch.compiler.disable(net)\n",
    "torch.compile(conf.f)\n",
    "torch.cuda.make_graphed_callables(net, ())\n",
    "torch.autograd.set_detect_anomaly(True)\n",
    "loader = DataLoader(conf.data, batch_sampler=conf.sampler)\n",
    "import lightning as L\ntrainer = L.Trainer()\n",
]


@pytest.mark.parametrize("line", COMPILED)
def test_silent_for_one_reason(line: str, tmp_path: Path) -> None:
    check_pair("ACC420", images(line), tmp_path)


@pytest.mark.parametrize("layer", ["nn.LSTM(8, 2)", "nn.GRU(8, 8)", "nn.RNNCell(8, 8)"])
def test_silent_about_recurrent_models(layer: str, tmp_path: Path) -> None:
    check_pair("ACC420", Pair(IMAGES.format("").replace("nn.ReLU()", layer), layer, "nn.ReLU()"), tmp_path)


@pytest.mark.parametrize(("python", "since"), [((3, 12), (2, 4)), ((3, 13), (2, 6)), ((3, 14), (2, 10))])
def test_silent_where_torch_does_not_compile(python: tuple[int, int], since: tuple[int, int], tmp_path: Path) -> None:
    check_since("ACC420", IMAGES.format(""), since, tmp_path, python)


def test_reported_once(tmp_path: Path) -> None:
    check_one("ACC420", image_program("net.cuda()", mark="  # -> info none"), tmp_path)
