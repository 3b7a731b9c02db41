"""ACC110 dataset-handle-opened-before-workers, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_pair
from ..programs import FILES
from .programs import HANDLES, held

SILENT = {
    "closed at once": held("with h5py.File(p) as f:\n            self.n = len(f)", "return self.n"),
    "opened when it is needed": held(
        "self.f = None", "if self.f is None:\n            self.f = h5py.File('p')\n        return self.f['x'][i]"
    ),
    "opened again": held(
        "self.f = h5py.File(p)", "return self.f['x'][i]", "    def reopen(self):\n        self.f = h5py.File('p')\n"
    ),
    "dropped when pickled": held(
        "self.f = h5py.File(p)", "return self.f['x'][i]", "    def __getstate__(self): return {}\n"
    ),
    "copied out": held("self.x = h5py.File(p)['x'][:]", "return self.x[i]"),
    "closed in init": held(
        "self.f = open(p)\n        self.x = self.f.read()\n        self.f.close()", "return self.x[i]"
    ),
    "not read for samples": held("self.f = open(p)", "return i"),
    "a database for many readers": (
        "import lmdb\n" + held("self.f = lmdb.open(p, readonly=True, lock=False)", "return self.f.begin().get(str(i))")
    ),
    "opened by a property": held(
        "self.p, self.h = p, None",
        "return self.f['x'][i]",
        "    @property\n    def f(self):\n        if self.h is None:\n            self.h = h5py.File(self.p)\n        return self.h\n",
    ),
    "memory map": held("self.x = np.load(p, mmap_mode='r')", "return self.x[i]"),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_about_handles_that_workers_do_not_share(source: str, tmp_path: Path) -> None:
    check(HANDLES + source + "loader = DataLoader(Held('a'), num_workers=2)\n", tmp_path)


@pytest.mark.parametrize(
    "arguments", ["", "num_workers=0", "num_workers=conf.n", "num_workers=2, worker_init_fn=conf.f"]
)
def test_silent_about_handles_without_workers(arguments: str, tmp_path: Path) -> None:
    source = held("self.f = h5py.File(p)", "return self.f['x'][i]")
    check(HANDLES + source + f"loader = DataLoader(Held('a'), {arguments})\n", tmp_path)


LOADED = "loader = DataLoader(Held('a'), num_workers=2)\n"
PAIRS = {
    "closed by with": Pair(
        FILES + held("with h5py.File(p) as self.f:\n            self.n = len(self.f)", "return self.f[i]") + LOADED,
        "with h5py.File(p) as self.f:\n            self.n = len(self.f)",
        "self.f = h5py.File(p)",
    ),
    "a number out of it": Pair(
        FILES + held("with h5py.File(p) as f:\n            self.f = len(f)", "return self.f") + LOADED,
        "with h5py.File(p) as f:\n            self.f = len(f)",
        "self.f = h5py.File(p)",
    ),
    "opened when it is needed": Pair(
        FILES
        + held(
            "self.f = None", "if self.f is None:\n            self.f = h5py.File('p')\n        return self.f['x'][i]"
        )
        + LOADED,
        "self.f = None\n    def __len__(self): return 8\n    def __getitem__(self, i):\n        if self.f is None:\n            self.f = h5py.File('p')\n",
        "self.f = h5py.File('p')\n    def __len__(self): return 8\n    def __getitem__(self, i):\n",
    ),
    "opened again": Pair(
        FILES
        + held(
            "self.f = h5py.File(p)", "return self.f['x'][i]", "    def reopen(self):\n        self.f = h5py.File('p')\n"
        )
        + LOADED,
        "self.f = h5py.File('p')",
        "print(1)",
    ),
    "opened by worker_init_fn": Pair(
        FILES
        + held("self.f = h5py.File(p)", "return self.f['x'][i]")
        + "def init(w):\n    torch.utils.data.get_worker_info().dataset.f = h5py.File('a')\nloader = DataLoader(Held('a'), num_workers=2, worker_init_fn=init)\n",
        ", worker_init_fn=init",
    ),
    "dropped when pickled": Pair(
        FILES
        + held("self.f = h5py.File(p)", "return self.f['x'][i]", "    def __getstate__(self): return {}\n")
        + LOADED,
        "__getstate__",
        "state",
    ),
    "copied out": Pair(FILES + held("self.f = h5py.File(p)['x'][:]", "return self.f[i]") + LOADED, "['x'][:]"),
    "an array of it": Pair(
        FILES + held("self.f = np.array(h5py.File(p)['x'])", "return self.f[i]") + LOADED,
        "np.array(h5py.File(p)['x'])",
        "h5py.File(p)",
    ),
    "its text": Pair(FILES + held("self.f = open(p).read()", "return self.f[i]") + LOADED, ".read()"),
    "a memory map": Pair(FILES + held("self.f = np.memmap(p)", "return self.f[i]") + LOADED, "np.memmap(p)", "open(p)"),
    "a memory map of an array": Pair(
        FILES + held("self.f = np.load(p, mmap_mode='r')", "return self.f[i]") + LOADED,
        "np.load(p, mmap_mode='r')",
        "open(p)",
    ),
    "no workers": Pair(
        FILES + held("self.f = h5py.File(p)", "return self.f[i]") + "DataLoader(Held('a'), num_workers=0)", "=0", "=2"
    ),
    "workers not given": Pair(
        FILES + held("self.f = h5py.File(p)", "return self.f[i]") + "DataLoader(Held('a'))",
        "'a')",
        "'a'), num_workers=2",
    ),
    "a setting": Pair(
        FILES + held("self.f = h5py.File(p)", "return self.f[i]") + "DataLoader(Held('a'), num_workers=conf.n)",
        "conf.n",
        "2",
    ),
    "not read for samples": Pair(
        FILES + held("self.f = h5py.File(p)", "return i") + LOADED, "return i", "return self.f[i]"
    ),
    "closed in init": Pair(
        FILES
        + held("self.f = open(p)\n        self.x = self.f.read()\n        self.f.close()", "return self.f.read(i)")
        + LOADED,
        "\n        self.f.close()",
    ),
    "for many readers": Pair(
        FILES + "import lmdb\n" + held("self.f = lmdb.open(p, readonly=True, lock=False)", "return self.f[i]") + LOADED,
        ", readonly=True, lock=False",
    ),
    "a part without workers": Pair(
        FILES + held("self.f = h5py.File(p)", "return self.f[i]") + "DataLoader(Subset(Held('a'), [1]), num_workers=0)",
        "num_workers=0",
        "num_workers=2",
    ),
    "among others": Pair(
        FILES + held("self.f, self.g = None, h5py.File(p)", "return self.f[i]") + LOADED,
        "self.f, self.g = None, h5py.File(p)",
        "self.f = h5py.File(p)",
    ),
    "replaced from outside": Pair(
        FILES
        + held("self.f = h5py.File(p)", "return self.f[i]")
        + "d = Held('a')\nd.f = None\nloader = DataLoader(d, num_workers=2)\n",
        "d.f = None\n",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC110", PAIRS[case], tmp_path)


@pytest.mark.parametrize("opening", ["open(p, 'rb')", "h5py.File(p)", "zipfile.ZipFile(p)", "sqlite3.connect(p)"])
def test_reports_handles_that_workers_share(opening: str, tmp_path: Path) -> None:
    source = held(f"self.f = {opening}", "return self.one(i)", "    def one(self, i): return self.f.read(i)\n")
    loud = "loader = DataLoader(Held('a'), num_workers=2)  # -> ACC110 error none\n"
    assert "share its position" in check(HANDLES + source + loud, tmp_path)[0].message


def test_says_that_spawned_workers_cannot_be_started(tmp_path: Path) -> None:
    source = held("self.f = open(p)", "return self.f.read(i)")
    loud = "DataLoader(Held('a'), num_workers=2, multiprocessing_context='spawn')  # -> ACC110 error none\n"
    assert "cannot be pickled" in check(HANDLES + source + loud, tmp_path)[0].message
