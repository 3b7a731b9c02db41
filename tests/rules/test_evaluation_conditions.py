"""Each condition under which ACC401 and ACC432 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import fixed
from .pairs import Pair, check_pair
from .programs import IMPORTS, MODEL

HEAD = IMPORTS + MODEL + "import conf\nloader = DataLoader(TensorDataset(torch.zeros(8, 8)))\n"
HOOK = """
import {library} as library
class Net(library.{base}):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
    def {hook}(self, batch, index):
        self.fc.eval()
        for (x,) in loader:
            self.fc(x)
"""
HOOKS = [
    *(("lightning", "LightningModule", hook) for hook in ("validation_step", "test_step", "predict_step")),
    ("pytorch_lightning", "LightningModule", "on_validation_epoch_end"),
    *(("transformers", "Trainer", hook) for hook in ("prediction_step", "evaluation_loop")),
]


@pytest.mark.parametrize(("library", "base", "hook"), HOOKS, ids=[f"{base}.{hook}" for _, base, hook in HOOKS])
def test_silent_in_hooks_of_frameworks(library: str, base: str, hook: str, tmp_path: Path) -> None:
    source = HEAD + HOOK.format(library=library, base=base, hook=hook)
    check_pair("ACC401", Pair(source, f"library.{base}", "nn.Module"), tmp_path)


def loop(line: str, instead: str = "pass") -> Pair:
    """An evaluation with one more line in its loop."""
    body = f"def evaluate():\n    model.eval()\n    for (x,) in loader:\n        {line}\n        model(x).sum()\n"
    return Pair(HEAD + body, line, instead)


def caller(line: str, returned: str = "sum(losses)", before: str = "") -> Pair:
    """An evaluation with one more line in what calls it."""
    source = f"""
def evaluate():
    model.eval()
    losses = []
    for (x,) in loader:
        losses.append(model(x).sum())
    return {returned}
loss = evaluate()
{line}
"""
    return Pair(HEAD + before + source, line, "print(loss)")


def named(name: str) -> Pair:
    return Pair(f"{HEAD}def {name}():\n    model.eval()\n    for (x,) in loader:\n        model(x)\n", name, "measure")


TOTAL = """
def evaluate():
    model.eval()
    total = 0
    for (x,) in loader:
        total = total + model(x).sum()
    return total
