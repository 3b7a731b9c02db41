"""ACC613 lightning-full-precision, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from .programs import LIGHTNING

NET = """
class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)])

    def training_step(self, batch):
        return self.layers(batch[0]).square().mean()

"""
FIT = "trainer.fit(Net())\n"


def program(arguments: str = 'accelerator="gpu"', more: str = "", *, start: str = LIGHTNING) -> str:
    return f"{start}{NET}trainer = L.Trainer({arguments})\n{more}{FIT}"


PAIRS = {
    "a precision": Pair(program('accelerator="gpu", precision=conf.p'), ", precision=conf.p"),
    "arguments unseen": Pair(program('accelerator="gpu", **conf.kw'), ", **conf.kw"),
    "plugins": Pair(program('accelerator="gpu", plugins=conf.p'), ", plugins=conf.p"),
    "a run for a look": Pair(program('accelerator="gpu", fast_dev_run=True'), ", fast_dev_run=True"),
    "the host": Pair(program('accelerator="cpu"'), '"cpu"', '"gpu"'),
    "another accelerator": Pair(program('accelerator="mps"'), '"mps"', '"gpu"'),
    "no GPUs": Pair(program("gpus=0"), "gpus=0", "gpus=1"),
    "nothing is fitted": Pair(program().replace(".fit(", ".test("), ".test(", ".fit("),
    "a precision of products": Pair(
        program(more='torch.set_float32_matmul_precision("high")\n'), 'torch.set_float32_matmul_precision("high")'
    ),
    "words about it": Pair(program(more="use_amp = conf.amp\n"), "use_amp", "use_it"),
    "a shallow model": Pair(
        program().replace("*[nn.Conv2d(3, 3, 3) for _ in range(8)]", "nn.Linear(2, 2)"),
        "nn.Linear(2, 2)",
        "*[nn.Conv2d(3, 3, 3)]",
    ),
    "digits": Pair(
        program(more="import torchvision\ndata = torchvision.datasets.MNIST('d')\n"),
        "torchvision.datasets.MNIST('d')",
        "torchvision.datasets.CIFAR10('d')",
    ),
    "doubles": Pair(program(more="x = torch.zeros(2).double()\n"), ".double()", ".float()"),
    "its command line": Pair(
        f"{LIGHTNING}from lightning.pytorch.cli import LightningCLI\n{NET}LightningCLI(Net)\nprint(L.Trainer.fit)\n",
        "LightningCLI(Net)",
        'L.Trainer(accelerator="gpu").fit(Net())',
    ),
    "version 1 is told of no GPU": Pair(
        program("", start=LIGHTNING.replace("import lightning as L", "import pytorch_lightning as L")),
        "L.Trainer()",
        "L.Trainer(gpus=1)",
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC613", pair, tmp_path)


@pytest.mark.parametrize("arguments", ['accelerator="gpu", devices=2', 'accelerator="cuda"', "gpus=[0, 1]", "gpus=-1"])
def test_reported_and_proven_where_a_gpu_is_named(arguments: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC613", program(arguments), tmp_path)
    assert found.confidence.value == "proven"
    assert found.fix is not None
    assert found.fix.title == 'Pass `precision="bf16-mixed"`'
    assert found.fix.applicability.value == "unsafe"


@pytest.mark.parametrize("arguments", ["", 'accelerator="auto"', "accelerator=conf.kind", "gpus=conf.gpus"])
def test_evident_where_it_takes_what_is_there(arguments: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC613", program(arguments), tmp_path)
    assert found.confidence.value == "evident"
    assert "assuming that the device is a GPU" in found.message


def test_either_version_has_its_name(tmp_path: Path) -> None:
    old = LIGHTNING.replace("import lightning as L", "import pytorch_lightning as L")
    (found,) = findings_of("ACC613", program("gpus=1", start=old), tmp_path)
    assert found.message.endswith('pass `precision="bf16-mixed"` (`"bf16"` before Lightning 2)')
    assert found.fix is None


def test_names_what_has_to_stay_in_float32(tmp_path: Path) -> None:
    net = NET.replace("self.layers(batch[0]).square().mean()", "torch.linalg.svd(self.layers(batch[0]))[1].mean()")
    (found,) = findings_of("ACC613", program().replace(NET, net), tmp_path)
    assert "leave in float32 what half precision breaks" in found.message
    assert ["stays in float32" in one.message for one in found.related] == [True]


def test_a_program_without_lightning_is_for_the_rule_of_plain_loops(tmp_path: Path) -> None:
    check_one("ACC613", program().replace("L.Trainer(", "conf.Trainer("), tmp_path)
