"""ACC306 modules-in-python-container, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair
from ..programs import IMPORTS
from .programs import net, net_pair

SILENT_PROGRAMS = {
    "teacher trick": """
class Net(nn.Module):
    def __init__(self, teacher):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.teacher = [nn.Linear(3, 3)]
    def forward(self, x):
        with torch.no_grad():
            t = self.teacher[0](x)
        return self.fc(x), t
""",
    "modules appended to ModuleList from list": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Linear(3, 3), nn.ReLU()]
        self.layers = layers
        self.net = nn.Sequential(*layers)
    def forward(self, x):
        for l in self.layers:
            x = l(x)
        return x
""",
    "stateless in list": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.acts = [nn.ReLU(), nn.Tanh()]
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        x = self.fc(x)
        for a in self.acts:
            x = a(x)
        return x
""",
    "losses in a list": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = [nn.MSELoss(), nn.L1Loss()]
        self.fc = nn.Linear(3, 3)
    def forward(self, x, y):
        x = self.fc(x)
        return sum(l(x, y) for l in self.losses)
""",
    "setattr registered": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(3, 3), nn.Linear(3, 3)]
        for i, b in enumerate(self.blocks):
            setattr(self, f"b{i}", b)
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x
""",
    "add_module in a loop": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(3, 3), nn.Linear(3, 3)]
        for i, b in enumerate(self.blocks):
            self.add_module(f"b{i}", b)
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x
""",
    "later wrapped": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(3, 3), nn.Linear(3, 3)]
        self.blocks = nn.ModuleList(self.blocks)
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x
""",
    "plain class, not module": """
class Ensemble:
    def __init__(self):
        self.models = [nn.Linear(3, 3), nn.Linear(3, 3)]
    def __call__(self, x):
        return [m(x) for m in self.models]
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC306", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


CALLS = "for layer in self.layers:\n    x = layer(x)\nreturn x"
SILENT = {
    "a ModuleList": "self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])",
    "a Sequential": "self.layers = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))",
    "registered too": "self.layers = [nn.Linear(8, 8), nn.Linear(8, 8)]\nself.all = nn.Sequential(*self.layers)",
    "a comprehension registered too": "self.layers = [nn.Linear(8, 8) for _ in range(3)]\nself.all = nn.ModuleList(self.layers)",
    "added": "a, b = nn.Linear(8, 8), nn.Linear(8, 8)\nself.add_module('a', a)\nself.add_module('b', b)\nself.layers = [a, b]",
    "attributes too": "self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)\nself.layers = [self.a, self.b]",
    "attributes of their own": "self.a = nn.Linear(8, 8)\nself.b = nn.Linear(8, 8)\nself.layers = [self.a, self.b]",
    "a list of one": "self.layers = [nn.Linear(8, 8)]",
    "moved by hand": "a, b = nn.Linear(8, 8), nn.Linear(8, 8)\na.cuda()\nself.layers = [a, b]",
    "no modules": "self.layers = [1, 2, 3]",
}


@pytest.mark.parametrize("init", SILENT.values(), ids=SILENT.keys())
def test_silent_about_layers_that_are_registered(init: str, tmp_path: Path) -> None:
    check_one("ACC306", net(init, CALLS), tmp_path)


def test_silent_about_layers_that_are_never_called(tmp_path: Path) -> None:
    check_one("ACC306", net("self.layers = [nn.Linear(8, 8), nn.Linear(8, 8)]", "return x"), tmp_path)


PAIR_CALLS = "for one in self.all:\n    x = one(x)\nreturn x"
LIST = "self.all = [nn.Linear(8, 8), nn.Linear(8, 8)]"


def listed(init: str, condition: str, instead: str = "", forward: str = PAIR_CALLS, after: str = "") -> Pair:
    """A module that calls layers of a list."""
    return net_pair(init, forward, condition, instead, after)


