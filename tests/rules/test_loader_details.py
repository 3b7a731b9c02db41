"""ACC115 and ACC118 to ACC124, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from .marked import findings_in, fixed
from .programs import IMPORTS

HEAD = (
    IMPORTS
    + """
import os, multiprocessing, conf
import numpy as np
data = [1, 2, 3]
model = nn.Linear(1, 1)
class Rows(IterableDataset):
    def __iter__(self): return iter(conf.rows())
"""
)
GROUP = "torch.distributed.init_process_group('gloo')\n"
TRAIN = "\nfor x in loader:\n    model(x).sum().backward()\n"

CUDA = "\nfor (x,) in loader:\n    model(x.cuda(non_blocking=True)).sum().backward()\n"
TENSORS = "model.cuda()\ntensors = TensorDataset(conf.x)\nloader = DataLoader(tensors, pin_memory=True, batch_size="


def listed(body: str, method: str = "return open(self.files[i]).read()") -> str:
    """A data set that keeps files."""
    return (
        f"import glob\nclass Texts(Dataset):\n    def __init__(self, root):\n        {body}\n"
        f"    def __getitem__(self, i):\n        {method}\n"
    )


LOADED = "DataLoader(Texts('a'), num_workers=2)"
SILENT = {
    "ACC115": [
        TENSORS + "32, shuffle=True)" + CUDA,
        TENSORS + "256, shuffle=True)\nfor (x,) in loader:\n    model(x)\n",
        TENSORS.replace("model.cuda()\n", "") + "256, shuffle=True)" + TRAIN,
        TENSORS + "256, collate_fn=conf.collate)" + CUDA,
        TENSORS + "256, sampler=conf.sampler)" + CUDA,
        TENSORS + "None, sampler=conf.sampler)" + CUDA,
        TENSORS + "conf.size)" + CUDA,
        TENSORS + "256, **conf.kw)" + CUDA,
        TENSORS.replace("conf.x", "torch.zeros(1000, 8)") + "256)" + CUDA,
        TENSORS.replace("conf.x", "torch.zeros((1000, 8))") + "256)" + CUDA,
        TENSORS.replace("TensorDataset(conf.x)", "conf.data") + "256)" + CUDA,
        TENSORS + "256)\nimport accelerate\nloader = accelerate.Accelerator().prepare(loader)" + CUDA,
    ],
    "ACC121": [
        listed("self.files = sorted(glob.glob(root))") + "DataLoader(Texts('a'))",
        listed("self.files = sorted(glob.glob(root))") + "DataLoader(Texts('a'), num_workers=conf.n)",
        listed("self.files = sorted(glob.glob(root))") + LOADED[:-1] + ", multiprocessing_context='spawn')",
        listed("self.files = sorted(glob.glob(root))", "return i") + LOADED,
        listed("self.files = np.array(glob.glob(root))") + LOADED,
        listed("self.files = glob.glob(root)\n        self.files = np.array(self.files)") + LOADED,
        listed("self.files = conf.files(root)") + LOADED,
    ],
    "ACC118": [
        "DataLoader(data, pin_memory=True)",
        "DataLoader(data, pin_memory=True, pin_memory_device='xpu')",
        "DataLoader(data, pin_memory=True, pin_memory_device=conf.device)",
    ],
    "ACC119": [
        "DataLoader(data, num_workers=os.cpu_count())",
        GROUP + "DataLoader(data, num_workers=os.cpu_count() // 8)",
        GROUP + "DataLoader(data, num_workers=os.cpu_count() - 1)",
        GROUP + "DataLoader(data, num_workers=4)",
        "import lightning\nfabric = lightning.Fabric()\n" + GROUP + "DataLoader(data, num_workers=os.cpu_count())",
    ],
    "ACC120": ["DataLoader(data, num_workers=15)", "DataLoader(data, num_workers=conf.n)"],
    "ACC122": [
        "loader = DataLoader(data, batch_size=1)" + TRAIN,
        "loader = DataLoader(data, batch_size=None)" + TRAIN,
        "loader = DataLoader(data, batch_sampler=conf.sampler)" + TRAIN,
        "loader = DataLoader(Rows())" + TRAIN,
        "loader = DataLoader(data)\nfor x in loader:\n    model(x)\n",
        "from torch_geometric.loader import DataLoader\nloader = DataLoader(data)" + TRAIN,
    ],
    "ACC123": [
        "loader = DataLoader(data, num_workers=2, in_order=True)" + TRAIN,
        "loader = DataLoader(data, in_order=False)" + TRAIN,
        "loader = DataLoader(Rows(), num_workers=1, in_order=False)" + TRAIN,
        "loader = DataLoader(data, num_workers=2, in_order=False)\nfor x in loader:\n    model(x)\n",
    ],
    "ACC124": [
        "torch.tensor([1.0, 2.0])",
        "torch.tensor([float(x) for x in conf.rows()])",
        "torch.tensor([conf.load(x) for x in data])",
        "torch.tensor(np.stack([np.load(x) for x in conf.names]))",
        "torch.stack([torch.from_numpy(np.load(x)) for x in conf.names])",
    ],
}
LOUD = {
    "ACC115": [
        TENSORS + "256, shuffle=True)" + CUDA,
        TENSORS + "256, num_workers=2, persistent_workers=True)" + CUDA,
        TENSORS.replace("conf.x", "torch.zeros(50_000, 8)") + "256)" + CUDA,
    ],
    "ACC121": [
        listed("self.files = sorted(glob.glob(root))") + LOADED,
        listed("self.files = [one for one in glob.glob(root)]") + LOADED,
        listed("self.files = [one for one in glob.glob(root)]")
        + "DataLoader(torch.utils.data.Subset(Texts('a'), [1]), num_workers=2)",
    ],
    "ACC118": ["DataLoader(data, pin_memory=True, pin_memory_device='cuda')"],
    "ACC119": [
        GROUP + "DataLoader(data, num_workers=os.cpu_count())",
        GROUP + "DataLoader(data, num_workers=multiprocessing.cpu_count())",
    ],
    "ACC120": ["DataLoader(data, num_workers=16)"],
    "ACC122": ["loader = DataLoader(data)" + TRAIN],
    "ACC123": ["loader = DataLoader(data, num_workers=2, in_order=False)" + TRAIN],
    "ACC124": [
        "torch.tensor([np.load(x) for x in conf.names])",
        "torch.tensor([np.zeros(3), np.ones(3)])",
    ],
}


def severities(source: str, folder: Path, code: str) -> list[str]:
    # off-by-default rules run where the program names them
    found = findings_in(f"{HEAD}{source}\n# {code}\n", folder)[1]
    return [str(one.severity) for one in found if one.code == code]


@pytest.mark.parametrize(("code", "source"), [(code, one) for code, cases in SILENT.items() for one in cases])
def test_silent(code: str, source: str, tmp_path: Path) -> None:
    assert severities(source, tmp_path, code) == []


@pytest.mark.parametrize(("code", "source"), [(code, one) for code, cases in LOUD.items() for one in cases])
def test_reports(code: str, source: str, tmp_path: Path) -> None:
    assert severities(source, tmp_path, code) == ["info"]


def test_dropping_the_device_is_safe_where_torch_ignores_it(tmp_path: Path) -> None:
    source = HEAD + "DataLoader(data, pin_memory_device='cuda', pin_memory=True)\n"
    for stated, fixes in (("torch>=2.13", ["safe"]), ("torch", ["unsafe"]), ("torch>=2.4", [])):
        found = findings_in(source, tmp_path, {"requirements.txt": f"{stated}\n"})[1]
        assert [str(one.fix.applicability) for one in found if one.code == "ACC118" and one.fix] == fixes


def test_drops_the_device(tmp_path: Path) -> None:
    after = fixed(HEAD + "DataLoader(data, pin_memory_device='cuda', pin_memory=True)\n", tmp_path, "ACC118")
    assert after.endswith("DataLoader(data, pin_memory=True)\n")


@pytest.mark.parametrize(
    ("given", "order", "applicable"),
    [
        ("batch_size=256, shuffle=True", "Random", True),
        ("batch_size=256, shuffle=False", "Sequential", True),
        ("batch_size=256", "Sequential", True),
        ("batch_size=256, shuffle=conf.shuffle", "", False),
        ("batch_size=256, drop_last=True", "", False),
        ("batch_size=256, shuffle=True, generator=conf.generator", "", False),
    ],
)
def test_batches_of_tensors_are_the_same_when_indexed_whole(
    given: str, order: str, applicable: bool, tmp_path: Path
) -> None:
    source = HEAD + f"model.cuda()\ntensors = TensorDataset(conf.x)\nloader = DataLoader(tensors, {given})" + CUDA
    after = fixed(source, tmp_path, "ACC115")
    assert (after != source) == applicable
    if applicable:
        call = next(line for line in after.splitlines() if line.startswith("loader ="))
        assert f"{order}Sampler(tensors), 256, False)" in call
        tensors = torch.utils.data.TensorDataset(torch.arange(600.0).reshape(600, 1), torch.arange(600))
        names = {"torch": torch, "DataLoader": torch.utils.data.DataLoader, "tensors": tensors}
        torch.manual_seed(0)
        want = list(eval(f"DataLoader(tensors, {given})", names))
        torch.manual_seed(0)
        got = list(eval(call.partition("= ")[2], names))
        assert len(got) == len(want) == 3
        for one, other in zip(got, want, strict=True):
            assert type(one) is type(other)
            assert all(torch.equal(left, right) for left, right in zip(one, other, strict=True))
