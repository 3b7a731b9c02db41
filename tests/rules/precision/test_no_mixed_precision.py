"""ACC417 no-mixed-precision, silent cases first."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from accel_advisor import lint
from accel_advisor.analysis.project import analyze
from accel_advisor.finding import Finding
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMAGE_LOADER, IMPORTS

DEEP = "net = nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)])\n"
TRAINING = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in loader:
    net(x.cuda()).sum().backward(){mark}
    optimizer.step()
for (x,) in loader:
    net(x.cuda()).sum().backward()
    optimizer.step()
"""
MARK = "  # -> info none"


def program(*lines: str, net: str = DEEP, mark: str = "") -> str:
    """Two loops that train a deep network on images, with lines between the network and the first of them."""
    return IMPORTS + IMAGE_LOADER + net + "\n".join(lines) + TRAINING.format(mark=mark)


EVALUATION = "net.cuda()\nfor (x,) in loader:\n    net(x.cuda())\n"
SILENT = {
    "autocast": program("net.cuda()", "with torch.autocast('cuda'):", "    pass"),
    "the old autocast": program("net.cuda()", "with torch.cuda.amp.autocast():", "    pass"),
    "autocast of a forward": program("@torch.autocast('cuda')", "def f(x):", "    return x", "net.cuda()"),
    "half": program("net.cuda().half()"),
    "bfloat16": program("net.cuda().bfloat16()"),
    "float64": program("net.cuda().double()"),
    "TF32": program("torch.set_float32_matmul_precision('high')", "net.cuda()"),
    "on the host": program().replace(".cuda()", ""),
    "a device that is not known": program("net.to(conf.device)").replace("x.cuda()", "x"),
    "a model that is not known": program("net.cuda()", net="net = conf.net\n"),
    "a small model": program("net.cuda()", net="net = nn.Linear(8, 2)\n"),
    "two convolutions": program("net.cuda()", net="net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3))\n"),
    "digits": program("import torchvision", "d = torchvision.datasets.MNIST('d', transform=conf.t)", "net.cuda()"),
    "another program's word": program("parser.add_argument('--use_fp16')", "net.cuda()"),
    "Fourier transforms": program("net.cuda()", "torch.fft.rfft(torch.zeros(8))"),
    "reinforcement learning": program("import gym", "env = gym.make('CartPole-v1')", "net.cuda()"),
    "graphs": program("from torch_geometric.loader import DataLoader as G", "loader = G(conf.data)", "net.cuda()"),
    "a framework": program("from accelerate import Accelerator", "a = Accelerator()", "net.cuda()"),
    "no training": IMPORTS + IMAGE_LOADER + DEEP + EVALUATION,
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC417", source, tmp_path)


def images(line: str) -> Pair:
    """A deep network that is trained on CUDA, with one more line."""
    return Pair(program(line.rstrip(), "net.cuda()"), line.rstrip() + "\n")


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
    "import gymnasium\nenv = gymnasium.make('CartPole-v1')\n",
    "import stable_baselines3\nagent = stable_baselines3.PPO('MlpPolicy', conf.env)\n",
]


@pytest.mark.parametrize("line", PRECISION)
def test_silent_for_one_reason(line: str, tmp_path: Path) -> None:
    check_pair("ACC417", images(line), tmp_path)


GRAPH = """
class Attention(nn.Module):
    def forward(self, x, edge_index):
        x = torch.matmul(torch.softmax(x, 1), x.T)
        return torch.zeros_like(x).scatter_add_(0, edge_index, x)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Attention() for _ in range(8)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x, conf.pairs)
        return x
net = Net()
"""
GRAPHS = {
    "no sums": (".scatter_add_(0, edge_index, x)", ""),
    "no edges": ("edge_index", "rows"),
    "convolutions beside it": ("nn.ModuleList([Attention()", "nn.ModuleList([nn.Conv2d(3, 3, 3)"),
}


