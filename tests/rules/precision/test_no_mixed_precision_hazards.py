"""ACC417 where autocast would break a part of what the model computes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import IMAGE_LOADER, IMPORTS

TRAINING = (
    IMPORTS
    + IMAGE_LOADER
    + """
import kernels
net = nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)])
class Fused(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.relu(x)
    @staticmethod
    def backward(ctx, grad):
        return grad
def nearest(x, y):
    distances = x.square().sum(1)[:, None] - 3 * torch.matmul(x, y.T)
    return distances.topk(3).indices
net.cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in loader:
    net(x.cuda()).sum().backward()
    optimizer.step()
"""
)
HAZARDS = {
    "kernels of its own": ("torch.relu(x)", "kernels.relu_forward(x)"),
    "distances by products": ("- 3 * torch", "- 2 * torch"),
    "an operator": ("- 3 * torch.matmul(x, y.T)", "- 2.0 * (x @ y.T)"),
    "an operator without parentheses": ("- 3 * torch.matmul(x, y.T)", "+ -2 * x @ y.T"),
    "a number of another base": ("- 3 * torch", "- 0x2 * torch"),
    "a loss that autocast refuses": ("net(x.cuda()).sum()", "nn.BCELoss()(net(x.cuda()).sigmoid(), y)"),
    "the nearest as the largest of what is negated": (
        "3 * torch.matmul(x, y.T)\n    return distances.topk(3).indices",
        "2 * torch.matmul(x, y.T)\n    return (-distances).max(1)[1]",
    ),
    "a decomposition": ("net(x.cuda()).sum()", "torch.linalg.svdvals(net(x.cuda())).sum()"),
}


@pytest.mark.parametrize("case", HAZARDS)
def test_what_half_precision_breaks_is_named_and_nothing_else(case: str, tmp_path: Path) -> None:
    instead, condition = HAZARDS[case]
    assert _kept(TRAINING.replace(instead, condition), tmp_path / "with") == 1
    assert _kept(TRAINING, tmp_path / "without") == 0


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("kernels of its own", "`Fused`"),
        ("distances by products", "`2 * torch.matmul(x, y.T)`"),
        ("a loss that autocast refuses", "`nn.BCELoss`"),
    ],
)
def test_says_what_half_precision_breaks(case: str, name: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC417", TRAINING.replace(*HAZARDS[case]), tmp_path)
    assert f"leave in float32 what half precision breaks: {name}" in found.message


def test_an_extension_is_named_as_it_is_loaded(tmp_path: Path) -> None:
    loads = "from torch.utils.cpp_extension import load\nfast = load(name='fast_norm', sources=['norm.cu'])\n"
    (found,) = findings_of("ACC417", loads + TRAINING, tmp_path)
    assert "half precision breaks: `fast_norm`" in found.message


def test_distances_are_named_only_where_the_nearest_are_taken(tmp_path: Path) -> None:
    source = TRAINING.replace("- 3 * torch", "- 2 * torch")
    assert _kept(source, tmp_path / "with") == 1
    assert _kept(source.replace(".topk(3).indices", ""), tmp_path / "without") == 0


ADAPTED = """
class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = None
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("var", torch.ones(3))
    def forward(self, x, scale=None):
        return nn.functional.batch_norm(x, self.mean, self.var, self.weight, None, True)
adapted = Adapted()
"""
SCALES = {
    "a parameter": ("self.weight = None", "self.weight = nn.Parameter(torch.ones(3))"),
    "no weight": ("self.weight, None", "None, None"),
    "no statistics": ("self.mean, self.var", "None, None"),
    "a part of a parameter": ("self.weight = None", "self.weight = nn.Parameter(torch.ones(9))[:3]"),
    "a part of another layer's": ("self.weight, None", "self.inner.weight[:3], None"),
    "another layer's": ("self.weight, None", "self.inner.weight, None"),
}


@pytest.mark.parametrize("case", SCALES)
def test_normalizations_are_named_whose_weights_are_computed(case: str, tmp_path: Path) -> None:
    head = TRAINING.replace("net.cuda()\n", ADAPTED + "net.cuda()\n")
    source = head.replace("net(x.cuda())", "adapted(net(x.cuda()))")
    assert _kept(source, tmp_path / "handed") == 1
    given = source.replace("self.weight, None, True", "weight=scale, training=True")
    assert _kept(given, tmp_path / "given") == 1
    assert _kept(source.replace(*SCALES[case]), tmp_path / "without") == 0


SPECTRA = """
class Spectra(nn.Module):
    def forward(self, x):
        return torch.stft(x.flatten(1), 16, return_complex=True).abs()
spectra = Spectra()
"""


def test_transforms_of_modules_are_named_and_not_those_of_data(tmp_path: Path) -> None:
    source = TRAINING.replace("net.cuda()\n", SPECTRA + "net.cuda()\n").replace(
        "net(x.cuda())", "spectra(net(x.cuda()))"
    )
    assert _kept(source, tmp_path / "called") == 1
    data = source.replace(
        "nn.Module):\n    def forward(self, x)", "torch.utils.data.Dataset):\n    def __getitem__(self, x)"
    )
    assert _kept(data.replace("spectra(net", "(net"), tmp_path / "data") == 0


def test_each_kernel_is_named(tmp_path: Path) -> None:
    kernel = TRAINING[TRAINING.index("class Fused") : TRAINING.index("def nearest")]
    source = TRAINING.replace(kernel, kernel + kernel.replace("Fused", "Other"))
    assert _kept(source.replace("torch.relu(x)", "kernels.relu_forward(x)"), tmp_path / "both") == 2
    (tmp_path / "second").mkdir()
    (found,) = findings_of("ACC417", source.replace("torch.relu", "kernels.relu"), tmp_path / "second")
    assert "half precision breaks: `Fused`, `Other`" in found.message


FROM_ONE = """
def judged(p):
    return torch.log(1 - p).mean()
class Judge(nn.Module):
    def forward(self, p):
        return torch.log(1 - torch.sigmoid(p)).mean()
"""
DIFFERENCES = TRAINING.replace("net.cuda()\n", FROM_ONE + "net.cuda()\n").replace(
    "net(x.cuda()).sum()", "judged(net(x.cuda()).sigmoid())"
)
LOGARITHM = "torch.log(1 - p).mean()"


@pytest.mark.parametrize(
    ("instead", "condition"),
    [
        (LOGARITHM, "torch.log(2 - p).mean()"),
        (LOGARITHM, "torch.log(p).mean()"),
        (LOGARITHM, "(1 - p).mean()"),
        (LOGARITHM, "torch.log(1 - p.float()).mean()"),
        (".sigmoid())", ".softmax(1))"),
        ("judged(net(x.cuda()).sigmoid())", "judged(x.cuda()).mean() + net(x.cuda()).sum()"),
        ("judged(net(x.cuda()).sigmoid())", "net(x.cuda()).sum()"),
    ],
    ids=["from two", "of the rest", "no logarithm", "cast", "in float32", "of the batch", "not called"],
)
def test_what_is_left_of_one_is_named_where_half_precision_rounds_it(
    instead: str, condition: str, tmp_path: Path
) -> None:
    alone = DIFFERENCES.replace("torch.sigmoid(p)", "p")
    assert _kept(alone, tmp_path / "with") == 1
    assert instead in alone
    assert _kept(alone.replace(instead, condition), tmp_path / "without") == 0


@pytest.mark.parametrize(
    "steep",
    [
        "torch.sqrt((1.0 - torch.pow(p, 2)).clamp(0, 1))",
        "(1 - p**2).sqrt()",
        "torch.log(1 - p + 1e-8)",
        "torch.acos(p.clamp(-1, 1))",
        "torch.log2(torch.clamp(1 - p, min=1e-6))",
    ],
)
def test_each_function_that_is_steep_there(steep: str, tmp_path: Path) -> None:
    alone = DIFFERENCES.replace("torch.sigmoid(p)", "p")
    assert _kept(alone.replace("torch.log(1 - p)", steep, 1), tmp_path / "steep") == 1


def test_a_loss_that_nothing_is_seen_to_call(tmp_path: Path) -> None:
    assert _kept(DIFFERENCES, tmp_path / "seen") == 2
    (tmp_path / "named").mkdir()
    (found,) = findings_of("ACC417", DIFFERENCES, tmp_path / "named")
    assert "`torch.log(1 - p)`, `torch.log(1 - torch.sigmoid(p))`" in found.message


IN_A_MODULE = """
class Focal(nn.Module):
    def forward(self, p, y):
        p = torch.clamp(p, 1e-4, 1.0 - 1e-4)
        return -(y * torch.log(p) + (1.0 - y) * torch.log(1.0 - p)).mean()
class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)])
        self.head = nn.Conv2d(3, 3, 3)
        self.act = nn.Sigmoid()
        self.focal = Focal()
    def forward(self, x, y):
        return self.focal(torch.cat([self.act(self.head(self.body(part))) for part in x.chunk(2)]), y)
