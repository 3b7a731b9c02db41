"""ACC209 loss-accumulation-keeps-graph where only its ``backward()`` shows that a loss is a tensor."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

HEAD = IMPORTS + "import conf\n"
LOOP = """
def train(loader, net, scaler, losses, optimizer):
    total, kept, running = 0.0, [], {"loss": 0.0}
    for i in range(conf.steps):
        loss = conf.criterion(net(loader.batch(i)))
        loss.backward()
        optimizer.step()
        total += loss
"""


def other(instead: str) -> str:
    """The loop with another line at its end."""
    return HEAD + LOOP.replace("total += loss\n", f"{instead}\n")


@pytest.mark.parametrize(
    "line",
    [
        "total += loss",
        "total += loss / 4",
        "total += loss.mean()",
        "kept.append(loss)",
        "running['loss'] += loss",
    ],
)
def test_reported_as_information(line: str, tmp_path: Path) -> None:
    fix = "none" if "/" in line else "unsafe"
    (found,) = check_one("ACC209", other(f"{line}  # -> info {fix}"), tmp_path)
    assert str(found.confidence) == "evident"
    assert "assuming that the value is a tensor" in found.message


@pytest.mark.parametrize(
    "backward",
    [
        "scaler.scale(loss).backward()",
        "(loss / 8).backward()",
        "scaler.scale(loss / 8).backward()",
        "conf.accelerator.backward(loss)",
        "(loss + 0.1 * conf.penalty).backward()",
    ],
)
def test_knows_the_ways_to_differentiate(backward: str, tmp_path: Path) -> None:
    assert findings_of("ACC209", (HEAD + LOOP).replace("loss.backward()", backward), tmp_path)


PAIRS = {
    "a number": ("total += loss.item()", "loss.item()", "loss"),
    "its data": ("total += loss.data", "loss.data", "loss"),
    "detached": ("total += loss.detach()", "loss.detach()", "loss"),
    "as a float": ("total += float(loss)", "float(loss)", "loss"),
    "another name": ("total += conf.penalty", "conf.penalty", "loss"),
    "rebound before": ("loss = loss.item()\n        total += loss", "loss = loss.item()", "pass"),
    "detached in place before": ("loss.detach_()\n        total += loss", "loss.detach_()", "pass"),
    "without autograd": ("with torch.no_grad():\n            total += loss", "with torch.no_grad()", "if 1"),
    "reset in each pass": ("total = 0\n        total += loss", "total = 0\n", "pass\n"),
    "a list of this pass": ("kept = []\n        kept.append(loss)", "kept = []\n", "pass\n"),
    "subtracted": ("total -= loss", "-=", "+="),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    line, condition, instead = PAIRS[case]
    check_pair("ACC209", Pair(other(line), condition, instead), tmp_path)


def test_silent_where_the_sum_is_differentiated(tmp_path: Path) -> None:
    source = (HEAD + LOOP).replace("        loss.backward()\n", "") + "    total.backward()\n"
    check_one("ACC209", source, tmp_path)


def test_silent_where_the_graph_is_retained(tmp_path: Path) -> None:
    check_pair(
        "ACC209",
        Pair((HEAD + LOOP).replace("backward()", "backward(retain_graph=True)"), "retain_graph=True"),
        tmp_path,
    )
