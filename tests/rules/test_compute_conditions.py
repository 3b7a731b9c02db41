"""Each condition under which ACC415 to ACC431 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.project.target import Target, Versions
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from .pairs import Pair, check_pair
from .programs import IMPORTS, MODEL

STEP = "\nfor i in range(3):\n    net(torch.zeros(2, 8)).sum().backward()\n    o.step()\n"


def adam(line: str, instead: str = "", *, made: str = "torch.optim.Adam(net.parameters())") -> Pair:
    """A model on CUDA with its optimizer, and one more line."""
    return Pair(f"{IMPORTS}import conf\nnet = nn.Linear(8, 2)\nnet.cuda()\n{line}o = {made}{STEP}", line, instead)


def made(arguments: str, instead: str = "net.parameters()") -> Pair:
    return Pair(adam("", made=f"torch.optim.Adam({arguments})").source, arguments, instead)


FUSED = {
    "capturable": made("net.parameters(), capturable=True"),
    "foreach": made("net.parameters(), foreach=False"),
    "groups": made("[{'params': net.parameters()}]"),
    "MPS": adam("net.to('mps')\n"),
    "the CPU": Pair(adam("").source.replace("net.cuda()", "net.cpu()"), "net.cpu()", "net.cuda()"),
    "perhaps MPS": Pair(
        adam("").source.replace("net.cuda()", "net.to('cuda' if conf.a else 'mps')"),
        "net.to('cuda' if conf.a else 'mps')",
        "net.cuda()",
    ),
    "complex numbers": adam("net.to(torch.complex64)\n"),
    "complex layers": adam("net = nn.Linear(8, 2, dtype=torch.cfloat)\nnet.cuda()\n"),
    "FSDP": adam("from torch.distributed.fsdp import fully_shard\nfully_shard(net)\n"),
    "FSDP under its old name": adam("from torch.distributed._composable.fsdp import fully_shard\nfully_shard(net)\n"),
    "sparse gradients": adam("bag = nn.EmbeddingBag(8, 2, sparse=True)\n"),
    "transformers": adam("from transformers import Trainer\ntrainer = Trainer(net)\n"),
    "DeepSpeed": adam("import deepspeed\nengine, *_ = deepspeed.initialize(model=net)\n"),
}


@pytest.mark.parametrize("pair", FUSED.values(), ids=FUSED.keys())
def test_fused_silent(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC415", pair, tmp_path)


FOREACH = IMPORTS + MODEL + "import conf\n{}o = torch.optim.Adam(model.parameters(), foreach=False){}\n"
SHORT = [
    "from torch.utils.checkpoint import checkpoint\ncheckpoint(model, conf.x, use_reentrant=False)\n",
    "conf.net.gradient_checkpointing_enable()\n",
    "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\nmodel = FSDP(model)\n",
    "torch.cuda.set_per_process_memory_fraction(0.5)\n",
    "with torch.autograd.graph.save_on_cpu():\n    pass\n",
    "# the default needs more memory than there is\n",
]


@pytest.mark.parametrize("line", SHORT)
def test_foreach_silent_where_memory_is_short(line: str, tmp_path: Path) -> None:
    check_pair("ACC416", Pair(FOREACH.format(line, ""), line), tmp_path)


COMMENTS = [
    Pair(FOREACH.format("", "  # saves memory"), "  # saves memory"),
    Pair(FOREACH.format("", "").replace("foreach", "\n    # OOM otherwise\n    foreach"), "    # OOM otherwise\n"),
]


@pytest.mark.parametrize("pair", COMMENTS, ids=["beside", "above"])
def test_foreach_silent_where_a_comment_says_why(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC416", pair, tmp_path)


NO_EVIDENCE = [
    "torch.cuda.manual_seed_all(0)",
    "torch.cuda.empty_cache()",
    "torch.load('m', map_location='cpu')",
    "# .cuda()",
]
ON_HOST = IMPORTS + "model = nn.Linear(8, 2)\n"


@pytest.mark.parametrize("line", NO_EVIDENCE)
def test_silent_where_nothing_shows_a_gpu(line: str, tmp_path: Path) -> None:
    (tmp_path / "load").mkdir()
    source = f"{ON_HOST}{line}\no = torch.optim.Adam(model.parameters(), foreach=False)\n"
    check_pair("ACC416", Pair(source, line, "model.cuda()"), tmp_path)
    source = f"{ON_HOST}{line}\nmodel.load_state_dict(torch.load('m.pt'))\n"
    check_pair("ACC426", Pair(source, line, "model.cuda()"), tmp_path / "load")


LOADED = [
    ("torch.save(model.cpu().state_dict(), 'm.pt')", "torch.save(model.state_dict(), 'm.pt')"),
    (
        "torch.save({k: v.cpu() for k, v in model.state_dict().items()}, 'm.pt')",
        "torch.save(model.state_dict(), 'm.pt')",
    ),
    ("torch.save(model.to('cpu').state_dict(), 'm.pt')", "torch.save(model.cpu().state_dict(), 'n.pt')"),
]


@pytest.mark.parametrize(("saved", "instead"), LOADED)
def test_load_silent_where_the_file_was_saved_from_the_host(saved: str, instead: str, tmp_path: Path) -> None:
    source = f"{IMPORTS}{MODEL}{saved}\nmodel.load_state_dict(torch.load('m.pt'))\n"
    check_pair("ACC426", Pair(source, saved, instead), tmp_path)


LOADS = [
    ("torch.load('m.pt', map_location=conf.device)", "torch.load('m.pt')"),
    ("torch.load('m.pt', **conf.kw)", "torch.load('m.pt')"),
    ("conf.load_file('m.pt')", "torch.load('m.pt')"),
]


@pytest.mark.parametrize(("given", "instead"), LOADS)
def test_load_silent(given: str, instead: str, tmp_path: Path) -> None:
    source = f"{IMPORTS}{MODEL}import conf\nstate = {given}\nmodel.load_state_dict(state)\n"
    check_pair("ACC426", Pair(source, given, instead), tmp_path)


LOADER = "import conf, io, itertools\nloader = DataLoader(TensorDataset(torch.zeros(64, 8)))\n"
SAVES = IMPORTS + MODEL + LOADER + "for i, (x,) in enumerate({}):\n    step(x, x)\n    {}\n"
SAVED = {
    "the first batches": Pair(
        SAVES.format("itertools.islice(loader, 3)", "torch.save(model, 'm')"), "itertools.islice(loader, 3)", "loader"
    ),
    "the first of a list": Pair(SAVES.format("list(loader)[:3]", "torch.save(model, 'm')"), "[:3]"),
    "some batches": Pair(
        SAVES.format("loader", "torch.save(model, 'm')").replace(
            "i, (x,) in enumerate(loader)", "i, (x,) in zip(range(3), loader)"
        ),
        "zip(range(3), loader)",
        "enumerate(loader)",
    ),
    "in memory": Pair(SAVES.format("loader", "torch.save(model, io.BytesIO())"), "io.BytesIO()", "'m'"),
    "every so often": Pair(SAVES.format("loader", "if i % 9 == 0: conf.net.save_pretrained('m')"), "if i % 9 == 0: "),
    "every so often, in short": Pair(
        SAVES.format("loader", "i % 9 == 0 and torch.save(model, 'm')"), "i % 9 == 0 and "
    ),
    "a helper decides": Pair(
        "def keep(i):\n    if i % 9:\n        return\n    torch.save(model, 'm')\n" + SAVES.format("loader", "keep(i)"),
        "    if i % 9:\n        return\n",
    ),
}


@pytest.mark.parametrize("pair", SAVED.values(), ids=SAVED.keys())
def test_save_silent(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC427", pair, tmp_path)


IMAGES = (
    IMPORTS
    + """
