"""Beginnings that the programs of rules/device share."""

from __future__ import annotations

import textwrap

from ..checks import Pair
from ..programs import IMPORTS


def net_pair(init: str, forward: str, condition: str, instead: str = "", after: str = "") -> Pair:
    """A module that makes ``init`` and computes ``forward``."""
    start = f"{IMPORTS}import conf\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    body = "".join(f"        {line}\n" for line in ("self.fc = nn.Linear(8, 8)", *init.splitlines()))
    made = "".join(f"        {line}\n" for line in forward.splitlines())
    return Pair(f"{start}{body}    def forward(self, x):\n{made}{after}", condition, instead)


def net(init: str, forward: str) -> str:
    """A module with these bodies."""
    body = textwrap.indent(f"super().__init__()\n{init}", " " * 8)
    return f"{IMPORTS}\nclass Net(nn.Module):\n    def __init__(self):\n{body}\n    def forward(self, x):\n{textwrap.indent(forward, ' ' * 8)}\n"


FRAMEWORKS = {
    "Lightning": "import lightning as L\ntrainer = L.Trainer()\n",
    "a module of Lightning": "import pytorch_lightning as pl\nclass Mine(pl.LightningModule):\n    pass\n",
    "Fabric": "from lightning.fabric import Fabric\nfabric = Fabric()\n",
    "transformers": "from transformers import Trainer\ntrainer = Trainer(model)\n",
    "Accelerate": "from accelerate import Accelerator\naccelerator = Accelerator()\n",
    "ignite": "from ignite.engine import create_supervised_trainer as make\nmake(model, None, None, device='cuda')\n",
    "skorch": "from skorch import NeuralNet\nnet = NeuralNet(nn.Linear, device='cuda')\n",
    "a regressor of skorch": "from skorch import NeuralNetRegressor\nnet = NeuralNetRegressor(nn.Linear, device='cuda')\n",
    "fastai": "from fastai.learner import Learner\nLearner(None, model)\n",
    "a star of fastai": "from fastai.vision.all import Learner\nLearner(None, model)\n",
    "DeepSpeed": "import deepspeed\nengine, *_ = deepspeed.initialize(model=nn.Linear(8, 2))\n",
    "Composer": "from composer import Trainer\nTrainer(model=None)\n",
    "mmengine": "from mmengine.runner import Runner\nRunner(model=None)\n",
}
"""What starts a framework that moves models and batches."""
