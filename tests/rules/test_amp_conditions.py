"""Each condition under which ACC402 to ACC407 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.functional import binary_cross_entropy

from accel_advisor.analysis.project import analyze
from accel_advisor.project.target import Target, Versions
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from .pairs import Pair, check_pair
from .programs import IMPORTS, MODEL

SCALER = "s = torch.cuda.amp.GradScaler()\n"


def beside(line: str, others: dict[str, str] | None = None) -> Pair:
    """The old name in a program with one more line."""
    return Pair(IMPORTS + line + SCALER, line, "", others or {})


PATCHED = {
    "torch_xla": beside("import torch_xla.core.xla_model as xm\n"),
    "torch_npu": beside("import torch_npu\n"),
    "torch_npu for everything": beside("from torch_npu.contrib import transfer_to_npu\n"),
    "torch_npu where it is there": beside("try:\n    import torch_npu\nexcept ImportError:\n    pass\n"),
    "torch_npu in another file": beside("import place\n", {"place.py": "import torch\nimport torch_npu\n"}),
    "the program's own": beside("torch.cuda.amp.GradScaler = print\n"),
    "both names": beside("n = torch.amp.GradScaler('cuda')\n"),
    "both names of a decorator": Pair(
        IMPORTS
        + "from torch.cuda.amp import custom_fwd as old\n"
        + "try:\n    from torch.amp import custom_fwd\nexcept ImportError:\n    custom_fwd = old\n"
        + "class Mine(torch.autograd.Function):\n    @staticmethod\n    @custom_fwd\n    def forward(ctx, x):\n        return x\n",
        "try:\n    from torch.amp import custom_fwd\nexcept ImportError:\n    custom_fwd = old\n",
        "custom_fwd = old\n",
    ),
}


@pytest.mark.parametrize("pair", PATCHED.values(), ids=PATCHED.keys())
def test_names_silent(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC402", pair, tmp_path)


@pytest.mark.parametrize(
    ("call", "since"),
    [
        ("torch.cuda.amp.autocast()", (1, 10)),
        ("torch.cuda.amp.GradScaler()", (2, 3)),
        ("torch.cuda.amp.custom_fwd(cast_inputs=torch.half)", (2, 4)),
        ("torch.cuda.amp.custom_bwd(print)", (2, 4)),
    ],
)
def test_names_silent_before_the_torch_that_has_the_new_ones(call: str, since: tuple[int, int], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"import torch\nx = {call}\n")
    facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
    facts.target = Target(torch=Versions((since[0], since[1] - 1)))
    assert not list(registry()["ACC402"].check(facts))
    facts.target = Target(torch=Versions(since))
    assert len(list(registry()["ACC402"].check(facts))) == 1


REGION = IMPORTS + "import conf\nd = torch.device('cuda')\nwith torch.autocast({}):\n    pass\n"
STRINGS = ("d.type", "str(d)", "'cuda:0'", "conf.device", "d.type if conf.x else 'cpu'", "*conf.a", "**conf.kw")


@pytest.mark.parametrize("given", STRINGS)
def test_device_argument_silent(given: str, tmp_path: Path) -> None:
    check_pair("ACC403", Pair(REGION.format(given), f"torch.autocast({given})", "torch.autocast(d)"), tmp_path)


def test_device_argument_silent_for_a_parameter_that_may_be_a_string(tmp_path: Path) -> None:
    source = IMPORTS + "def step(device):\n    with torch.autocast(device):\n        pass\nstep('cuda')\n"
    check_pair("ACC403", Pair(source, "step('cuda')", "step(torch.device('cuda'))"), tmp_path)


HEAD = IMPORTS + MODEL + "import conf\nx = torch.zeros(4, 8).cuda()\nclip = nn.utils.clip_grad_norm_\n"
TWO = "other = nn.Linear(8, 2).cuda()\nbeside = torch.optim.SGD(other.parameters(), lr=0.1)\n"


def clipped(condition: str, instead: str, *, made: str = "torch.amp.GradScaler('cuda')", before: str = "") -> Pair:
    """A loop that clips: ``condition`` stands between the backward pass and the scaler's step."""
    source = f"{HEAD}{before}scaler = {made}\nfor i in range(9):\n    scaler.scale(model(x).sum()).backward()\n"
    source += f"    {condition}\n    scaler.step(optimizer)\n    scaler.update()\n"
    return Pair(source, condition, instead)


