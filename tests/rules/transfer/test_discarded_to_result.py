"""ACC207 discarded-to-result, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Confidence, Severity

from ..checks import Pair, check, check_one, check_pair, findings_of, fixed
from ..programs import IMPORTS, PHOTOS

SILENT = {
    "a module": "model = nn.Linear(8, 2)\nmodel.to('cuda')",
    "unknown": "import mystery\nx = mystery.make()\nx.to('cuda')",
    "a tokenizer's output": "from transformers import BatchEncoding\nx = BatchEncoding({})\nx.to('cuda')",
    "used": "x = torch.zeros(8)\nx = x.to('cuda')\nprint(x)",
    "an argument": "x = torch.zeros(8)\nprint(x.to('cuda'))",
    "a start of CUDA": "torch.zeros(1).to('cuda')\ntorch.zeros(1).half()",
    "a parameter": "def move(x):\n    x.to('cuda')",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_where_it_is_not_a_tensor_for_certain(source: str, tmp_path: Path) -> None:
    check(IMPORTS + source + "\n", tmp_path)


PINNED = "import conf\nloader = DataLoader(photos, num_workers=2, pin_memory=True)\n"
PAIRS: dict[str, tuple[str, ...]] = {
    "module": ("m = nn.Linear(8, 2)\nm.to('cuda')", "nn.Linear(8, 2)", "torch.zeros(8)"),
    "a module, cuda()": ("m = nn.Linear(8, 2)\nm.cuda()", "nn.Linear(8, 2)", "torch.zeros(8)"),
    "a module, half()": ("m = nn.Linear(8, 2)\nm.half()", "nn.Linear(8, 2)", "torch.zeros(8)"),
    "a loss": ("m = nn.MSELoss()\nm.to('cuda')", "nn.MSELoss()", "torch.zeros(8)"),
    "unknown": ("import mystery\nx = mystery.make()\nx.to('cuda')", "mystery.make()", "torch.zeros(8)"),
    "BatchEncoding": (
        "from transformers import BatchEncoding\nx = BatchEncoding({})\nx.to('cuda')",
        "BatchEncoding({})",
        "torch.zeros(8)",
    ),
    "tokenizer": (
        (
            "from transformers import AutoTokenizer\nt = AutoTokenizer.from_pretrained('a')\n"
            "x = t('b', return_tensors='pt')\nx.to('cuda')"
        ),
        "t('b', return_tensors='pt')",
        "torch.zeros(8)",
    ),
    "BatchFeature": (
        "from transformers import BatchFeature\nx = BatchFeature({})\nx.to('cuda')",
        "BatchFeature({})",
        "torch.zeros(8)",
    ),
    "PyG data": (
        "from torch_geometric.data import Data\nx = Data(x=torch.zeros(8))\nx.to('cuda')",
        "Data(x=torch.zeros(8))",
        "torch.zeros(8)",
    ),
    "PyG hetero": (
        "from torch_geometric.data import HeteroData\nx = HeteroData()\nx.to('cuda')",
        "HeteroData()",
        "torch.zeros(8)",
    ),
    "PyG batch": (
        ("from torch_geometric.loader import DataLoader as G\nfor b in G(conf.graphs):\n    b.to('cuda')"),
        "for b in G(conf.graphs)",
        "for b, c in loader",
    ),
    "custom batch": (
        "for b in DataLoader(photos, collate_fn=conf.c):\n    b.to('cuda')",
        "for b in DataLoader(photos, collate_fn=conf.c)",
        "for b, c in loader",
    ),
    "a whole batch": ("for b in loader:\n    b.to('cuda')", "for b in", "for b, c in"),
    "batch of tokens": (
        (
            "class D(Dataset):\n    def __getitem__(self, i): return conf.tok(i)\n"
            "for b, c in DataLoader(D()):\n    b.to('cuda')"
        ),
        "conf.tok(i)",
        "torch.zeros(8), 1",
    ),
    "user class": (
        "class B:\n    def to(self, d): self.d = d\nx = B()\nx.to('cuda')",
        "x = B()",
        "x = torch.zeros(8)",
    ),
    "used": ("x = torch.zeros(8)\nx = x.to('cuda')", "\nx = x.to", "\nx.to"),
    "only an argument": ("x = torch.zeros(8)\nprint(x.to('cuda'))", "print(x.to('cuda'))", "x.to('cuda')"),
    "returned": ("def f():\n    x = torch.zeros(8)\n    return x.to('cuda')\nf()", "return x.to", "x.to"),
    "to start CUDA": ("torch.zeros(1).to('cuda')", "torch.zeros", "x = torch.zeros(1)\nx.to('cuda') #zeros"),
    "a cast without a name": ("torch.zeros(1).half()", "torch.zeros", "x = torch.zeros(1)\nx.half() #zeros"),
    "parameter": ("def move(x):\n    x.to('cuda')", "def move(x):", "if True:\n    x = torch.zeros(1)"),
    "there already": ("x = torch.zeros(8)\nx.to('cpu')", "'cpu'", "'cuda'"),
    "there already by cuda()": ("x = torch.zeros(8).cuda()\nx.to('cuda')", ".cuda()"),
    "there already by name": (
        "d = torch.device('cuda:0')\nx = torch.zeros(8, device=d)\nx.to('cuda')",
        ", device=d",
    ),
    "that dtype already": ("x = torch.zeros(8, dtype=torch.float16)\nx.half()", ", dtype=torch.float16"),
    "dict": ("x = {'a': 1}\nx.to('cuda')", "{'a': 1}", "torch.zeros(1)"),
    "to the host, as a wait": ("x = torch.zeros(8).cuda()\nx.cpu()", "x.cpu()", "x.half()"),
    "perhaps a module": (
        "x = nn.Linear(8, 2) if conf.m else torch.zeros(8)\nx.to('cuda')",
        "nn.Linear(8, 2) if conf.m else ",
    ),
    "timed": (
        (
            "import time\nx = torch.zeros(8)\nfor i in range(9):\n    t = time.time()\n    x.to('cuda')\n"
            "    torch.cuda.synchronize()\n    print(time.time() - t)"
        ),
        (
            "import time\nx = torch.zeros(8)\nfor i in range(9):\n    t = time.time()\n    x.to('cuda')\n"
            "    torch.cuda.synchronize()\n    print(time.time() - t)"
        ),
        ("x = torch.zeros(8)\nfor i in range(9):\n    x.to('cuda')\n    torch.cuda.synchronize()\n"),
    ),
    "PackedSequence": (
        "x = torch.nn.utils.rnn.pack_padded_sequence(torch.zeros(8, 2), [1])\nx.to('cuda')",
        "torch.nn.utils.rnn.pack_padded_sequence(torch.zeros(8, 2), [1])",
        "torch.zeros(1)",
    ),
    "tensordict": (
        "from tensordict import TensorDict\nx = TensorDict({})\nx.to('cuda')",
        "TensorDict({})",
        "torch.zeros(1)",
    ),
    "with a generator": ("x = torch.Generator()\nx.to('cuda')", "torch.Generator()", "torch.zeros(1)"),
    "samples of a tokenizer": (
        (
            "class D(Dataset):\n    def __init__(self, tokenizer): self.t = tokenizer\n"
            "    def __getitem__(self, i): return self.t('a'), 1\nfor b, c in DataLoader(D(conf.t)):\n"
            "    b.to('cuda')"
        ),
        "tokenizer): self.t = tokenizer",
        "net): self.t = net",
    ),
    "samples of an extractor": (
        (
            "class D(Dataset):\n    def __init__(self, extractor): self.t = extractor\n"
            "    def __getitem__(self, i): return self.t('a'), 1\nfor b, c in DataLoader(D(conf.t)):\n"
            "    b.to('cuda')"
        ),
        "extractor): self.t = extractor",
        "net): self.t = net",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC207", Pair(PHOTOS + PINNED + source, *change), tmp_path)


def test_reports_the_move_of_a_tensor(tmp_path: Path) -> None:
    source = (
        "x = torch.randn(4, 8)\nx.to('cuda')  # -> ACC207 error unsafe\nx.half()  # -> ACC207 error unsafe\nprint(x)\n"
    )
    check(IMPORTS + source, tmp_path)
    assert "x = x.to('cuda')" in fixed("ACC207", IMPORTS + source, tmp_path)


PINNED_PHOTOS = "loader = DataLoader(photos, num_workers=2, pin_memory=True)\n"


def test_reports_the_move_of_a_batch(tmp_path: Path) -> None:
    source = (
        "for x, y in loader:\n    x.cuda(non_blocking=True)  # -> ACC207 error unsafe\n"
        "    y.cuda()  # -> ACC207 error unsafe\n"
    )
    check(PHOTOS + PINNED_PHOTOS + source, tmp_path)


EVIDENT = {
    "an annotation": Pair(
        "import torch\ndef fit(x, y: torch.Tensor):\n    x.to('cuda')\n    return x + y\n",
        "fit(x,",
        "fit(x: torch.Tensor,",
    ),
    "a docstring": Pair(
        'import torch\ndef fit(x, y):\n    """Fits.\n\n    Args:\n        x (nn.Module): to fit\n    """\n'
        "    x.to('cuda')\n    return x + y\n",
        "x (nn.Module)",
        "x (Tensor)",
    ),
    "the docstring of a class": Pair(
        'import torch\nclass Fit:\n    """Fits.\n\n    Args:\n        x (nn.Module): to fit\n    """\n'
        "    def __init__(self, x):\n        x.to('cuda')\n        self.x = x\n",
        "x (nn.Module)",
        "x (torch.Tensor, optional)",
    ),
    "an annotation of a data set": Pair(
        "import torch\nfrom torch.utils.data import Dataset, TensorDataset\ndef fit(data: Dataset):\n"
        "    x, y = data[:]\n    x.to('cuda')\n    return x + y\n",
        "data: Dataset",
        "data: TensorDataset",
    ),
    "a method that only tensors have": Pair(
        "import torch\ndef masks(batch):\n    return (batch.src != 1).tolist()\n"
        "def train(batch):\n    mask = masks(batch)\n    mask.cuda()\n    return mask\n",
        "tolist()",
        "unsqueeze(-2)",
    ),
}


@pytest.mark.parametrize("pair", EVIDENT.values(), ids=EVIDENT.keys())
def test_speaks_where_it_is_evident_that_a_tensor_moves(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC207", pair, tmp_path)
    (found,) = findings_of("ACC207", pair.source.replace(pair.condition, pair.instead), tmp_path)
    assert (found.severity, found.confidence) == (Severity.WARNING, Confidence.EVIDENT)


def test_an_argument_that_is_known_counts_more_than_its_annotation(tmp_path: Path) -> None:
    source = "def move(x: torch.Tensor):\n    x.to('cuda')\nmove(torch.nn.Linear(2, 2))\n"
    check_one("ACC207", f"import torch\n{source}", tmp_path)


def test_decorators_that_only_check_what_a_function_is_given(tmp_path: Path) -> None:
    source = """
