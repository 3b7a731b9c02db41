"""ACC438 written-out-activation, silent cases first."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of, fixed

HEAD = """
import math
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

"""
NET = "\nnet = nn.Sequential(nn.Conv2d(3, 8, 3), Act())\n"


def module(body: str, made: str = "self.eps = 1e-5") -> str:
    """A program that uses a module whose ``forward`` is this."""
    return (
        f"{HEAD}class Act(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {made}\n"
        f"    def forward(self, x, y=None):\n{textwrap.indent(body, ' ' * 8)}\n{NET}"
    )


SWISH = module("return x * torch.sigmoid(x)")
PAIRS = {
    "another tensor": Pair(module("return y * torch.sigmoid(x)"), "y * ", "x * "),
    "a scaled input": Pair(module("return x * torch.sigmoid(1.702 * x)"), "1.702 * ", ""),
    "a scaled result": Pair(module("return 2 * x * torch.sigmoid(x)"), "2 * ", ""),
    "a third factor": Pair(module("return y * x * torch.sigmoid(x)"), "y * ", ""),
    "numpy": Pair(module("return x * np.sigmoid(x)"), "np.", "torch."),
    "two calls, which may give two tensors": Pair(module("return y() * torch.sigmoid(y())"), "y()", "y"),
    "a name that was bound again in between": Pair(
        module("s = torch.sigmoid(x)\nx = x + 1\nreturn x * s"), "x = x + 1", "pass"
    ),
    "a gate that is used as well": Pair(
        module("s = torch.sigmoid(x)\nreturn x * s, s"), "return x * s, s", "return x * s"
    ),
    "a softplus with a slope": Pair(module("return x * torch.tanh(F.softplus(x, 2))"), "(x, 2)", "(x)"),
    "another range": Pair(module("return x * torch.clamp(x + 3, 0, 5) / 6"), "0, 5", "0, 6"),
    "another shift": Pair(module("return x * F.relu6(x + 2) / 6"), "x + 2", "x + 3"),
    "another divisor": Pair(module("return x * F.relu6(x + 3) / 5"), "/ 5", "/ 6"),
    "another root": Pair(module("return 0.5 * x * (1 + torch.erf(x / math.sqrt(3)))"), "sqrt(3)", "sqrt(2)"),
    "another cube": Pair(
        module("return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 2)))"), "** 2", "** 3"
    ),
    "a program that compiles": Pair(SWISH + "net = torch.compile(net)\n", "net = torch.compile(net)\n"),
    "a function that is compiled": Pair(
        f"{HEAD}@torch.jit.script\ndef swish(x):\n    return x * torch.sigmoid(x)\nprint(swish(torch.zeros(2)))\n",
        "@torch.jit.script\n",
    ),
    "a torch that lacks it": Pair(
        f"{HEAD}if hasattr(nn, 'SiLU'):\n    Act = nn.SiLU\nelse:\n    class Act(nn.Module):\n"
        f"        def forward(self, x):\n            return x * torch.sigmoid(x)\n{NET}",
        "hasattr(nn, 'SiLU')",
        "math.pi > 4",
    ),
    "in a try": Pair(
        f"{HEAD}try:\n    from torch.nn import SiLU as Act\nexcept ImportError:\n    class Act(nn.Module):\n"
        f"        def forward(self, x):\n            return x * torch.sigmoid(x)\n{NET}",
        "try:\n    from torch.nn import SiLU as Act\nexcept ImportError:",
        "if math.pi > 3:",
    ),
    "what is built where torch lacks it": Pair(
        SWISH.replace("\nnet =", "\ntry:\n    act = nn.SiLU()\nexcept AttributeError:\n    act = Act()\nnet =").replace(
            "3), Act())", "3), act)"
        ),
        "AttributeError",
        "RuntimeError",
    ),
    "what a condition builds where torch lacks it": Pair(
        SWISH.replace("\nnet =", "\nmade = nn.ReLU\nif not hasattr(nn, 'SiLU'):\n    made = Act\nnet =").replace(
            "3), Act())", "3), made())"
        ),
        "not hasattr(nn, 'SiLU')",
        "math.pi > 3",
    ),
    "for an export": Pair(
        SWISH.replace("        super", '        "Runs in ONNX."\n        super'), '        "Runs in ONNX."\n'
    ),
    "what nothing uses": Pair(SWISH.replace("Act())", "nn.ReLU())"), "nn.ReLU()", "Act()"),
    "a name of torch, beside a module that is called so": Pair(
        SWISH.replace("Act())", "nn.ReLU())"),
        "import torch.nn as train",
        "import train",
        {"use.py": "import torch.nn as train\nact = train.Act()\n"},
    ),
    "a lambda that is one of many": Pair(
        module("act = lambda v: v * torch.sigmoid(v)\nreturn act(x)"),
        "lambda v: v * torch.sigmoid(v)",
        "x * x.sigmoid()",
    ),
    "a method of a module of somebody else": Pair(
        module("return x * self.gate.sigmoid(x)", "self.gate = print"), "self.gate.sigmoid(x)", "x.sigmoid()"
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC438", pair, tmp_path)


NORM = """
u = x.mean(1, keepdim=True)
s = (x - u).pow(2).mean(1, keepdim=True)
return (x - u) / torch.sqrt(s + self.eps)
"""
VAR = (
    "u = x.mean(-1, keepdim=True)\ns = x.var(-1, keepdim=True, unbiased=False)\nreturn (x - u) * torch.rsqrt(s + 1e-5)"
)
NORM_PAIRS = {
    "the unbiased variance": Pair(module(VAR.replace("False", "True")), "unbiased=True", "unbiased=False"),
    "the variance that torch gives by itself": Pair(
        module(VAR.replace(", unbiased=False", "")),
        "keepdim=True)\n        return",
        "keepdim=True, unbiased=False)\n        return",
    ),
    "the deviation": Pair(module(VAR).replace("x.var(-1", "x.std(-1"), "x.std(-1", "x.var(-1"),
    "over pixels": Pair(module(NORM).replace("1, keepdim", "2, keepdim"), "2, keepdim", "1, keepdim"),
    "over two dimensions": Pair(
        module(VAR).replace("-1, keepdim", "(1, 2), keepdim"), "(1, 2), keepdim", "-1, keepdim"
    ),
    "without an epsilon": Pair(module(VAR).replace("(s + 1e-5)", "(s)"), "(s)", "(s + 1e-5)"),
    "the epsilon beside the root": Pair(
        module(NORM).replace("torch.sqrt(s + self.eps)", "(torch.sqrt(s) + self.eps)"),
        "(torch.sqrt(s) + self.eps)",
        "torch.sqrt(s + self.eps)",
    ),
    "what is added is no epsilon": Pair(module(NORM).replace("s + self.eps", "s + y"), "s + y", "s + self.eps"),
    "the mean of something else": Pair(module(NORM).replace("u = x.mean", "u = y.mean"), "u = y.mean", "u = x.mean"),
    "the spread of something else": Pair(module(VAR).replace("s = x.var", "s = y.var"), "s = y.var", "s = x.var"),
    "over different dimensions": Pair(module(VAR).replace("x.var(-1", "x.var(1"), "x.var(1", "x.var(-1"),
    "no square": Pair(module(NORM).replace("pow(2)", "pow(4)"), "pow(4)", "pow(2)"),
    "in another method": Pair(module(NORM).replace("def forward", "def statistics"), "def statistics", "def forward"),
}


@pytest.mark.parametrize("pair", NORM_PAIRS.values(), ids=NORM_PAIRS.keys())
def test_says_nothing_of_another_norm(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC438", pair, tmp_path)


WRITTEN = {
    "silu": ("return x * torch.sigmoid(x)", "silu(x)", True),
    "silu by a method": ("return x.sigmoid() * x", "silu(x)", True),
    "silu in place": ("return x.mul_(x.sigmoid())", "silu(x)", True),
    "silu of an attribute": ("return self.eps * F.sigmoid(self.eps)", "silu(self.eps)", True),
    "silu step by step": ("s = torch.sigmoid(x)\nreturn x * s", "silu(x)", False),
    "silu by a module": ("return x * self.gate(x)", "silu(x)", True),
    "mish": ("return x * torch.tanh(F.softplus(x))", "mish(x)", True),
    "mish by methods": ("return x * F.softplus(x).tanh()", "mish(x)", True),
    "hardswish": ("return x * F.relu6(x + 3., inplace=True) / 6.", "hardswish(x)", True),
    "hardswish by a bound": ("return x * (x + 3).clamp(0, 6) * (1 / 6)", "hardswish(x)", True),
    "hardswish step by step": ("s = F.relu6(3 + x) / 6\nreturn x * s", "hardswish(x)", False),
    "hardswish by its gate": ("return x * F.hardsigmoid(x)", "hardswish(x)", True),
    "hardsigmoid": ("return F.relu6(x + 3) / 6", "hardsigmoid(x)", True),
    "gelu": ("return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))", "gelu(x)", True),
    "gelu step by step": ("c = 0.5 * (1 + torch.erf(x / 2 ** 0.5))\nreturn x * c", "gelu(x)", False),
    "gelu by tanh": (
        "return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3))))",
        'gelu(x, approximate="tanh")',
        True,
    ),
    "gelu by a product": (
        "return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))",
        'gelu(x, approximate="tanh")',
        True,
    ),
}


@pytest.mark.parametrize(("body", "instead", "whole"), WRITTEN.values(), ids=WRITTEN.keys())
def test_names_the_function_and_writes_it_where_all_stands_in_one_expression(
    body: str, instead: str, whole: bool, tmp_path: Path
) -> None:
    first, arrow, last = body.rpartition("\n")
    source = module(f"{first}{arrow}{last}  # -> info {'unsafe' if whole else 'none'}", "self.gate = nn.Sigmoid()")
    (found,) = check_one("ACC438", source, tmp_path)
    assert f"`torch.nn.functional.{instead}`" in found.message
    if whole:
        assert f"= F.{instead}" in fixed("ACC438", _shown(source), tmp_path)


def _shown(source: str) -> str:
    """The same program, whose text assigns what it returns, and names the rule."""
    return source.replace("        return ", "        shown = ").replace(NET, f"        return shown\n{NET}# ACC438\n")


NORMS = {
    "over channels": (NORM.strip(), "permuted"),
    "over the last": (VAR, "`F.layer_norm` computes"),
    "by functions": (
        "u = torch.mean(x, dim=-1, keepdim=True)\ns = torch.mean((x - u) ** 2, -1, keepdim=True)\n"
        "return (x - u) / (s + self.eps).sqrt()",
        "`F.layer_norm` computes",
    ),
    "by a correction": (VAR.replace("unbiased=False", "correction=0"), "`F.layer_norm` computes"),
}


@pytest.mark.parametrize(("body", "said"), NORMS.values(), ids=NORMS.keys())
def test_layer_norms(body: str, said: str, tmp_path: Path) -> None:
    first, _, last = body.rpartition("\n")
    (found,) = check_one("ACC438", module(f"{first}\n{last}  # -> info none"), tmp_path)
    assert said in found.message


OWN = f"""{HEAD}class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        result = i * torch.sigmoid(i)  # -> info none
        ctx.save_for_backward(i)
        return result
    @staticmethod
    def backward(ctx, grad):
        (i,) = ctx.saved_tensors
        return grad * (torch.sigmoid(i) + i * torch.sigmoid(i))
