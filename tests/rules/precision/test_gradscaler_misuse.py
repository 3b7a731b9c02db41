"""ACC405 gradscaler-misuse, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS, MODEL
from .programs import CLIPPING

SCALER = 'scaler = torch.amp.GradScaler("cuda")\nclip = nn.utils.clip_grad_norm_\n'
HEAD = IMPORTS + MODEL + SCALER
X = "torch.zeros(4, 8).cuda()"
SILENT = {
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


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC405", HEAD + f"x = {X}\n" + source, tmp_path)


PLAIN = "scaler = torch.amp.GradScaler('cuda')\n"
PAIR_LOOP = (
    "for i in range(9):\n    scaler.scale(model(x).sum()).backward()\n    scaler.step(optimizer)\n    scaler.update()\n"
)
WRONG = {
    "half": f"model.half()\n{PAIR_LOOP}",
    "no update": PAIR_LOOP.replace("    scaler.update()\n", ""),
    "not scaled": PAIR_LOOP.replace("scaler.scale(model(x).sum())", "model(x).sum()"),
    "bfloat16": PAIR_LOOP.replace(
        "    scaler.scale", "    with torch.autocast('cuda', torch.bfloat16):\n        pass\n    scaler.scale"
    ),
}
MADE = {
    "an option": "torch.amp.GradScaler('cuda', enabled=conf.amp)",
    "the dtype": "torch.amp.GradScaler('cuda', enabled=conf.dtype == torch.float16)",
    "off": "torch.amp.GradScaler('cuda', enabled=False)",
    "an option by position": "torch.amp.GradScaler('cuda', 2.0, 2.0, 0.5, 2000, conf.amp)",
    "other arguments": "torch.amp.GradScaler('cuda', **conf.kw)",
    "given to a library": "torch.amp.GradScaler('cuda')\nconf.engine(scaler)",
    "given to an object of a library": "torch.amp.GradScaler('cuda')\nengine = conf.Engine(scaler=scaler)",
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("made", MADE)
def test_silent_for_one_reason(wrong: str, made: str, tmp_path: Path) -> None:
    source = f"{CLIPPING}scaler = {MADE[made]}\n{WRONG[wrong]}"
    check_pair("ACC405", Pair(source, f"scaler = {MADE[made]}\n", PLAIN), tmp_path)


DTYPES = {
    "an option": ("conf.dtype", "torch.bfloat16"),
    "float16": ("torch.float16", "torch.bfloat16"),
    "another region": ("torch.bfloat16):\n        pass\n    with torch.autocast('cuda'", "torch.bfloat16"),
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_silent_where_not_all_is_bfloat16(dtype: str, tmp_path: Path) -> None:
    given, instead = DTYPES[dtype]
    source = CLIPPING + PLAIN + WRONG["bfloat16"].replace("torch.bfloat16", given)
    check_pair("ACC405", Pair(source, given, instead), tmp_path)


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
def test_reported(source: str, tmp_path: Path) -> None:
    head = IMPORTS + MODEL + ("" if "bfloat16" in source else SCALER)
    check_one("ACC405", head + f"x = {X}\n" + source, tmp_path)