CLIP = "clip(model.parameters(), 1.0)"
OFF = clipped(CLIP, CLIP, made="torch.amp.GradScaler('cuda', enabled=False)").source
CLIPS = {
    "unscaled": clipped(f"scaler.unscale_(optimizer)\n    {CLIP}", CLIP),
    "Accelerate clips": clipped(
        "a.clip_grad_norm_(model.parameters(), 1.0)",
        CLIP,
        before="from accelerate import Accelerator\na = Accelerator()\n",
    ),
    "Lightning clips": Pair(
        clipped("conf.log(i)", CLIP, before="import lightning as L\nt = L.Trainer(gradient_clip_val=1.0)\n").source,
        "conf.log(i)",
        CLIP,
    ),
    "off": Pair(OFF, "enabled=False", "enabled=True"),
    "off by position": Pair(OFF.replace("enabled=", "2.0, 2.0, 0.5, 2000, "), "2000, False", "2000, True"),
    "off by position under the old name": Pair(
        OFF.replace("torch.amp.GradScaler('cuda', enabled=", "torch.cuda.amp.GradScaler(2.0, 2.0, 0.5, 2000, "),
        "2000, False",
        "2000, True",
    ),
    "after the step": clipped(f"scaler.step(optimizer)\n    {CLIP}\n    continue", CLIP),
    "given to a library": clipped(f"conf.unscale(scaler, optimizer)\n    {CLIP}", CLIP),
    "one of two is unscaled": clipped(
        f"scaler.scale(other(x).sum()).backward()\n    scaler.unscale_(beside)\n    {CLIP}\n    scaler.step(beside)",
        f"scaler.scale(other(x).sum()).backward()\n    {CLIP}\n    scaler.step(beside)",
        before=TWO,
    ),
    "the model of another optimizer": clipped(
        "other(x).sum().backward()\n    clip(other.parameters(), 1.0)\n    beside.step()",
        f"other(x).sum().backward()\n    {CLIP}\n    beside.step()",
        before=TWO,
    ),
    "perhaps that of another optimizer": clipped(
        "other(x).sum().backward()\n    clip(conf.parameters, 1.0)\n    beside.step()",
        "other(x).sum().backward()\n    clip(conf.parameters, 1.0)",
        before=TWO,
    ),
}


