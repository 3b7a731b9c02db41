"""ACC304, ACC305 and ACC306, silent cases first."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from .marked import check, findings_in, fixed
from .programs import IMPORTS


def net(init: str, forward: str) -> str:
    """A module with these bodies."""
    body = textwrap.indent(f"super().__init__()\n{init}", " " * 8)
    return f"{IMPORTS}\nclass Net(nn.Module):\n    def __init__(self):\n{body}\n    def forward(self, x):\n{textwrap.indent(forward, ' ' * 8)}\n"


def codes(source: str, folder: Path) -> set[str]:
    return {one.code for one in findings_in(source, folder)[1]}


FORWARD_SILENT = {
    "no dimensions": "return x + torch.tensor(1.0)",
    "an index": "return x[torch.arange(x.size(0)), 0]",
    "only its shape": "h = torch.zeros(x.size(0), 8)\nreturn x * h.size(1)",
    "moved": "return x + torch.zeros(8).to(x)",
    "moved to its type": "return x + torch.zeros(8).type_as(x)",
    "like it": "return x + torch.zeros_like(x)",
    "made by it": "return x + x.new_zeros(8)",
    "made there": "return x + torch.zeros(8, device=x.device)",
    "of arguments unseen": "import conf\nreturn x + torch.zeros(8, **conf.kw)",
    "never combined": "h = torch.zeros(8)\nprint(h)\nreturn x",
    "with a number": "h = torch.zeros(8)\nreturn h + 1",
}


@pytest.mark.parametrize("forward", FORWARD_SILENT.values(), ids=FORWARD_SILENT.keys())
def test_tensors_of_forward_that_may_stay(forward: str, tmp_path: Path) -> None:
    assert "ACC304" not in codes(net("pass", forward), tmp_path)


def test_silent_in_a_program_that_stays_on_the_host(tmp_path: Path) -> None:
    source = net("self.s = torch.ones(8)", "return x * self.s + torch.zeros(8)") + (
        "model = Net()\nfor x, y in DataLoader(TensorDataset(torch.zeros(4, 8), torch.zeros(4))):\n"
        "    model(x).sum().backward()\n"
    )
    assert not codes(source, tmp_path) & {"ACC304", "ACC305"}


def test_silent_under_a_default_device(tmp_path: Path) -> None:
    source = net("self.s = torch.ones(8)", "return x * self.s + torch.zeros(8)")
    source = source.replace("class Net", "torch.set_default_device('cuda')\nclass Net")
    assert not codes(source, tmp_path) & {"ACC304", "ACC305"}


def test_made_on_the_host_in_forward(tmp_path: Path) -> None:
    source = f"""{IMPORTS}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 8)
        self.places = nn.Embedding(9, 8)
        self.scale = nn.Parameter(torch.ones(8))
    def noise(self, x):
        n = torch.randn(x.size(0), 8)  # -> ACC304 warning unsafe
        return x + n
    def forward(self, x):
        h = torch.zeros(1, x.size(1), 8)  # -> ACC304 warning none
        p = self.places(torch.arange(x.size(0)))  # -> ACC304 warning none
        m = torch.zeros(8)  # -> ACC304 warning none
        s = torch.ones(8)  # -> ACC304 warning none
        s = s * self.scale
        out, h = self.rnn(x, h)
        return self.noise(x) + torch.cat([x, m])
"""
    source = source.replace("noise(self, x):\n        n", "noise(self, x):\n        # made by forward\n        n")
    found = check(source.replace("def noise", "def _noise").replace("self.noise", "self._noise"), tmp_path)
    assert found


def test_error_where_the_program_moves_things(tmp_path: Path) -> None:
    source = net("pass", "n = x.size(0)\nreturn x + torch.zeros(8)  # -> ACC304 error safe") + "model = Net().cuda()\n"
    check(source, tmp_path)
    assert "x + torch.zeros(8, device=x.device)" in fixed(source, tmp_path, "ACC304")


ATTRIBUTE_SILENT = {
    "no dimensions": ("self.s = torch.tensor(1.0)", "return x * self.s"),
    "only its value": ("self.s = torch.ones(8)", "return x * self.s.sum().item()"),
    "moved in forward": ("self.s = torch.ones(8)", "return x * self.s.to(x.device)"),
    "a buffer": ("self.register_buffer('s', torch.ones(8))", "return x * self.s"),
    "a parameter": ("self.s = nn.Parameter(torch.ones(8))", "return x * self.s"),
    "made there": ("self.s = torch.ones(8, device='cuda')", "return x * self.s"),
    "never used": ("self.s = torch.ones(8)", "return x"),
    "assigned anew": ("self.s = torch.ones(8)", "self.s = x.mean(0)\nreturn x * self.s"),
    "moves by itself": (
        "self.s = torch.ones(8)",
        "return x * self.s\n\ndef _apply(self, fn):\n    self.s = fn(self.s)\n    return super()._apply(fn)",
    ),
}


@pytest.mark.parametrize(("init", "forward"), ATTRIBUTE_SILENT.values(), ids=ATTRIBUTE_SILENT.keys())
def test_attributes_that_may_stay(init: str, forward: str, tmp_path: Path) -> None:
    source = net(init, forward).replace("        def _apply", "    def _apply")
    source = source.replace("            self.s = fn", "        self.s = fn").replace(
        "            return super", "        return super"
    )
    assert "ACC305" not in codes(source, tmp_path)


def test_attribute_that_stays_behind(tmp_path: Path) -> None:
    source = f"""{IMPORTS}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)  # -> ACC305 warning unsafe
        pe = torch.zeros(9, 8)
        pe[0] = 1
        self.pe = pe.unsqueeze(0)  # -> ACC305 warning unsafe
    def forward(self, x):
        y = x * self.scale
        return x + self.pe[:, : x.size(1)]
"""
    check(source, tmp_path)
    text = fixed(source, tmp_path, "ACC305")
    assert 'self.register_buffer("scale", torch.ones(8), persistent=False)' in text
    assert 'self.register_buffer("pe", pe.unsqueeze(0), persistent=False)' in text


CALLS = "for layer in self.layers:\n    x = layer(x)\nreturn x"
LIST_SILENT = {
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


@pytest.mark.parametrize("init", LIST_SILENT.values(), ids=LIST_SILENT.keys())
def test_layers_that_are_registered(init: str, tmp_path: Path) -> None:
    assert "ACC306" not in codes(net(init, CALLS), tmp_path)


def test_layers_that_are_never_called(tmp_path: Path) -> None:
    assert "ACC306" not in codes(net("self.layers = [nn.Linear(8, 8), nn.Linear(8, 8)]", "return x"), tmp_path)


def test_layers_in_a_list(tmp_path: Path) -> None:
    check(net("self.layers = [nn.Linear(8, 8), nn.Linear(8, 8)]  # -> ACC306 error unsafe", CALLS), tmp_path)