net = Detector()
net.cuda()
"""
FOCAL = TRAINING.replace("net.cuda()\n", IN_A_MODULE).replace("net(x.cuda()).sum()", "net(x.cuda(), x.cuda())")


@pytest.mark.parametrize(
    ("instead", "condition"),
    [
        ("torch.cat([self.act(self.head(self.body(part))) for part in x.chunk(2)])", "x"),
        ("self.act(self.head(self.body(part)))", "self.act(self.head(self.body(part))).float()"),
        ("self.act(self.head(self.body(part)))", "self.head(self.body(part)).softmax(1)"),
        ("1.0 - p)", "2.0 - p)"),
    ],
    ids=["of the batch", "cast", "in float32", "from two"],
)
def test_what_a_module_is_given_by_another_is_followed(instead: str, condition: str, tmp_path: Path) -> None:
    assert _kept(FOCAL, tmp_path / "with") == 1
    assert instead in FOCAL
    assert _kept(FOCAL.replace(instead, condition), tmp_path / "without") == 0


def test_what_is_left_of_one_in_a_module_is_named(tmp_path: Path) -> None:
    (found,) = findings_of("ACC417", FOCAL, tmp_path)
    assert "leave in float32 what half precision breaks: `torch.log(1.0 - p)`" in found.message


PLACES = TRAINING.replace(
    "net.cuda()\n",
    """
