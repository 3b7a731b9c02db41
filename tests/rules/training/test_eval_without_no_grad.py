"""ACC401 eval-without-no-grad, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of, fixed
from ..programs import IMPORTS, MODEL

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
    "another model was put in evaluation mode": """
def distill(teacher, student):
    teacher.eval()
    for (x,) in loader:
        student(x)
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


SILENT_PROGRAMS = {
    "returns features": """
model = nn.Linear(8, 2).cuda()
from lib import data
loader = DataLoader(data)
def extract():
    feats = []
    for x in loader:
        feats.append(model(x))
    return feats
""",
    "reinforce eval mode then backward": """
model = nn.Linear(8, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
def finetune_bn_frozen():
    model.eval()
    for (x,) in loader:
        loss = model(x).sum()
        loss.backward()
""",
    "caller trains on what it returns": """
model = nn.Linear(8, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
def evaluate_loss():
    model.eval()
    total = 0
    for (x,) in loader:
        total = total + model(x).sum()
    return total
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(4):
    loss = evaluate_loss()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "requires grad false model params": """
model = nn.Linear(8, 2)
for p in model.parameters():
    p.requires_grad = False
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
def evaluate():
    model.eval()
    for (x,) in loader:
        print(model(x).argmax(1))
""",
    "all that a model has is frozen by name": """
model = nn.Linear(8, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
model.requires_grad_(False)
def evaluate():
    model.eval()
    for (x,) in loader:
        print(model(x).argmax(1))
""",
    "the part that is called is frozen": """
class Task:
    def __init__(self):
        self.net = nn.Linear(8, 2)
        for p in self.net.parameters():
            p.requires_grad = False
    def evaluate(self):
        self.net.eval()
        for (x,) in loader:
            print(self.net(x).argmax(1))
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
Task().evaluate()
""",
    "forces in forward": """
class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)
    def forward(self, x):
        x.requires_grad_(True)
        return torch.autograd.grad(self.fc(x).sum(), x)[0]
model = Energy()
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
def evaluate():
    model.eval()
    for (x,) in loader:
        print(model(x).mean().item())
evaluate()
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC401", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


def test_a_model_that_another_file_calls(tmp_path: Path) -> None:
    net = "class Net(nn.Module):\n    def forward(self, x):\n        return self.fc(x)\n    fc = nn.Linear(8, 2)\n"
    scoring = f"{IMPORTS}{net}def score(model, x):\n    return model(x).argmax(1)\n"
    source = f"""{IMPORTS}
from scoring import Net, score
model = Net()
for p in model.fc.parameters():
    p.requires_grad = False
def evaluate():
    model.eval()
    for (x,) in DataLoader(TensorDataset(torch.zeros(8, 8))): # -> warning unsafe
        print(score(model, x))
evaluate()
"""
    check_one("ACC401", source, tmp_path, {"scoring.py": scoring})


ON_THE_WAY = """
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
def evaluate():
    for p in model.parameters():
        p.requires_grad = False
    model.eval()
    for (x,) in loader:
        print(model(x).argmax(1))
    for p in model.parameters():
        p.requires_grad = True
for epoch in range(9):
    for (x,) in loader:
        model(x).sum().backward()
        optimizer.step()
    if epoch > 3:
        evaluate()
"""


@pytest.mark.parametrize("way", ["model.parameters()", "model[0].parameters()", "list(model.parameters())[:1]"])
def test_a_model_that_is_frozen_on_the_way(way: str, tmp_path: Path) -> None:
    source = ON_THE_WAY.replace("nn.Linear(8, 2)", "nn.Sequential(nn.Linear(8, 2), nn.ReLU())")
    if way != "model.parameters()":
        source = source.replace(
            "in model.parameters():\n        p.requires_grad = False", f"in {way}:\n        p.requires_grad = False"
        )
        source = source.replace("in loader:\n        print", "in loader:  # -> warning unsafe\n        print")
    check_one("ACC401", IMPORTS + source, tmp_path)


FREEZING = {
    "in a loop over a part's parameters": "for p in self.body.parameters():\n            p.requires_grad = False",
    "by name": "for name, p in self.named_parameters():\n            if 'body' in name: p.requires_grad = False",
    "a part at once": "self.body.requires_grad_(False)",
    "a part of a list": "self.body[0].requires_grad_(requires_grad=False)",
    "by class": "self.apply(freeze)",
}
FROZEN = """
def freeze(m):
    if isinstance(m, nn.BatchNorm1d):
        for p in m.parameters(): p.requires_grad = False
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)), nn.Linear(8, 2)
        {freezing}
    def forward(self, x):
        return self.head(self.body(x))
model = Net()
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
model.eval()
for (x,) in loader:  # -> warning none
    print(model(x).argmax(1))
"""


@pytest.mark.parametrize("case", FREEZING)
def test_a_frozen_part_asks_for_no_gradient(case: str, tmp_path: Path) -> None:
    check_one("ACC401", IMPORTS + FROZEN.format(freezing=FREEZING[case]), tmp_path)


@pytest.mark.parametrize("method", ["", ".eval()", ".eval().to('cpu')"])
def test_silent_where_a_function_freezes_on_a_condition_all_that_it_calls(method: str, tmp_path: Path) -> None:
    source = f"""{IMPORTS}import conf
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
def score():
    model = nn.Linear(8, 2)
    model{method}.requires_grad_(False)
    model.eval()
    for (x,) in loader:
        print(model(x).argmax(1))
if conf.score:
    score()
"""
    frozen = f"    model{method}.requires_grad_(False)\n"
    check_pair("ACC401", Pair(source, frozen), tmp_path)


LOSS_BESIDE = ON_THE_WAY.replace("model(x).sum().backward", "criterion(model(x)).backward")


@pytest.mark.parametrize("called", ["criterion", "other"])
def test_a_loss_beside_a_model_that_is_frozen_on_the_way(called: str, tmp_path: Path) -> None:
    source = LOSS_BESIDE.replace("model(x).argmax(1)", "criterion(model(x))").replace("criterion", called)
    if called == "other":
        source = source.replace("in loader:\n        print", "in loader:  # -> warning unsafe\n        print")
    check_one(
        "ACC401", f"{IMPORTS}from warpctc_pytorch import CTCLoss\n{called} = CTCLoss().cuda()\n{source}", tmp_path
    )


SAMPLED = """
def train(model):
    for (x,) in loader:
        model(x).sum().backward()
def score(make):
    sampler = nn.Linear(8, 2)
    sampler.eval().requires_grad_(False).to("cpu")
    for (x,) in loader:
        print(sampler(x).argmax(1))
train(nn.Linear(8, 2))
score(None)
"""


def test_silent_where_its_function_freezes_what_the_loop_calls_in_a_program_that_trains(tmp_path: Path) -> None:
    source = f"{IMPORTS}loader = DataLoader(TensorDataset(torch.zeros(8, 8)))\n{SAMPLED}"
    check_pair("ACC401", Pair(source, ".requires_grad_(False)"), tmp_path)


def test_a_part_that_is_made_trainable_asks_for_one(tmp_path: Path) -> None:
    source = IMPORTS + FROZEN.format(freezing="self.body.requires_grad_(True)")
    check_one("ACC401", source.replace("  # -> warning none", ""), tmp_path)


PAIR_HEAD = IMPORTS + MODEL + "import conf\nloader = DataLoader(TensorDataset(torch.zeros(8, 8)))\n"
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
    source = PAIR_HEAD + HOOK.format(library=library, base=base, hook=hook)
    check_pair("ACC401", Pair(source, f"library.{base}", "nn.Module"), tmp_path)


def loop(line: str, instead: str = "pass") -> Pair:
    """An evaluation with one more line in its loop."""
    body = f"def evaluate():\n    model.eval()\n    for (x,) in loader:\n        {line}\n        model(x).sum()\n"
    return Pair(PAIR_HEAD + body, line, instead)


def named(name: str) -> Pair:
    return Pair(
        f"{PAIR_HEAD}def {name}():\n    model.eval()\n    for (x,) in loader:\n        model(x)\n", name, "measure"
    )


EVALUATION = "def evaluate():\n    model.eval()\n    for (x,) in loader:\n        model(x)\n"
UNDER_A_MANAGER = """
def evaluate():
    model.eval()
    with conf.path.begin():
        for (x,) in loader:
            model(x)
"""
WITHOUT_GRADIENTS = {
    "a manager of which nothing is known": Pair(PAIR_HEAD + UNDER_A_MANAGER, "conf.path.begin()", "conf.path.open()"),
    "a manager of a library that nobody knows": Pair(
        PAIR_HEAD + "import threading, torchmore\n" + UNDER_A_MANAGER.replace("conf.path.begin", "torchmore.Mode"),
        "torchmore.Mode()",
        "threading.Lock()",
    ),
    "no_grad for the loop": Pair(PAIR_HEAD + EVALUATION.replace("def", "@torch.no_grad()\ndef"), "@torch.no_grad()\n"),
    "inference mode": Pair(
        PAIR_HEAD + EVALUATION.replace("def", "@torch.inference_mode()\ndef"), "@torch.inference_mode()\n"
    ),
    "set_grad_enabled(False) for the program": Pair(
        PAIR_HEAD + "torch.set_grad_enabled(False)\n" + EVALUATION, "torch.set_grad_enabled(False)\n"
    ),
    "set_grad_enabled by phase": Pair(
        PAIR_HEAD
        + EVALUATION.replace(
            "        model(x)", "        with torch.set_grad_enabled(conf.phase == 'train'):\n            model(x)"
        ),
        "torch.set_grad_enabled(conf.phase == 'train')",
        "open(conf.phase)",
    ),
    "a method of a library": Pair(
        PAIR_HEAD
        + "class Mine(conf.Base):\n    def evaluate(self):\n        model.eval()\n        for (x,) in loader:\n"
        + "            self.predict(model, x)\n",
        "self.predict(model, x)",
        "model(x)",
    ),
    "a session of ONNX": loop("conf.session.run(None, {'x': x.numpy()})\n        continue"),
    "exports": loop("torch.onnx.export(model, x, 'm.onnx')"),
    "an exporter": named("export_onnx"),
}


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
    return Pair(PAIR_HEAD + before + source, line, "print(loss)")


TOTAL = """
def evaluate():
    model.eval()
    total = 0
    for (x,) in loader:
        total = total + model(x).sum()
    return total
loss = evaluate()
"""
SAMPLE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
{0}    def forward(self, x):
{1}        return self.fc(x)
def scan(net, data):
    boxes = []
    for i in range(len(data)):
        image, target = data[i]
        {2}boxes.append(net({3}).data)
    return boxes
net = Net()
net.{4}()
scan(net, conf.data)
"""
HANDED_ON = "        return self.infer(x)\n\n    @torch.no_grad()\n    def infer(self, x):\n"
CALLED = HANDED_ON.replace("return self.infer(x)", "x = self.infer(x)\n        return self.fc(x)")
DECORATED, INSIDE = "    @torch.no_grad()\n", "        with torch.no_grad():\n            return self.fc(x)\n"


def samples(at: int, condition: str, instead: str) -> Pair:
    """An evaluation sample by sample, which is silent for what stands in one of five places."""
    parts = ["", "", "", "image.unsqueeze(0)", "eval"]
    parts[at] = condition
    return Pair(PAIR_HEAD + SAMPLE.format(*parts), condition, instead)


LAYERS = """
net = nn.Linear(8, 2)
net.eval()
for epoch in range(9):
    for i in range(3):
        net(conf.parts[i])
    model(conf.x).sum().backward()
"""
BY_ITSELF = {
    "the model's forward is decorated": samples(0, DECORATED, ""),
    "the model's forward stops autograd": samples(1, INSIDE, ""),
    "a method that forward returns, and not only calls, stops it": samples(1, HANDED_ON, CALLED),
    "a method that forward returns stops it": samples(1, HANDED_ON, HANDED_ON.replace("    @torch.no_grad()\n", "")),
    "single samples in training mode": samples(4, "train", "eval"),
    "a sample that wants a gradient": samples(3, "image.requires_grad_()", "image"),
    "parts of a training step": Pair(PAIR_HEAD + LAYERS, "    model(conf.x).sum().backward()\n"),
    "parts of a model": Pair(
        PAIR_HEAD + "def stack(parts):\n    for net in parts:\n        net(conf.x)\nmodel.eval()\nstack([model])\n",
        "for net in parts:",
        "for i in range(9):\n        net = parts[0]",
    ),
    "a torch that heeds volatile": Pair(
        PAIR_HEAD + EVALUATION.replace("model(x)", "model(torch.autograd.Variable(x, volatile=True))"),
        "torch==0.3.1",
        "torch",
        {"requirements.txt": "torch==0.3.1\n"},
    ),
    "a torch that heeds volatile, and an array of numpy that has always had an item": Pair(
        PAIR_HEAD
        + EVALUATION.replace(
            "model(x)", "model(torch.autograd.Variable(x, volatile=True)).sum().data.cpu().numpy().item()"
        ),
        ".numpy().item()",
        ".item()",
        {"requirements.txt": "pytorch=0.2.0=py36h53baedd_4cu80\n"},
    ),
    "another model is called than the one in evaluation mode": Pair(
        PAIR_HEAD + "def fit(net):\n    net.eval()\n    for (x,) in loader:\n        conf.show(x)\n", "conf.show", "net"
    ),
    "trained again": Pair(
        PAIR_HEAD + "def fit(net):\n    net.eval()\n    net.train()\n    for (x,) in loader:\n        net(x)\n",
        "    net.train()\n",
    ),
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
    "the caller's sum": Pair(PAIR_HEAD + TOTAL + "loss.backward()\n", "loss.backward()\n"),
    "the caller's mean": caller("loss.mean().backward()", "torch.stack(losses)"),
    "the caller's criterion": caller("nn.MSELoss()(loss, loss).backward()", "torch.stack(losses)"),
    "the caller's scaler": caller("torch.amp.GradScaler('cuda').scale(loss).backward()"),
    "the caller's autograd.backward": caller("torch.autograd.backward(loss)"),
    "the caller's autograd.grad": caller("torch.autograd.grad(loss, model.weight)"),
    "the caller's accelerator": caller(
        "accelerator.backward(loss)", before="from accelerate import Accelerator\naccelerator = Accelerator()\n"
    ),
}
PAIRS = WITHOUT_GRADIENTS | LEARNT_FROM | BY_ITSELF


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC401", pair, tmp_path)


def test_a_training_step_beside_the_evaluation_explains_its_own_loss(tmp_path: Path) -> None:
    source = PAIR_HEAD + EVALUATION + "for i in range(9):\n    {}\n    loss.backward()\n    evaluate()\n"
    known, unknown = "loss = nn.MSELoss()(model(conf.x), conf.y)", "loss = conf.collected"
    check_pair("ACC401", Pair(source.format(unknown), unknown, known), tmp_path)


def test_a_loss_that_training_computes_as_well_is_not_learnt_from(tmp_path: Path) -> None:
    source = (
        PAIR_HEAD
        + """
def loss_of(x):
    return nn.functional.mse_loss(model(x), x)
for epoch in range(9):
    model.train()
    for (x,) in loader:
        loss_of(x).backward()
    model.eval()
    total = 0
    for (x,) in loader:
        total = loss_of(x)
    total.backward()
"""
    )
    check_pair("ACC401", Pair(source, "total.backward()", "print(total)"), tmp_path)


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
    for i, (x,) in enumerate(loader):  # -> info unsafe
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
    text = fixed("ACC401", HEAD + source, tmp_path)
    assert "    @staticmethod\n    @torch.no_grad()\n    def evaluate():" in text
    assert "\n    @torch.no_grad()\n    def test(self):" in text


def test_the_remedy_is_never_inference_mode(tmp_path: Path) -> None:
    text = fixed("ACC401", PAIR_HEAD + EVALUATION, tmp_path)
    assert "@torch.no_grad()\ndef evaluate" in text
    assert "inference_mode" not in text


REPORTED_PROGRAMS = {
    "a model that a function builds, or none": """
import conf
def build(phase):
    if phase != "test":
        return
    return nn.Linear(8, 2)
def test_net(net, data):
    for i in range(len(data)):  # -> warning unsafe
        print(net(torch.from_numpy(data[i])).data)
def main():
    net = build(conf.phase)
    net.eval()
    if conf.cuda:
        net = net.cuda()
    test_net(net, conf.data)
main()
""",
    "volatile in a program for a torch that ignores it": """
model = nn.Linear(8, 2)
def test(loader):
    model.eval()
    for (x,) in loader:  # -> warning unsafe
        print(model(torch.autograd.Variable(x, volatile=True)).sum())
test(DataLoader(TensorDataset(torch.zeros(8, 8))))
""",
    "volatile in a file that only an old Python runs, as nothing asks for an old torch": """
model = nn.Linear(8, 2)
def test(loader):
    model.eval()
    for (x,) in loader:  # -> warning
        print(model(torch.autograd.Variable(x.cuda(async=True), volatile=True)).sum())
test(DataLoader(TensorDataset(torch.zeros(8, 8))))
""",
    "a validation phase of a function that trains": """
def fit(train, val=None):
    model = nn.Linear(8, 2)
    val_loader = None
    if val is not None:
        val_loader = DataLoader(val, batch_size=16)
    for epoch in range(3):
        model.train()
        for (x,) in DataLoader(train):
            model(x).sum().backward()
        model.eval()
        if val_loader is not None:
            total = 0.0
            for (x,) in val_loader:  # -> warning none
                total += model(x).sum()
""",
    "one of two loaders": """
def evaluate(data, fast):
    model = nn.Linear(8, 2)
    model.eval()
    if fast:
        loader = DataLoader(data, batch_size=64)
    else:
        loader = DataLoader(data, batch_size=16)
    total = 0.0
    for (x,) in loader:  # -> warning unsafe
        total += model(x).sum().item()
    return total
""",
    "a batch that a function prepares": """
def prepare(names):
    return torch.tensor([len(one) for one in names]).float()
def test(names):
    model = nn.Linear(8, 2)
    correct = 0
    for batch in DataLoader(names, batch_size=16):  # -> warning unsafe
        correct += model(prepare(batch)).max()
    return correct
""",
    "sample by sample": """
def test_net(dataset, net):
    found = []
    for i in range(len(dataset)):  # -> warning unsafe
        image, target = dataset[i]
        found.append(net(image.unsqueeze(0)).data)
    return found
def main(dataset):
    net = nn.Linear(8, 2)
    net.eval()
    test_net(dataset, net)
""",
    "slices of a list, in an epoch that begins without gradients": """
def decode(samples, model):
    model.eval()
    found = []
    for at in range(len(samples) // 16):  # -> warning unsafe
        batch = torch.FloatTensor(samples[at * 16 : (at + 1) * 16])
        found += model(batch).argmax(1).tolist()
    return found
def train(samples, turns):
    model = nn.Linear(8, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for turn in range(turns):
        model.train()
        model.zero_grad()
        for at in range(len(samples) // 16):
            model(torch.FloatTensor(samples[at * 16 : (at + 1) * 16])).sum().backward()
            optimizer.step()
            model.zero_grad()
        decode(samples, model)
""",
    "once an epoch, behind a loop that evaluates": """
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
def load():
    return torch.zeros(8, 8)
loader, others = DataLoader(TensorDataset(load())), DataLoader(TensorDataset(load()))
for epoch in range(9):
    model.train()
    for (x,) in loader:
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    for (x,) in others:  # -> warning
        print(model(x).argmax(1))
    show(model(load()))
""",
    "beside training, by name": """
model = nn.Linear(8, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
def train():
    for (x,) in loader:
        model(x).sum().backward()
def test():
    for (x,) in loader:  # -> warning unsafe
        print(model(x).argmax(1))
for epoch in range(9):
    train()
    test()
""",
    "plain evaluate": """
model = nn.Linear(8, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)))
def evaluate():
    model.eval()
    correct = 0
    for x, y in loader:  # -> warning unsafe
        correct += (model(x).argmax(1) == y).sum().item()
    print(correct / 8)
evaluate()
""",
    "trainer method": """
class T:
    def __init__(self):
        self.model = nn.Linear(8, 2)
        self.val = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)))
    def validate(self):
        self.model.eval()
        losses = []
        for x, y in self.val:  # -> warning unsafe
            losses.append(nn.functional.cross_entropy(self.model(x), y).item())
        return sum(losses) / len(losses)
