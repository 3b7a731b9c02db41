"""Each condition under which ACC102 is silent, and that it speaks without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import LOOP, MODEL, PHOTOS

HEAD = PHOTOS + MODEL + "import conf, functools\n"
IN = "\nloader = DataLoader(data, pin_memory=True)" + LOOP
ON_HOST = PHOTOS + MODEL.replace(".cuda()", "")
HOST_LOOP = "loader = DataLoader(photos)" + LOOP.replace(".cuda(non_blocking=True)", "")
WORK = """
def work(seed):
    loader = DataLoader(photos, pin_memory=True)
    for x, y in loader:
        step(x.cuda(), y.cuda())
"""
SPAWN = "import torch.multiprocessing as mp\nmp.set_start_method('spawn')\n"
HANDLES = [
    "h5py.File(held)",
    "sqlite3.connect(held)",
    "lmdb.open(held)",
    "zipfile.ZipFile(held)",
    "tarfile.open(held)",
    "open(held)",
]


def data(sample: str, init: str = "pass", more: str = "", make: str = "Data()") -> str:
    return (
        f"class Data(Dataset):\n    def __init__(self, held=None):\n        {init}\n    def __len__(self): return 3\n"
        f"    def __getitem__(self, i):\n        {sample}\n{more}data = {make}\n"
    )


PAIRS = {
    "ACC102: tensors": Pair(
        HEAD + "data = TensorDataset(torch.zeros(9), torch.zeros(9))" + IN,
        "TensorDataset(torch.zeros(9), torch.zeros(9))",
        "photos",
    ),
    "ACC102: tensors that it holds": Pair(
        HEAD + data("return self.x[i], self.x[i]", "self.x = held", make="Data(torch.zeros(9))") + IN,
        "self.x[i], self.x[i]",
        "torch.load(self.x[i]), i",
    ),
    "ACC102: arrays that it holds": Pair(
        HEAD + data("return torch.from_numpy(self.x[i]), i", "self.x = np.load('a')") + IN,
        "torch.from_numpy(self.x[i])",
        "torch.from_numpy(np.load(self.x[i]))",
    ),
    "ACC102: a stream that nobody divides": Pair(
        HEAD
        + "class Rows(IterableDataset):\n    def __iter__(self):\n        info = None\n        for name in ['a', 'b'][info:]:\n            yield torch.from_numpy(np.load(name)), 1\ndata = Rows()"
        + IN,
        "info = None",
        "info = torch.utils.data.get_worker_info()",
    ),
    "ACC102: samples on the device": Pair(HEAD + data("return torch.load(str(i)).cuda(), i") + IN, ".cuda(), i", ", i"),
    "ACC102: a transform on the device": Pair(
        HEAD
        + "from torchvision import datasets, transforms\ndata = datasets.ImageFolder('r', transforms.Compose([transforms.Lambda(lambda t: t.cuda())]))"
        + IN,
        "t.cuda()",
        "t",
    ),
    "ACC102: a collate function on the device": Pair(
        HEAD
        + "def collate(items): return torch.stack([one[0] for one in items]).cuda(), 1\nloader = DataLoader(photos, pin_memory=True, collate_fn=collate)"
        + LOOP,
        "items]).cuda()",
        "items])",
    ),
    "ACC102: a local class, spawned": Pair(
        HEAD
        + "import torch.multiprocessing as mp\nmp.set_start_method('spawn')\ndef main():\n    class Mine(Photos): pass\n    loader = DataLoader(Mine(['a']), pin_memory=True)\n    for x, y in loader:\n        step(x.cuda(), y.cuda())\nif __name__ == '__main__':\n    main()\n",
        "mp.set_start_method('spawn')\n",
        "mp.set_start_method('fork')\n",
    ),
    "ACC102: a lambda, spawned": Pair(
        HEAD
        + "import torch.multiprocessing as mp\nmp.set_start_method('spawn')\ndef main():\n    loader = DataLoader(photos, pin_memory=True, collate_fn=lambda b: b[0])\n    for x, y in loader:\n        step(x.cuda(), y.cuda())\nif __name__ == '__main__':\n    main()\n",
        "lambda b: b[0]",
        "None",
    ),
    "ACC102: no main guard, spawned": Pair(
        HEAD
        + "import torch.multiprocessing as mp\nmp.set_start_method('spawn')\nloader = DataLoader(photos, pin_memory=True)\nif conf.x:\n    for x, y in loader:\n        step(x.cuda(), y.cuda())\n",
        "if conf.x",
        "if __name__ == '__main__'",
    ),
    "ACC102: a dict of samples": Pair(
        HEAD
        + data(
            "if i not in self.cache:\n            self.cache[i] = np.load('x')\n        return self.cache[i], 1",
            "self.cache = {}",
        )
        + IN,
        "self.cache[i] = np",
        "cache = np",
    ),
    "ACC102: lru_cache": Pair(
        HEAD
        + "import functools\n"
        + data(
            "return self.read(i), i", more="    @functools.lru_cache\n    def read(self, i): return np.load(str(i))\n"
        )
        + IN,
        "    @functools.lru_cache\n",
    ),
    "ACC102: functools.cache": Pair(
        HEAD
        + "import functools\n"
        + data("return self.read(i), i", more="    @functools.cache\n    def read(self, i): return np.load(str(i))\n")
        + IN,
        "    @functools.cache\n",
    ),
    "ACC102: a dict that is updated": Pair(
        HEAD
        + data(
            "x = self.kept.get(i)\n        if x is None:\n            x = np.load('a')\n            self.kept.update({i: x})\n        return x, i",
            "self.kept = {}",
        )
        + IN,
        "self.kept.update({i: x})",
        "pass",
    ),
    "ACC102: the loop sets an attribute": Pair(
        HEAD + data("return np.load(str(self.stage)), 1", "self.stage = 0") + IN + "    data.stage = 1\n",
        "data.stage = 1",
        "print(data.stage)",
    ),
    "ACC102: it counts": Pair(
        HEAD + data("self.seen += 1\n        return np.load('a'), i", "self.seen = 0") + IN,
        "self.seen += 1",
        "print(self.seen)",
    ),
    "ACC102: the loop asks for an attribute": Pair(
        HEAD
        + data("self.last = str(i)\n        return np.load(self.last), i", "self.last = ''")
        + IN
        + "    print(data.last)\n",
        "print(data.last)",
        "pass",
    ),
    "ACC102: a list that it fills": Pair(
        HEAD
        + data("self.names.append(str(i))\n        return np.load(str(i)), i", "self.names = []")
        + IN
        + "    print(data.names)\n",
        "self.names.append(str(i))",
        "pass",
    ),
    "ACC102: the loop adds samples": Pair(
        HEAD
        + data(
            "return np.load(self.names[i]), i", "self.names = []", "    def add(self, name): self.names.append(name)\n"
        )
        + IN
        + "    data.add('a')\n",
        "data.add('a')",
        "pass",
    ),
    "ACC102: samples that become harder": Pair(
        HEAD
        + data("return np.load(str(self.level)), i", "self.level = 0", "    def harder(self): self.level += 1\n")
        + "for epoch in range(3):"
        + IN.replace("\n", "\n    ")
        + "\n    data.harder()\n",
        "data.harder()",
        "pass",
    ),
    "ACC102: a generator of its own": Pair(
        HEAD + data("return np.load('a') + self.r.random(), i", "self.r = np.random.default_rng(0)") + IN,
        "np.random.default_rng(0)",
        "np.random",
    ),
    "ACC102: a pool": Pair(
        HEAD + WORK + "from multiprocessing import Pool\nwith Pool(4) as pool: pool.map(work, range(4))\n",
        "with Pool(4) as pool: pool.map(work, range(4))",
        "work(0)",
    ),
    "ACC102: a pool of a context": Pair(
        HEAD
        + WORK
        + "import multiprocessing as mp\nctx = mp.get_context('fork')\nwith ctx.Pool(4) as pool: pool.map(work, range(4))\n",
        "with ctx.Pool(4) as pool: pool.map(work, range(4))",
        "work(0)",
    ),
    "ACC102: joblib": Pair(
        HEAD + WORK + "import joblib\njoblib.Parallel(4)(joblib.delayed(work)(i) for i in range(4))\n",
        "joblib.Parallel(4)(joblib.delayed(work)(i) for i in range(4))",
        "work(0)",
    ),
    "ACC102: a daemon": Pair(
        HEAD + WORK + "import multiprocessing as mp\nmp.Process(target=work, args=(1,), daemon=True).start()\n",
        ", daemon=True",
    ),
    "ACC102: daemons of torch": Pair(
        HEAD + WORK + "import torch.multiprocessing as mp\nmp.spawn(work, nprocs=2, daemon=True)\n", ", daemon=True"
    ),
    "ACC102: a look at one batch": Pair(
        HEAD + "loader = DataLoader(photos, pin_memory=True)\nx, y = next(iter(loader))\nstep(x.cuda(), y.cuda())\n",
        "x, y = next(iter(loader))\n",
        "for x, y in loader: ",
    ),
    "ACC102: nothing on a GPU": Pair(ON_HOST + HOST_LOOP, "optimizer = ", "model.cuda()\noptimizer = "),
    "ACC102: seeds and caches of CUDA": Pair(
        ON_HOST + "torch.cuda.manual_seed_all(0)\ntorch.cuda.empty_cache()\n" + HOST_LOOP,
        "torch.cuda.empty_cache()",
        "torch.cuda.set_device(0)",
    ),
    "ACC102: a map_location and a comment": Pair(
        ON_HOST + "# needs cuda\ntorch.load('a', map_location='cpu')\n" + HOST_LOOP,
        "torch.load('a', map_location='cpu')",
        "model.cuda()",
    ),
    "ACC102: no loop": Pair(
        HEAD + "loader = DataLoader(photos, pin_memory=True)\nprint(len(loader))\n",
        "print(len(loader))",
        "for x, y in loader: step(x.cuda(), y.cuda())",
    ),
    "ACC102: nothing is computed": Pair(
        HEAD + "loader = DataLoader(photos, pin_memory=True)\nfor x, y in loader:\n    print(x)\n",
        "print(x)",
        "step(x.cuda(), y.cuda())",
    ),
    "ACC102: unknown keywords": Pair(
        HEAD + "loader = DataLoader(photos, pin_memory=True, **conf.kw)" + LOOP, ", **conf.kw"
    ),
    "ACC102: a setting": Pair(
        HEAD + "loader = DataLoader(photos, pin_memory=True, num_workers=conf.n)" + LOOP, ", num_workers=conf.n"
    ),
    "ACC102: a default of one worker": Pair(
        HEAD
        + "from timm.data import create_loader\nloader = create_loader(photos, 3, 4)\nfor x, y in loader:\n    step(x, y)\n",
        "create_loader(photos, 3, 4)",
        "DataLoader(photos)",
    ),
    "ACC102: the position of monai": Pair(
        HEAD + "from monai.data import DataLoader as M\nloader = M(photos, 2)" + LOOP,
        "M(photos, 2)",
        "DataLoader(photos, 2)",
    ),
    "ACC102: the position of torch": Pair(
        HEAD + "loader = DataLoader(photos, 1, False, None, None, 2)" + LOOP, ", None, None, 2)", ", None)"
    ),
    "ACC102: unknown data": Pair(HEAD + "loader = DataLoader(conf.data)" + LOOP, "conf.data", "photos"),
    **{
        f"ACC102: {one}": Pair(
            HEAD
            + "import h5py, sqlite3, lmdb, zipfile, tarfile\n"
            + data("return torch.load(self.h[i]), i", f"self.h = {one}", make="Data('a')")
            + IN,
            one,
            "held",
        )
        for one in HANDLES
    },
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair(case[:6], PAIRS[case], tmp_path)
