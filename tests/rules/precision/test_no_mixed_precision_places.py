"""ACC417 names where bfloat16 raises as it is written into a tensor of float32, and inputs whose steps it rounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import IMAGE_LOADER, IMPORTS

WRITING = (
    IMPORTS
    + IMAGE_LOADER
    + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)])
        self.last = nn.Linear(3, 3)
    def forward(self, x, at):
        out = self.last(self.body(x).flatten(1))
        canvas = torch.zeros((8, 3), device="cuda")
        mask = at > 0
        canvas[mask] = out[mask]
        return canvas
net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in loader:
    net(x.cuda(), x[:, 0, 0, 0].cuda()).sum().backward()
    optimizer.step()
"""
)
WRITES = "this raises for what autocast computes: cast it to the type of what it goes into"


@pytest.mark.parametrize(
    ("instead", "condition"),
    [
        ("= out[mask]", "= out[mask].float()"),
        ("= out[mask]", "= 1.0"),
        ("= out[mask]", "= x[mask]"),
        ("canvas[mask] = out[mask]", "canvas[0] = out[0]"),
        ("canvas[mask] = out[mask]", "canvas[1:] = out[1:]"),
        ("        canvas[mask] = out[mask]", "        for n in range(8):\n            canvas[n] = out[n]"),
        ('device="cuda")', 'device="cuda", dtype=out.dtype)'),
        ("torch.zeros((8, 3)", "torch.zeros_like(out); torch.zeros((8, 3)"),
    ],
    ids=["cast", "a number", "the batch", "a row", "a slice", "a row of each", "its type", "made like it"],
)
def test_a_write_by_a_mask_into_float32(instead: str, condition: str, tmp_path: Path) -> None:
    assert related(WRITING, tmp_path).count(WRITES) == 1
    assert instead in WRITING
    assert WRITES not in related(WRITING.replace(instead, condition), tmp_path)


@pytest.mark.parametrize("index", ["at.long()", "at[:, 0]", "at == 1"])
def test_a_write_by_another_index(index: str, tmp_path: Path) -> None:
    source = WRITING.replace("mask = at > 0", f"mask = {index}")
    assert related(source, tmp_path).count(WRITES) == 1
    (found,) = findings_of("ACC417", source, tmp_path)
    assert "and cast what is written into `canvas[mask]`, as an index casts nothing" in found.message


ATTACK = (
    IMPORTS
    + IMAGE_LOADER
    + """
net = nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)]).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def attack(x):
    near = x + 0.001 * torch.randn_like(x)
    for _ in range(10):
        near.requires_grad_()
        grad = torch.autograd.grad(net(near).sum(), [near])[0]
        near = near.detach() + 0.003 * grad.sign()
    return near
for (x,) in loader:
    net(attack(x.cuda())).sum().backward()
    optimizer.step()
"""
)
MOVED = "`near` is moved by its gradient: bfloat16 rounds changes below 0.4 % of a value away"


@pytest.mark.parametrize(
    ("instead", "condition"),
    [
        ("near = near.detach() + 0.003 * grad.sign()", "far = near.detach() + 0.003 * grad.sign()"),
        ("near = near.detach() + 0.003 * grad.sign()", "near = x"),
        ("net(attack(x.cuda()))", "net(x.cuda())"),
    ],
    ids=["not moved", "bound anew", "not called"],
)
def test_an_input_that_is_moved_by_its_gradient(instead: str, condition: str, tmp_path: Path) -> None:
    assert related(ATTACK, tmp_path).count(MOVED) == 1
    assert instead in ATTACK
    assert MOVED not in related(ATTACK.replace(instead, condition), tmp_path)


def test_a_sampler(tmp_path: Path) -> None:
    loop = "        near.data += 0.01 * torch.autograd.grad(net(near).sum(), near)[0]\n    return near"
    source = ATTACK[: ATTACK.index("        near.requires")] + loop + ATTACK[ATTACK.index("\nfor (x,)") :]
    assert related(source, tmp_path).count(MOVED) == 1
    (found,) = findings_of("ACC417", source, tmp_path)
    assert found.message.endswith("and see that the steps of `near` outlast its rounding")


def related(source: str, folder: Path) -> list[str]:
    (found,) = findings_of("ACC417", source, folder)
    return [one.message for one in found.related]