T().validate()
""",
    "predict function at inference": """
def predict(model, loader):
    model.eval()
    out = []
    for (x,) in loader:  # -> warning unsafe
        out.append(model(x).argmax(1).cpu())
    return torch.cat(out)
predict(nn.Linear(8, 2), DataLoader(TensorDataset(torch.zeros(8, 8))))
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC401", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


def test_across_files(tmp_path: Path) -> None:
    engine = """
def validate(model, loader):
    model.eval()
    for (x,) in loader:
        model(x)
"""
    source = HEAD + "from engine import validate\nwith torch.no_grad():\n    validate(model, loader)\n"
    check_one("ACC401", source, tmp_path, {"engine.py": engine})


BY_A_FLAG = """
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1)

def iteration(loader, train=True):
    for (x,) in loader:  # -> warning none
        loss = model(x).sum()
        if train:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

loader = DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16)
iteration(loader)
iteration(loader, train=False)
"""
TOLD = {
    "a negated flag": ("train=True", "validate=False", "if train:", "if not validate:", "train=False", "validate=True"),
    "beside another": ("train=True", "val=False", "if train:", "if not val and conf.x:", "train=False", "val=True"),
    "an optimizer or none": ("train=True", "opt=None", "if train:", "if opt is not None:", "train=False", "opt=None"),
    "a phase": ("train=True", "phase='train'", "if train:", "if phase == 'train':", "train=False", "phase='val'"),
}


