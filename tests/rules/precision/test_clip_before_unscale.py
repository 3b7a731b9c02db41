"""ACC404 clip-before-unscale, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, fixed
from ..programs import IMPORTS, MODEL
from .programs import CLIPPING

SCALER = 'scaler = torch.amp.GradScaler("cuda")\nclip = nn.utils.clip_grad_norm_\n'
HEAD = IMPORTS + MODEL + SCALER
X = "torch.zeros(4, 8).cuda()"
SILENT = {
    "unscaled": """
for i in range(9):
    scaler.scale(model(x)).backward()
    scaler.unscale_(optimizer)
    clip(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
""",
    "no scaler in the loop": """
for i in range(9):
    model(x).sum().backward()
    clip(model.parameters(), 1.0)
    optimizer.step()
""",
    "after the step": """
for i in range(9):
    scaler.scale(model(x)).backward()
    scaler.step(optimizer)
    scaler.update()
    clip(model.parameters(), 1.0)
""",
    "switched off": """
scaler = torch.amp.GradScaler("cuda", enabled=False)
for i in range(9):
    scaler.scale(model(x)).backward()
    clip(model.parameters(), 1.0)
    scaler.step(optimizer)
""",
    "in the branch without it": """
import conf
for i in range(9):
    if conf.amp:
        scaler.scale(model(x)).backward()
    else:
        model(x).backward()
    if not conf.amp:
        clip(model.parameters(), 1.0)
    if conf.amp:
        scaler.step(optimizer)
        scaler.update()
    else:
        optimizer.step()
""",
    "unscaled in a helper": """
def unscale():
    scaler.unscale_(optimizer)
for i in range(9):
    scaler.scale(model(x)).backward()
    unscale()
    clip(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
""",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC404", HEAD + f"x = {X}\n" + source, tmp_path)


TWO = "other = nn.Linear(8, 2).cuda()\nbeside = torch.optim.SGD(other.parameters(), lr=0.1)\n"


def clipped(condition: str, instead: str, *, made: str = "torch.amp.GradScaler('cuda')", before: str = "") -> Pair:
    """A loop that clips: ``condition`` stands between the backward pass and the scaler's step."""
    source = f"{CLIPPING}{before}scaler = {made}\nfor i in range(9):\n    scaler.scale(model(x).sum()).backward()\n"
    source += f"    {condition}\n    scaler.step(optimizer)\n    scaler.update()\n"
    return Pair(source, condition, instead)


CLIP = "clip(model.parameters(), 1.0)"
OFF = clipped(CLIP, CLIP, made="torch.amp.GradScaler('cuda', enabled=False)").source
PAIRS = {
    "unscaled": clipped(f"scaler.unscale_(optimizer)\n    {CLIP}", CLIP),
    "Accelerate clips": clipped(
        "a.clip_grad_norm_(model.parameters(), 1.0)",
        CLIP,
        before="from accelerate import Accelerator\na = Accelerator()\n",
    ),
    "Lightning clips": Pair(
        clipped("conf.log(i)", CLIP, before="import lightning as L\nt = L.Trainer(gradient_clip_val=1.0)\n").source,
        "conf.log(i)",
        CLIP,
    ),
    "off": Pair(OFF, "enabled=False", "enabled=True"),
    "off by position": Pair(OFF.replace("enabled=", "2.0, 2.0, 0.5, 2000, "), "2000, False", "2000, True"),
    "off by position under the old name": Pair(
        OFF.replace("torch.amp.GradScaler('cuda', enabled=", "torch.cuda.amp.GradScaler(2.0, 2.0, 0.5, 2000, "),
        "2000, False",
        "2000, True",
    ),
    "after the step": clipped(f"scaler.step(optimizer)\n    {CLIP}\n    continue", CLIP),
    "given to a library": clipped(f"conf.unscale(scaler, optimizer)\n    {CLIP}", CLIP),
    "one of two is unscaled": clipped(
        f"scaler.scale(other(x).sum()).backward()\n    scaler.unscale_(beside)\n    {CLIP}\n    scaler.step(beside)",
        f"scaler.scale(other(x).sum()).backward()\n    {CLIP}\n    scaler.step(beside)",
        before=TWO,
    ),
    "the model of another optimizer": clipped(
        "other(x).sum().backward()\n    clip(other.parameters(), 1.0)\n    beside.step()",
        f"other(x).sum().backward()\n    {CLIP}\n    beside.step()",
        before=TWO,
    ),
    "perhaps that of another optimizer": clipped(
        "other(x).sum().backward()\n    clip(conf.parameters, 1.0)\n    beside.step()",
        "other(x).sum().backward()\n    clip(conf.parameters, 1.0)",
        before=TWO,
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC404", pair, tmp_path)


LOADER = "loader = DataLoader(TensorDataset(torch.zeros(8, 8)))\n"


def test_reported_and_fixed(tmp_path: Path) -> None:
    source = """
def main():
    scaler = torch.cuda.amp.GradScaler()
    for epoch in range(3):
        for i, (x,) in enumerate(loader):
            scaler.scale(model(x.cuda()).sum()).backward()
            if i % 4 == 0:
                torch.nn.utils.clip_grad_value_(model.parameters(), 1.0)  # -> error unsafe
                scaler.step(optimizer)
                scaler.update()
if __name__ == "__main__":
    main()
"""
    check_one("ACC404", IMPORTS + MODEL + LOADER + source, tmp_path)
    text = fixed("ACC404", IMPORTS + MODEL + LOADER + source, tmp_path)
    indent = " " * 16
    assert f"\n{indent}scaler.unscale_(optimizer)\n{indent}torch.nn.utils.clip_grad_value_(" in text


def test_has_no_fix_for_two_optimizers_or_beside_a_header(tmp_path: Path) -> None:
    two = f"""
x = {X}
other = torch.optim.SGD(model.parameters(), lr=0.2)
for i in range(9):
    scaler.scale(model(x).sum()).backward()
    clip(model.parameters(), 1.0)  # -> error none
    scaler.step(optimizer)
    scaler.step(other)
    scaler.update()
"""
    check_one("ACC404", HEAD + two, tmp_path)
    beside = f"""
x = {X}
for i in range(9):
    scaler.scale(model(x).sum()).backward()
    if i: clip(model.parameters(), 1.0)  # -> error none
    scaler.step(optimizer)
    scaler.update()
"""
    check_one("ACC404", HEAD + beside, tmp_path)