PAIRS = {
    "a ModuleList": listed(
        "self.all = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])",
        "nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])",
        "[nn.Linear(8, 8), nn.Linear(8, 8)]",
    ),
    "a Sequential": listed(
        "self.all = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))",
        "nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))",
        "[nn.Linear(8, 8), nn.Linear(8, 8)]",
    ),
    "a ModuleDict": listed(
        "self.all = nn.ModuleDict({'a': nn.Linear(8, 8), 'b': nn.Linear(8, 8)})",
        "nn.ModuleDict({'a': nn.Linear(8, 8), 'b': nn.Linear(8, 8)})",
        "{'a': nn.Linear(8, 8), 'b': nn.Linear(8, 8)}",
        "return self.all['b'](self.all['a'](x))",
    ),
    "in a Sequential too": listed(
        LIST + "\nself.net = nn.Sequential(*self.all)", "\n        self.net = nn.Sequential(*self.all)"
    ),
    "in a ModuleList too": listed(
        LIST + "\nself.net = nn.ModuleList(self.all)", "\n        self.net = nn.ModuleList(self.all)"
    ),
    "in a ModuleList that extends": listed(
        LIST + "\nself.net = nn.ModuleList()\nself.net.extend(self.all)", "\n        self.net.extend(self.all)"
    ),
    "in a ModuleList one by one": listed(
        LIST + "\nself.net = nn.ModuleList()\nfor one in self.all:\n    self.net.append(one)",
        "\n            self.net.append(one)",
        "\n            print(1)",
    ),
    "added": listed(
        LIST + "\nfor i, one in enumerate(self.all):\n    self.add_module(str(i), one)",
        "self.add_module(str(i), one)",
        "print(i)",
    ),
    "registered": listed(
        LIST + "\nfor i, one in enumerate(self.all):\n    self.register_module(str(i), one)",
        "self.register_module(str(i), one)",
        "print(i)",
    ),
    "set": listed(
        LIST + "\nfor i, one in enumerate(self.all):\n    setattr(self, str(i), one)",
        "setattr(self, str(i), one)",
        "print(i)",
    ),
    "attributes too": listed(
        "a, b = nn.Linear(8, 8), nn.Linear(8, 8)\nself.a = a\nself.b = b\nself.all = [a, b]",
        "self.a = a\n        self.b = b\n        ",
    ),
    "the trick for a teacher": listed(
        "self.all = [nn.Linear(8, 8)]", "[nn.Linear(8, 8)]", "[nn.Linear(8, 8), nn.Linear(8, 8)]"
    ),
    "moved by hand": listed(LIST + "\nfor one in self.all:\n    one.cuda()", "one.cuda()", "print(1)"),
    "moved in a comprehension": listed("self.all = [nn.Linear(8, 8).cuda() for _ in range(2)]", ".cuda()"),
    "moved in a method": listed(
        LIST,
        "one.to(device)",
        "print(1)",
        PAIR_CALLS,
        "    def place(self, device):\n        for one in self.all:\n            one.to(device)\nNet().place('cuda')\n",
    ),
    "moved in a method that nobody calls": listed(
        LIST,
        "one.to(device)",
        "print(1)",
        PAIR_CALLS,
        "    def to(self, device):\n        for one in self.all:\n            one.to(device)\n        return super().to(device)\n",
    ),
    "frozen": listed(
        LIST + "\nfor one in self.all:\n    one.requires_grad_(False)", "one.requires_grad_(False)", "print(1)"
    ),
    "frozen one by one": listed(
        LIST + "\nfor one in self.all:\n    for p in one.parameters():\n        p.requires_grad = False",
        "p.requires_grad = False",
        "print(1)",
    ),
    "a comment": listed(
        "# not registered on purpose: the teachers are frozen\n" + LIST,
        "# not registered on purpose: the teachers are frozen\n        ",
    ),
    "a comment on the line": listed(LIST + "  # kept out of the state dict", "  # kept out of the state dict"),
    "never called": listed(
        LIST, "return self.fc(x)", "for one in self.all:\n            x = one(x)\n        return x", "return self.fc(x)"
    ),
    "no weights": listed(
        "self.all = [nn.ReLU(), nn.Tanh()]", "nn.ReLU(), nn.Tanh()", "nn.Linear(8, 8), nn.Linear(8, 8)"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC306", PAIRS[case], tmp_path)


REPORTED_PROGRAMS = {
    "append loop": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = []
        for i in range(3):
            self.blocks.append(nn.Linear(3, 3))  # -> error none
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x
""",
    "dict": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = {"a": nn.Linear(3, 3), "b": nn.Linear(3, 2)}  # -> error none
    def forward(self, x):
        return self.heads["a"](x), self.heads["b"](x)
""",
    "list comp": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(3, 3) for _ in range(4)]  # -> error unsafe
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x
""",
    "project blocks": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        return self.fc(x)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [Block(), Block()]  # -> error unsafe
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC306", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    check(net("self.layers = [nn.Linear(8, 8), nn.Linear(8, 8)]  # -> ACC306 error unsafe", CALLS), tmp_path)