def overlapped(signal, rows):
    places = torch.arange(rows)
    places = signal.new_tensor(places).long()
    return signal.new_zeros(rows).index_add_(0, places, signal)
net.cuda()
""",
).replace("net(x.cuda()).sum()", "overlapped(net(x.cuda()), 900).sum()")


@pytest.mark.parametrize(
    ("instead", "condition"),
    [
        ("signal.new_tensor(places).long()", "signal.new_tensor(places, dtype=torch.int64).long()"),
        ("signal.new_tensor(places).long()", "signal.new_tensor(places)"),
        ("signal.new_tensor(places).long()", "places.to(signal.device).long()"),
        ("overlapped(net(x.cuda()), 900)", "net(x.cuda()) + overlapped(x.cuda(), 900)"),
    ],
    ids=["as whole numbers", "no whole numbers", "moved alone", "of the batch"],
)
def test_whole_numbers_in_half_precision_are_named(instead: str, condition: str, tmp_path: Path) -> None:
    assert _kept(PLACES, tmp_path / "with") == 1
    assert instead in PLACES
    assert _kept(PLACES.replace(instead, condition), tmp_path / "without") == 0


def test_whole_numbers_in_half_precision_by_type(tmp_path: Path) -> None:
    (found,) = findings_of(
        "ACC417", PLACES.replace("signal.new_tensor(places).long()", "places.type_as(signal).long()"), tmp_path
    )
    assert "what half precision breaks: `places.type_as(signal).long()`" in found.message


def _kept(source: str, folder: Path) -> int:
    """How many places the one finding wants to keep in float32."""
    folder.mkdir()
    (found,) = findings_of("ACC417", source, folder)
    kept = [one for one in found.related if one.message.startswith("this, and what it is computed from, stays in")]
    assert ("leave in float32" in found.message) == bool(kept)
    return len(kept)


TRY = ", and try it first with `accel-advisor tune --knobs autocast`, which compares the losses, too"
BFLOAT16 = 'compute the model and the loss under `torch.autocast("cuda", torch.bfloat16)`'
FLOAT16 = (
    'compute the model and the loss under `torch.autocast("cuda", torch.float16)`, and scale the loss with a '
    '`torch.amp.GradScaler("cuda")`, since the kernels of `inplace_abn` have no bfloat16'
)
OLDER = (
    "compute the model and the loss under `torch.cuda.amp.autocast()`, and scale the loss with a "
    "`torch.cuda.amp.GradScaler`"
)
NORMS = TRAINING.replace("import kernels", "from norms import InPlaceABN").replace(
    "net.cuda()\n", "net.append(InPlaceABN(3))\nnet.cuda()\n"
)
RESIZED = TRAINING.replace("net.cuda()\n", SPECTRA + "net.cuda()\n").replace(
    "torch.stft(x.flatten(1), 16, return_complex=True).abs()", "nn.functional.max_pool2d(x, 2)"
)


@pytest.mark.parametrize(("package", "remedy"), [("norms", BFLOAT16), ("inplace_abn", FLOAT16)])
def test_kernels_of_a_library_that_have_no_bfloat16_take_float16(package: str, remedy: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC417", NORMS.replace("from norms", f"from {package}"), tmp_path)
    assert remedy in found.message
    source = NORMS.replace("from norms", f"from {package}").replace("net.cuda()", "net = nn.DataParallel(net.cuda())")
    (in_threads,) = findings_of("ACC417", source, tmp_path)
    assert ("since the threads of DataParallel" in in_threads.message) is (remedy is BFLOAT16)


@pytest.mark.parametrize(
    ("pinned", "called", "remedy"),
    [
        ("torch==1.13.1", "max_pool2d(x, 2)", BFLOAT16 + TRY),
        ("torch==1.13.1", "interpolate(x, scale_factor=2)", OLDER),
        ("torch>=1.13.1", "interpolate(x, scale_factor=2)", f"{BFLOAT16}{TRY} (torch 2.1 or later)"),
        ("torch==2.1.0", "interpolate(x, scale_factor=2)", BFLOAT16 + TRY),
    ],
)
def test_torch_before_2_1_resizes_no_bfloat16(pinned: str, called: str, remedy: str, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(f"{pinned}\n")
    (found,) = findings_of("ACC417", RESIZED.replace("max_pool2d(x, 2)", called), tmp_path)
    assert found.message.endswith(remedy)