@pytest.mark.parametrize("case", GRAPHS)
def test_silent_about_messages_along_edges(case: str, tmp_path: Path) -> None:
    check_pair("ACC417", Pair(program("net.cuda()", net=GRAPH), *GRAPHS[case]), tmp_path)


TWICE = [
    "    torch.autograd.grad(conf.loss, net.parameters(), create_graph=True)\n",
    "    torch.autograd.grad(conf.loss, inputs=conf.weights, create_graph=True)\n",
    "    net(x).sum().backward(create_graph=True)\n",
]


@pytest.mark.parametrize("line", TWICE)
def test_silent_about_gradients_of_gradients_in_the_loop(line: str, tmp_path: Path) -> None:
    step = "for (x,) in loader:\n"
    check_pair("ACC417", Pair(program("net.cuda()").replace(step, step + line), line), tmp_path)


def test_silent_about_gradients_of_gradients_in_a_function(tmp_path: Path) -> None:
    inner = "def inner(x):\n    return torch.autograd.grad(net(x).sum(), net.parameters(), create_graph=True)\n"
    check_pair("ACC417", Pair(program("net.cuda()", inner), inner), tmp_path)


def test_a_penalty_of_gradients_is_left_in_float32(tmp_path: Path) -> None:
    penalty = "def penalty(x):\n    return torch.autograd.grad(net(x).sum(), inputs=x, create_graph=True)\n"
    (found,) = findings_of("ACC417", program("net.cuda()", penalty), tmp_path)
    assert "but for the gradients that are a part of the loss" in found.message
    assert found.related[-1].message == "these are best left in float32"


def _of_two(folder: Path, main: str, other: str) -> list[Finding]:
    """What is said about a script and one that imports it, as one program."""
    for name, source in {"main.py": main, "zoo.py": f"import main\n{other}"}.items():
        (folder / name).write_text(source)
    documents = [Document.read(folder / name) for name in ("main.py", "zoo.py")]
    facts = analyze(documents, folder).facts
    return [one for each in facts.values() for one in registry()["ACC417"].check(each)]


def test_names_the_loops_of_other_files(tmp_path: Path) -> None:
    source = program("net.cuda()")
    (found,) = _of_two(tmp_path, source, source)
    (*_, also) = found.related
    assert also.message == "this loop trains in float32, too"
    assert also.filename.endswith("main.py")  # which the other one imports
    (alone,) = _of_two(tmp_path, source, IMPORTS + IMAGE_LOADER + DEEP + EVALUATION)
    assert also.message not in [one.message for one in alone.related]


def test_each_script_that_takes_from_a_third_has_its_own(tmp_path: Path) -> None:
    source = program("net.cuda()")
    others = {"base.py": source, "apart.py": f"import base\n{source}"}
    for name, text in others.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "train.py").write_text(f"import base\n{source}")
    found = list(lint(tmp_path, select="ACC417").findings)
    assert [Path(one.filename).name for one in found] == ["apart.py", "train.py"]
    assert all(any(also.filename.endswith("base.py") for also in one.related) for one in found)


def test_names_the_steps_of_other_functions(tmp_path: Path) -> None:
    loop = TRAINING.format(mark="").split("for")[1].replace("\n", "\n    ")
    tuning = f"def tune():\n    for{loop}\ntune()\n"
    (found,) = findings_of("ACC417", program("net.cuda()") + tuning, tmp_path)
    assert [one.message for one in found.related][-1] == "this loop trains in float32, too"
    (alone,) = findings_of("ACC417", program("net.cuda()"), tmp_path)
    assert "this loop trains in float32, too" not in [one.message for one in alone.related]


@pytest.mark.parametrize(
    ("net", "deep"),
    [
        ("transformers.BertModel(conf.bert)", True),
        ("transformers.AutoModelForMaskedLM.from_pretrained('bert')", True),
        ("transformers.BertConfig(conf.bert)", False),
    ],
)
def test_models_of_transformers_are_deep(net: str, *, deep: bool, tmp_path: Path) -> None:
    source = program(
        "net.cuda()", net=f"import transformers\npart = {net}\nnet = nn.Sequential(part, nn.Linear(8, 2))\n"
    )
    assert bool(findings_of("ACC417", source, tmp_path)) is deep


