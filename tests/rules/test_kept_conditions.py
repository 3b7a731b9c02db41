"""Each condition under which ACC110 and ACC111 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import FILES

HEAD = FILES
LOADED = "loader = DataLoader(Held('a'), num_workers=2)\n"
TRAIN = "for x in loader:\n    model(x).sum().backward()\n"


def kept(init: str, sample: str, more: str = "") -> str:
    return (
        f"class Held(Dataset):\n    def __init__(self, p):\n        {init}\n    def __len__(self): return 8\n"
        f"    def __getitem__(self, i):\n        {sample}\n{more}"
    )


NOISY = kept("self.r = np.random.default_rng(0)", "return self.r.random()")

PAIRS = {
    "ACC110: closed by with": Pair(
        HEAD + kept("with h5py.File(p) as self.f:\n            self.n = len(self.f)", "return self.f[i]") + LOADED,
        "with h5py.File(p) as self.f:\n            self.n = len(self.f)",
        "self.f = h5py.File(p)",
    ),
    "ACC110: a number out of it": Pair(
        HEAD + kept("with h5py.File(p) as f:\n            self.f = len(f)", "return self.f") + LOADED,
        "with h5py.File(p) as f:\n            self.f = len(f)",
        "self.f = h5py.File(p)",
    ),
    "ACC110: opened when it is needed": Pair(
        HEAD
        + kept(
            "self.f = None", "if self.f is None:\n            self.f = h5py.File('p')\n        return self.f['x'][i]"
        )
        + LOADED,
        "self.f = None\n    def __len__(self): return 8\n    def __getitem__(self, i):\n        if self.f is None:\n            self.f = h5py.File('p')\n",
        "self.f = h5py.File('p')\n    def __len__(self): return 8\n    def __getitem__(self, i):\n",
    ),
    "ACC110: opened again": Pair(
        HEAD
        + kept(
            "self.f = h5py.File(p)", "return self.f['x'][i]", "    def reopen(self):\n        self.f = h5py.File('p')\n"
        )
        + LOADED,
        "self.f = h5py.File('p')",
        "print(1)",
    ),
    "ACC110: opened by worker_init_fn": Pair(
        HEAD
        + kept("self.f = h5py.File(p)", "return self.f['x'][i]")
        + "def init(w):\n    torch.utils.data.get_worker_info().dataset.f = h5py.File('a')\nloader = DataLoader(Held('a'), num_workers=2, worker_init_fn=init)\n",
        ", worker_init_fn=init",
    ),
    "ACC110: dropped when pickled": Pair(
        HEAD
        + kept("self.f = h5py.File(p)", "return self.f['x'][i]", "    def __getstate__(self): return {}\n")
        + LOADED,
        "__getstate__",
        "state",
    ),
    "ACC110: copied out": Pair(HEAD + kept("self.f = h5py.File(p)['x'][:]", "return self.f[i]") + LOADED, "['x'][:]"),
    "ACC110: an array of it": Pair(
        HEAD + kept("self.f = np.array(h5py.File(p)['x'])", "return self.f[i]") + LOADED,
        "np.array(h5py.File(p)['x'])",
        "h5py.File(p)",
    ),
    "ACC110: its text": Pair(HEAD + kept("self.f = open(p).read()", "return self.f[i]") + LOADED, ".read()"),
    "ACC110: a memory map": Pair(
        HEAD + kept("self.f = np.memmap(p)", "return self.f[i]") + LOADED, "np.memmap(p)", "open(p)"
    ),
    "ACC110: a memory map of an array": Pair(
        HEAD + kept("self.f = np.load(p, mmap_mode='r')", "return self.f[i]") + LOADED,
        "np.load(p, mmap_mode='r')",
        "open(p)",
    ),
    "ACC110: no workers": Pair(
        HEAD + kept("self.f = h5py.File(p)", "return self.f[i]") + "DataLoader(Held('a'), num_workers=0)", "=0", "=2"
    ),
    "ACC110: workers not given": Pair(
        HEAD + kept("self.f = h5py.File(p)", "return self.f[i]") + "DataLoader(Held('a'))",
        "'a')",
        "'a'), num_workers=2",
    ),
    "ACC110: a setting": Pair(
        HEAD + kept("self.f = h5py.File(p)", "return self.f[i]") + "DataLoader(Held('a'), num_workers=conf.n)",
        "conf.n",
        "2",
    ),
    "ACC110: not read for samples": Pair(
        HEAD + kept("self.f = h5py.File(p)", "return i") + LOADED, "return i", "return self.f[i]"
    ),
    "ACC110: closed in init": Pair(
        HEAD
        + kept("self.f = open(p)\n        self.x = self.f.read()\n        self.f.close()", "return self.f.read(i)")
        + LOADED,
        "\n        self.f.close()",
    ),
    "ACC110: for many readers": Pair(
        HEAD + "import lmdb\n" + kept("self.f = lmdb.open(p, readonly=True, lock=False)", "return self.f[i]") + LOADED,
        ", readonly=True, lock=False",
    ),
    "ACC110: a part without workers": Pair(
        HEAD + kept("self.f = h5py.File(p)", "return self.f[i]") + "DataLoader(Subset(Held('a'), [1]), num_workers=0)",
        "num_workers=0",
        "num_workers=2",
    ),
    "ACC110: among others": Pair(
        HEAD + kept("self.f, self.g = None, h5py.File(p)", "return self.f[i]") + LOADED,
        "self.f, self.g = None, h5py.File(p)",
        "self.f = h5py.File(p)",
    ),
    "ACC110: replaced from outside": Pair(
        HEAD
        + kept("self.f = h5py.File(p)", "return self.f[i]")
        + "d = Held('a')\nd.f = None\nloader = DataLoader(d, num_workers=2)\n",
        "d.f = None\n",
    ),
    "ACC111: seeded by worker_init_fn": Pair(
        HEAD
        + NOISY
        + "def init(w): torch.utils.data.get_worker_info().dataset.r = np.random.default_rng(w)\nloader = DataLoader(Held('a'), num_workers=2, worker_init_fn=init)\n"
        + TRAIN,
        ", worker_init_fn=init",
    ),
    "ACC111: made in the worker": Pair(
        HEAD
        + kept(
            "self.r = None",
            "if self.r is None:\n            self.r = np.random.default_rng(torch.utils.data.get_worker_info().seed)\n        return self.r.random()",
        )
        + LOADED
        + TRAIN,
        "self.r = None\n    def __len__(self): return 8\n    def __getitem__(self, i):\n        if self.r is None:\n            self.r = np.random.default_rng(torch.utils.data.get_worker_info().seed)\n",
        "self.r = np.random.default_rng(0)\n    def __len__(self): return 8\n    def __getitem__(self, i):\n",
    ),
    "ACC111: for each index": Pair(
        HEAD
        + kept("self.r = np.random.default_rng(0)", "r = np.random.default_rng((1, i))\n        return r.random()")
        + LOADED
        + TRAIN,
        "r = np.random.default_rng((1, i))",
        "r = self.r",
    ),
    "ACC111: seeded for each index": Pair(
        HEAD + kept("self.r = random.Random(0)", "self.r.seed(i)\n        return self.r.random()") + LOADED + TRAIN,
        "self.r.seed(i)",
        "pass",
    ),
    "ACC111: seeded for each index, of torch": Pair(
        HEAD
        + kept("self.r = torch.Generator()", "self.r.manual_seed(i)\n        return torch.rand(1, generator=self.r)")
        + LOADED
        + TRAIN,
        "self.r.manual_seed(i)",
        "pass",
    ),
    "ACC111: evaluation": Pair(
        HEAD + NOISY + LOADED + "for x in loader:\n    model(x)\n", "    model(x)", "    model(x).sum().backward()"
    ),
    "ACC111: numpy's own": Pair(
        HEAD + kept("self.r = np.random\n        np.random.seed(0)", "return self.r.random()") + LOADED + TRAIN,
        "self.r = np.random\n",
        "self.r = np.random.RandomState()\n",
    ),
    "ACC111: random's own": Pair(
        HEAD + kept("self.r = random", "return self.r.random()") + LOADED + TRAIN,
        "self.r = random\n",
        "self.r = random.Random(1)\n",
    ),
    "ACC111: torch's own": Pair(
        HEAD + kept("torch.manual_seed(0)", "return torch.rand(1)") + LOADED + TRAIN,
        "torch.manual_seed(0)\n    def __len__(self): return 8\n    def __getitem__(self, i):\n        return torch.rand(1)",
        "self.r = torch.Generator()\n    def __len__(self): return 8\n    def __getitem__(self, i):\n        return torch.rand(1, generator=self.r)",
    ),
    "ACC111: no workers": Pair(HEAD + NOISY + "loader = DataLoader(Held('a'), num_workers=0)\n" + TRAIN, "=0", "=1"),
    "ACC111: a setting": Pair(
        HEAD + NOISY + "loader = DataLoader(Held('a'), num_workers=conf.n)\n" + TRAIN, "conf.n", "1"
    ),
    "ACC111: dropped when pickled": Pair(
        HEAD + NOISY.rstrip() + "\n    def __getstate__(self): return {}\n" + LOADED + TRAIN, "__getstate__", "state"
    ),
    "ACC111: not drawn from for samples": Pair(
        HEAD
        + kept("self.r = random.Random(0)\n        self.x = self.r.sample(p, 2)", "return self.x[i]")
        + LOADED
        + TRAIN,
        "return self.x[i]",
        "return self.r.random()",
    ),
    "ACC111: replaced from outside": Pair(
        HEAD
        + NOISY
        + "d = Held('a')\nloader = DataLoader(d, num_workers=2)\nfor e in range(3):\n    d.r = np.random.default_rng(e)\n    for x in loader:\n        model(x).sum().backward()\n",
        "d.r = np.random.default_rng(e)",
        "pass",
    ),
    "ACC111: made anew in every epoch": Pair(
        HEAD + NOISY + "    def set_epoch(self, e): self.r = np.random.default_rng(e)\n" + LOADED + TRAIN,
        "self.r = np.random.default_rng(e)",
        "pass",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair(case[:6], PAIRS[case], tmp_path)
