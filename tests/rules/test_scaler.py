"""ACC404, ACC405 and ACC414, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import fixed
from .programs import IMPORTS, MODEL
from .single import check_one

SCALER = 'scaler = torch.amp.GradScaler("cuda")\nclip = nn.utils.clip_grad_norm_\n'
HEAD = IMPORTS + MODEL + SCALER
LOADER = "loader = DataLoader(TensorDataset(torch.zeros(8, 8)))\n"
X = "torch.zeros(4, 8).cuda()"

CLIP_SILENT = {
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


@pytest.mark.parametrize("source", CLIP_SILENT.values(), ids=CLIP_SILENT.keys())
def test_clip_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC404", HEAD + f"x = {X}\n" + source, tmp_path)


def test_clip_reported_and_fixed(tmp_path: Path) -> None:
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
    text = fixed(IMPORTS + MODEL + LOADER + source, tmp_path, "ACC404")
    indent = " " * 16
    assert f"\n{indent}scaler.unscale_(optimizer)\n{indent}torch.nn.utils.clip_grad_value_(" in text


def test_clip_has_no_fix_for_two_optimizers_or_beside_a_header(tmp_path: Path) -> None:
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


SCALER_SILENT = {
    "right": """
for i in range(9):
    with torch.autocast("cuda"):
        loss = model(x).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
""",
    "enabled decides": """
import conf
scaler = torch.amp.GradScaler("cuda", enabled=conf.dtype == "float16")
with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = model(x).sum()
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
""",
    "the dtype is chosen": """
import conf
dtype = torch.bfloat16 if conf.bf16 else torch.float16
with torch.autocast("cuda", dtype=dtype):
    loss = model(x).sum()
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
""",
    "one step": """
scaler.scale(model(x).sum()).backward()
scaler.step(optimizer)
""",
    "half only for inference": """
for i in range(9):
    scaler.scale(model(x).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
model.half()
""",
    "half only on a condition": """
import conf
if conf.half:
    model.half()
for i in range(9):
    scaler.scale(model(x).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
""",
    "float again": """
model.half()
model.float()
for i in range(9):
    scaler.scale(model(x).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
""",
    "another model is half": """
other = nn.Linear(8, 2).half()
for i in range(9):
    scaler.scale(model(x).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
""",
}


@pytest.mark.parametrize("source", SCALER_SILENT.values(), ids=SCALER_SILENT.keys())
def test_scaler_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC405", HEAD + f"x = {X}\n" + source, tmp_path)


SCALER_WRONG = {
    "half parameters": """
model.half()  # -> error none
for i in range(9):
    scaler.scale(model(x).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
""",
    "half by dtype": """
model = model.to("cuda", torch.float16)  # -> error none
for i in range(9):
    scaler.scale(model(x).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
""",
    "no update": """
for i in range(9):
    scaler.scale(model(x).sum()).backward()
    scaler.step(optimizer)  # -> error none
""",
    "not scaled": """
for i in range(9):
    model(x).sum().backward()  # -> warning none
    scaler.step(optimizer)
    scaler.update()
""",
    "bfloat16": """
scaler = torch.cuda.amp.GradScaler()  # -> info unsafe
for i in range(9):
    with torch.autocast("cuda", torch.bfloat16):
        loss = model(x).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
""",
}


@pytest.mark.parametrize("source", SCALER_WRONG.values(), ids=SCALER_WRONG.keys())
def test_scaler_reported(source: str, tmp_path: Path) -> None:
    head = IMPORTS + MODEL + ("" if "bfloat16" in source else SCALER)
    check_one("ACC405", head + f"x = {X}\n" + source, tmp_path)


RETAIN_SILENT = {
    "not retained": "    model(x).sum().backward()",
    "not a literal": "    model(x).sum().backward(retain_graph=conf.keep)",
    "two losses": "    y = model(x)\n    y.sum().backward(retain_graph=True)\n    y.mean().backward()",
    "a gradient penalty": (
        "    y = model(x).sum()\n    g = torch.autograd.grad(y, x)\n    y.backward(retain_graph=True)"
    ),
    "double backward": "    model(x).sum().backward(retain_graph=True, create_graph=True)",
    "one for each loss": "    for loss in model(x):\n        loss.backward(retain_graph=True)",
    "an adversary in a helper": "    attack(x)\n    model(x).sum().backward(retain_graph=True)",
    "the graphs are used after the loop": (
        "    loss = model(x).sum()\n    loss.backward(retain_graph=True)\n    total = loss\ntotal.backward()"
    ),
    "the graph was made before": "    y.backward(retain_graph=True)",
}


@pytest.mark.parametrize("body", RETAIN_SILENT.values(), ids=RETAIN_SILENT.keys())
def test_retain_graph_silent(body: str, tmp_path: Path) -> None:
    head = "import conf\ny = model(torch.zeros(2, 8))\ndef attack(x):\n    model(x).sum().backward()\n"
    check_one("ACC414", IMPORTS + MODEL + LOADER + head + "for (x,) in loader:\n" + body + "\n", tmp_path)


def test_retain_graph_silent_outside_of_loops(tmp_path: Path) -> None:
    check_one("ACC414", IMPORTS + MODEL + "model(torch.zeros(2, 8)).sum().backward(retain_graph=True)\n", tmp_path)


HELPERS = {
    "two losses of a model": "out = model(x)\n    back(out.sum())\n    back(out.mean())",
    "two losses that are not known": "out = conf.net(model(x))\n    back(conf.a(out))\n    back(conf.b(out))",
    "two losses through a second helper": "out = conf.net(model(x))\n    back2(conf.a(out))\n    back2(conf.b(out))",
    "two losses by two ways": "out = conf.net(model(x))\n    back(conf.a(out))\n    back2(conf.b(out))",
}
BACK = """
import conf
def back(loss):
    loss.backward(retain_graph=True){mark}
def back2(loss):
    back(loss)
"""


@pytest.mark.parametrize("body", HELPERS.values(), ids=HELPERS.keys())
def test_retain_graph_silent_in_helpers_for_several_losses(body: str, tmp_path: Path) -> None:
    check_one(
        "ACC414", IMPORTS + MODEL + LOADER + BACK.format(mark="") + f"for (x,) in loader:\n    {body}\n", tmp_path
    )


@pytest.mark.parametrize("helper", ["back", "back2"])
def test_retain_graph_reported_in_helpers(helper: str, tmp_path: Path) -> None:
    program = BACK.format(mark="  # -> warning unsafe") + f"for (x,) in loader:\n    {helper}(model(x).sum())\n"
    check_one("ACC414", IMPORTS + MODEL + LOADER + program, tmp_path)


def test_retain_graph_reported_in_a_helper_of_two_loops(tmp_path: Path) -> None:
    loops = """
def train():
    for (x,) in loader:
        back(model(x).sum())
def refine():
    for (x,) in loader:
        back(model(x).mean())
train()
refine()
"""
    check_one("ACC414", IMPORTS + MODEL + LOADER + BACK.format(mark="  # -> warning unsafe") + loops, tmp_path)


def test_retain_graph_reported(tmp_path: Path) -> None:
    source = """
def train(model, loader):
    for i, (x,) in enumerate(loader):
        loss = model(x).sum()
        loss.backward(retain_graph=True)  # -> warning unsafe
        optimizer.step()
for epoch in range(3):
    train(model, loader)
    with torch.no_grad():
        for (x,) in loader:
            model(x)
"""
    check_one("ACC414", IMPORTS + MODEL + LOADER + source, tmp_path)
    assert "loss.backward()  #" in fixed(IMPORTS + MODEL + LOADER + source, tmp_path, "ACC414")