@pytest.mark.parametrize("words", TOLD.values(), ids=TOLD.keys())
def test_reports_one_loop_that_is_told_to_evaluate(words: tuple[str, ...], tmp_path: Path) -> None:
    source = BY_A_FLAG.replace(words[0], words[1]).replace(words[2], words[3]).replace(words[4], words[5])
    (found,) = check_one("ACC401", IMPORTS + source, tmp_path)
    told = found.related[-1]
    assert told.message.startswith("here `")
    assert (IMPORTS + source).splitlines()[told.span.start.row - 1] == f"iteration(loader, {words[5]})"
    trains = source.replace(f", {words[5]})", ")").replace("  # -> warning none", "")
    check_one("ACC401", IMPORTS + trains, tmp_path)


def test_reports_what_the_default_means_beside_calls_that_train(tmp_path: Path) -> None:
    source = BY_A_FLAG.replace("train=True", "opt=None").replace("if train:", "if opt:")
    source = source.replace("iteration(loader, train=False)", "iteration(loader, optimizer)")
    (found,) = check_one("ACC401", IMPORTS + source, tmp_path)
    assert "where `opt` is None" in found.message
    assert "set_grad_enabled(opt is not None)" in found.message


def test_reports_a_chain_of_branches_that_all_train(tmp_path: Path) -> None:
    source = BY_A_FLAG.replace("train=True", "val=False").replace("train=False", "val=True")
    chain = "if not val and conf.fp16:\n            loss.backward()\n        elif not val:"
    check_one("ACC401", IMPORTS + source.replace("if train:", chain), tmp_path)
    other = "if not val and conf.fp16:\n            loss.backward()\n        elif conf.more:"
    silent = source.replace("if train:", other).replace("  # -> warning none", "")
    check_one("ACC401", IMPORTS + silent, tmp_path)


