"""ACC417 where a project's own functions of autograd, or its kernels, do not follow autocast."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Finding

from ..checks import findings_of
from ..programs import IMAGE_LOADER, IMPORTS

TRAINING = (
    IMPORTS
    + IMAGE_LOADER
    + """
import torch.nn.functional as F
net = nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)]).cuda()
def twice(x):
    return x * 2
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return F.conv2d(x, weight)
    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return BODY
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in loader:
    Again.apply(net(x.cuda()), net[0].weight).sum().backward()
    optimizer.step()
"""
)
OUTSIDE = "autocast is off in its backward pass, unless that is decorated"
PLAIN = "grad * weight.sum(), grad * x.sum()"
BODIES = {
    "a layer": "F.conv_transpose2d(grad, weight), None",
    "a gradient of a layer": "torch.nn.grad.conv2d_input(x.shape, weight, grad), None",
    "a product": "grad @ weight, None",
    "a method": "grad.mm(weight), None",
    "a function": "torch.einsum('bc,cd->bd', grad, weight), None",
    "a gradient": "torch.autograd.grad(net(x), x, grad)",
    "computed again": "(torch.enable_grad().__enter__(), net(x))",
}


@pytest.mark.parametrize("case", BODIES)
def test_what_computes_in_its_backward_pass_is_to_be_decorated(case: str, tmp_path: Path) -> None:
    assert _outside(TRAINING.replace("BODY", BODIES[case]), tmp_path / "with") == 1
    assert _outside(TRAINING.replace("BODY", PLAIN), tmp_path / "without") == 0


LAYER = TRAINING.replace("BODY", BODIES["a layer"])


@pytest.mark.parametrize(
    ("instead", "condition"),
    [
        (
            "    @staticmethod\n    def backward",
            "    @staticmethod\n    @kernels.custom_bwd\n    def backward",
        ),
        ("torch.autograd.Function", "kernels.Function"),
        ("def backward", "def jvp"),
        ("Again.apply(net(x.cuda()), net[0].weight)", "net(x.cuda())"),
    ],
    ids=["decorated", "no function of autograd", "no backward pass", "unused"],
)
def test_no_word_of_decorating(instead: str, condition: str, tmp_path: Path) -> None:
    assert _outside(LAYER, tmp_path / "with") == 1
    assert instead in LAYER
    assert _outside("import kernels\n" + LAYER.replace(instead, condition), tmp_path / "without") == 0


@pytest.mark.parametrize("call", ["Again.inner(grad, weight)", "twice(grad)"])
def test_what_the_backward_pass_calls_counts(call: str, tmp_path: Path) -> None:
    source = TRAINING.replace("BODY", f"{call}, None").replace(
        "    @staticmethod\n    def backward",
        "    @staticmethod\n    def inner(grad, weight):\n        return grad\n    @staticmethod\n    def backward",
    )
    computes = (
        source.replace("return x * 2", "return x @ x")
        if "twice" in call
        else source.replace("return grad\n", "return grad @ weight\n")
    )
    assert _outside(computes, tmp_path / "with") == 1
    assert _outside(source, tmp_path / "without") == 0


NEW = '`@torch.amp.custom_fwd(device_type="cuda")` and its `backward` with `@torch.amp.custom_bwd(device_type="cuda")`'
OLD = "`@torch.cuda.amp.custom_fwd` and its `backward` with `@torch.cuda.amp.custom_bwd`"


@pytest.mark.parametrize(("torch", "how"), [(">=2.4", NEW), (">=1.12", OLD)])
def test_says_how(torch: str, how: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC417", LAYER, tmp_path, {"requirements.txt": f"torch{torch}\n"})
    assert f"decorate the `forward` of `Again` with {how}, since autocast is off in backward passes" in found.message


REVERSED = """with torch.no_grad():
            x = grad - net(grad)
        return torch.autograd.grad(net(x), x, grad)"""


@pytest.mark.parametrize(
    ("instead", "condition"),
    [("grad - net(grad)", "grad + net(grad)"), ("torch.no_grad()", "torch.enable_grad()")],
    ids=["an addition", "with a graph"],
)
def test_silent_about_layers_that_get_their_inputs_back(instead: str, condition: str, tmp_path: Path) -> None:
    source = TRAINING.replace("return BODY", REVERSED)
    assert _findings(source, tmp_path / "with") == []
    assert instead in source
    assert _outside(source.replace(instead, condition), tmp_path / "without") == 1


POINTED = "import cupy\n" + TRAINING.replace("BODY", PLAIN).replace(
    "    return x * 2\n", "    kernels.run(args=[x.data_ptr(), 2])\n    return x\n"
).replace("net(x.cuda())", "twice(net(x.cuda()))")


@pytest.mark.parametrize(
    ("instead", "condition"),
    [
        ("import cupy\n", ""),
        ("x.data_ptr()", "x.float().data_ptr()"),
        ("x.data_ptr()", "x"),
        ("kernels.run(args=[x.data_ptr(), 2])", "seen.add(x.data_ptr())"),
        ("twice(net(x.cuda()))", "net(x.cuda())"),
    ],
    ids=["no kernels", "cast", "the tensor", "compared", "unused"],
)
def test_what_hands_over_addresses_is_left_in_float32(instead: str, condition: str, tmp_path: Path) -> None:
    (found,) = _findings(POINTED, tmp_path / "with")
    assert "leave in float32 what half precision breaks: `twice`" in found.message
    assert instead in POINTED
    (other,) = _findings(POINTED.replace(instead, condition), tmp_path / "without")
    assert "half precision breaks" not in other.message


def _outside(source: str, folder: Path) -> int:
    """How many functions the one finding wants to be decorated."""
    (found,) = _findings(source, folder)
    count = [one.message for one in found.related].count(OUTSIDE)
    assert ("and decorate the `forward` of" in found.message) == bool(count)
    return count


def _findings(source: str, folder: Path) -> list[Finding]:
    folder.mkdir()
    return findings_of("ACC417", source, folder)
