"""Each condition under which ACC408 to ACC414 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.project.target import Target, Versions
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from .pairs import Pair, check_pair
from .programs import IMPORTS, MODEL

TRAIN = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    net(torch.zeros(2, 3, 64).cuda()).sum().backward()
    optimizer.step()
"""


def attention(line: str, others: dict[str, str] | None = None) -> Pair:
    """A transformer that is trained on CUDA, with one more line."""
    source = f"{IMPORTS}import conf\nnet = nn.TransformerEncoderLayer(64, 8)\n{line}net.cuda()\n{TRAIN}"
    return Pair(source, line, "", others or {})


TF32 = {
    "TF32 is not wanted": attention("torch.backends.cuda.matmul.allow_tf32 = False\n"),
    "an option": attention("torch.backends.cuda.matmul.allow_tf32 = conf.tf32\n"),
    "the setting of convolutions": attention("torch.backends.cudnn.conv.fp32_precision = 'tf32'\n"),
    "the highest precision": attention("torch.set_float32_matmul_precision('highest')\n"),
    "half": attention("net.half()\n"),
    "float64": attention("net.double()\n"),
    "float64 by default": attention("torch.set_default_dtype(torch.float64)\n"),
    "autocast of a forward": attention("@torch.autocast('cuda')\ndef forward(x):\n    return x\n"),
    "transformers is told": attention(
        "from transformers import TrainingArguments\na = TrainingArguments('o', tf32=True)\n"
    ),
    "Lightning": attention("import lightning as L\ntrainer = L.Trainer(precision=32)\n"),
    "deterministic algorithms": attention("torch.use_deterministic_algorithms(True)\n"),
    "linear algebra": attention("torch.linalg.eigh(torch.zeros(2, 2))\n"),
    "Gaussian processes": attention("import gpytorch\nkernel = gpytorch.kernels.RBFKernel()\n"),
    "a gradient check": attention("torch.autograd.gradcheck(net, conf.x)\n"),
    "physics": attention("def solve_pde(x):\n    return torch.ones_like(x)\nsolve_pde(conf.x)\n"),
    "physics in another file": attention(
        "from physics import gravity\ngravity(conf.x)\n",
        {"physics.py": "import torch\ndef gravity(x):\n    return torch.ones_like(x)\n"},
    ),
}


