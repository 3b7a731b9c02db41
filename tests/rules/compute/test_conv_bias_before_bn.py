"""ACC424 conv-bias-before-bn, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, fixed
from ..programs import IMPORTS

FORWARD = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = {conv}
        self.norm = {norm}
    def forward(self, x):
        {body}
"""


def module(body: str, conv: str = "nn.Conv2d(3, 8, 3)", norm: str = "nn.BatchNorm2d(8)") -> str:
    return FORWARD.format(conv=conv, norm=norm, body=body)


SILENT = {
    "no bias": "nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8))",
    "no bias, by position": "nn.Sequential(nn.Conv2d(3, 8, 3, 1, 0, 1, 1, False), nn.BatchNorm2d(8))",
    "an option": "import conf\nnn.Sequential(nn.Conv2d(3, 8, 3, bias=conf.bias), nn.BatchNorm2d(8))",
    "group norm": "nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(2, 8))",
    "an activation between": "nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.BatchNorm2d(8))",
    "another number of dimensions": "nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm1d(8))",
    "shared": "c = nn.Conv2d(3, 8, 3)\nnn.Sequential(c, nn.BatchNorm2d(8))",
    "the other order": "nn.Sequential(nn.BatchNorm2d(3), nn.Conv2d(3, 8, 3))",
    "other arguments": "import conf\nnn.Sequential(nn.Conv2d(**conf.kw), nn.BatchNorm2d(8))",
    "used elsewhere too": module("return self.norm(self.conv(x)) + self.conv(x)"),
    "called on a name": module("y = self.conv(x)\n        return self.norm(y)"),
    "another norm": module("return self.norm(self.conv(x))", norm="nn.InstanceNorm2d(8)"),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC424", IMPORTS + source + "\n", tmp_path)


FUSES = [
    "torch.ao.quantization.fuse_modules(block, [['0', '1']])\n",
    "torch.ao.quantization.fuse_modules_qat(block, [['0', '1']])\n",
    "torch.quantization.fuse_modules(block, [['0', '1']])\n",
    "torch.nn.utils.fusion.fuse_conv_bn_eval(block[0], block[1])\n",
]


@pytest.mark.parametrize("line", FUSES)
def test_silent_where_the_two_are_fused(line: str, tmp_path: Path) -> None:
    source = f"{IMPORTS}block = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))\n{line}"
    check_pair("ACC424", Pair(source, line), tmp_path)


def test_silent_before_another_norm(tmp_path: Path) -> None:
    source = f"{IMPORTS}nn.Sequential(nn.Conv2d(3, 8, 3), nn.LayerNorm(8))\n"
    check_pair("ACC424", Pair(source, "nn.LayerNorm(8)", "nn.BatchNorm2d(8)"), tmp_path)


REPORTED = (
    "m = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # -> info unsafe",
    "m = nn.Sequential(nn.ReLU(), nn.ConvTranspose3d(3, 8, 3), nn.BatchNorm3d(8))  # -> info unsafe",
    module("return self.norm(self.conv(x)).relu()", conv="nn.Conv2d(3, 8, 3)  # -> info unsafe"),
)


@pytest.mark.parametrize("source", REPORTED)
def test_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC424", IMPORTS + source + "\n", tmp_path)
    assert "d(3, 8, 3, bias=False)" in fixed("ACC424", f"{IMPORTS}{source}\n# ACC424\n", tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "# the start of m[0].bias",
        "print('m[0].bias is gone')",
        "class Shift(nn.Module):\n    def forward(self, x):\n        return x + self.bias",
    ],
)
def test_has_a_fix_where_no_bias_of_a_layer_is_read(line: str, tmp_path: Path) -> None:
    source = "m = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # -> info unsafe\n"
    check_one("ACC424", f"{IMPORTS}{source}{line}\n", tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "if m[0].bias is not None: nn.init.zeros_(m[0] . bias)",
        "for one in m: print(one.bias)",
        "m[0].bias.data.zero_()",
    ],
)
def test_has_no_fix_where_code_does(line: str, tmp_path: Path) -> None:
    source = "m = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # -> info none\n"
    check_one("ACC424", f"{IMPORTS}{source}{line}\n", tmp_path)


def test_has_no_fix_where_weights_are_loaded(tmp_path: Path) -> None:
    source = (
        "m = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # -> info none\nm.load_state_dict(torch.load('m'))\n"
    )
    check_one("ACC424", IMPORTS + source, tmp_path)
