"""ACC417 judges the model that the loop trains, in loops of which autocast would make something."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import IMAGE_LOADER, IMPORTS

DEEP = "nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)])"
PROBE = (
    IMPORTS
    + IMAGE_LOADER
    + """
class Probe(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.out = nn.Linear(n, 2)
    def forward(self, x):
        return self.out(x)
encoder = nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)]).cuda()
with torch.no_grad():
    rows = [encoder(x.cuda()).flatten(1) for (x,) in loader]
net = Probe(8).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in loader:
    net(x.cuda()).sum().backward()
    optimizer.step()
"""
)
SPEAKING = {
    "the encoder runs in each step": ("net(x.cuda())", "net(encoder(x.cuda()))"),
    "what an unknown function made of the batch": ("net(x.cuda())", "net(conf.features(x.cuda()))"),
    "a part that is not known": ("self.out = nn.Linear(n, 2)", "self.out = conf.part(n)"),
    "a convolution of its own": ("self.out = nn.Linear(n, 2)", "self.out = nn.Sequential(nn.Conv2d(3, 3, 3))"),
    "a list of layers": ("self.out = nn.Linear(n, 2)", "self.out = nn.Sequential(*conf.layers)"),
    "products of its own": ("return self.out(x)", "return torch.matmul(self.out(x), x)"),
    "the encoder is what learns": ("net = Probe(8).cuda()", "net = encoder"),
}


@pytest.mark.parametrize("case", SPEAKING)
def test_silent_about_linear_layers_on_what_a_deep_model_made(case: str, tmp_path: Path) -> None:
    assert findings_of("ACC417", PROBE, tmp_path) == []
    instead, condition = SPEAKING[case]
    assert len(findings_of("ACC417", PROBE.replace(instead, condition), tmp_path)) == 1


ATTACK = (
    IMPORTS
    + IMAGE_LOADER
    + f"""
net = {DEEP}.cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net.eval()
for (x,) in loader:
    x = x.cuda().requires_grad_()
    net(x).sum().backward()
    print((x + x.grad.sign()).sum())
"""
)


@pytest.mark.parametrize(
    ("instead", "condition"),
    [("    net(x)", "    optimizer.step()\n    net(x)"), ("net.eval()\n", "")],
    ids=["a step", "in training mode"],
)
def test_silent_where_nothing_learns(instead: str, condition: str, tmp_path: Path) -> None:
    assert findings_of("ACC417", ATTACK, tmp_path) == []
    assert len(findings_of("ACC417", ATTACK.replace(instead, condition), tmp_path)) == 1


TOY = (
    IMPORTS
    + IMAGE_LOADER
    + f"""
def toy():
    net = {DEEP}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for (x,) in loader:
        net(x).sum().backward()
        optimizer.step()
toy()
other = nn.Linear(2, 2).cuda()
"""
)


def test_a_gpu_elsewhere_says_nothing_of_a_loop_whose_model_stays_on_the_host(tmp_path: Path) -> None:
    assert findings_of("ACC417", TOY, tmp_path) == []
    moved = TOY.replace("8)])\n    optimizer", "8)]).cuda()\n    optimizer")
    (found,) = findings_of("ACC417", moved.replace("net(x).sum", "net(x.cuda()).sum"), tmp_path)
    assert found.message.startswith("this loop trains")


def test_the_next_loop_is_judged_instead(tmp_path: Path) -> None:
    moved = f"def real():\n    net = {DEEP}.cuda()\n    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    moved += "    for (x,) in loader:\n        net(x.cuda()).mean().backward()\n        optimizer.step()\nreal()\n"
    source = TOY + moved
    (found,) = findings_of("ACC417", source, tmp_path)
    assert source[found.span.start.offset :].startswith("net(x.cuda())")
    assert "this loop trains in float32, too" not in [one.message for one in found.related]


def test_a_model_that_is_built_around_another_one_lives_where_that_does(tmp_path: Path) -> None:
    around = "class Around(nn.Module):\n    def __init__(self, part):\n        super().__init__()\n"
    around += "        self.part = part\n    def forward(self, x):\n        return self.part(x)\n"
    source = TOY.replace("def toy():\n", around + "def toy(part):\n").replace("toy()\n", "toy(conf.part)\n")
    source = source.replace("net = nn.Seq", "parts = nn.Seq")
    assert findings_of("ACC417", source.replace("8)])\n", "8)])\n    net = parts\n"), tmp_path) == []
    assert len(findings_of("ACC417", source.replace("8)])\n", "8)])\n    net = Around(part)\n"), tmp_path)) == 1
