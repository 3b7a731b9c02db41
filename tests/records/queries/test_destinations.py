"""Devices as people spell them, and what speaks for copies to a GPU."""

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.records.queries.destinations import reaches_gpu
from accel_advisor.source.document import Document

BEGINNING = """
import argparse, os
import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

model = nn.Linear(8, 2)
loader = DataLoader(datasets.ImageFolder("d", transforms.ToTensor()), batch_size=8, num_workers=4)
"""
NAMED = "torch.cuda.set_device(0)\n"

PROVEN = {
    "format": 'device = torch.device("cuda:{}".format(input()))',
    "strings behind each other": 'device = torch.device("cuda:" f"{input()}")',
    "format of both": 'device = "{}:{}".format("cuda", input())',
    "percent": 'device = torch.device("cuda:%d" % int(input()))',
    "percent of both": 'device = "%s:%d" % ("cuda", int(input()))',
    "sum": 'device = torch.device("cuda:" + str(input()))',
    "f-string": 'device = f"cuda:{input()}"',
    "f-string of both": 'kind = "cuda"\ndevice = f"{kind}:{input()}"',
    "type": 'device = torch.device("cuda").type',
    "type and number": 'device = torch.device(torch.device("cuda").type, int(input()))',
    "accelerator": 'device = torch.accelerator.current_accelerator().type if hasattr(torch, "accelerator") else "cuda"',
    "rank": "device = dist.get_rank()",
    "rank of the machine": "device = unknown() % torch.cuda.device_count()",
    "namespace": 'from types import SimpleNamespace\ncfg = SimpleNamespace()\ncfg.device = "cuda"\ndevice = cfg.device',
    "model": 'model.to("cuda")\ndevice = model.device',
    "parameters": "model.cuda()\ndevice = next(model.parameters()).device",
    "weight": "model.cuda()\ndevice = model.weight.device",
}
BY_DEFAULT = {
    "option": 'p = argparse.ArgumentParser(); p.add_argument("--device", default="cuda")\n'
    "device = p.parse_args().device",
    "one of two": 'p = argparse.ArgumentParser()\np.add_argument("--device", '
    'default="cuda" if torch.cuda.is_available() else "cpu")\ndevice = torch.device(p.parse_args().device)',
    "formatted": 'p = argparse.ArgumentParser(); p.add_argument("--kind", default="cuda")\n'
    'device = f"{p.parse_args().kind}:0"',
}
EVIDENT = {
    "unknown": f"{NAMED}device = unknown()",
    "auto": 'device = unknown_text()\nif device == "auto":\n    device = "cuda"',
    "the environment": f'{NAMED}device = int(os.environ["LOCAL_RANK"])',
    "an option for the GPU": 'p = argparse.ArgumentParser(); p.add_argument("--gpu", type=int)\n'
    "device = p.parse_args().gpu",
    "the backend": 'dist.init_process_group("nccl")\ndevice = unknown()',
    "visible devices": 'os.environ["CUDA_VISIBLE_DEVICES"] = "1"\ndevice = unknown()',
    "the default is the host": 'p = argparse.ArgumentParser(); p.add_argument("--device", default="cpu")\n'
    f"{NAMED}device = p.parse_args().device",
}
ELSEWHERE = {
    "the host": f'{NAMED}device = "cpu"',
    "mps": f'{NAMED}device = "mps:0"',
    "npu": f'{NAMED}device = "npu:{{}}".format(input())',
    "xla": f"{NAMED}import torch_xla.core.xla_model as xm\ndevice = xm.xla_device()",
    "no GPU in sight": "device = unknown()",
}


def _basis(device: str, folder: Path, loader: str = "") -> str | None:
    """What speaks for the copy of a batch to this device, in words; None where nothing does."""
    path = folder / "train.py"
    program = BEGINNING.replace("num_workers=4", f"num_workers=4{loader}")
    path.write_text(f"{program}{device}\nfor x, y in loader:\n    x = x.to(device)\n    model(x).sum().backward()\n")
    document = Document.read(path)
    facts = analyze([document], folder).facts[str(path)]
    *_, copy = facts.transfers
    found = [reaches_gpu(facts, context) for context in copy.contexts]
    assert len(found) == 1
    return found[0].words if found[0] is not None else None


@pytest.mark.parametrize("case", PROVEN)
def test_the_program_says_that_it_is_a_gpu(case: str, tmp_path: Path) -> None:
    assert _basis(PROVEN[case], tmp_path) == ""


@pytest.mark.parametrize("case", BY_DEFAULT)
def test_a_default_says_so(case: str, tmp_path: Path) -> None:
    assert _basis(BY_DEFAULT[case], tmp_path) == "the default of an option"


@pytest.mark.parametrize("case", EVIDENT)
def test_what_is_not_known_is_a_gpu_where_the_program_names_one(case: str, tmp_path: Path) -> None:
    assert _basis(EVIDENT[case], tmp_path) == "the GPU that the program names and the call that moves it"


@pytest.mark.parametrize("case", ELSEWHERE)
def test_nothing_speaks_for_a_gpu(case: str, tmp_path: Path) -> None:
    assert _basis(ELSEWHERE[case], tmp_path) is None


def test_pinned_batches_go_to_a_gpu(tmp_path: Path) -> None:
    assert _basis("device = unknown()", tmp_path) is None
    assert _basis("device = unknown()", tmp_path, ", pin_memory=True") is not None
