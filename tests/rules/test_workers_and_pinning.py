"""ACC101, ACC102 and ACC109 on data sets, transforms and collate functions as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import PHOTOS
from .single import check_one

HEAD = (
    PHOTOS
    + """
import functools, random, threading, conf
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(8, 2).to(device)
"""
)
LOOP = """
for x, y in loader:
    model(x.to(device, non_blocking=True)).sum().backward()
"""
ONE = "\nfor x in loader:\n    model(x.to(device, non_blocking=True)).sum().backward()\n"


def data(sample: str, init: str = "pass", more: str = "", make: str = "Data()") -> str:
    return (
        f"class Data(Dataset):\n    def __init__(self, held=None):\n        {init}\n    def __len__(self): return 3\n"
        f"    def __getitem__(self, i):\n        {sample}\n{more}data = {make}\n"
    )


UNPINNABLE = {
    "a class of its own": """
class Batch:
    def __init__(self, items): self.x = torch.stack([one[0] for one in items])
    def to(self, device):
        self.x = self.x.to(device)
        return self
def collate(items): return Batch(items)
loader = DataLoader(photos, num_workers=2, collate_fn=collate)
for batch in loader:
    model(batch.to(device).x).sum().backward()
""",
    "that class itself": """
class Batch:
    def __init__(self, items): self.x = torch.stack([one[0] for one in items])
loader = DataLoader(photos, num_workers=2, collate_fn=Batch)
for batch in loader:
    model(batch.x.to(device)).sum().backward()
""",
    "sparse samples": data("return torch.load(str(i)).to_sparse()")
    + "loader = DataLoader(data, num_workers=2, collate_fn=torch.stack)"
    + ONE,
    "sparse by a factory": data("return torch.sparse_coo_tensor(*torch.load(str(i)), (3, 3))")
    + "loader = DataLoader(data, batch_size=None, num_workers=2)"
    + ONE,
    "moved by the collate function": (
        "def collate(items): return torch.stack([one[0] for one in items]).to(device), 1\n"
        "loader = DataLoader(photos, num_workers=2, collate_fn=collate)"
    )
    + LOOP,
    "moved there on a condition": (
        "def collate(items):\n    x = torch.stack([one[0] for one in items])\n    if conf.early:\n        x = x.cuda()\n"
        "    return x, 1\nloader = DataLoader(photos, num_workers=2, collate_fn=collate)"
    )
    + LOOP,
    "moved by a lambda": "loader = DataLoader(photos, num_workers=2, collate_fn=lambda b: torch.stack(b).cuda())" + ONE,
    "moved by a transform": (
        "from torchvision import datasets, transforms\n"
        "steps = transforms.Compose([transforms.ToTensor(), transforms.Lambda(lambda t: t.cuda())])\n"
        "loader = DataLoader(datasets.ImageFolder('r', steps), num_workers=2)"
    )
    + LOOP,
    "held on the device": data("return self.x[i], i", "self.x = held", make="Data(torch.zeros(9, 8, device='cuda'))")
    + "loader = DataLoader(data)"
    + LOOP,
    "a list on the device": "data = [(torch.zeros(8, device='cuda'), 1) for i in range(9)]\nloader = DataLoader(data)"
    + LOOP,
    "a loader that sets it": (
        "class Mine(DataLoader):\n    def __init__(self, *args, **kwargs):\n        kwargs.setdefault('pin_memory', True)\n"
        "        super().__init__(*args, **kwargs)\nloader = Mine(photos, num_workers=2)"
    )
    + LOOP,
    "Lightning builds it anew": """
import lightning as L
class Data(L.LightningDataModule):
    def train_dataloader(self): return DataLoader(photos, num_workers=2, persistent_workers=True)
