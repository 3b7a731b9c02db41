"""ACC103, ACC110 and ACC111, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import check
from .programs import IMPORTS

HEAD = (
    IMPORTS
    + """
import datasets, h5py, itertools, random, sqlite3, zipfile, conf
import numpy as np
"""
)


def rows(body: str, init: str = "self.rows = list(range(6))") -> str:
    return f"class Rows(IterableDataset):\n    def __init__(self):\n        {init}\n    def __iter__(self):\n        {body}\n"


SILENT_STREAMS = {
    "divided": rows("return iter(self.rows[torch.utils.data.get_worker_info().id :: 2])"),
    "divided in a helper": rows("yield from self.mine()") + "    def mine(self):\n"
    "        info = torch.utils.data.get_worker_info()\n        return self.rows[info.id :: info.num_workers]\n",
    "endless": rows("while True:\n            yield random.choice(self.rows)"),
    "drawn at random": rows("for _ in self.rows:\n            yield torch.randn(3)"),
    "divided by a function": "def mine(rows):\n    info = torch.utils.data.get_worker_info()\n    return rows[info.id :: 2]\n"
    + rows("yield from mine(self.rows)"),
    "a stream of datasets, which divides itself": rows(
        "yield from self.rows", "self.rows = datasets.load_dataset('c4')"
    ),
    "an unknown source": rows("yield from conf.stream()"),
    "divided by an attribute": rows("yield from self.rows[self.worker :: 2]", "self.worker, self.rows = conf.mine()"),
}


@pytest.mark.parametrize("source", SILENT_STREAMS.values(), ids=SILENT_STREAMS.keys())
def test_silent_about_streams_that_are_or_may_be_divided(source: str, tmp_path: Path) -> None:
    check(HEAD + source + "loader = DataLoader(Rows(), num_workers=2)\n", tmp_path)


@pytest.mark.parametrize(
    "arguments",
    ["num_workers=1", "", "num_workers=conf.n", "num_workers=2, worker_init_fn=conf.divide", "**conf.loader"],
)
def test_silent_where_one_process_reads_or_another_divides(arguments: str, tmp_path: Path) -> None:
    check(HEAD + rows("return iter(self.rows)") + f"loader = DataLoader(Rows(), {arguments})\n", tmp_path)


def test_silent_about_map_style_data(tmp_path: Path) -> None:
    source = "class Held(Dataset):\n    def __getitem__(self, i): return i\n    def __len__(self): return 8\n"
    check(HEAD + source + "loader = DataLoader(Held(), num_workers=2)\n", tmp_path)


LOUD_STREAMS = {
    "a list": rows("return iter(self.rows)"),
    "a generator": rows("for row in self.rows:\n            yield row"),
    "in another order": rows("for row in random.sample(list(self.rows), 6):\n            yield row").replace(
        "random.sample(list(self.rows), 6)", "self.mixed()"
    )
    + "    def mixed(self):\n        rows = list(self.rows)\n        random.shuffle(rows)\n        return rows\n",
    "a file": rows("with open('a') as f:\n            for line in f:\n                yield line"),
    "a helper": rows("yield from self.all()") + "    def all(self):\n        return (one for one in self.rows)\n",
    "mapped": rows("return map(self.parse, self.rows)") + "    def parse(self, row): return row\n",
    "counted": rows("for i, row in enumerate(zip(self.rows, range(9))):\n            yield row"),
}


@pytest.mark.parametrize("source", LOUD_STREAMS.values(), ids=LOUD_STREAMS.keys())
def test_reports_streams_that_every_worker_reads_whole(source: str, tmp_path: Path) -> None:
    found = check(
        HEAD + source + "loader = DataLoader(Rows(), num_workers=2)  # -> ACC103 error none\n",
        tmp_path,
    )
    assert "each of the 2 workers of `loader` reads the whole of `Rows`" in found[0].message


def held(init: str, sample: str, more: str = "") -> str:
    return (
        f"class Held(Dataset):\n    def __init__(self, p):\n        {init}\n    def __len__(self): return 8\n"
        f"    def __getitem__(self, i):\n        {sample}\n{more}"
    )


SILENT_HANDLES = {
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


@pytest.mark.parametrize("source", SILENT_HANDLES.values(), ids=SILENT_HANDLES.keys())
def test_silent_about_handles_that_workers_do_not_share(source: str, tmp_path: Path) -> None:
    check(HEAD + source + "loader = DataLoader(Held('a'), num_workers=2)\n", tmp_path)


@pytest.mark.parametrize(
    "arguments", ["", "num_workers=0", "num_workers=conf.n", "num_workers=2, worker_init_fn=conf.f"]
)
def test_silent_about_handles_without_workers(arguments: str, tmp_path: Path) -> None:
    source = held("self.f = h5py.File(p)", "return self.f['x'][i]")
    check(HEAD + source + f"loader = DataLoader(Held('a'), {arguments})\n", tmp_path)


@pytest.mark.parametrize("opening", ["open(p, 'rb')", "h5py.File(p)", "zipfile.ZipFile(p)", "sqlite3.connect(p)"])
def test_reports_handles_that_workers_share(opening: str, tmp_path: Path) -> None:
    source = held(f"self.f = {opening}", "return self.one(i)", "    def one(self, i): return self.f.read(i)\n")
    loud = "loader = DataLoader(Held('a'), num_workers=2)  # -> ACC110 error none\n"
    assert "share its position" in check(HEAD + source + loud, tmp_path)[0].message


def test_says_that_spawned_workers_cannot_be_started(tmp_path: Path) -> None:
    source = held("self.f = open(p)", "return self.f.read(i)")
    loud = "DataLoader(Held('a'), num_workers=2, multiprocessing_context='spawn')  # -> ACC110 error none\n"
    assert "cannot be pickled" in check(HEAD + source + loud, tmp_path)[0].message


TRAIN = """
model = nn.Linear(8, 2)
for x in loader:
    model(x).sum().backward()