def test_digits_are_no_data_of_another_script(tmp_path: Path) -> None:
    digits = "import torchvision\nd = torchvision.datasets.MNIST('d', transform=conf.t)\n"
    plain = program("net.cuda()")
    (found,) = _of_two(tmp_path, program(digits, "net.cuda()"), plain)
    assert found.filename.endswith("zoo.py")
    assert _of_two(tmp_path, program(digits, "net.cuda()"), program(digits, "net.cuda()")) == []


@pytest.mark.parametrize(
    "line",
    [
        "torch.stft(torch.zeros(9), 4)",
        "def f(x):\n    return torch.autograd.grad(net(x), [x])",
        "torch.autograd.grad(net.cuda()(conf.x), conf.x, create_graph=True)",
    ],
)
def test_reports_a_loop_beside_which_other_things_are_computed(line: str, tmp_path: Path) -> None:
    check_one("ACC417", program("net.cuda()", line, mark=MARK), tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "total = torch.tensor([1, 2], dtype=torch.float64, device='cuda')",
        "betas = torch.linspace(1e-4, 2e-2, 1000, dtype=torch.float64)",
        "torch.set_default_tensor_type('torch.cuda.FloatTensor')",
        "torch.set_default_tensor_type(torch.FloatTensor)",
    ],
)
def test_reports_beside_numbers_in_float64_and_float32_on_the_gpu(line: str, tmp_path: Path) -> None:
    check_one("ACC417", program("net.cuda()", line, mark=MARK), tmp_path)
    check_one("ACC417", program("net.cuda()", "torch.set_default_tensor_type(torch.DoubleTensor)"), tmp_path)
    check_one("ACC417", program("net.cuda()", "x = conf.x.to(torch.float64)"), tmp_path)


IN_A_CLASS = (
    IMPORTS
    + IMAGE_LOADER
    + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(3, 3, 3) for _ in range(8))
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
class Trainer:
    def __init__(self):
        self.net = Net().cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def step(self, x):
        loss = self.net{forward}(x).sum(){mark}
        loss.backward()
        self.optimizer.step()
trainer = Trainer()
for (x,) in loader:
    trainer.step(x.cuda())
"""
)


@pytest.mark.parametrize("forward", ["", ".forward"])
def test_reports_where_the_step_calls_the_model(forward: str, tmp_path: Path) -> None:
    (found,) = check_one("ACC417", IN_A_CLASS.format(forward=forward, mark=MARK), tmp_path)
    assert found.message.startswith("the training runs in float32")
    from_here = "each step goes to the model from here"
    assert [one.message for one in found.related] == ["the loop of the training", from_here]


def test_names_the_loss_that_belongs_under_autocast_too(tmp_path: Path) -> None:
    loss = program("net.cuda()", "criterion = nn.MSELoss()", mark=MARK).replace(
        "    net(x.cuda()).sum().backward()", "    criterion(net(x.cuda()), x).backward()", 1
    )
    (found,) = check_one("ACC417", loss, tmp_path)
    assert [one.message for one in found.related] == ["the loop of the training", "the loss is computed here"]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("out = part.chosen(x.cuda())", "part.chosen(x.cuda())"),
        ("out = x.cuda().float()", "for (x,) in loader:"),
        ("out, _ = part(x.cuda())", "for (x,) in loader:"),
    ],
)
def test_reports_what_the_loss_judges_where_no_model_is_seen(given: str, shown: str, tmp_path: Path) -> None:
    """Only what a call gives that is not known, and by its name alone, comes from the model."""
    steps = f"for (x,) in loader:\n        {given}\n        criterion(out, x).backward()\n        optimizer.step()\n"
    before = IMPORTS + IMAGE_LOADER + DEEP + "net.cuda()\ncriterion = nn.MSELoss()\n"
    source = f"{before}def train(part):\n    {steps}\ntrain(conf.wrap(net))\n"
    (found,) = findings_of("ACC417", source, tmp_path)
    assert source[found.span.start.offset :].startswith(shown)


NETS = {
    "layers of the project": """