print(Swish.apply(torch.zeros(2)))
"""


def test_reports_the_forward_of_an_own_function_alone(tmp_path: Path) -> None:
    (found,) = check_one("ACC438", OWN, tmp_path)
    assert found.message.startswith("`Swish` takes several kernels for each pass")


FUNCTIONAL = re.compile(r"^(import torch\.nn\.functional as F|from torch\.nn import functional as F)\n", re.MULTILINE)


def test_calls_torch_as_the_file_does(tmp_path: Path) -> None:
    source = f"{SWISH}# ACC438\n".replace("import torch\n", "import torch as th\n").replace(
        "torch.sigmoid", "th.sigmoid"
    )
    assert "return F.silu(x)" in fixed("ACC438", source, tmp_path)
    without, count = FUNCTIONAL.subn("", source)
    assert count == 1
    assert "return th.nn.functional.silu(x)" in fixed("ACC438", without, tmp_path)
    inside = without.replace("        return x", "        from torch.nn import functional as F\n        return x")
    assert "return th.nn.functional.silu(x)" in fixed("ACC438", inside, tmp_path)


def test_writes_nothing_where_torch_has_no_name(tmp_path: Path) -> None:
    source = SWISH.replace("import torch\n", "from torch import sigmoid\n").replace("torch.sigmoid", "sigmoid")
    (found,) = findings_of("ACC438", FUNCTIONAL.sub("", source), tmp_path)
    assert found.fix is None
    (found,) = findings_of("ACC438", source, tmp_path)
    assert found.fix is not None


def test_writes_strings_as_the_file_does_and_leaves_no_import_behind(tmp_path: Path) -> None:
    written = "return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3))))"
    source = module(written, "print('a', 'b', 'c', 'd')") + "# ACC438\n"
    assert "import math\n" in source
    text = fixed("ACC438", source, tmp_path)
    assert "F.gelu(x, approximate='tanh')" in text
    assert "import math" not in text


@pytest.mark.parametrize(("stated", "minor"), [("torch==1.6.0", True), ("torch>=1.6", False), ("torch>=2.0", False)])
def test_says_where_torch_has_to_be_newer(stated: str, minor: bool, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(f"{stated}\n")
    (found,) = findings_of("ACC438", SWISH, tmp_path)
    assert found.minor == minor
    assert ("(torch 1.7 or later" in found.message) == (stated != "torch>=2.0")


def test_a_gate_by_itself_is_minor_and_goes_with_what_costs_more(tmp_path: Path) -> None:
    source = module("return F.relu6(x + 3) / 6")
    (found,) = findings_of("ACC438", source, tmp_path)
    assert found.minor
    assert found.aside
    (other,) = findings_of("ACC438", source.replace("F.relu6(x + 3)", "x * F.relu6(x + 3)"), tmp_path)
    assert not other.minor
    assert not other.aside