@pytest.mark.parametrize("pair", TF32.values(), ids=TF32.keys())
def test_tf32_silent(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC408", pair, tmp_path)


@pytest.mark.parametrize(
    ("code", "source", "since"),
    [
        ("ACC408", attention("\n").source, (1, 12)),
        ("ACC411", IMPORTS + MODEL + "optimizer.zero_grad(set_to_none=False)\n", (2, 0)),
        ("ACC413", IMPORTS + "from torch.utils.checkpoint import checkpoint\ncheckpoint(print, 1)\n", (2, 0)),
        ("ACC416", IMPORTS + MODEL + "torch.optim.Adam(model.parameters(), foreach=False)\n", (2, 0)),
    ],
)
def test_silent_where_an_older_torch_is_supported(
    code: str, source: str, since: tuple[int, int], tmp_path: Path
) -> None:
    path = tmp_path / "train.py"
    path.write_text(source)
    facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
    facts.target = Target(torch=Versions((since[0] - (since[1] == 0), since[1] - 1 if since[1] else 13)))
    assert not list(registry()[code].check(facts))
    facts.target = Target(torch=Versions(since))
    assert len(list(registry()[code].check(facts))) == 1


NEW = "torch.backends.cuda.matmul.fp32_precision = 'tf32'\n"
OLD = "print(torch.backends.cuda.matmul.allow_tf32)\n"
MIXED = {
    "one family": Pair(
        IMPORTS + "torch.backends.cuda.matmul.allow_tf32 = True\n" + OLD,
        "torch.backends.cuda.matmul.allow_tf32 = True\n",
        NEW,
    ),
    "one family by its function": Pair(
        IMPORTS + "torch.set_float32_matmul_precision('high')\n" + OLD,
        "torch.set_float32_matmul_precision('high')\n",
        NEW,
    ),
    "written back": Pair(
        IMPORTS + NEW + "torch.backends.cuda.matmul.allow_tf32 = True\n" + OLD,
        "torch.backends.cuda.matmul.allow_tf32 = True\n",
    ),
    "written back by the function": Pair(
        IMPORTS + NEW + "torch.set_float32_matmul_precision('high')\nprint(torch.get_float32_matmul_precision())\n",
        "torch.set_float32_matmul_precision('high')\n",
    ),
    "written on a condition": Pair(IMPORTS + "import conf\nif conf.new:\n    " + NEW + OLD, "if conf.new:\n    "),
}


@pytest.mark.parametrize("pair", MIXED.values(), ids=MIXED.keys())
def test_mixed_silent(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC409", pair, tmp_path)


CUDNN = "torch.backends.cudnn."
BOTH = f"{IMPORTS}import conf\n{CUDNN}deterministic = True\n{CUDNN}benchmark = True\n"
FLAGS = {
    "a helper that seeds": Pair(
        BOTH.replace("benchmark = True", "benchmark = False"), "benchmark = False", "benchmark = True"
    ),
    "an option to be fast": Pair(BOTH.replace("benchmark = True", "benchmark = conf.fast"), "conf.fast", "True"),
    "an option to be deterministic": Pair(
        BOTH.replace("deterministic = True", "deterministic = conf.exact"), "conf.exact", "True"
    ),
    "decided later": Pair(f"{BOTH}{CUDNN}benchmark = False\n", f"{CUDNN}benchmark = False\n"),
    "off on a condition": Pair(
        f"{IMPORTS}import conf\nif conf.debug:\n    {CUDNN}enabled = False\n", "if conf.debug:\n    "
    ),
    "off by an option": Pair(f"{IMPORTS}import conf\n{CUDNN}enabled = conf.cudnn\n", "conf.cudnn", "False"),
    "off around a part": Pair(
        f"{IMPORTS}{CUDNN}enabled = False\nprint(1)\n{CUDNN}enabled = True\n", f"{CUDNN}enabled = True\n"
    ),
    "what was is put back": Pair(
        f"{IMPORTS}import conf\n{CUDNN}enabled = False\nprint(1)\n{CUDNN}enabled = conf.before\n",
        f"{CUDNN}enabled = conf.before\n",
    ),
}


@pytest.mark.parametrize("pair", FLAGS.values(), ids=FLAGS.keys())
def test_flags_silent(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC410", pair, tmp_path)


KEEPS = [
    "for p in model.parameters():\n    print(p.grad)\n",
    "graph = torch.cuda.CUDAGraph()\n",
    "with torch.cuda.graph(1):\n    pass\n",
    "torch.cuda.make_graphed_callables(model, (torch.zeros(2, 8),))\n",
    "nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)\n",
    "torch._foreach_zero_([model.weight])\n",
]


@pytest.mark.parametrize("line", KEEPS)
def test_zero_grad_silent(line: str, tmp_path: Path) -> None:
    source = f"{IMPORTS}{MODEL}{line}optimizer.zero_grad(set_to_none=False)\n"
    check_pair("ACC411", Pair(source, line), tmp_path)


LOADER = "import conf, contextlib, os\nloader = DataLoader(TensorDataset(torch.zeros(8, 8)))\n"
ANOMALY = "torch.autograd.set_detect_anomaly(True)"
PROFILE = "torch.profiler.profile()"


def around(manager: str, instead: str) -> Pair:
    source = f"{IMPORTS}{MODEL}{LOADER}with {manager}:\n    for (x,) in loader:\n        model(x).sum().backward()\n"
    return Pair(source, manager, instead)


def switched(line: str, condition: str, instead: str = "") -> Pair:
    source = f"{IMPORTS}{MODEL}{LOADER}{line}\nfor (x,) in loader:\n    step(x, x)\n"
    return Pair(source, condition, instead)


def function(name: str) -> Pair:
    return switched(f"def {name}():\n    {ANOMALY}\n{name}()", name, "begin")


SWITCHES = {
    "anomalies on a condition": switched(f"if conf.debug:\n    {ANOMALY}", "if conf.debug:\n    "),
    "anomalies by an option": switched(ANOMALY.replace("True", "conf.debug"), "conf.debug", "True"),
    "a manager by an option": around("torch.autograd.set_detect_anomaly(conf.debug)", "torch.autograd.detect_anomaly()"),
    "perhaps a manager": around(
        "(torch.autograd.detect_anomaly() if conf.debug else contextlib.nullcontext())", "torch.autograd.detect_anomaly()"
    ),
    "a function to debug": function("debug_model"),
    "a function to profile": function("profile_step"),
    "a function for benchmarks": function("benchmark"),
    "a function of tests": function("test_step"),
    "launches by an option": switched("os.environ['CUDA_LAUNCH_BLOCKING'] = conf.block", "conf.block", "'1'"),
    "perhaps launches": switched("os.environ['CUDA_LAUNCH_BLOCKING'] = '1' if conf.a else '0'", " if conf.a else '0'"),
    "launches on a condition": switched("if conf.a: os.environ['CUDA_LAUNCH_BLOCKING'] = '1'", "if conf.a: "),
    "a default by an option": switched("os.environ.setdefault('CUDA_LAUNCH_BLOCKING', conf.a)", "conf.a", "'1'"),
    "a schedule": around("torch.profiler.profile(schedule=conf.schedule)", PROFILE),
    "other arguments of a profiler": around("torch.profiler.profile(**conf.kw)", PROFILE),
    "ranges by an option": around("torch.autograd.profiler.emit_nvtx(conf.on)", "torch.autograd.profiler.emit_nvtx()"),
    "ranges that are off": around("torch.autograd.profiler.emit_nvtx(enabled=False)", "torch.autograd.profiler.emit_nvtx()"),
    "an old profiler by an option": around("torch.autograd.profiler.profile(conf.on)", "torch.autograd.profiler.profile()"),
    "a gradient check before": switched(
        "torch.autograd.gradcheck(model, conf.x)", "torch.autograd.gradcheck(model, conf.x)\nfor (x,) in loader:\n",
        "for (x,) in loader:\n    torch.autograd.gradcheck(model, conf.x)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("pair", SWITCHES.values(), ids=SWITCHES.keys())
def test_tools_silent(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC412", pair, tmp_path)


@pytest.mark.parametrize(("given", "before"), [("False", ""), ("conf.debug", ""), ("True", "if conf.debug: ")])
def test_tools_of_lightning_silent(given: str, before: str, tmp_path: Path) -> None:
    line = f"{before}trainer = L.Trainer(detect_anomaly={given})"
    source = f"import torch\nimport lightning as L\nimport conf\n{line}\n"
    check_pair("ACC412", Pair(source, line, "trainer = L.Trainer(detect_anomaly=True)"), tmp_path)


@pytest.mark.parametrize("name", ["debug_train", "profile_run", "benchmark", "test_train"])
def test_tools_silent_in_files_that_are_named_for_it(name: str, tmp_path: Path) -> None:
    reported = []
    for stem in (name, "train"):
        path = tmp_path / f"{stem}.py"
        path.write_text(switched(ANOMALY, ANOMALY).source)
        facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
        reported.append(len(list(registry()["ACC412"].check(facts))))
    assert reported == [0, 1]


BLOCK = (
    IMPORTS
    + "import conf, functools\nimport torch.utils.checkpoint as cp\nblock = nn.Linear(8, 8)\nx = torch.zeros(4, 8)\n"
)
KEPT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.ck = functools.partial(cp.checkpoint, use_reentrant=False)
    def forward(self, x):
        return self.ck(block, x)
Net()(x)
"""
CHECKPOINTS = {
    "given": Pair(BLOCK + "cp.checkpoint(block, x, use_reentrant=conf.a)\n", ", use_reentrant=conf.a"),
    "a partial in an object": Pair(BLOCK + KEPT, ", use_reentrant=False"),
    "a wrapper": Pair(BLOCK + "def wrap(*a, **kw):\n    return cp.checkpoint(*a, **kw)\n", "*a, **kw", "block, x"),
    "transformers decides": Pair(
        BLOCK + "conf.net.gradient_checkpointing_enable()\n",
        "conf.net.gradient_checkpointing_enable()",
        "cp.checkpoint(block, x)",
    ),
}


@pytest.mark.parametrize("pair", CHECKPOINTS.values(), ids=CHECKPOINTS.keys())
def test_checkpoint_silent(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC413", pair, tmp_path)


def retained(line: str) -> Pair:
    """A step that keeps its graph, with one more line behind its backward pass."""
    source = f"{IMPORTS}{MODEL}{LOADER}other = nn.Linear(8, 2)\nfor (x,) in loader:\n    loss = model(x).sum()\n"
    return Pair(f"{source}    loss.backward(retain_graph=True)\n    {line}\n", line, "pass")


RETAINED = {
    "a second loss": retained("loss.mean().backward()"),
    "perhaps a second loss": retained("if conf.twice: loss.mean().backward()"),
    "a second model": retained("other(loss).sum().backward()"),
    "actor and critic": retained("(other(x) - 1).sum().backward()"),
    "a scaled loss": retained("conf.scaler.scale(loss).backward()"),
    "autograd.grad": retained("torch.autograd.grad(loss, x)"),
    "autograd.backward": retained("torch.autograd.backward(loss)"),
    "an engine": retained("conf.engine.backward(loss)"),
    "create_graph": Pair(retained("pass").source.replace("=True", "=True, create_graph=True"), ", create_graph=True"),
    "perhaps create_graph": Pair(
        retained("pass").source.replace("=True", "=True, create_graph=conf.a"), ", create_graph=conf.a"
    ),
    "an option": Pair(retained("pass").source.replace("=True", "=conf.keep"), "conf.keep", "True"),
    "several passes over one graph": Pair(
        retained("pass").source.replace("    loss.backward", "    for k in range(2): loss.backward"),
        "for k in range(2): ",
    ),
}


@pytest.mark.parametrize("pair", RETAINED.values(), ids=RETAINED.keys())
def test_retain_graph_silent(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC414", pair, tmp_path)
