"""ACC406, ACC407, ACC409 and ACC410, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from accel_advisor.analysis.project import analyze
from accel_advisor.project.target import Target, Versions
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from .marked import fixed
from .programs import IMPORTS, MODEL
from .single import check_one

HEAD = IMPORTS + MODEL + "from torch.nn import functional as F\nz = torch.zeros(4).cuda()\ny = torch.ones(4).cuda()\n"

BCE_SILENT = {
    "outside": "F.binary_cross_entropy(torch.sigmoid(z), y)",
    "with logits": "with torch.autocast('cuda'):\n    F.binary_cross_entropy_with_logits(z, y)",
    "on the cpu": "with torch.autocast('cpu'):\n    F.binary_cross_entropy(torch.sigmoid(z), y)",
    "an island": (
        "with torch.autocast('cuda'):\n    p = torch.sigmoid(z)\n    with torch.autocast('cuda', enabled=False):\n"
        "        F.binary_cross_entropy(p.float(), y)"
    ),
    "perhaps off": "import conf\nwith torch.autocast('cuda', enabled=conf.amp):\n    F.binary_cross_entropy(z, y)",
    "off": "with torch.cuda.amp.autocast(False):\n    F.binary_cross_entropy(z, y)",
    "a device that is not known": "import conf\nwith torch.autocast(conf.device):\n    F.binary_cross_entropy(z, y)",
    "another loss": "crit = nn.BCEWithLogitsLoss()\nwith torch.autocast('cuda'):\n    crit(z, y)",
}


@pytest.mark.parametrize("source", BCE_SILENT.values(), ids=BCE_SILENT.keys())
def test_bce_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC406", HEAD + source + "\n", tmp_path)


def test_bce_reported(tmp_path: Path) -> None:
    source = """
crit = nn.BCELoss()
with torch.autocast("cuda", dtype=torch.float16):
    F.binary_cross_entropy(torch.sigmoid(z), y)  # -> error none
    crit(torch.sigmoid(z), y)  # -> error none
def loss(p):
    return crit(p, y)  # -> error none
with torch.cuda.amp.autocast():
    loss(torch.sigmoid(z))
"""
    check_one("ACC406", HEAD + source, tmp_path)


BACKWARD_SILENT = {
    "outside": "with torch.autocast('cuda'):\n    loss = model(z)\nloss.sum().backward()",
    "off": "with torch.autocast('cuda', enabled=False):\n    model(z).sum().backward()",
    "double backward": "with torch.autocast('cuda'):\n    model(z).sum().backward(create_graph=True)",
    "a penalty": (
        "with torch.autocast('cuda'):\n    g = torch.autograd.grad(model(z).sum(), z)\n    model(z).sum().backward()"
    ),
    "perhaps another manager": (
        "import conf, contextlib\nctx = torch.autocast('cuda') if conf.amp else contextlib.nullcontext()\n"
        "with ctx:\n    model(z).sum().backward()"
    ),
}


@pytest.mark.parametrize("source", BACKWARD_SILENT.values(), ids=BACKWARD_SILENT.keys())
def test_backward_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC407", HEAD + source + "\n", tmp_path)


def test_backward_reported(tmp_path: Path) -> None:
    source = """
scaler = torch.amp.GradScaler("cuda")
for i in range(3):
    with torch.autocast("cuda"):
        loss = model(z).sum()
        scaler.scale(loss).backward()  # -> info none
        scaler.step(optimizer)
        scaler.update()
"""
    check_one("ACC407", HEAD + source, tmp_path)


NEW = "torch.backends.cuda.matmul.fp32_precision = 'tf32'\n"
TF32_SILENT = {
    "only the new": NEW + "print(torch.backends.cuda.matmul.fp32_precision)",
    "only the old": "torch.backends.cuda.matmul.allow_tf32 = True\nprint(torch.backends.cuda.matmul.allow_tf32)",
    "only the old function": "torch.set_float32_matmul_precision('high')\nprint(torch.get_float32_matmul_precision())",
    "in step again": NEW + "torch.backends.cuda.matmul.allow_tf32 = True\nprint(torch.backends.cuda.matmul.allow_tf32)",
    "read before": "print(torch.backends.cuda.matmul.allow_tf32)\n" + NEW,
    "on a condition": (
        "if hasattr(torch.backends.cuda.matmul, 'fp32_precision'):\n    " + NEW + "else:\n"
        "    print(torch.backends.cuda.matmul.allow_tf32)"
    ),
    "elsewhere": (
        "def a():\n    torch.backends.fp32_precision = 'tf32'\ndef b():\n    print(torch.backends.cudnn.allow_tf32)"
    ),
}


@pytest.mark.parametrize("source", TF32_SILENT.values(), ids=TF32_SILENT.keys())
def test_tf32_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC409", IMPORTS + source + "\n", tmp_path)


def test_tf32_reported(tmp_path: Path) -> None:
    source = """
torch.backends.cudnn.conv.fp32_precision = "tf32"
def show():
    print(torch.get_float32_matmul_precision())  # -> error none
print(torch.backends.cudnn.allow_tf32)  # -> error none
show()
"""
    check_one("ACC409", IMPORTS + source, tmp_path)


def test_tf32_of_an_older_torch(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("import torch\n" + NEW)
    facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
    rule = registry()["ACC409"]
    assert not list(rule.check(facts))
    facts.target = Target(torch=Versions((2, 4)))
    assert [one.span.start.row for one in rule.check(facts)] == [2]


CUDNN_SILENT = {
    "deterministic": "torch.backends.cudnn.deterministic = True\ntorch.backends.cudnn.benchmark = False",
    "fast": "torch.backends.cudnn.benchmark = True",
    "on": "torch.backends.cudnn.enabled = True",
    "an option": "import conf\ntorch.backends.cudnn.enabled = conf.cudnn",
    "under a condition": "import conf\nif conf.slow:\n    torch.backends.cudnn.enabled = False",
    "one or the other": (
        "import conf\nif conf.seed:\n    torch.backends.cudnn.deterministic = True\nelse:\n"
        "    torch.backends.cudnn.benchmark = True"
    ),
    "two functions": (
        "def a():\n    torch.backends.cudnn.deterministic = True\ndef b():\n    torch.backends.cudnn.benchmark = True"
    ),
}


@pytest.mark.parametrize("source", CUDNN_SILENT.values(), ids=CUDNN_SILENT.keys())
def test_cudnn_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC410", IMPORTS + source + "\n", tmp_path)


def test_cudnn_reported(tmp_path: Path) -> None:
    source = """
import torch.backends.cudnn as cudnn
cudnn.enabled = False  # -> warning unsafe
def seed():
    cudnn.benchmark = True  # -> info unsafe
    cudnn.deterministic = True
if __name__ == "__main__":
    seed()
"""
    check_one("ACC410", IMPORTS + source, tmp_path)
    text = fixed(IMPORTS + source, tmp_path, "ACC410")
    assert "cudnn.enabled = True" in text
    assert "cudnn.benchmark = False" in text


def test_the_precision_that_is_recommended_exists() -> None:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    torch.set_float32_matmul_precision(before)