"""
SILENT_GENERATORS = {
    "made in the worker": held(
        "self.rng = None",
        "if self.rng is None:\n            self.rng = np.random.default_rng()\n        return self.rng.random()",
    ),
    "for each index": held("self.seed = 1", "return np.random.default_rng((self.seed, i)).random()"),
    "seeded again": held("self.rng = random.Random(0)", "self.rng.seed(i)\n        return self.rng.random()"),
    "global": held("np.random.seed(0)", "return np.random.random()"),
    "not drawn from for samples": held(
        "self.rng = random.Random(0)\n        self.x = self.rng.sample(p, 2)", "return self.x[i]"
    ),
}


@pytest.mark.parametrize("source", SILENT_GENERATORS.values(), ids=SILENT_GENERATORS.keys())
def test_silent_about_generators_that_workers_have_for_themselves(source: str, tmp_path: Path) -> None:
    check(HEAD + source + "loader = DataLoader(Held('a'), num_workers=2)\n" + TRAIN, tmp_path)


NOISY = held("self.rng = np.random.default_rng(0)", "return self.rng.random()")


@pytest.mark.parametrize(
    ("arguments", "use"),
    [("num_workers=0", TRAIN), ("num_workers=2, worker_init_fn=conf.seed", TRAIN), ("num_workers=2", "")],
    ids=["no workers", "seeded by the loader", "no training"],
)
def test_silent_where_copies_do_no_harm(arguments: str, use: str, tmp_path: Path) -> None:
    check(HEAD + NOISY + f"loader = DataLoader(Held('a'), {arguments})\n" + use, tmp_path)


@pytest.mark.parametrize(
    "made", ["np.random.default_rng(0)", "np.random.RandomState(1)", "random.Random(2)", "torch.Generator()"]
)
def test_reports_generators_that_are_copied(made: str, tmp_path: Path) -> None:
    source = held(f"self.rng = {made}", "return self.rng.random()")
    loud = "loader = DataLoader(Held('a'), num_workers=2)  # -> ACC111 warning none\n"
    check(HEAD + source + loud + TRAIN, tmp_path)
