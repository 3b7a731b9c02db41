"""ACC428, ACC429 and ACC431, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import IMPORTS, MODEL
from .single import check_one

BEGIN = (
    IMPORTS
    + MODEL
    + """
import conf
import numpy as np
import wandb
from sklearn import metrics
from torch.utils.tensorboard import SummaryWriter
writer = SummaryWriter()
loader = DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64)), batch_size=16)
"""
)
STEP = """
for i, (x, y) in enumerate(loader):
    x, y = x.cuda(), y.cuda()
    out = model(x)
    loss = (out.sum() - y.sum())
    loss.backward()
    optimizer.step()
"""

LOG_SILENT = {
    "every so often": STEP + "    if i % 100 == 0:\n        wandb.log({'loss': loss.item()})",
    "after a condition leaves": STEP + "    if i % 100:\n        continue\n    wandb.log({'loss': loss.item()})",
    "after the epoch": STEP + "wandb.log({'loss': loss.item()})",
    "a number": STEP + "    wandb.log({'lr': 0.1})\n    writer.add_scalar('lr', 0.1, i)",
    "on the host": "host = nn.Linear(8, 2)\n" + STEP + "    writer.add_scalar('s', torch.zeros(1).item(), i)",
    "evaluation": "for x, y in loader:\n    writer.add_scalar('s', model(x.cuda()).sum().item(), 0)",
    "somebody else's": STEP + "    conf.log(loss.item())",
}


@pytest.mark.parametrize("source", LOG_SILENT.values(), ids=LOG_SILENT.keys())
def test_log_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC428", BEGIN + source + "\n", tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "wandb.log({'loss': loss.item()})",
        "writer.add_scalar('loss', loss.item(), i)",
        "writer.add_scalar('loss', loss, i)",
        "writer.add_scalar('loss', float(loss), i)",
    ],
)
def test_log_reported(line: str, tmp_path: Path) -> None:
    check_one("ACC428", BEGIN + STEP + f"    {line}  # -> info none\n", tmp_path)


METRIC_SILENT = {
    "evaluation": "for x, y in loader:\n    metrics.f1_score(y.numpy(), model(x.cuda()).cpu().numpy())",
    "every so often": STEP + "    if i % 9 == 0:\n        metrics.f1_score(y.cpu().numpy(), out.cpu().numpy())",
    "after the epoch": STEP + "metrics.f1_score(y.cpu().numpy(), out.cpu().numpy())",
    "never on the GPU": STEP.replace("x, y = x.cuda(), y.cuda()", "z = y.numpy()").replace(
        "model(x)", "model(x.cuda())"
    )
    + "    np.mean(z)",
    "on the GPU": STEP + "    metric = (out.argmax(1) == y).float().mean()",
    "no arrays": STEP + "    host = out.cpu()\n    np.mean([1, 2])",
}


@pytest.mark.parametrize("source", METRIC_SILENT.values(), ids=METRIC_SILENT.keys())
def test_metric_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC429", BEGIN + source + "\n", tmp_path)


@pytest.mark.parametrize(
    "lines",
    [
        "    metrics.f1_score(y.cpu().numpy(), out.argmax(1).cpu().numpy())  # -> info none",
        "    guess = out.detach().cpu().numpy()\n    np.mean(guess)  # -> info none",
    ],
)
def test_metric_reported(lines: str, tmp_path: Path) -> None:
    check_one("ACC429", BEGIN + STEP + lines + "\n", tmp_path)


LOOP_SILENT = {
    "the whole batch": "    model(x)",
    "every so many": "    for i in range(3):\n        model(x)",
    "parts of several": "    for i in range(0, x.size(0), 4):\n        model(x[i:i + 4])",
    "steps through time": "    h = x\n    for t in range(x.size(0)):\n        h = model(x[t], h)",
    "a cell": "    cell = nn.RNNCell(8, 8)\n    for t in range(x.size(0)):\n        cell(x[t])",
    "another dimension": "    for t in range(x.size(1)):\n        model(x[:, t])",
    "a list of samples": "    for one in x:\n        model(one)",
    "another tensor": "    z = torch.zeros(4, 8)\n    for i in range(x.size(0)):\n        model(z[i])",
    "something unknown": "    for i in range(x.size(0)):\n        conf.model(x[i])",
    "a layer without weights": "    f = nn.ReLU()\n    for i in range(x.size(0)):\n        f(x[i])",
}


@pytest.mark.parametrize("source", LOOP_SILENT.values(), ids=LOOP_SILENT.keys())
def test_loop_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC431", BEGIN + "for x, y in loader:\n" + source + "\n", tmp_path)


@pytest.mark.parametrize("rows", ["x.size(0)", "x.shape[0]", "len(x)"])
@pytest.mark.parametrize("row", ["x[i]", "x[i].unsqueeze(0)", "x[i].cuda()"])
def test_loop_reported(rows: str, row: str, tmp_path: Path) -> None:
    source = f"for x, y in loader:\n    for i in range({rows}):\n        model({row})  # -> info none\n"
    check_one("ACC431", BEGIN + source, tmp_path)
