"""ACC419 channels-last, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, fixed
from ..programs import CONVOLUTIONS, IMAGE_LOADER, IMAGES, IMPORTS, image_program

EVALUATION = "net.cuda()\nfor (x,) in loader:\n    net(x.cuda())\n"
CAST = "with torch.autocast('cuda'):\n    pass"
SILENT = {
    "full precision": image_program("net.cuda()"),
    "channels last": image_program(CAST, "net.cuda().to(memory_format=torch.channels_last)"),
    "the images only": image_program(
        CAST, "net.cuda()", "x = torch.zeros(2, 3, 8, 8).to(memory_format=torch.channels_last)"
    ),
    "volumes": image_program(CAST, "net.cuda()", net="net = nn.Sequential(nn.Conv3d(3, 8, 3), nn.Conv2d(3, 8, 3))\n"),
    "a vision transformer": image_program(
        CAST, "net.cuda()", net="net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.TransformerEncoderLayer(8, 2))\n"
    ),
    "no convolution": image_program(CAST, "net.cuda()", net="net = nn.Linear(8, 2)\n"),
    "kernels of one's own": image_program(
        CAST, "net.cuda()", "from torch.utils.cpp_extension import load", "k = load('k', [])"
    ),
    "on the host": image_program(CAST),
    "no training": IMPORTS + IMAGE_LOADER + CONVOLUTIONS + CAST + "\n" + EVALUATION,
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC419", source, tmp_path)


PAIR_CAST = "with torch.autocast('cuda'):\n    pass\n"
LAYOUTS = [
    "from torch.utils.cpp_extension import load_inline\nkernel = load_inline('k', [])\n",
    "import lightning as L\ntrainer = L.Trainer()\n",
    "net = net.to(memory_format=torch.channels_last)\n",
]


@pytest.mark.parametrize("line", LAYOUTS)
def test_silent_for_one_reason(line: str, tmp_path: Path) -> None:
    check_pair("ACC419", Pair(IMAGES.format(PAIR_CAST + line), line), tmp_path)


@pytest.mark.parametrize("layer", ["nn.Conv1d(3, 8, 3)", "nn.ConvTranspose3d(3, 8, 3)", "nn.MultiheadAttention(8, 2)"])
def test_silent_about_models_with_other_layers(layer: str, tmp_path: Path) -> None:
    check_pair("ACC419", Pair(IMAGES.format(PAIR_CAST).replace("nn.ReLU()", layer), layer, "nn.ReLU()"), tmp_path)


@pytest.mark.parametrize(
    ("move", "after"),
    [
        ("net.cuda()", "net.cuda().to(memory_format=torch.channels_last)"),
        ("net = net.to('cuda')", "net.to('cuda', memory_format=torch.channels_last)"),
    ],
)
def test_reported(move: str, after: str, tmp_path: Path) -> None:
    check_one("ACC419", image_program(CAST, f"{move}  # -> info unsafe"), tmp_path)
    assert after in fixed("ACC419", image_program(CAST, move, "# ACC419"), tmp_path)
