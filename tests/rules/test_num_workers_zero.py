"""ACC102, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import check
from .programs import IMPORTS, LOOP, MODEL, PHOTOS

HEAD = IMPORTS + MODEL + "from PIL import Image\nimport h5py, numpy as np, random\n"

VETOED = {
    "in memory": """
data = TensorDataset(torch.zeros(64, 8), torch.zeros(64))
""",
    "indexes what it holds": """
class Held(Dataset):
    def __init__(self, x): self.x = x
    def __len__(self): return len(self.x)
    def __getitem__(self, i): return self.x[i], self.x[i]
data = Held(torch.zeros(64, 8))
""",
    "iterable that is not shared out": """
class Rows(IterableDataset):
    def __iter__(self):
        for name in ["a", "b"]:
            yield torch.from_numpy(np.load(name)), 1
data = Rows()
""",
    "CUDA in the data set": """
class Moved(Dataset):
    def __init__(self): self.x = torch.from_numpy(np.load("a")).cuda()
    def __len__(self): return 2
    def __getitem__(self, i): return self.x[i] + torch.from_numpy(np.load("b")), 1
data = Moved()
""",
    "handle opened in init": """
class Handle(Dataset):
    def __init__(self, path): self.file = h5py.File(path)
    def __len__(self): return 2
    def __getitem__(self, i): return np.load("x"), self.file["y"][i]
data = Handle("a")
""",
    "generator kept": """
class Noisy(Dataset):
    def __init__(self): self.rng = np.random.default_rng(0)
    def __len__(self): return 2
    def __getitem__(self, i): return np.load("x") + self.rng.random(), 1
data = Noisy()
""",
    "cache in the process": """
class Cached(Dataset):
    def __init__(self): self.cache = {}
    def __len__(self): return 2
    def __getitem__(self, i):
        if i not in self.cache:
            self.cache[i] = np.load("x")
        return self.cache[i], 1
data = Cached()
""",
    "attribute set by the loop": """
class Staged(Dataset):
    def __init__(self): self.stage = 0
    def __len__(self): return 2
    def __getitem__(self, i): return np.load(str(self.stage)), 1
data = Staged()
data.stage = 1
""",
}


@pytest.mark.parametrize("dataset", VETOED.values(), ids=VETOED.keys())
def test_silent_where_workers_would_break_or_gain_nothing(dataset: str, tmp_path: Path) -> None:
    check(HEAD + dataset + "loader = DataLoader(data, pin_memory=True)" + LOOP, tmp_path)


SILENT = {
    "given": "loader = DataLoader(photos, pin_memory=True, num_workers=2)",
    "from an option": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--workers', default=0, type=int)\n"
        "args = p.parse_args()\nloader = DataLoader(photos, pin_memory=True, num_workers=args.workers)"
    ),
    "from the environment": (
        "import os\nloader = DataLoader(photos, pin_memory=True, num_workers=int(os.environ.get('W', 0)))"
    ),
    "zero with a reason": "loader = DataLoader(photos, pin_memory=True, num_workers=0)  # the cluster forbids more",
    "unknown dict": "import conf\nloader = DataLoader(photos, pin_memory=True, **conf.loader)",
}


@pytest.mark.parametrize("spelling", SILENT.values(), ids=SILENT.keys())
def test_silent_where_workers_are_given_or_may_be(spelling: str, tmp_path: Path) -> None:
    check(PHOTOS + MODEL + spelling + LOOP, tmp_path)


def test_silent_where_nothing_computes_on_a_gpu(tmp_path: Path) -> None:
    source = (
        "loader = DataLoader(photos)\nmodel = nn.Linear(8, 2)\nfor x, y in loader:\n    model(x).sum().backward()\n"
    )
    check(PHOTOS + source, tmp_path)


def test_silent_about_a_look_at_one_batch(tmp_path: Path) -> None:
    check(PHOTOS + MODEL + "loader = DataLoader(photos, pin_memory=True)\nx, y = next(iter(loader))\n", tmp_path)


def test_warns_where_a_sample_is_decoded(tmp_path: Path) -> None:
    check(PHOTOS + MODEL + "loader = DataLoader(photos, pin_memory=True)  # -> ACC102 warning unsafe" + LOOP, tmp_path)


def test_sees_the_cost_through_helpers_and_subsets(tmp_path: Path) -> None:
    source = """
from reading import read
class Files(Dataset):
    def __len__(self): return 2
    def __getitem__(self, i): return self.one(i), 1
    def one(self, i): return torch.from_numpy(read(i))
train, val = torch.utils.data.random_split(Files(), [1, 1])
loader = DataLoader(train, pin_memory=True)  # -> ACC102 warning unsafe
"""
    found = check(
        HEAD + source + LOOP, tmp_path, {"reading.py": "import cv2\ndef read(i):\n    return cv2.imread(str(i))\n"}
    )
    assert "`Files.one` reads and decodes an image" in found[0].message


UNSEEN = {
    "of a library": "import mystery\nloader = DataLoader(mystery.Data(), pin_memory=True)",
    "a part of what is not known": "import mystery\nloader = DataLoader(mystery.data[9:], pin_memory=True)",
    "graphs in memory": (
        "from torch_geometric.datasets import Planetoid\nloader = DataLoader(Planetoid('x', 'Cora'), pin_memory=True)"
    ),
}


@pytest.mark.parametrize("source", UNSEEN.values(), ids=UNSEEN.keys())
def test_silent_where_the_cost_of_a_sample_is_not_seen(source: str, tmp_path: Path) -> None:
    check(HEAD + source + LOOP, tmp_path)


def test_only_an_opportunity_where_samples_are_computed(tmp_path: Path) -> None:
    source = """
class Data(Dataset):
    def __len__(self): return 9
    def __getitem__(self, i): return make(i), 1
loader = DataLoader(Data(), pin_memory=True)  # -> ACC102 info none
"""
    check(HEAD + source + LOOP, tmp_path)


def test_a_transform_of_graphs_in_memory_is_an_opportunity(tmp_path: Path) -> None:
    source = """
from torch_geometric.datasets import ModelNet
from torch_geometric.transforms import SamplePoints
loader = DataLoader(ModelNet("x", transform=SamplePoints(9)), pin_memory=True)  # -> ACC102 info none
"""
    check(HEAD + source + LOOP, tmp_path)


def test_a_bare_literal_zero_is_only_mentioned(tmp_path: Path) -> None:
    line = "loader = DataLoader(\n    photos, pin_memory=True,\n    num_workers=0,\n)"
    found = check(
        PHOTOS + MODEL + line.replace("loader = DataLoader(", "loader = DataLoader(  # -> ACC102 info none") + LOOP,
        tmp_path,
    )
    assert len(found) == 1