L.Trainer(reload_dataloaders_every_n_epochs=1).fit(conf.model, Data())
""",
}


@pytest.mark.parametrize("source", UNPINNABLE.values(), ids=UNPINNABLE.keys())
def test_no_word_about_batches_that_cannot_be_pinned(source: str, tmp_path: Path) -> None:
    check_one("ACC101", HEAD + source, tmp_path)


def test_asks_no_method_of_a_class_for_an_argument_that_it_may_not_take(tmp_path: Path) -> None:
    check_one("ACC201", HEAD + UNPINNABLE["a class of its own"].replace("=2", "=2, pin_memory=True"), tmp_path)


NO_WORKERS = {
    "numbers": "loader = DataLoader(range(99))\nfor i in loader:\n    model(conf.x[i].to(device)).sum().backward()\n",
    "an array": "loader = DataLoader(np.arange(99))" + ONE,
    "the loop adds samples": data(
        "return torch.from_numpy(np.load(self.names[i])), i",
        "self.names = []",
        "    def add(self, name): self.names.append(name)\n",
    )
    + "loader = DataLoader(data, pin_memory=True)"
    + LOOP
    + "    data.add('a')\n",
    "it counts": data("self.seen += 1\n        return torch.from_numpy(np.load('a')), i", "self.seen = 0")
    + "loader = DataLoader(data, pin_memory=True)"
    + LOOP,
    "a cache by update": data(
        "x = self.kept.get(i)\n        if x is None:\n            x = torch.from_numpy(np.load('a'))\n"
        "            self.kept.update({i: x})\n        return x, i",
        "self.kept = {}",
    )
    + "loader = DataLoader(data, pin_memory=True)"
    + LOOP,
    "a cached method": data(
        "return self.read(i), i", more="    @functools.lru_cache\n    def read(self, i): return np.load(str(i))\n"
    )
    + "loader = DataLoader(data, pin_memory=True)"
    + LOOP,
    "a cached function": "@functools.lru_cache(maxsize=None)\ndef read(i): return np.load(str(i))\n"
    + data("return torch.from_numpy(read(i)), i")
    + "loader = DataLoader(data, pin_memory=True)"
    + LOOP,
    "a generator that was seeded at once": data(
        "return torch.from_numpy(np.load('a')) + torch.rand(1, generator=self.g), i",
        "self.g = torch.Generator().manual_seed(0)",
    )
    + "loader = DataLoader(data, pin_memory=True)"
    + LOOP,
    "processes that have no children": (
        "from multiprocessing import Pool\ndef work(seed):\n    loader = DataLoader(photos, pin_memory=True)\n"
        "    for x, y in loader:\n        model(x.to(device)).sum().backward()\nwith Pool(4) as pool: pool.map(work, range(4))\n"
    ),
    "a comment above": "# the cluster forbids workers\nloader = DataLoader(photos, pin_memory=True, num_workers=0)"
    + LOOP,
    "a constant with a comment": "WORKERS = 0  # Windows\nloader = DataLoader(photos, pin_memory=True, num_workers=WORKERS)"
    + LOOP,
    "the collate function needs the device": (
        "def collate(items): return torch.stack([one[0] for one in items]).to(device), 1\n"
        "loader = DataLoader(photos, collate_fn=collate)"
    )
    + LOOP,
}


@pytest.mark.parametrize("source", NO_WORKERS.values(), ids=NO_WORKERS.keys())
def test_no_word_about_workers_that_would_gain_nothing_or_break(source: str, tmp_path: Path) -> None:
    check_one("ACC102", HEAD + source, tmp_path)


ON_THE_HOST = {
    "the host that it was given": data("return torch.load(str(i)).to(self.d)", "self.d = held", make="Data('cpu')"),
    "in the main process only": data(
        "x = torch.load(str(i))\n        if torch.utils.data.get_worker_info() is None:\n            x = x.cuda()\n        return x"
    ),
}


@pytest.mark.parametrize("source", ON_THE_HOST.values(), ids=ON_THE_HOST.keys())
def test_no_word_about_samples_that_stay_on_the_host(source: str, tmp_path: Path) -> None:
    check_one("ACC109", HEAD + source + "loader = DataLoader(data, num_workers=2, pin_memory=True)" + ONE, tmp_path)


ON_THE_DEVICE = {
    "the device that it was given": data("return torch.load(str(i)).to(self.d)", "self.d = held", make="Data('cuda')"),
    "in a wrapper": data("return torch.load(str(i)).cuda()", make="torch.utils.data.Subset(Data(), [1])"),
    "in a transform that it keeps": "class ToGpu:\n    def __call__(self, x): return x.cuda()\n"
    + data("return self.transform(torch.load(str(i)))", "self.transform = held", make="Data(ToGpu())"),
    "in a library's transform": (
        "from torchvision import datasets, transforms\nclass ToGpu:\n    def __call__(self, x): return conf.tensor(x).cuda()\n"
        "data = datasets.ImageFolder('r', transforms.Compose([ToGpu()]))\n"
    ),
}


@pytest.mark.parametrize("source", ON_THE_DEVICE.values(), ids=ON_THE_DEVICE.keys())
def test_reports_samples_that_are_made_on_the_device(source: str, tmp_path: Path) -> None:
    check_one("ACC109", HEAD + source + "loader = DataLoader(data, num_workers=2)  # -> error none" + ONE, tmp_path)
