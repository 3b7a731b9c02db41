"""ACC417 no-mixed-precision, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import CONVOLUTIONS, IMAGE_LOADER, IMAGES, IMPORTS, image_program

EVALUATION = "net.cuda()\nfor (x,) in loader:\n    net(x.cuda())\n"
SILENT = {
    "autocast": image_program("net.cuda()", "with torch.autocast('cuda'):", "    pass"),
    "the old autocast": image_program("net.cuda()", "with torch.cuda.amp.autocast():", "    pass"),
    "autocast of a forward": image_program("@torch.autocast('cuda')", "def f(x):", "    return x", "net.cuda()"),
    "half": image_program("net.cuda().half()"),
    "bfloat16": image_program("net.cuda().bfloat16()"),
    "float64": image_program("net.cuda().double()"),
    "TF32": image_program("torch.set_float32_matmul_precision('high')", "net.cuda()"),
    "on the host": image_program(),
    "a device that is not known": image_program("net.to(conf.device)"),
    "a model that is not known": image_program("net.cuda()", net="net = conf.net\n"),
    "given to something unknown": image_program("net.cuda()", "conf.prepare(net)"),
    "a small model": image_program("net.cuda()", net="net = nn.Linear(8, 2)\n"),
    "Fourier transforms": image_program("net.cuda()", "torch.fft.rfft(torch.zeros(8))"),
    "reinforcement learning": image_program("import gym", "env = gym.make('CartPole-v1')", "net.cuda()"),
    "graphs": image_program(
        "from torch_geometric.loader import DataLoader as G", "loader = G(conf.data)", "net.cuda()"
    ),
    "a framework": image_program("from accelerate import Accelerator", "a = Accelerator()", "net.cuda()"),
    "no training": IMPORTS + IMAGE_LOADER + CONVOLUTIONS + EVALUATION,
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC417", source, tmp_path)


def images(line: str) -> Pair:
    """A convolutional network that is trained on CUDA, with one more line."""
    return Pair(IMAGES.format(line), line)


PRECISION = [
    "x = torch.zeros(2).half()\n",
    "net.to(torch.bfloat16)\n",
    "net.to(dtype=torch.float16)\n",
    "net.to('cuda', torch.half)\n",
    "net.to(torch.float64)\n",
    "net = nn.Sequential(nn.Conv2d(3, 8, 3, dtype=torch.bfloat16))\n",
    "torch.set_default_dtype(torch.bfloat16)\n",
    "scaler = torch.amp.GradScaler('cuda')\n",
    "from apex import amp\nnet, _ = amp.initialize(net, None)\n",
    "import lightning as L\ntrainer = L.Trainer(precision='bf16-mixed')\n",
    "torch.backends.cuda.matmul.allow_tf32 = True\n",
    "torch.backends.fp32_precision = 'tf32'\n",
    "torch.view_as_complex(torch.zeros(2, 2))\n",
    "x = torch.zeros(2, 2, dtype=torch.cfloat)\n",
    "torch.fft.fft2(torch.zeros(2, 2))\n",
    "torch.stft(torch.zeros(9), 4)\n",
    "import gymnasium\nenv = gymnasium.make('CartPole-v1')\n",
    "import stable_baselines3\nagent = stable_baselines3.PPO('MlpPolicy', conf.env)\n",
]


@pytest.mark.parametrize("line", PRECISION)
def test_silent_for_one_reason(line: str, tmp_path: Path) -> None:
    check_pair("ACC417", images(line), tmp_path)


@pytest.mark.parametrize("layer", ["nn.Conv2d(3, 8, 3)", "nn.TransformerEncoderLayer(8, 2)"])
def test_reported_once(layer: str, tmp_path: Path) -> None:
    check_one(
        "ACC417", image_program("net.cuda()", net=f"net = nn.Sequential({layer})\n", mark="  # -> info none"), tmp_path
    )


def test_sees_torchvision_and_classes(tmp_path: Path) -> None:
    vision = "import torchvision\nnet = torchvision.models.resnet50()\n"
    check_one("ACC417", image_program("net.cuda()", net=vision, mark="  # -> info none"), tmp_path)
    own = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.c = nn.Conv2d(3, 8, 3)\n"
    check_one("ACC417", image_program("net.cuda()", net=own + "net = Net()\n", mark="  # -> info none"), tmp_path)