loss = evaluate()
"""
EVALUATION = "def evaluate():\n    model.eval()\n    for (x,) in loader:\n        model(x)\n"
WITHOUT_GRADIENTS = {
    "no_grad for the loop": Pair(HEAD + EVALUATION.replace("def", "@torch.no_grad()\ndef"), "@torch.no_grad()\n"),
    "inference mode": Pair(
        HEAD + EVALUATION.replace("def", "@torch.inference_mode()\ndef"), "@torch.inference_mode()\n"
    ),
    "set_grad_enabled(False) for the program": Pair(
        HEAD + "torch.set_grad_enabled(False)\n" + EVALUATION, "torch.set_grad_enabled(False)\n"
    ),
    "set_grad_enabled by phase": Pair(
        HEAD
        + EVALUATION.replace(
            "        model(x)", "        with torch.set_grad_enabled(conf.phase == 'train'):\n            model(x)"
        ),
        "torch.set_grad_enabled(conf.phase == 'train')",
        "open(conf.phase)",
    ),
    "a method of a library": Pair(
        HEAD
        + "class Mine(conf.Base):\n    def evaluate(self):\n        model.eval()\n        for (x,) in loader:\n"
        + "            self.predict(model, x)\n",
        "self.predict(model, x)",
        "model(x)",
    ),
    "a session of ONNX": loop("conf.session.run(None, {'x': x.numpy()})\n        continue"),
    "exports": loop("torch.onnx.export(model, x, 'm.onnx')"),
    "an exporter": named("export_onnx"),
}
LEARNT_FROM = {
    "backward": loop("model(x).sum().backward()"),
    "the input wants a gradient": loop("x.requires_grad_()"),
    "a variable wants a gradient": loop("torch.autograd.Variable(x, requires_grad=True)"),
    "autograd.grad": loop("torch.autograd.grad(model(x).sum(), x)"),
    "torch.func": loop("torch.func.grad(model)(x)"),
    "a Jacobian": loop("torch.autograd.functional.jacobian(model, x)"),
    "adversarial": named("test_fgsm"),
    "saliency": named("saliency_test"),
    "a gradient penalty": named("gradient_penalty"),
    "gradients of the input": named("integrated_gradients"),
    "meta-learning": named("maml_eval"),
    "test-time adaptation": named("test_time_adaptation"),
    "the caller": caller("loss.backward()"),
    "the caller's sum": Pair(HEAD + TOTAL + "loss.backward()\n", "loss.backward()\n"),
    "the caller's mean": caller("loss.mean().backward()", "torch.stack(losses)"),
    "the caller's criterion": caller("nn.MSELoss()(loss, loss).backward()", "torch.stack(losses)"),
    "the caller's scaler": caller("torch.amp.GradScaler('cuda').scale(loss).backward()"),
    "the caller's autograd.backward": caller("torch.autograd.backward(loss)"),
    "the caller's autograd.grad": caller("torch.autograd.grad(loss, model.weight)"),
    "the caller's accelerator": caller(
        "accelerator.backward(loss)", before="from accelerate import Accelerator\naccelerator = Accelerator()\n"
    ),
}
EVALUATED = WITHOUT_GRADIENTS | LEARNT_FROM


@pytest.mark.parametrize("pair", EVALUATED.values(), ids=EVALUATED.keys())
def test_evaluation_silent(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC401", pair, tmp_path)


def test_a_training_step_beside_the_evaluation_explains_its_own_loss(tmp_path: Path) -> None:
    source = HEAD + EVALUATION + "for i in range(9):\n    {}\n    loss.backward()\n    evaluate()\n"
    known, unknown = "loss = nn.MSELoss()(model(conf.x), conf.y)", "loss = conf.collected"
    check_pair("ACC401", Pair(source.format(unknown), unknown, known), tmp_path)


def test_the_remedy_is_never_inference_mode(tmp_path: Path) -> None:
    text = fixed(HEAD + EVALUATION, tmp_path, "ACC401")
    assert "@torch.no_grad()\ndef evaluate" in text
    assert "inference_mode" not in text


NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5))
    def forward(self, x):
        return self.body(x)
net = Net()
"""
TEST = "with torch.no_grad():\n        for (x,) in loader:\n            net(x)\n"


def evaluated(line: str, instead: str = "pass") -> Pair:
    return Pair(f"{HEAD}{NET}{line}\ndef check():\n    {TEST}check()\n", line, instead)


def called(name: str) -> Pair:
    return Pair(f"{HEAD}{NET}def {name}():\n    {TEST}{name}()\n", name, "check")


TRAINING_MODE = {
    "evaluation mode": evaluated("net.eval()"),
    "evaluation mode of a part": evaluated("net.body.eval()"),
    "train(False)": evaluated("net.train(False)"),
    "Lightning": evaluated("import lightning as L\ntrainer = L.Trainer()"),
    "transformers": evaluated("from transformers import Trainer\ntrainer = Trainer(net)"),
    "Monte Carlo dropout": called("mc_dropout"),
    "Monte Carlo": called("monte_carlo"),
    "uncertainty": called("predict_uncertainty"),
    "a posterior": called("sample_posterior"),
    "no batch norm or dropout": Pair(
        f"{HEAD}{NET}def check():\n    {TEST}check()\n".replace("nn.Dropout(0.5)", "nn.ReLU()"),
        "nn.ReLU()",
        "nn.Dropout(0.5)",
    ),
}


@pytest.mark.parametrize("pair", TRAINING_MODE.values(), ids=TRAINING_MODE.keys())
def test_training_mode_silent(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC432", pair, tmp_path)