class Padded(nn.Conv2d):
    def forward(self, x):
        return super().forward(nn.functional.pad(x, (1, 1)))
class Net(nn.Module):
    def __init__(self, n, make):
        super().__init__()
        self.blocks = nn.ModuleList(make(3, 3, 3) for _ in range(n))
net = Net(conf.n, Padded)
""",
    "torch's hub": "net = torch.hub.load('pytorch/vision', 'resnet50')\n",
    "convolutions in a list": DEEP,
    "four convolutions": f"net = nn.Sequential({', '.join(['nn.Conv2d(3, 3, 3)'] * 4)})\n",
    "recurrent layers in a list": "net = nn.ModuleList([nn.LSTM(8, 8) for _ in range(4)])[0]\n",
    "torchvision": "import torchvision\nnet = torchvision.models.resnet50()\n",
    "timm": "import timm\nnet = timm.create_model(conf.model)\n",
    "a class with blocks": """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Conv2d(3, 3, 3) for _ in range(n))
net = Net(conf.n)
""",
    "attention that is written out": """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(n))
    def forward(self, x):
        for block in self.blocks:
            x = torch.matmul(torch.softmax(torch.matmul(x, x.mT), -1), block(x))
        return x
net = Net(conf.n)
""",
}


@pytest.mark.parametrize("net", NETS.values(), ids=NETS.keys())
def test_reported_once(net: str, tmp_path: Path) -> None:
    check_one("ACC417", program("net.cuda()", net=net, mark=MARK), tmp_path)


def test_leaves_attention_to_the_rule_that_can_mend_it(tmp_path: Path) -> None:
    encoders = "net = nn.Sequential(*[nn.TransformerEncoderLayer(8, 2) for _ in range(4)])\n"
    check_one("ACC417", program("net.cuda()", net=encoders), tmp_path)
    (found,) = check_one("ACC408", program(f"net.cuda(){'  # -> info unsafe'}", net=encoders), tmp_path)
    assert "autocast" in found.message


def test_says_what_it_rests_on(tmp_path: Path) -> None:
    (proven,) = check_one("ACC417", program("net.cuda()", net=NETS["four convolutions"], mark=MARK), tmp_path)
    assert proven.confidence.value == "proven"
    factory = "import conf\nnets = nn.ModuleList(nn.Conv2d(3, 3, 3) for _ in range(9))\nnet = conf.wrap(nets)\n"
    (evident,) = check_one("ACC417", program("net.cuda()", net=factory, mark=MARK), tmp_path)
    assert evident.confidence.value == "evident"
    assert (
        "assuming that the device is a GPU and that the layers of the program are those of the model" in evident.message
    )


TRY = ", and try it first with `accel-advisor tune --knobs autocast`, which compares the losses, too"


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ("torch>=1.10", f"torch.bfloat16)`{TRY}"),
        ("torch>=0.4", f"torch.bfloat16)`{TRY} (torch 1.10 or later)"),
        ("torch==1.7.0", "`torch.cuda.amp.autocast()`, and scale the loss with a `torch.cuda.amp.GradScaler`"),
        ("torch>=1.2,<1.9", "`torch.cuda.amp.GradScaler` (torch 1.6 or later)"),
    ],
)
def test_says_which_version_it_takes(stated: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "p"\ndependencies = ["{stated}"]\n')
    (found,) = check_one("ACC417", program("net.cuda()", mark=MARK), tmp_path)
    assert found.message.endswith(said)
    assert not found.minor


def test_a_project_that_rules_every_autocast_out_learns_it_if_it_asks(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "p"\ndependencies = ["torch==1.5"]\n')
    (found,) = check_one("ACC417", program("net.cuda()", mark=MARK), tmp_path)
    assert found.message.endswith("(torch 1.10 or later, which this project rules out)")
    assert found.minor


def test_a_file_for_a_python_that_is_gone_is_too_old_for_it(tmp_path: Path) -> None:
    (found,) = check_one("ACC417", program("net.cuda()", "x = y.cuda(async=True)", mark=MARK), tmp_path)
    assert found.message.endswith("(torch 1.10 or later, which this file is too old for)")
    assert found.minor


@pytest.mark.parametrize(
    "line",
    [
        "x = librosa.amp_to_db(y)",
        "amp = y.max()",
        "if x.dtype in (torch.float16, torch.bfloat16): pass",
        "pass  # no fp16",
        "import numpy as np\nfeatures = conf.features.astype(np.float16)",
        "parser.add_argument('--fp16-allreduce', help='fp16 compression')",
    ],
)
def test_words_that_decide_nothing(line: str, tmp_path: Path) -> None:
    check_one("ACC417", program("net.cuda()", line, mark=MARK), tmp_path)


@pytest.mark.parametrize(
    "line",
    ["x = args.amp", "parser.add_argument('--amp')", "conf['amp']", "use_amp = conf.x", "x = y.to(torch.float16)"],
)
def test_words_that_may_decide(line: str, tmp_path: Path) -> None:
    check_one("ACC417", program("net.cuda()", line), tmp_path)


LOSSES = "import torch\ndef penalty(x, y):\n    return torch.autograd.grad(y, x, create_graph=True)\n"


def test_losses_that_another_training_may_use_decide_nothing(tmp_path: Path) -> None:
    source = program("import losses", "net.cuda()", mark=MARK)
    check_one("ACC417", source, tmp_path, {"losses.py": LOSSES})
    inner = LOSSES.replace("y, x, create", "y, x.weight, create")
    check_one("ACC417", program(*inner.splitlines(), "net.cuda()"), tmp_path)


ARCHITECTURES = """
from torchvision import models
class Siamese(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder(num_classes=9)
    def forward(self, x):
        return self.encoder(x)
net = Siamese({encoder})
"""


@pytest.mark.parametrize(("encoder", "deep"), [("models.__dict__[conf.arch]", True), ("conf.arch", False)])
def test_a_model_of_a_library_that_another_is_built_with(encoder: str, deep: bool, tmp_path: Path) -> None:
    net = ARCHITECTURES.format(encoder=encoder)
    check_one("ACC417", program("net.cuda()", net=net, mark=MARK if deep else ""), tmp_path)


def test_names_the_loop_around_the_model(tmp_path: Path) -> None:
    (found,) = check_one("ACC417", program("net.cuda()", mark=MARK), tmp_path)
    (loop,) = found.related
    assert (loop.span.start.row, loop.message) == (found.span.start.row - 1, "the loop of the training")


OPTION = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--amp", {how})
args = parser.parse_args()
"""
APEX = "if {test}:\n    from apex import amp\n    net, _ = amp.initialize(net, None)\n"


@pytest.mark.parametrize(
    ("how", "test", "off"),
    [
        ("action='store_true'", "args.amp", True),
        ("default=False, type=bool", "args.amp", True),
        ("action='store_true', default=True", "args.amp", False),
        ("action='store_true'", "not args.amp", False),
        ("default=True, type=bool", "not args.amp", True),
        ("default=conf.amp", "args.amp", False),
        ("action='store_true'", "conf.amp", False),
    ],
)
def test_an_option_that_is_off_by_default_decides_nothing(how: str, test: str, off: bool, tmp_path: Path) -> None:
    lines = ("net.cuda()", OPTION.format(how=how), APEX.format(test=test))
    found = check_one("ACC417", program(*lines, mark=MARK if off else ""), tmp_path)
    for one in found:
        assert one.confidence.value == "evident"
        assert one.message.startswith("mixed precision is decided by `--amp`, off by default, and without it this loop")


def test_an_option_without_which_nothing_is_trained_decides_nothing(tmp_path: Path) -> None:
    options = OPTION.format(how="action='store_true'").replace(
        "args = ", "parser.add_argument('--train', action='store_true')\nargs = "
    )
    apex = APEX.format(test="args.amp")
    whole = program("net.cuda()", apex, mark=MARK)
    start = whole.index("net.cuda()")
    inside = textwrap.indent(whole[start:], "    ")
    (found,) = check_one("ACC417", f"{whole[:start]}{options}if args.train:\n{inside}", tmp_path)
    assert "decided by `--amp`, off by default" in found.message
    always = inside.replace("if args.amp:", "if True:").replace(MARK, "")
    check_one("ACC417", f"{whole[:start]}{options}if args.train:\n{always}", tmp_path)


def test_silent_where_one_of_two_regions_is_always_on(tmp_path: Path) -> None:
    lines = ("net.cuda()", OPTION.format(how="action='store_true'"), APEX.format(test="args.amp"))
    check_one("ACC417", program(*lines, mark=MARK), tmp_path)
    check_one("ACC417", program(*lines, "with torch.autocast('cuda'):", "    pass"), tmp_path)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("from apex import amp, optimizers", "amp"),
        ("from apex import amp  # where it is installed", "amp"),
        ("from torch.cuda import (\n    amp,\n    memory_allocated,\n)", "amp"),
        ("import apex.amp as amp, os", "amp.master_params"),
        ("try:\n    from apex import amp\nexcept ImportError:\n    pass", "amp"),
        ("from torch.cuda.amp import autocast", "autocast"),
        ("from torch.cuda.amp import (\n    GradScaler,\n    autocast,\n)", "autocast"),
        ("from torch.cuda.amp import \\\n    autocast", "autocast"),
        ("import torch.cuda.amp.autocast_mode as mode; seed = 1", "conf.autocast"),
    ],
)
def test_an_import_that_nothing_uses_decides_nothing(line: str, name: str, tmp_path: Path) -> None:
    check_one("ACC417", program("net.cuda()", line, mark=MARK), tmp_path)
    check_one("ACC417", program("net.cuda()", line, f"conf.train({name})"), tmp_path)


