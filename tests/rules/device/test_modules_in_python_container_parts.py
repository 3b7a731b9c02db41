"""ACC306 where a class registers what the layers of a list are made of, part by part."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair
from .programs import net_pair

TWO = "a = nn.Sequential(nn.Linear(8, 8), nn.ReLU())\nb = nn.Sequential(nn.Linear(8, 8), nn.ReLU())\n"
CALLS = "for one in self.all:\n    x = one(x)\nreturn x"
EACH = (
    "for i, block in enumerate([a, b]):\n    for name, part in block.named_children():\n        {}\nself.all = [a, b]"
)
ADDS = "self.add_module(f'{i}{name}', part)"


def parts(init: str, condition: str, instead: str = "print(1)", after: str = "") -> Pair:
    return net_pair(TWO + init, CALLS, condition, instead, after)


PAIRS = {
    "the children of each": parts(EACH.format(ADDS), ADDS),
    "registered": parts(
        EACH.format("self.register_module(name, module=part)"), "self.register_module(name, module=part)"
    ),
    "by the class above": parts(EACH.format("super().add_module(name, part)"), "super().add_module(name, part)"),
    "as attributes": parts(EACH.format("setattr(self, f'{i}{name}', part)"), "setattr(self, f'{i}{name}', part)"),
    "in the table": parts(EACH.format("self._modules[f'{i}{name}'] = part"), "self._modules[f'{i}{name}'] = part"),
    "the table at once": parts(
        "for block in (a, b):\n    self._modules.update(block.named_children())\nself.all = [a, b]",
        "self._modules.update(block.named_children())",
    ),
    "under another name": parts(
        EACH.format("layer = part\n        self.add_module(f'{i}{name}', layer)"), "layer = part", "layer = nn.ReLU()"
    ),
    "children of the list": parts(
        "self.all = [a, b]\nfor block in self.all:\n    for part in list(block.children()):\n        self.add_module('n', part)",
        "self.add_module('n', part)",
    ),
    "of a list with a name": parts(
        "layers = [a, b]\nfor block in layers:\n    for part in block:\n        self.add_module('n', part)\nself.all = layers",
        "self.add_module('n', part)",
    ),
    "of one that is filled": parts(
        "self.all = []\nfor block in (nn.Sequential(nn.Linear(8, 8)), nn.Sequential(nn.Linear(8, 8))):\n"
        "    for name, part in block.named_children():\n        self.add_module(name, part)\n    self.all.append(block)",
        "self.add_module(name, part)",
    ),
    "beside others": parts(
        "self.all = [a, b]\nfor block, other in zip(self.all, (nn.ReLU(), nn.ReLU())):\n"
        "    for name, part in block.named_children():\n        self.add_module(name, part)",
        "block.named_children()",
        "other.named_children()",
    ),
    "with their places": parts(
        "self.all = [a, b]\nfor i, block in enumerate(self.all):\n    self.add_module(str(i), block[0])",
        "block[0]",
        "nn.LayerNorm(i)",
    ),
    "of both and not one": parts(EACH.format(ADDS), "([a, b])", "([a])"),
    "in another method": parts(
        "self.all = [a, b]",
        "self.add_module(name, part)",
        after="    def build(self):\n        for block in self.all:\n            for name, part in block.named_children():\n"
        "                self.add_module(name, part)\n",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_where_parts_are_registered(case: str, tmp_path: Path) -> None:
    check_pair("ACC306", PAIRS[case], tmp_path)


def test_silent_where_a_class_above_does_it(tmp_path: Path) -> None:
    pair = parts(
        "self.all = [a, b]\nfor one in self.all:\n    self.add_module('n', one[0])", "self.add_module('n', one[0])"
    )
    check_pair(
        "ACC306", Pair(f"{pair.source}class Mine(Net):\n    pass\nMine()(1)\n", pair.condition, pair.instead), tmp_path
    )