def test_silent_where_the_method_of_a_module_is_told_what_a_function_of_its_name_is_not(tmp_path: Path) -> None:
    source = BY_A_FLAG.replace("iteration(loader, train=True)", "train(learn=True)").replace("if train:", "if learn:")
    source = source.replace("iteration(loader)", "train()").replace("iteration(loader, train=False)", "{called}")
    check_one("ACC401", IMPORTS + source.format(called="train(False)"), tmp_path)
    silent = source.format(called="model.train(False)").replace("  # -> warning none", "")
    check_one("ACC401", IMPORTS + silent, tmp_path)


PHASES = """
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
loader = DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16)
for phase in ["train", "val"]:
    for (x,) in loader:  # -> warning none
        loss = model(x).sum()
        if phase == "train":
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""


def test_reports_the_phase_of_a_loop_around_that_does_not_train(tmp_path: Path) -> None:
    check_one("ACC401", IMPORTS + PHASES, tmp_path)
    check_one(
        "ACC401", IMPORTS + PHASES.replace('"train", "val"', '"train"').replace("  # -> warning none", ""), tmp_path
    )


WHOLE_GRAPH = """
x, y, train, val = torch.zeros(8, 8), torch.zeros(8).long(), torch.arange(4), torch.arange(4, 8)
model = nn.Linear(8, 2)
optimizer = torch.optim.Adam(model.parameters())
def epoch():
    model.train()
    optimizer.zero_grad()
    loss = nn.functional.nll_loss(model(x)[train], y[train])
    loss.backward()
    optimizer.step()
    {switch}
    out = model(x){mark}
    print(nn.functional.nll_loss(out[val], y[val]).item())