import conf
loader = DataLoader(TensorDataset(torch.zeros(64, 3, 8, 8)), batch_size=16)
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())
{}net.cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in loader:
    net(x.cuda()).sum().backward()
    optimizer.step()
"""
)


def images(line: str) -> Pair:
    """A convolutional network that is trained on CUDA, with one more line."""
    return Pair(IMAGES.format(line), line)


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
    "torch.stft(torch.zeros(9), 4)\n",
    "import gymnasium\nenv = gymnasium.make('CartPole-v1')\n",
    "import stable_baselines3\nagent = stable_baselines3.PPO('MlpPolicy', conf.env)\n",
]


@pytest.mark.parametrize("line", PRECISION)
def test_no_mixed_precision_silent(line: str, tmp_path: Path) -> None:
    check_pair("ACC417", images(line), tmp_path)


NEEDS = [
    "torch.autograd.functional.hessian(net, conf.x)\n",
    "torch.autograd.gradgradcheck(net, conf.x)\n",
    "torch.func.hessian(net)\n",
    "torch.optim.LBFGS(net.parameters())\n",
    "torch.fft.fft(torch.zeros(2))\n",
    "torch.inverse(torch.zeros(2, 2))\n",
    "import scipy.linalg\nscipy.linalg.eig(conf.a)\n",
    "import e3nn.o3\ne3nn.o3.spherical_harmonics(1)\n",
    "def geometry_of(x):\n    return torch.ones_like(x)\ngeometry_of(conf.x)\n",
    "class PINN(nn.Module):\n    def forward(self, x):\n        return x\nPINN()(conf.x)\n",
]


@pytest.mark.parametrize("line", NEEDS)
def test_double_silent(line: str, tmp_path: Path) -> None:
    check_pair("ACC418", Pair(IMAGES.format(line).replace("net.cuda()", "net.cuda().double()"), line), tmp_path)


DOUBLES = {
    "a metric": ("metric = nn.Linear(8, 2).double()", "net.double()"),
    "the input of a metric": ("def accuracy(x):\n    return net(x.cuda()).double().mean()", "net.double()"),
    "an option": ("net.to(conf.dtype)", "net.to(torch.float64)"),
    "on a condition": ("if conf.exact: net.double()", "net.double()"),
}


@pytest.mark.parametrize(("condition", "instead"), DOUBLES.values(), ids=DOUBLES.keys())
def test_double_silent_about_other_things(condition: str, instead: str, tmp_path: Path) -> None:
    check_pair("ACC418", Pair(IMAGES.format(f"{condition}\n"), condition, instead), tmp_path)


CAST = "with torch.autocast('cuda'):\n    pass\n"
LAYOUTS = [
    "from torch.utils.cpp_extension import load_inline\nkernel = load_inline('k', [])\n",
    "import lightning as L\ntrainer = L.Trainer()\n",
    "net = net.to(memory_format=torch.channels_last)\n",
]


@pytest.mark.parametrize("line", LAYOUTS)
def test_layout_silent(line: str, tmp_path: Path) -> None:
    check_pair("ACC419", Pair(IMAGES.format(CAST + line), line), tmp_path)


@pytest.mark.parametrize("layer", ["nn.Conv1d(3, 8, 3)", "nn.ConvTranspose3d(3, 8, 3)", "nn.MultiheadAttention(8, 2)"])
def test_layout_silent_about_models_with_other_layers(layer: str, tmp_path: Path) -> None:
    check_pair("ACC419", Pair(IMAGES.format(CAST).replace("nn.ReLU()", layer), layer, "nn.ReLU()"), tmp_path)


COMPILED = [
    "torch.jit.trace(net, conf.x)\n",
    "torch.compiler.disable(net)\n",
    "torch.compile(conf.f)\n",
    "torch.cuda.make_graphed_callables(net, ())\n",
    "torch.autograd.set_detect_anomaly(True)\n",
    "loader = DataLoader(conf.data, batch_sampler=conf.sampler)\n",
    "import lightning as L\ntrainer = L.Trainer()\n",
]


@pytest.mark.parametrize("line", COMPILED)
def test_compile_silent(line: str, tmp_path: Path) -> None:
    check_pair("ACC420", images(line), tmp_path)


@pytest.mark.parametrize("layer", ["nn.LSTM(8, 2)", "nn.GRU(8, 8)", "nn.RNNCell(8, 8)"])
def test_compile_silent_about_recurrent_models(layer: str, tmp_path: Path) -> None:
    check_pair("ACC420", Pair(IMAGES.format("").replace("nn.ReLU()", layer), layer, "nn.ReLU()"), tmp_path)


@pytest.mark.parametrize(("python", "since"), [((3, 12), (2, 4)), ((3, 13), (2, 6)), ((3, 14), (2, 10))])
def test_compile_silent_where_torch_does_not_compile(
    python: tuple[int, int], since: tuple[int, int], tmp_path: Path
) -> None:
    path = tmp_path / "train.py"
    path.write_text(IMAGES.format(""))
    facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
    facts.target = Target(Versions(python), Versions((since[0], since[1] - 1)))
    assert not list(registry()["ACC420"].check(facts))
    facts.target = Target(Versions(python), Versions(since))
    assert len(list(registry()["ACC420"].check(facts))) == 1


FUSES = [
    "torch.ao.quantization.fuse_modules(block, [['0', '1']])\n",
    "torch.ao.quantization.fuse_modules_qat(block, [['0', '1']])\n",
    "torch.quantization.fuse_modules(block, [['0', '1']])\n",
    "torch.nn.utils.fusion.fuse_conv_bn_eval(block[0], block[1])\n",
]


@pytest.mark.parametrize("line", FUSES)
def test_bias_silent_where_the_two_are_fused(line: str, tmp_path: Path) -> None:
    source = f"{IMPORTS}block = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))\n{line}"
    check_pair("ACC424", Pair(source, line), tmp_path)


def test_bias_silent_before_another_norm(tmp_path: Path) -> None:
    source = f"{IMPORTS}nn.Sequential(nn.Conv2d(3, 8, 3), nn.LayerNorm(8))\n"
    check_pair("ACC424", Pair(source, "nn.LayerNorm(8)", "nn.BatchNorm2d(8)"), tmp_path)


ROWS = (
    IMPORTS
    + MODEL
    + """
