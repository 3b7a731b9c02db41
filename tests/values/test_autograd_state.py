"""Whether autograd records what is computed under decorators and context managers of which nothing is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.source.document import Document

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import lib

model = nn.Linear(8, 2).cuda()
loader = DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2)), batch_size=16)
"""
TRAINS = """
{before}
def {name}():
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x.cuda()), y.cuda())
        {then}

{name}()
"""
MANAGED = """
def train():
    for x, y in loader:
        with {manager}:
            loss = nn.functional.mse_loss(model(x.cuda()), y.cuda()){inside}
        {then}

train()
"""


def records(text: str, folder: Path) -> bool:
    """Whether the loop over the loader calls the model while autograd certainly records."""
    file = folder / "train.py"
    file.write_text(HEAD + text)
    (facts,) = analyze([Document.read(str(file))], folder).facts.values()
    (loop,) = [one for one in facts.loops if one.loaders]
    assert loop.graphs != loop.graph_free
    return loop.graphs


SWITCH = """
def quietly(function):
    def run(*args, **kwargs):
        with torch.no_grad():
            return function(*args, **kwargs)
    return run
"""
TIMES = SWITCH.replace("torch.no_grad()", "lib.timer()")

RECORDED = {
    "a library's": ("@lib.command()", "train", "loss.backward()"),
    "what a group of commands gives": ("@lib.group()\ndef main(): pass\n@main.command()", "train", "loss.backward()"),
    "one of the project": (TIMES + "@quietly", "train", "loss.backward()"),
    "a step that hands its loss on": ("@lib.timed", "train", "return loss"),
    "one named for something else": ("@lib.retrieval.upgraded", "train", "return loss"),
    "one named for it, of what computes gradients": ("@lib.evaluation", "train", "loss.backward()"),
    "a training called a test": ("@lib.timed", "test_of_strength", "loss.backward()"),
}
NOT_RECORDED = {
    "torch's own": ("@torch.no_grad()", "train", "loss.backward()"),
    "one named for it": ("@lib.no_gradients()", "train", "return loss"),
    "one named for evaluations": ("@lib.evaluation", "train", "return loss"),
    "one of the project": (SWITCH + "@quietly", "train", "return loss"),
    "an evaluation": ("@lib.timed", "validate", "return loss"),
    "a test": ("@lib.timed", "test_of_strength", "return loss"),
}


@pytest.mark.parametrize(("before", "name", "then"), RECORDED.values(), ids=RECORDED.keys())
def test_a_decorator_that_is_not_known_leaves_a_training_as_it_is(
    before: str, name: str, then: str, tmp_path: Path
) -> None:
    assert records(TRAINS.format(before=before, name=name, then=then), tmp_path)


@pytest.mark.parametrize(("before", "name", "then"), NOT_RECORDED.values(), ids=NOT_RECORDED.keys())
def test_a_decorator_may_keep_autograd_from_recording(before: str, name: str, then: str, tmp_path: Path) -> None:
    assert not records(TRAINS.format(before=before, name=name, then=then), tmp_path)


MANAGERS = {
    "what is differentiated behind it": (("lib.engine()", "", "loss.backward()"), ("lib.engine()", "", "print(loss)")),
    "scaled and differentiated": (
        ("lib.engine()", "", "(loss / 4).backward()"),
        ("lib.engine()", "", "(1 / loss).mean()"),
    ),
    "what is differentiated in it": (
        ("lib.engine()", "; loss.backward()", "pass"),
        ("lib.engine()", "; loss.mean()", "pass"),
    ),
    "one named for it": (("lib.engine()", "", "loss.backward()"), ("lib.frozen()", "", "loss.backward()")),
    "of a known switch": (
        ("torch.autocast('cuda')", "", "loss.backward()"),
        ("torch.set_grad_enabled(lib.on)", "", "loss.backward()"),
    ),
}


@pytest.mark.parametrize("pair", MANAGERS.values(), ids=MANAGERS.keys())
def test_a_context_manager_around_what_is_differentiated_stops_nothing(
    pair: tuple[tuple[str, str, str], tuple[str, str, str]], tmp_path: Path
) -> None:
    for expected, (manager, inside, then) in zip((True, False), pair, strict=True):
        assert records(MANAGED.format(manager=manager, inside=inside, then=then), tmp_path) is expected