for _ in range(200):
    epoch()
"""


def test_reports_an_evaluation_within_a_step_that_trains(tmp_path: Path) -> None:
    (found,) = check_one(
        "ACC401", IMPORTS + WHOLE_GRAPH.format(switch="model.eval()", mark="  # -> warning none"), tmp_path
    )
    assert "within its steps" in found.message
    check_one("ACC401", IMPORTS + WHOLE_GRAPH.format(switch="pass", mark=""), tmp_path)
    guarded = WHOLE_GRAPH.format(switch="model.eval()", mark="").replace("def epoch", "@torch.no_grad()\ndef epoch")
    check_one("ACC401", IMPORTS + guarded, tmp_path)


AMONG_BATCHES = """
model = nn.Linear(8, 2)
optimizer = torch.optim.Adam(model.parameters())
held = DataLoader(TensorDataset(torch.zeros(8, 8)))
for n, (x,) in enumerate(DataLoader(TensorDataset(torch.zeros(64, 8)))):
    model.train()
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
    if n % 10 == 0:
        (x,) = next(iter(held))
        {switch}
        loss = model(x).sum(){mark}
        print(loss.item())
"""


def test_reports_an_evaluation_among_the_batches_of_a_training(tmp_path: Path) -> None:
    spoken = IMPORTS + AMONG_BATCHES.format(switch="model.eval()", mark="  # -> info none")
    (found,) = check_one("ACC401", spoken, tmp_path)
    assert "within its steps" in found.message
    check_one("ACC401", IMPORTS + AMONG_BATCHES.format(switch="pass", mark=""), tmp_path)
    learns = AMONG_BATCHES.format(switch="model.eval()", mark="").replace("print(loss.item())", "loss.backward()")
    check_one("ACC401", IMPORTS + learns, tmp_path)


def test_silent_about_a_model_in_evaluation_mode_that_the_loss_goes_through(tmp_path: Path) -> None:
    source = WHOLE_GRAPH.format(switch="pass", mark="").replace("    out = model(x)\n", "    out = loss[None]\n")
    check_one("ACC401", IMPORTS + source.replace("    model.train()\n", "    model.eval()\n"), tmp_path)


ONE_LOOP_FOR_BOTH = [
    ("iteration(loader, train=False)", "iteration(loader, train=True)"),
    ("if train:", "if len(x):"),
    ("loss = model(x).sum()", "loss = model(x).sum()\n        torch.autograd.grad(loss, x)"),
    ("        loss = model(x).sum()", "        with torch.set_grad_enabled(train):\n            loss = model(x).sum()"),
]


def test_reported_where_one_loop_trains_and_evaluates(tmp_path: Path) -> None:
    check_one("ACC401", IMPORTS + BY_A_FLAG, tmp_path)


@pytest.mark.parametrize(("instead", "condition"), ONE_LOOP_FOR_BOTH)
def test_silent_about_one_loop_for_one_reason(instead: str, condition: str, tmp_path: Path) -> None:
    source = (IMPORTS + BY_A_FLAG).replace(instead, condition).replace("  # -> warning none", "")
    check_pair("ACC401", Pair(source, condition, instead), tmp_path)


SAMPLES_IN_EPOCHS = """
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
rows = torch.zeros(64, 8)

