"""ACC115 tensor-dataset-slow-path, silent cases first."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, fixed, severities
from ..programs import FILES, NUMBERS

TRAIN = "\nfor x in loader:\n    model(x).sum().backward()\n"
CUDA = "\nfor (x,) in loader:\n    model(x.cuda(non_blocking=True)).sum().backward()\n"
TENSORS = "model.cuda()\ntensors = TensorDataset(conf.x)\nloader = DataLoader(tensors, pin_memory=True, batch_size="
SILENT = [
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
]


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC115", NUMBERS + source, tmp_path)


PAIR_TENSORS = FILES + "model.cuda()\ntensors = TensorDataset(conf.x)\n"
TRAINED = PAIR_TENSORS + "loader = DataLoader(tensors, pin_memory=True, batch_size=256, shuffle=True)" + CUDA
PAIRS = {
    "few rows": Pair(TRAINED.replace("conf.x", "torch.zeros(1000, 8)"), "1000", "50_000"),
    "few rows, as a tuple": Pair(TRAINED.replace("conf.x", "torch.zeros((1000, 8))"), "1000", "50_000"),
    "a collate function": Pair(
        TRAINED.replace("shuffle=True", "collate_fn=conf.c"), "collate_fn=conf.c", "shuffle=True"
    ),
    "a sampler": Pair(TRAINED.replace("shuffle=True", "sampler=conf.c"), "sampler=conf.c", "shuffle=True"),
    "a batch sampler": Pair(
        TRAINED.replace("shuffle=True", "batch_sampler=conf.c"), "batch_sampler=conf.c", "shuffle=True"
    ),
    "a transform around it": Pair(
        FILES
        + "model.cuda()\nclass Noisy(Dataset):\n    def __init__(self, inner): self.inner = inner\n    def __len__(self): return 9\n    def __getitem__(self, i): return (self.inner[i][0] + torch.rand(1),)\ntensors = Noisy(TensorDataset(conf.x))\nloader = DataLoader(tensors, pin_memory=True, batch_size=256)"
        + CUDA,
        "= Noisy(TensorDataset(conf.x))",
        "= TensorDataset(conf.x)",
    ),
    "a part": Pair(
        TRAINED.replace("TensorDataset(conf.x)", "Subset(TensorDataset(conf.x), [1])"),
        "Subset(TensorDataset(conf.x), [1])",
        "TensorDataset(conf.x)",
    ),
    "Lightning": Pair(
        FILES
        + "import lightning as L\nclass M(L.LightningDataModule):\n    def train_dataloader(self):\n        loader = DataLoader(TensorDataset(conf.x), pin_memory=True, batch_size=256)\n        for (x,) in loader:\n            model(x.cuda()).sum().backward()\n        return loader\n",
        "(L.LightningDataModule)",
    ),
    "Accelerate": Pair(
        TRAINED.replace(CUDA, "\nimport accelerate\nloader = accelerate.Accelerator().prepare(loader)" + CUDA),
        "accelerate.Accelerator().prepare(loader)",
        "loader",
    ),
    "a small batch": Pair(TRAINED.replace("256", "32"), "=32", "=256"),
    "a setting": Pair(TRAINED.replace("256", "conf.n"), "conf.n", "256"),
    "no training": Pair(
        TRAINED.replace(".sum().backward()", ""), "non_blocking=True))", "non_blocking=True)).sum().backward()"
    ),
    "the host": Pair(
        TRAINED.replace("model.cuda()\n", "").replace(".cuda(non_blocking=True)", ""), "model(x)", "model(x.cuda())"
    ),
    "unknown keywords": Pair(TRAINED.replace("shuffle=True", "**conf.kw"), ", **conf.kw"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC115", PAIRS[case], tmp_path)


REPORTED = [
    TENSORS + "256, shuffle=True)" + CUDA,
    TENSORS + "256, num_workers=2, persistent_workers=True)" + CUDA,
    TENSORS.replace("conf.x", "torch.zeros(50_000, 8)") + "256)" + CUDA,
]


@pytest.mark.parametrize("source", REPORTED)
def test_reported(source: str, tmp_path: Path) -> None:
    assert severities("ACC115", NUMBERS + source, tmp_path) == ["info"]


def is_loader(node: ast.AST) -> bool:
    """Whether a node is a call of DataLoader."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "DataLoader"


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
    source = NUMBERS + f"model.cuda()\ntensors = TensorDataset(conf.x)\nloader = DataLoader(tensors, {given})" + CUDA
    after = fixed("ACC115", source, tmp_path)
    assert (after != source) == applicable
    if applicable:
        call = ast.unparse(next(one for one in ast.walk(ast.parse(after)) if is_loader(one)))
        assert f"{order}Sampler(tensors), 256, False)" in call
        torch = pytest.importorskip("torch")
        tensors = torch.utils.data.TensorDataset(torch.arange(600.0).reshape(600, 1), torch.arange(600))
        names = {"torch": torch, "DataLoader": torch.utils.data.DataLoader, "tensors": tensors}
        torch.manual_seed(0)
        want = list(eval(f"DataLoader(tensors, {given})", names))
        torch.manual_seed(0)
        got = list(eval(call, names))
        assert len(got) == len(want) == 3
        for one, other in zip(got, want, strict=True):
            assert type(one) is type(other)
            assert all(torch.equal(left, right) for left, right in zip(one, other, strict=True))
