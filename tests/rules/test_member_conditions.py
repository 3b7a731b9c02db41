"""Each condition under which ACC304, ACC305 and ACC306 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import IMPORTS, NET


def net(init: str, forward: str, condition: str, instead: str = "", after: str = "") -> Pair:
    """A module that makes ``init`` and computes ``forward``."""
    start = f"{IMPORTS}import conf\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    body = "".join(f"        {line}\n" for line in ("self.fc = nn.Linear(8, 8)", *init.splitlines()))
    made = "".join(f"        {line}\n" for line in forward.splitlines())
    return Pair(f"{start}{body}    def forward(self, x):\n{made}{after}", condition, instead)


ADD = "return self.fc(x) + m"
KEPT = "self.m = torch.ones(8)"
USED = "return self.fc(x) * self.m"
PAIRS = {
    "ACC304: no dimensions": net("", f"m = torch.tensor(2.0)\n{ADD}", "torch.tensor(2.0)", "torch.ones(8)"),
    "ACC304: none of its own size": net("", f"m = torch.zeros(())\n{ADD}", "torch.zeros(())", "torch.zeros(8)"),
    "ACC304: full without dimensions": net(
        "", f"m = torch.full((), 2.0)\n{ADD}", "torch.full((), 2.0)", "torch.full((8,), 2.0)"
    ),
    "ACC304: a number that is not known": net(
        "self.n = conf.n", f"m = torch.tensor(self.n)\n{ADD}", "torch.tensor(self.n)", "torch.tensor([self.n])"
    ),
    "ACC304: its shape": net("", "m = torch.ones(8)\nreturn self.fc(x) + m.size(0)", "m.size(0)", "m"),
    "ACC304: its length": net("", "m = torch.ones(8)\nreturn self.fc(x) + len(m)", "len(m)", "m"),
    "ACC304: its value": net("", "m = torch.ones(8)\nreturn self.fc(x) + m.sum().item()", "m.sum().item()", "m"),
    "ACC304: its values": net("", "m = torch.arange(8)\nreturn self.fc(x) + sum(m.tolist())", "sum(m.tolist())", "m"),
    "ACC304: an index": net("", "m = torch.arange(8)\nreturn self.fc(x)[m]", "[m]", " + m"),
    "ACC304: an index among others": net("", "m = torch.arange(8)\nreturn self.fc(x)[:, m]", "[:, m]", " + m"),
    "ACC304: moved to a device": net("", f"m = torch.ones(8).to(x.device)\n{ADD}", ".to(x.device)"),
    "ACC304: moved to another": net("", f"m = torch.ones(8).to(x)\n{ADD}", ".to(x)"),
    "ACC304: of the type of another": net("", f"m = torch.ones(8).type_as(x)\n{ADD}", ".type_as(x)"),
    "ACC304: moved by cuda": net("", f"m = torch.ones(8).cuda()\n{ADD}", ".cuda()"),
    "ACC304: moved by name later": net(
        "", f"m = torch.ones(8)\nm = m.to(x.device)\n{ADD}", "m = m.to(x.device)\n        "
    ),
    "ACC304: like another": net("", f"m = torch.ones_like(x)\n{ADD}", "torch.ones_like(x)", "torch.ones(8)"),
    "ACC304: made by another": net("", f"m = x.new_zeros(8)\n{ADD}", "x.new_zeros(8)", "torch.zeros(8)"),
    "ACC304: made by another from data": net("", f"m = x.new_tensor([1.0])\n{ADD}", "x.new_tensor", "torch.tensor"),
    "ACC304: made there": net("", f"m = torch.zeros(8, device=x.device)\n{ADD}", ", device=x.device"),
    "ACC304: made in a device's context": net(
        "", f"with x.device:\n    m = torch.zeros(8)\n{ADD}", "with x.device:", "if True:"
    ),
    "ACC304: the default device": net(
        "",
        f"m = torch.zeros(8)\n{ADD}",
        "torch.set_default_device('cuda')\n",
        after="torch.set_default_device('cuda')\n",
    ),
    "ACC304: only on the host": Pair(
        NET.replace("self.fc(x)", "self.fc(x) + torch.ones(2)")
        + "model = Net()\nfor x, y in loader:\n    model(x).sum().backward()\n",
        "model = Net()\n",
        "model = Net().cuda()\n",
    ),
    "ACC305: no dimensions": net("self.m = torch.tensor(1.0)", USED, "torch.tensor(1.0)", "torch.ones(8)"),
    "ACC305: only its value": net(KEPT, "return self.fc(x) * self.m.sum().item()", "self.m.sum().item()", "self.m"),
    "ACC305: only its values": net(KEPT, "return self.fc(x) * sum(self.m.tolist())", "sum(self.m.tolist())", "self.m"),
    "ACC305: only its shape": net(KEPT, "return self.fc(x) * self.m.shape[0]", "self.m.shape[0]", "self.m"),
    "ACC305: only its length": net(KEPT, "return self.fc(x) * len(self.m)", "len(self.m)", "self.m"),
    "ACC305: moved": net(KEPT, "return self.fc(x) * self.m.to(x.device)", ".to(x.device)"),
    "ACC305: assigned in forward": net(
        KEPT, "self.m = self.m.to(x.device)\n" + USED, "self.m = self.m.to(x.device)\n        "
    ),
    "ACC305: assigned in a loop": net(
        KEPT,
        USED,
        "for i in range(3):\n    model.m = model.m.cuda()\n",
        "",
        "model = Net().cuda()\nfor i in range(3):\n    model.m = model.m.cuda()\n",
    ),
    "ACC305: a class that applies": net(
        KEPT,
        USED,
        "_apply(self, fn)",
        "other(self, fn)",
        "    def _apply(self, fn):\n        self.m = fn(self.m)\n        return self\n".replace(
            "self.m = fn(self.m)", "keep(fn)"
        ),
    ),
    "ACC305: a class that moves": net(
        KEPT, USED, "def to(self", "def other(self", "    def to(self, device):\n        return super().to(device)\n"
    ),
    "ACC305: a class with cuda": net(
        KEPT,
        USED,
        "def cuda(self",
        "def other(self",
        "    def cuda(self, device=None):\n        return super().cuda(device)\n",
    ),
    "ACC305: a parameter": net(
        "self.m = nn.Parameter(torch.ones(8))", USED, "nn.Parameter(torch.ones(8))", "torch.ones(8)"
    ),
    "ACC305: a buffer": net(
        "self.register_buffer('m', torch.ones(8))", USED, "self.register_buffer('m', torch.ones(8))", KEPT
    ),
    "ACC305: made there": net("self.m = torch.ones(8, device='cuda')", USED, ", device='cuda'"),
    "ACC305: an index": net("self.m = torch.arange(8)", "return self.fc(x)[:, self.m]", "[:, self.m]", " + self.m"),
    "ACC305: the default device": net(
        KEPT, USED, "torch.set_default_device('cuda')\n", "", "torch.set_default_device('cuda')\n"
    ),
}

CALLS = "for one in self.all:\n    x = one(x)\nreturn x"
LIST = "self.all = [nn.Linear(8, 8), nn.Linear(8, 8)]"


def listed(init: str, condition: str, instead: str = "", forward: str = CALLS, after: str = "") -> Pair:
    """A module that calls layers of a list."""
    return net(init, forward, condition, instead, after)


PAIRS |= {
    "ACC306: a ModuleList": listed(
        "self.all = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])",
        "nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])",
        "[nn.Linear(8, 8), nn.Linear(8, 8)]",
    ),
    "ACC306: a Sequential": listed(
        "self.all = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))",
        "nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))",
        "[nn.Linear(8, 8), nn.Linear(8, 8)]",
    ),
    "ACC306: a ModuleDict": listed(
        "self.all = nn.ModuleDict({'a': nn.Linear(8, 8), 'b': nn.Linear(8, 8)})",
        "nn.ModuleDict({'a': nn.Linear(8, 8), 'b': nn.Linear(8, 8)})",
        "{'a': nn.Linear(8, 8), 'b': nn.Linear(8, 8)}",
        "return self.all['b'](self.all['a'](x))",
    ),
    "ACC306: in a Sequential too": listed(
        LIST + "\nself.net = nn.Sequential(*self.all)", "\n        self.net = nn.Sequential(*self.all)"
    ),
    "ACC306: in a ModuleList too": listed(
        LIST + "\nself.net = nn.ModuleList(self.all)", "\n        self.net = nn.ModuleList(self.all)"
    ),
    "ACC306: in a ModuleList that extends": listed(
        LIST + "\nself.net = nn.ModuleList()\nself.net.extend(self.all)", "\n        self.net.extend(self.all)"
    ),
    "ACC306: in a ModuleList one by one": listed(
        LIST + "\nself.net = nn.ModuleList()\nfor one in self.all:\n    self.net.append(one)",
        "\n            self.net.append(one)",
        "\n            print(1)",
    ),
    "ACC306: added": listed(
        LIST + "\nfor i, one in enumerate(self.all):\n    self.add_module(str(i), one)",
        "self.add_module(str(i), one)",
        "print(i)",
    ),
    "ACC306: registered": listed(
        LIST + "\nfor i, one in enumerate(self.all):\n    self.register_module(str(i), one)",
        "self.register_module(str(i), one)",
        "print(i)",
    ),
    "ACC306: set": listed(
        LIST + "\nfor i, one in enumerate(self.all):\n    setattr(self, str(i), one)",
        "setattr(self, str(i), one)",
        "print(i)",
    ),
    "ACC306: attributes too": listed(
        "a, b = nn.Linear(8, 8), nn.Linear(8, 8)\nself.a = a\nself.b = b\nself.all = [a, b]",
        "self.a = a\n        self.b = b\n        ",
    ),
    "ACC306: the trick for a teacher": listed(
        "self.all = [nn.Linear(8, 8)]", "[nn.Linear(8, 8)]", "[nn.Linear(8, 8), nn.Linear(8, 8)]"
    ),
    "ACC306: moved by hand": listed(LIST + "\nfor one in self.all:\n    one.cuda()", "one.cuda()", "print(1)"),
    "ACC306: moved in a comprehension": listed("self.all = [nn.Linear(8, 8).cuda() for _ in range(2)]", ".cuda()"),
    "ACC306: moved in a method": listed(
        LIST,
        "one.to(device)",
        "print(1)",
        CALLS,
        "    def place(self, device):\n        for one in self.all:\n            one.to(device)\nNet().place('cuda')\n",
    ),
    "ACC306: moved in a method that nobody calls": listed(
        LIST,
        "one.to(device)",
        "print(1)",
        CALLS,
        "    def to(self, device):\n        for one in self.all:\n            one.to(device)\n        return super().to(device)\n",
    ),
    "ACC306: frozen": listed(
        LIST + "\nfor one in self.all:\n    one.requires_grad_(False)", "one.requires_grad_(False)", "print(1)"
    ),
    "ACC306: frozen one by one": listed(
        LIST + "\nfor one in self.all:\n    for p in one.parameters():\n        p.requires_grad = False",
        "p.requires_grad = False",
        "print(1)",
    ),
    "ACC306: a comment": listed(
        "# not registered on purpose: the teachers are frozen\n" + LIST,
        "# not registered on purpose: the teachers are frozen\n        ",
    ),
    "ACC306: a comment on the line": listed(LIST + "  # kept out of the state dict", "  # kept out of the state dict"),
    "ACC306: never called": listed(
        LIST, "return self.fc(x)", "for one in self.all:\n            x = one(x)\n        return x", "return self.fc(x)"
    ),
    "ACC306: no weights": listed(
        "self.all = [nn.ReLU(), nn.Tanh()]", "nn.ReLU(), nn.Tanh()", "nn.Linear(8, 8), nn.Linear(8, 8)"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair(case[:6], PAIRS[case], tmp_path)