def evaluate():
    model.eval()
    for at in range(0, 64, 8):
        print(model(rows[at : at + 8]).sum())

def train():
    model.train()
    for at in range(0, 64, 8):
        model(rows[at : at + 8]).sum().backward()
        optimizer.step()

for epoch in range(9):
    train()
    evaluate()
"""


def test_reported_sample_by_sample_beside_the_training_of_an_epoch(tmp_path: Path) -> None:
    source = (IMPORTS + SAMPLES_IN_EPOCHS).replace("model.eval()", "pass", 1)
    check_pair("ACC401", Pair(source, "    pass\n", "    model.eval()\n"), tmp_path)


def test_names_the_call(tmp_path: Path) -> None:
    (found,) = findings_of("ACC401", HEAD + EVALUATION, tmp_path)
    assert [one.message for one in found.related] == ["the model is called here"]


INSIDE = """
def evaluate(data):
    import torch
    from torch.utils.data import DataLoader
    model = torch.nn.Linear(8, 2)
    model.eval()
    for (x,) in DataLoader(data):
        model(x)
"""


@pytest.mark.parametrize(
    ("head", "remedy"),
    [("", "put the loop under `with torch.no_grad():`"), ("import torch\n", "decorate it with `@torch.no_grad()`")],
)
def test_no_decorator_names_what_only_the_function_imports(head: str, remedy: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC401", head + INSIDE, tmp_path)
    assert found.message.endswith(remedy)
