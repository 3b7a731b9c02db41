"""ACC401, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import fixed
from .programs import IMPORTS, MODEL
from .single import check_one

HEAD = IMPORTS + MODEL + "loader = DataLoader(TensorDataset(torch.zeros(8, 8)))\n"

SILENT = {
    "no_grad around the loop": """
def evaluate():
    model.eval()
    with torch.no_grad():
        for (x,) in loader:
            model(x)
""",
    "no_grad in the loop": """
def evaluate():
    model.eval()
    for (x,) in loader:
        x = prepare(x)
        with torch.inference_mode():
            model(x)
""",
    "decorated": """
@torch.no_grad()
def evaluate():
    model.eval()
    for (x,) in loader:
        model(x)
""",
    "decorated without a call": """
@torch.inference_mode
def evaluate():
    model.eval()
    for (x,) in loader:
        model(x)
""",
    "by every caller": """
def evaluate():
    model.eval()
    for (x,) in loader:
        model(x)
with torch.no_grad():
    evaluate()
""",
    "by a method of a library's class": """
import conf
class Calibrating(conf.Base):
    def calibrate(self):
        model.eval()
        for inputs in loader:
            self.prediction_step(model, inputs, True)
""",
    "a manager that is not known": """
import conf
def evaluate():
    model.eval()
    with conf.mode():
        for (x,) in loader:
            model(x)
""",
    "a decorator that is not known": """
import conf
@conf.quietly
def evaluate():
    model.eval()
    for (x,) in loader:
        model(x)
""",
    "one function for both": """
def run(phase):
    for (x,) in loader:
        with torch.set_grad_enabled(phase == "train"):
            model(x)
def evaluate():
    model.eval()
    for (x,) in loader:
        model(x)
""",
    "switched off for the program": """
torch.set_grad_enabled(False)
def evaluate():
    model.eval()
    for (x,) in loader:
        model(x)
""",
    "it trains": """
def test():
    model.eval()
    for (x,) in loader:
        model(x).sum().backward()
""",
    "an attack": """
def test():
    model.eval()
    for (x,) in loader:
        x.requires_grad = True
        g = torch.autograd.grad(model(x).sum(), x)
""",
    "the input needs a gradient": """
def test():
    model.eval()
    for (x,) in loader:
        y = saliency(model(x.requires_grad_()))
""",
    "named as an attack": """
def test_adversarial():
    model.eval()
    for (x,) in loader:
        model(x)
""",
    "no evaluation that we know of": """
def collect():
    for (x,) in loader:
        model(x)
""",
    "training by somebody else": """
import engine
def main():
    net = engine.build()
    net.eval()
    net.train()
    for (x,) in loader:
        engine.step(net, x)
""",
    "a test of the loader": """
def test_loader():
    for (x,) in loader:
        show(x)
""",
    "in a framework": """
import lightning as L
class Net(L.LightningModule):
    def __init__(self):
        self.inner = nn.Linear(8, 2)
    def validation_step(self, batch, index):
        self.inner.eval()
        for (x,) in loader:
            self.inner(x)
""",
    "only the loss": """
crit = nn.MSELoss()
def test():
    for (x,) in loader:
        crit(x, x)
""",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC401", HEAD + "def prepare(x):\n    return helper(x)\n" + source, tmp_path)


def test_reported_by_mode_and_by_name(tmp_path: Path) -> None:
    source = """
def accuracy(net, batches):
    net.eval()
    for (x,) in batches:  # -> warning unsafe
        net(x)

def run_validation():
    for (x,) in loader:  # -> warning unsafe
        model(x)

def scan():
    import engine
    net = engine.build()
    net.eval()
    for i, (x,) in enumerate(loader):  # -> warning unsafe
        net(x)

def main():
    for epoch in range(2):
        for (x,) in loader:
            model.train()
            model(x).sum().backward()
            optimizer.step()
        model.eval()
        for (x,) in loader:  # -> warning none
            model(x)

accuracy(model, loader)
model.eval()
for (x,) in loader:  # -> warning none
    model(x)
"""
    check_one("ACC401", HEAD + source, tmp_path)


def test_the_decorator_goes_next_to_the_function(tmp_path: Path) -> None:
    source = """
class Runner:
    @staticmethod
    def evaluate():
        model.eval()
        return sum(model(x).sum().item() for (x,) in loader)

    def test(self):
        model.eval()
        for (x,) in loader:
            model(x)
"""
    text = fixed(HEAD + source, tmp_path, "ACC401")
    assert "    @staticmethod\n    @torch.no_grad()\n    def evaluate():" in text
    assert "\n    @torch.no_grad()\n    def test(self):" in text


def test_across_files(tmp_path: Path) -> None:
    engine = """
def validate(model, loader):
    model.eval()
    for (x,) in loader:
        model(x)
"""
    source = HEAD + "from engine import validate\nwith torch.no_grad():\n    validate(model, loader)\n"
    check_one("ACC401", source, tmp_path, {"engine.py": engine})
