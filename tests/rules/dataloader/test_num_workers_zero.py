"""ACC102 dataloader-num-workers-zero, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair, findings_of
from ..programs import IMPORTS, LOOP, MODEL, PHOTOS, PHOTOS_AND_MODEL, data_set

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
for stage in range(3):
    data.stage = stage
""",
}


@pytest.mark.parametrize("dataset", VETOED.values(), ids=VETOED.keys())
def test_silent_where_workers_would_break_or_gain_nothing(dataset: str, tmp_path: Path) -> None:
    check(HEAD + dataset + "loader = DataLoader(data, pin_memory=True)" + LOOP, tmp_path)


SILENT = {
    "given": "loader = DataLoader(photos, pin_memory=True, num_workers=2)",
    "from an option": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--workers', default=2, type=int)\n"
        "args = p.parse_args()\nloader = DataLoader(photos, pin_memory=True, num_workers=args.workers)"
    ),
    "from the environment": (
        "import os\nloader = DataLoader(photos, pin_memory=True, num_workers=int(os.environ.get('W', 2)))"
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


STEPS = """
for x, y in loader:
    model(x.to(device, non_blocking=True)).sum().backward()
"""
ONE = "\nfor x in loader:\n    model(x.to(device, non_blocking=True)).sum().backward()\n"
NO_WORKERS = {
    "numbers": "loader = DataLoader(range(99))\nfor i in loader:\n    model(conf.x[i].to(device)).sum().backward()\n",
    "an array": "loader = DataLoader(np.arange(99))" + ONE,
    "the loop adds samples": data_set(
        "return torch.from_numpy(np.load(self.names[i])), i",
        "self.names = []",
        "    def add(self, name): self.names.append(name)\n",
    )
    + "loader = DataLoader(data, pin_memory=True)"
    + STEPS
    + "    data.add('a')\n",
    "it counts": data_set("self.seen += 1\n        return torch.from_numpy(np.load('a')), i", "self.seen = 0")
    + "loader = DataLoader(data, pin_memory=True)"
    + STEPS,
    "a cache by update": data_set(
        "x = self.kept.get(i)\n        if x is None:\n            x = torch.from_numpy(np.load('a'))\n"
        "            self.kept.update({i: x})\n        return x, i",
        "self.kept = {}",
    )
    + "loader = DataLoader(data, pin_memory=True)"
    + STEPS,
    "a cached method": data_set(
        "return self.read(i), i", more="    @functools.lru_cache\n    def read(self, i): return np.load(str(i))\n"
    )
    + "loader = DataLoader(data, pin_memory=True)"
    + STEPS,
    "a cached function": "@functools.lru_cache(maxsize=None)\ndef read(i): return np.load(str(i))\n"
    + data_set("return torch.from_numpy(read(i)), i")
    + "loader = DataLoader(data, pin_memory=True)"
    + STEPS,
    "a generator that was seeded at once": data_set(
        "return torch.from_numpy(np.load('a')) + torch.rand(1, generator=self.g), i",
        "self.g = torch.Generator().manual_seed(0)",
    )
    + "loader = DataLoader(data, pin_memory=True)"
    + STEPS,
    "processes that have no children": (
        "from multiprocessing import Pool\ndef work(seed):\n    loader = DataLoader(photos, pin_memory=True)\n"
        "    for x, y in loader:\n        model(x.to(device)).sum().backward()\nwith Pool(4) as pool: pool.map(work, range(4))\n"
    ),
    "a comment above": "# the cluster forbids workers\nloader = DataLoader(photos, pin_memory=True, num_workers=0)"
    + STEPS,
    "a constant with a comment": "WORKERS = 0  # Windows\nloader = DataLoader(photos, pin_memory=True, num_workers=WORKERS)"
    + STEPS,
    "the collate function needs the device": (
        "def collate(items): return torch.stack([one[0] for one in items]).to(device), 1\n"
        "loader = DataLoader(photos, collate_fn=collate)"
    )
    + STEPS,
}

LOADER = "loader = DataLoader(\n    photos,\n    # above\n    num_workers=0,  # 4\n    pin_memory=True,\n)"
COMMENTS = {
    "one above that speaks of debugging": ("# above", "# 0 to debug in the main process", "# photos of the test set"),
    "one above that is no code": ("# above", "# more processes do not fit", "# num_workers=args.workers,"),
    "prose on the line": ("# 4", "# my machine cannot do more", "# num_workers=8, shuffle=True"),
    "a word on the line": ("# 4", "# Windows", "# noqa"),
    "a thought on the line": ("# 4", "# see the log of run 12", "# 8"),
}


@pytest.mark.parametrize(("at", "said", "instead"), COMMENTS.values(), ids=COMMENTS.keys())
def test_silent_where_a_comment_explains_the_zero(at: str, said: str, instead: str, tmp_path: Path) -> None:
    source = PHOTOS_AND_MODEL + LOADER.replace(at, said) + STEPS
    check_pair("ACC102", Pair(source, said, instead), tmp_path)


def test_an_old_call_above_explains_nothing(tmp_path: Path) -> None:
    old = "# loader = DataLoader(photos, num_workers=4)"
    loader = "loader = DataLoader(photos, pin_memory=True, num_workers=0)"
    pair = Pair(PHOTOS_AND_MODEL + f"# it hangs with workers\n{loader}" + STEPS, "# it hangs with workers", old)
    check_pair("ACC102", pair, tmp_path)


@pytest.mark.parametrize("source", NO_WORKERS.values(), ids=NO_WORKERS.keys())
def test_silent_on_whole_data_sets_where_workers_would_break_or_gain_nothing(source: str, tmp_path: Path) -> None:
    check_one("ACC102", PHOTOS_AND_MODEL + source, tmp_path)


PAIR_HEAD = PHOTOS + MODEL + "import conf, functools\n"
IN = "\nloader = DataLoader(data, pin_memory=True)" + LOOP
ON_HOST = PHOTOS + MODEL.replace(".cuda()", "")
HOST_LOOP = "loader = DataLoader(photos)" + LOOP.replace(".cuda(non_blocking=True)", "")
WORK = """
def work(seed):
    loader = DataLoader(photos, pin_memory=True)
    for x, y in loader:
        step(x.cuda(), y.cuda())
"""
PAIR_HANDLES = [
    "h5py.File(held)",
    "sqlite3.connect(held)",
    "lmdb.open(held)",
    "zipfile.ZipFile(held)",
    "tarfile.open(held)",
    "open(held)",
]
PAIRS = {
    "a loop that only moves what it is given": Pair(
        PAIR_HEAD
        + "import lib\nloader = DataLoader(photos, pin_memory=True)\n"
        + "for x, y in loader:\n    lib.to_device(x.cuda())\n",
        "lib.to_device",
        "lib.classify",
    ),
    "tensors": Pair(
        PAIR_HEAD + "data = TensorDataset(torch.zeros(9), torch.zeros(9))" + IN,
        "TensorDataset(torch.zeros(9), torch.zeros(9))",
        "photos",
    ),
    "tensors that it holds": Pair(
        PAIR_HEAD + data_set("return self.x[i], self.x[i]", "self.x = held", make="Data(torch.zeros(9))") + IN,
        "self.x[i], self.x[i]",
        "torch.load(self.x[i]), i",
    ),
    "arrays that it holds": Pair(
        PAIR_HEAD + data_set("return torch.from_numpy(self.x[i]), i", "self.x = np.load('a')") + IN,
        "torch.from_numpy(self.x[i])",
        "torch.from_numpy(np.load(self.x[i]))",
    ),
    "a stream that nobody divides": Pair(
        PAIR_HEAD
        + "class Rows(IterableDataset):\n    def __iter__(self):\n        info = None\n        for name in ['a', 'b'][info:]:\n            yield torch.from_numpy(np.load(name)), 1\ndata = Rows()"
        + IN,
        "info = None",
        "info = torch.utils.data.get_worker_info()",
    ),
    "samples on the device": Pair(
        PAIR_HEAD + data_set("return torch.load(str(i)).cuda(), i") + IN, ".cuda(), i", ", i"
    ),
    "a transform on the device": Pair(
        PAIR_HEAD
        + "from torchvision import datasets, transforms\ndata = datasets.ImageFolder('r', transforms.Compose([transforms.Lambda(lambda t: t.cuda())]))"
        + IN,
        "t.cuda()",
        "t",
    ),
    "a collate function on the device": Pair(
        PAIR_HEAD
        + "def collate(items): return torch.stack([one[0] for one in items]).cuda(), 1\nloader = DataLoader(photos, pin_memory=True, collate_fn=collate)"
        + LOOP,
        "items]).cuda()",
        "items])",
    ),
    "a local class, spawned": Pair(
        PAIR_HEAD
        + "import torch.multiprocessing as mp\nmp.set_start_method('spawn')\ndef main():\n    class Mine(Photos): pass\n    loader = DataLoader(Mine(['a']), pin_memory=True)\n    for x, y in loader:\n        step(x.cuda(), y.cuda())\nif __name__ == '__main__':\n    main()\n",
        "mp.set_start_method('spawn')\n",
        "mp.set_start_method('fork')\n",
    ),
    "a lambda, spawned": Pair(
        PAIR_HEAD
        + "import torch.multiprocessing as mp\nmp.set_start_method('spawn')\ndef main():\n    loader = DataLoader(photos, pin_memory=True, collate_fn=lambda b: b[0])\n    for x, y in loader:\n        step(x.cuda(), y.cuda())\nif __name__ == '__main__':\n    main()\n",
        "lambda b: b[0]",
        "None",
    ),
    "no main guard, spawned": Pair(
        PAIR_HEAD
        + "import torch.multiprocessing as mp\nmp.set_start_method('spawn')\nloader = DataLoader(photos, pin_memory=True)\nif conf.x:\n    for x, y in loader:\n        step(x.cuda(), y.cuda())\n",
        "if conf.x",
        "if __name__ == '__main__'",
    ),
    "a dict of samples": Pair(
        PAIR_HEAD
        + data_set(
            "if i not in self.cache:\n            self.cache[i] = np.load('x')\n        return self.cache[i], 1",
            "self.cache = {}",
        )
        + IN,
        "self.cache[i] = np",
        "cache = np",
    ),
    "lru_cache": Pair(
        PAIR_HEAD
        + "import functools\n"
        + data_set(
            "return self.read(i), i", more="    @functools.lru_cache\n    def read(self, i): return np.load(str(i))\n"
        )
        + IN,
        "    @functools.lru_cache\n",
    ),
    "functools.cache": Pair(
        PAIR_HEAD
        + "import functools\n"
        + data_set(
            "return self.read(i), i", more="    @functools.cache\n    def read(self, i): return np.load(str(i))\n"
        )
        + IN,
        "    @functools.cache\n",
    ),
    "a dict that is updated": Pair(
        PAIR_HEAD
        + data_set(
            "x = self.kept.get(i)\n        if x is None:\n            x = np.load('a')\n            self.kept.update({i: x})\n        return x, i",
            "self.kept = {}",
        )
        + IN,
        "self.kept.update({i: x})",
        "pass",
    ),
    "the loop sets an attribute": Pair(
        PAIR_HEAD + data_set("return np.load(str(self.stage)), 1", "self.stage = 0") + IN + "    data.stage = 1\n",
        "data.stage = 1",
        "print(data.stage)",
    ),
    "it counts": Pair(
        PAIR_HEAD + data_set("self.seen += 1\n        return np.load('a'), i", "self.seen = 0") + IN,
        "self.seen += 1",
        "print(self.seen)",
    ),
    "the loop asks for an attribute": Pair(
        PAIR_HEAD
        + data_set("self.last = str(i)\n        return np.load(self.last), i", "self.last = ''")
        + IN
        + "    print(data.last)\n",
        "print(data.last)",
        "pass",
    ),
    "what may be the data set is asked for an attribute": Pair(
        PAIR_HEAD
        + data_set("self.last = str(i)\n        return np.load(self.last), i", "self.last = ''")
        + IN
        + "    print(conf.unwrapped(data).last)\n",
        "print(conf.unwrapped(data).last)",
        "print('data.last', x.last)  # data.last",
    ),
    "a list that it fills": Pair(
        PAIR_HEAD
        + data_set("self.names.append(str(i))\n        return np.load(str(i)), i", "self.names = []")
        + IN
        + "    print(data.names)\n",
        "self.names.append(str(i))",
        "pass",
    ),
    "the loop adds samples": Pair(
        PAIR_HEAD
        + data_set(
            "return np.load(self.names[i]), i", "self.names = []", "    def add(self, name): self.names.append(name)\n"
        )
        + IN
        + "    data.add('a')\n",
        "data.add('a')",
        "pass",
    ),
    "samples that become harder": Pair(
        PAIR_HEAD
        + data_set("return np.load(str(self.level)), i", "self.level = 0", "    def harder(self): self.level += 1\n")
        + "for epoch in range(3):"
        + IN.replace("\n", "\n    ")
        + "\n    data.harder()\n",
        "data.harder()",
        "pass",
    ),
    "a generator of its own": Pair(
        PAIR_HEAD + data_set("return np.load('a') + self.r.random(), i", "self.r = np.random.default_rng(0)") + IN,
        "np.random.default_rng(0)",
        "np.random",
    ),
    "a pool": Pair(
        PAIR_HEAD + WORK + "from multiprocessing import Pool\nwith Pool(4) as pool: pool.map(work, range(4))\n",
        "with Pool(4) as pool: pool.map(work, range(4))",
        "work(0)",
    ),
    "a pool of a context": Pair(
        PAIR_HEAD
        + WORK
        + "import multiprocessing as mp\nctx = mp.get_context('fork')\nwith ctx.Pool(4) as pool: pool.map(work, range(4))\n",
        "with ctx.Pool(4) as pool: pool.map(work, range(4))",
        "work(0)",
    ),
    "joblib": Pair(
        PAIR_HEAD + WORK + "import joblib\njoblib.Parallel(4)(joblib.delayed(work)(i) for i in range(4))\n",
        "joblib.Parallel(4)(joblib.delayed(work)(i) for i in range(4))",
        "work(0)",
    ),
    "joblib's processes, and not its threads": Pair(
        PAIR_HEAD + WORK + "import joblib\njoblib.Parallel(4, backend='loky')(joblib.delayed(work)(i) for i in [1])\n",
        "'loky'",
        "'threading'",
    ),
    "joblib, unless threads are preferred": Pair(
        PAIR_HEAD + WORK + "import joblib\njoblib.Parallel(4)(joblib.delayed(work)(i) for i in [1])\n",
        "Parallel(4)",
        "Parallel(4, prefer='threads')",
    ),
    "a daemon": Pair(
        PAIR_HEAD + WORK + "import multiprocessing as mp\nmp.Process(target=work, args=(1,), daemon=True).start()\n",
        ", daemon=True",
    ),
    "daemons of torch": Pair(
        PAIR_HEAD + WORK + "import torch.multiprocessing as mp\nmp.spawn(work, nprocs=2, daemon=True)\n",
        ", daemon=True",
    ),
    "a look at one batch": Pair(
        PAIR_HEAD
        + "loader = DataLoader(photos, pin_memory=True)\nx, y = next(iter(loader))\nstep(x.cuda(), y.cuda())\n",
        "x, y = next(iter(loader))\n",
        "for x, y in loader: ",
    ),
    "nothing on a GPU": Pair(ON_HOST + HOST_LOOP, "optimizer = ", "model.cuda()\noptimizer = "),
    "seeds and caches of CUDA": Pair(
        ON_HOST + "torch.cuda.manual_seed_all(0)\ntorch.cuda.empty_cache()\n" + HOST_LOOP,
        "torch.cuda.empty_cache()",
        "torch.cuda.set_device(0)",
    ),
    "a map_location and a comment": Pair(
        ON_HOST + "# needs cuda\ntorch.load('a', map_location='cpu')\n" + HOST_LOOP,
        "torch.load('a', map_location='cpu')",
        "model.cuda()",
    ),
    "no loop": Pair(
        PAIR_HEAD + "loader = DataLoader(photos, pin_memory=True)\nprint(len(loader))\n",
        "print(len(loader))",
        "for x, y in loader: step(x.cuda(), y.cuda())",
    ),
    "nothing is computed": Pair(
        PAIR_HEAD + "loader = DataLoader(photos, pin_memory=True)\nfor x, y in loader:\n    print(x)\n",
        "print(x)",
        "step(x.cuda(), y.cuda())",
    ),
    "unknown keywords": Pair(
        PAIR_HEAD + "loader = DataLoader(photos, pin_memory=True, **conf.kw)" + LOOP, ", **conf.kw"
    ),
    "a setting": Pair(
        PAIR_HEAD + "loader = DataLoader(photos, pin_memory=True, num_workers=conf.n)" + LOOP, ", num_workers=conf.n"
    ),
    "a default of one worker": Pair(
        PAIR_HEAD
        + "from timm.data import create_loader\nloader = create_loader(photos, 3, 4)\nfor x, y in loader:\n    step(x, y)\n",
        "create_loader(photos, 3, 4)",
        "DataLoader(photos)",
    ),
    "the position of monai": Pair(
        PAIR_HEAD + "from monai.data import DataLoader as M\nloader = M(photos, 2)" + LOOP,
        "M(photos, 2)",
        "DataLoader(photos, 2)",
    ),
    "the position of torch": Pair(
        PAIR_HEAD + "loader = DataLoader(photos, 1, False, None, None, 2)" + LOOP, ", None, None, 2)", ", None)"
    ),
    "unknown data": Pair(PAIR_HEAD + "loader = DataLoader(conf.data)" + LOOP, "conf.data", "photos"),
    **{
        one: Pair(
            PAIR_HEAD
            + "import h5py, sqlite3, lmdb, zipfile, tarfile\n"
            + data_set("return torch.load(self.h[i]), i", f"self.h = {one}", make="Data('a')")
            + IN,
            one,
            "held",
        )
        for one in PAIR_HANDLES
    },
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC102", PAIRS[case], tmp_path)


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


@pytest.mark.parametrize(("made", "mark"), [("map(read, (i, i))", "warning unsafe"), ("map(float, (i, i))", "")])
def test_sees_the_cost_of_what_map_is_given(made: str, mark: str, tmp_path: Path) -> None:
    source = f"""
from reading import read
class Files(Dataset):
    def __len__(self): return 2
    def __getitem__(self, i):
        a, b = {made}
        return torch.as_tensor(a), torch.as_tensor(b)
loader = DataLoader(Files(), pin_memory=True){f"  # -> ACC102 {mark}" if mark else ""}
"""
    check(HEAD + source + LOOP, tmp_path, {"reading.py": "import cv2\ndef read(i):\n    return cv2.imread(str(i))\n"})


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


LOOKED_UP = """
import sys, torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms
loader = DataLoader(datasets.__dict__[sys.argv[1]]("d", transform=transforms.ToTensor()), batch_size=64)
model = nn.Linear(8, 2).cuda()
for x, y in loader:
    model(x.cuda()).sum().backward()
"""


@pytest.mark.parametrize("spelled", ["datasets.__dict__[sys.argv[1]]", "getattr(datasets, sys.argv[1])"])
def test_data_sets_of_torchvision_that_are_looked_up_by_name(spelled: str, tmp_path: Path) -> None:
    source = LOOKED_UP.replace("datasets.__dict__[sys.argv[1]]", spelled)
    (found,) = findings_of("ACC102", source, tmp_path)
    assert "whichever of `torchvision.datasets` it is" in found.message
    assert findings_of("ACC102", source.replace(spelled, spelled.replace("datasets", "models")), tmp_path) == []
    assert findings_of("ACC102", source.replace(", transform=transforms.ToTensor()", ""), tmp_path) == []