import conf
loader = DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64)), batch_size=16)
for x, y in loader:
    for i in range(len(x)):
        {}
"""
)
RAGGED = {
    "a collate function": Pair(
        ROWS.format("model(x[i])").replace("=16", "=16, collate_fn=conf.collate"), ", collate_fn=conf.collate"
    ),
    "on a condition": Pair(ROWS.format("if y[i]: model(x[i])"), "if y[i]: "),
    "until a condition": Pair(ROWS.format("model(x[i])\n        if y[i]: break"), "\n        if y[i]: break"),
    "past a condition": Pair(ROWS.format("if y[i]: continue\n        model(x[i])"), "if y[i]: continue\n        "),
    "cut": Pair(ROWS.format("model(x[i][:y[i]])"), "[:y[i]]"),
    "cut at once": Pair(ROWS.format("model(x[i, :y[i]])"), ", :y[i]"),
    "cut before": Pair(ROWS.format("row = x[i, :y[i]]\n        model(row)"), ", :y[i]"),
    "with a state": Pair(ROWS.format("model(x[i], y[i])"), ", y[i]"),
    "a number that is not the batch's": Pair(
        ROWS.format("model(x[i])").replace("len(x)", "conf.n"), "conf.n", "len(x)"
    ),
}


@pytest.mark.parametrize("pair", RAGGED.values(), ids=RAGGED.keys())
def test_rows_silent(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC431", pair, tmp_path)