@pytest.mark.parametrize("pair", CLIPS.values(), ids=CLIPS.keys())
def test_clip_silent(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC404", pair, tmp_path)


PLAIN = "scaler = torch.amp.GradScaler('cuda')\n"
LOOP = (
    "for i in range(9):\n    scaler.scale(model(x).sum()).backward()\n    scaler.step(optimizer)\n    scaler.update()\n"
)
WRONG = {
    "half": f"model.half()\n{LOOP}",
    "no update": LOOP.replace("    scaler.update()\n", ""),
    "not scaled": LOOP.replace("scaler.scale(model(x).sum())", "model(x).sum()"),
    "bfloat16": LOOP.replace(
        "    scaler.scale", "    with torch.autocast('cuda', torch.bfloat16):\n        pass\n    scaler.scale"
    ),
}
MADE = {
    "an option": "torch.amp.GradScaler('cuda', enabled=conf.amp)",
    "the dtype": "torch.amp.GradScaler('cuda', enabled=conf.dtype == torch.float16)",
    "off": "torch.amp.GradScaler('cuda', enabled=False)",
    "an option by position": "torch.amp.GradScaler('cuda', 2.0, 2.0, 0.5, 2000, conf.amp)",
    "other arguments": "torch.amp.GradScaler('cuda', **conf.kw)",
    "given to a library": "torch.amp.GradScaler('cuda')\nconf.engine(scaler)",
    "given to an object of a library": "torch.amp.GradScaler('cuda')\nengine = conf.Engine(scaler=scaler)",
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("made", MADE)
def test_scaler_silent(wrong: str, made: str, tmp_path: Path) -> None:
    source = f"{HEAD}scaler = {MADE[made]}\n{WRONG[wrong]}"
    check_pair("ACC405", Pair(source, f"scaler = {MADE[made]}\n", PLAIN), tmp_path)


DTYPES = {
    "an option": ("conf.dtype", "torch.bfloat16"),
    "float16": ("torch.float16", "torch.bfloat16"),
    "another region": ("torch.bfloat16):\n        pass\n    with torch.autocast('cuda'", "torch.bfloat16"),
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_scaler_silent_where_not_all_is_bfloat16(dtype: str, tmp_path: Path) -> None:
    given, instead = DTYPES[dtype]
    source = HEAD + PLAIN + WRONG["bfloat16"].replace("torch.bfloat16", given)
    check_pair("ACC405", Pair(source, given, instead), tmp_path)


BCE = IMPORTS + "import conf, contextlib\nfrom torch.nn import functional as F\nz = torch.zeros(4).cuda()\n"
REGIONS = {
    "of the CPU": "torch.autocast('cpu')",
    "of the CPU under the old name": "torch.cpu.amp.autocast()",
    "of MPS": "torch.autocast('mps')",
    "perhaps of the CPU": "torch.autocast('cuda' if torch.cuda.is_available() else 'cpu')",
    "of a device that is not known": "torch.autocast(conf.device)",
    "off": "torch.autocast('cuda', enabled=False)",
    "off by position": "torch.autocast('cuda', torch.float16, False)",
    "off under the old name": "torch.cuda.amp.autocast(False)",
    "perhaps off": "torch.autocast('cuda', enabled=conf.amp)",
    "with other arguments": "torch.autocast('cuda', **conf.kw)",
    "perhaps another manager": "(torch.autocast('cuda') if conf.amp else contextlib.nullcontext())",
    "with an island": "torch.autocast('cuda'), torch.autocast('cuda', enabled=False)",
    "with an island under the old name": "torch.autocast('cuda'), torch.cuda.amp.autocast(enabled=False)",
    "that is none": "contextlib.nullcontext()",
}


@pytest.mark.parametrize("region", REGIONS.values(), ids=REGIONS.keys())
def test_bce_silent(region: str, tmp_path: Path) -> None:
    source = f"{BCE}with {region}:\n    F.binary_cross_entropy(torch.sigmoid(z), z)\n"
    check_pair("ACC406", Pair(source, region, "torch.autocast('cuda')"), tmp_path)


def test_bce_is_forbidden_for_float32_too(tmp_path: Path) -> None:
    source = f"{BCE}with torch.autocast('cuda'):\n    F.binary_cross_entropy_with_logits(z, z)\n"
    instead = "binary_cross_entropy(torch.sigmoid(z).float(), z)"
    check_pair("ACC406", Pair(source, "binary_cross_entropy_with_logits(z, z)", instead), tmp_path)
    with FakeTensorMode():  # tensors of a device that need not be there
        z = torch.empty(4, device="cuda")
        torch.set_autocast_enabled("cuda", True)
        try:
            with pytest.raises(RuntimeError, match="unsafe to autocast"):
                binary_cross_entropy(torch.sigmoid(z).float(), z)
        finally:
            torch.set_autocast_enabled("cuda", False)


CUSTOM = """
class Mine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, g):
        return g @ g
"""


def backward(condition: str, instead: str, body: str = "model(x).sum().backward()", before: str = "") -> Pair:
    return Pair(f"{HEAD}{before}with torch.autocast('cuda'):\n    {body}\n", condition, instead)


BACKWARDS = {
    "a custom backward": backward(CUSTOM, "", before=CUSTOM),
    "create_graph": backward("create_graph=True", "", "model(x).sum().backward(create_graph=True)"),
    "autograd.grad": backward(
        "torch.autograd.grad(model(x).sum(), x)\n", "\n", before="torch.autograd.grad(model(x).sum(), x)\n"
    ),
    "a Hessian": backward(
        "torch.autograd.functional.hessian(model, x)\n", "\n", before="torch.autograd.functional.hessian(model, x)\n"
    ),
    "torch.func": backward("torch.func.grad(model)(x)\n", "\n", before="torch.func.grad(model)(x)\n"),
    "off": backward(
        "with torch.autocast('cuda', enabled=False): ",
        "",
        "with torch.autocast('cuda', enabled=False): model(x).sum().backward()",
    ),
    "off by position": Pair(
        f"{HEAD}with torch.autocast('cuda', torch.float16, False):\n    model(x).sum().backward()\n", ", False", ""
    ),
    "off under the old name": Pair(
        f"{HEAD}with torch.cuda.amp.autocast(False):\n    model(x).sum().backward()\n", "False", ""
    ),
    "outside": backward("loss = model(x).sum()\nloss.", "model(x).sum().", "loss = model(x).sum()\nloss.backward()"),
}


@pytest.mark.parametrize("pair", BACKWARDS.values(), ids=BACKWARDS.keys())
def test_backward_silent(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC407", pair, tmp_path)
