"""ACC411, ACC412 and ACC413, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import IMPORTS, MODEL
from .single import check_one

TRAIN = "for i in range(3):\n    step(torch.zeros(2, 8).cuda(), torch.zeros(2).cuda())\n"

ZERO_SILENT = {
    "no argument": "optimizer.zero_grad()",
    "true": "optimizer.zero_grad(set_to_none=True)",
    "an option": "import conf\noptimizer.zero_grad(set_to_none=conf.none)",
    "somebody else's": "import conf\nconf.optimizer.zero_grad(set_to_none=False)",
    "a captured graph": "g = torch.cuda.CUDAGraph()\noptimizer.zero_grad(set_to_none=False)",
}


@pytest.mark.parametrize("source", ZERO_SILENT.values(), ids=ZERO_SILENT.keys())
def test_zero_grad_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC411", IMPORTS + MODEL + source + "\n", tmp_path)


def test_zero_grad_reported(tmp_path: Path) -> None:
    source = (
        "optimizer.zero_grad(set_to_none=False)  # -> info unsafe\noptimizer.zero_grad(False)  # -> info unsafe\n"
        "model.zero_grad(set_to_none=False)  # -> info unsafe\n"
    )
    check_one("ACC411", IMPORTS + MODEL + source, tmp_path)


TOOLS_SILENT = {
    "off": "torch.autograd.set_detect_anomaly(False)",
    "an option": "import conf\ntorch.autograd.set_detect_anomaly(conf.debug)",
    "an option with a default": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--debug', action='store_true')\n"
        "torch.autograd.set_detect_anomaly(p.parse_args().debug)"
    ),
    "under a condition": "import conf\nif conf.debug:\n    torch.autograd.set_detect_anomaly(True)",
    "in a function for it": "def debug_step():\n    torch.autograd.set_detect_anomaly(True)\ndebug_step()",
    "launches do not block": "import os\nos.environ['CUDA_LAUNCH_BLOCKING'] = '0'",
    "another variable": "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'",
    "around one step": "with torch.autograd.detect_anomaly():\n    step(torch.zeros(2, 8), torch.zeros(2))",
    "a profiler around one step": "with torch.profiler.profile():\n    step(torch.zeros(2, 8), torch.zeros(2))",
}


@pytest.mark.parametrize("source", TOOLS_SILENT.values(), ids=TOOLS_SILENT.keys())
def test_tools_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC412", IMPORTS + MODEL + source + "\n" + TRAIN, tmp_path)


def test_tools_silent_where_nothing_trains(tmp_path: Path) -> None:
    check_one("ACC412", IMPORTS + "torch.autograd.set_detect_anomaly(True)\n", tmp_path)


def test_tools_reported(tmp_path: Path) -> None:
    source = """
import os
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # -> warning none
os.environ.setdefault("CUDA_LAUNCH_BLOCKING", "1")  # -> warning none
torch.autograd.set_detect_anomaly(True)  # -> warning unsafe
def main():
    torch.autograd.set_detect_anomaly(mode=True)  # -> warning unsafe
if __name__ == "__main__":
    main()
"""
    check_one("ACC412", IMPORTS + MODEL + TRAIN + source, tmp_path)


def test_tools_around_the_whole_training(tmp_path: Path) -> None:
    source = """
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
with torch.autograd.detect_anomaly():  # -> warning none
    with torch.profiler.profile() as prof:  # -> warning none
        for (x,) in loader:
            model(x.cuda()).sum().backward()
with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=1, active=3)) as prof:
    for (x,) in loader:
        model(x.cuda()).sum().backward()
"""
    check_one("ACC412", IMPORTS + MODEL + source, tmp_path)


def test_tools_of_lightning(tmp_path: Path) -> None:
    source = "import lightning as L\nt = L.Trainer(detect_anomaly=True)  # -> warning none\n"
    check_one("ACC412", "import torch\n" + source, tmp_path)


CHECKPOINTS_SILENT = {
    "given": "y = cp.checkpoint(block, x, use_reentrant=False)",
    "given as true": "y = cp.checkpoint(block, x, use_reentrant=True)",
    "through a partial": "import functools\nf = functools.partial(cp.checkpoint, use_reentrant=False)\ny = f(block, x)",
    "perhaps given": "import conf\ny = cp.checkpoint(block, x, **conf.kw)",
    "from a dict": "kw = {'use_reentrant': False}\ny = cp.checkpoint(block, x, **kw)",
    "the library decides": "block.gradient_checkpointing_enable()",
}
BLOCK = "import torch.utils.checkpoint as cp\nblock = nn.Linear(8, 8)\nx = torch.zeros(4, 8)\n"


@pytest.mark.parametrize("source", CHECKPOINTS_SILENT.values(), ids=CHECKPOINTS_SILENT.keys())
def test_checkpoint_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC413", IMPORTS + BLOCK + source + "\n", tmp_path)


def test_checkpoint_reported(tmp_path: Path) -> None:
    source = """
from torch.utils.checkpoint import checkpoint_sequential
class Net(nn.Module):
    def forward(self, x):
        return cp.checkpoint(self.block, x)  # -> warning unsafe
y = checkpoint_sequential(block, 2, x)  # -> warning unsafe
y = torch.utils.checkpoint.checkpoint(block, *[x])  # -> warning none
"""
    check_one("ACC413", IMPORTS + BLOCK + source, tmp_path)