import {0}
import torch
@{0}.{1}
def split(x): return x[:2], x[2:]
def fit(x: torch.Tensor):
    first, rest = split(x)
    rest.to("cuda"){2}
"""
    mark = "  # -> warning unsafe"
    check_one("ACC207", source.format("beartype", "beartype", mark), tmp_path)
    check_one("ACC207", source.format("icontract", "require(lambda x: len(x) > 2)", mark), tmp_path)
    check_one("ACC207", source.format("caches", "cached", ""), tmp_path)


PACKED = """
import torch
from torch import nn
class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("packed", torch.zeros(8, dtype=torch.uint8))
    def unpacked(self, dtype=torch.float):
        {call}
        return (self.packed >> 4) & 15
"""


@pytest.mark.parametrize("call", ["self.packed.to(dtype)", "self.packed.half()"])
def test_what_an_object_holds_is_not_to_be_cast_for_all(call: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC207", PACKED.format(call=call), tmp_path)
    assert found.message.endswith("`self.packed` keeps its dtype; bind what it returns to a name, or drop the call")
    assert found.fix is None
    (named,) = findings_of("ACC207", PACKED.format(call=f"packed = self.packed\n        {call[5:]}"), tmp_path)
    assert named.message.endswith(f"`packed` keeps its dtype; write `packed = {call[5:]}`")
    assert named.fix is not None


def test_what_an_object_holds_may_be_moved_for_all(tmp_path: Path) -> None:
    (found,) = findings_of("ACC207", PACKED.format(call="self.packed.to('cuda')"), tmp_path)
    assert found.message.endswith("`self.packed` stays where it is; write `self.packed = self.packed.to('cuda')`")
    assert found.fix is not None