def test_an_amplitude_beside_such_an_import_decides_nothing(tmp_path: Path) -> None:
    amplitude = "print('the amp of', conf.wave.amp)  # amp"
    check_one("ACC417", program("net.cuda()", "from apex import amp", amplitude, mark=MARK), tmp_path)
    check_one("ACC417", program("net.cuda()", "from apex import amp", amplitude, "print(amp)"), tmp_path)


def test_what_only_looks_like_an_import_is_a_word(tmp_path: Path) -> None:
    text = 'USE = """\nfrom torch.cuda.amp import autocast\n"""'
    check_one("ACC417", program("net.cuda()", text), tmp_path)
    check_one(
        "ACC417", program("net.cuda()", text.replace("autocast", "__doc__").replace("amp", "nn"), mark=MARK), tmp_path
    )


LOOKED_AT = """
import conf, torch
from torch.utils.data import DataLoader, TensorDataset
from torchvision import models
net = models.vgg16(weights=conf.weights).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(300):
    optimizer.zero_grad()
    net(conf.image.cuda()).sum().backward()
    optimizer.step()
"""


def test_silent_where_a_pretrained_model_is_looked_at(tmp_path: Path) -> None:
    assert findings_of("ACC417", LOOKED_AT, tmp_path) == []
    fed = LOOKED_AT + "batches = iter(DataLoader(TensorDataset(torch.zeros(8, 3, 64, 64))))\n"
    assert findings_of("ACC417", fed, tmp_path)


def test_stands_where_a_wrapper_is_called_by_its_forward(tmp_path: Path) -> None:
    source = program("net = nn.DataParallel(net.cuda())", mark=MARK)
    check_one("ACC417", source.replace("net(x.cuda())", "net.forward(x.cuda())", 1), tmp_path)


def test_silent_where_the_steps_act_in_an_environment(tmp_path: Path) -> None:
    loop = "for (x,) in loader:"
    acts = f"{loop}\n    seen, reward, done = conf.game.step(x)"
    check_pair("ACC417", Pair(program("net.cuda()").replace(loop, acts), "seen, reward, done", "seen"), tmp_path)
