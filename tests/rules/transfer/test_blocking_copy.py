"""ACC201 blocking-host-to-device-copy, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair, findings_of, fixed
from ..programs import MODEL, PHOTOS, PHOTOS_AND_MODEL

PINNED_PHOTOS = "loader = DataLoader(photos, num_workers=2, pin_memory=True)\n"
SILENT = {
    "asynchronous already": "for x, y in loader:\n    step(x.cuda(non_blocking=True), y.cuda(non_blocking=True))",
    "asynchronous by position": "for x, y in loader:\n    step(x.cuda(0, True), y.cuda(0, True))",
    "to the host": "for x, y in loader:\n    x = x.to('cpu')",
    "only a cast": "for x, y in loader:\n    x = x.to(torch.float32)",
    "to where another tensor is": "z = torch.zeros(1)\nfor x, y in loader:\n    x = x.to(z)",
    "once, before the loop": "w = torch.zeros(8)\nw = w.cuda()",
    "a module": "for x, y in loader:\n    model.to('cuda')",
    "from the device": "for x, y in loader:\n    x = x.cuda(non_blocking=True).cuda()",
    "changed on the host afterwards": "for x, y in loader:\n    z = x.cuda()\n    x.zero_()",
    "written to afterwards": "for x, y in loader:\n    z = x.cuda()\n    torch.add(x, 1, out=x)",
    "measured": (
        "import time\nfor x, y in loader:\n    start = time.time()\n    x = x.cuda()\n    torch.cuda.synchronize()\n"
        "    print(time.time() - start)"
    ),
    "prepared by accelerate": (
        "from accelerate import Accelerator, DataLoaderConfiguration as Conf\n"
        "a = Accelerator(dataloader_config=Conf(non_blocking=True))\nloader = a.prepare(loader)\n"
        "for x, y in loader:\n    x = x.to(a.device)  # -> ACC313 info"
    ),
}


@pytest.mark.parametrize("loop", SILENT.values(), ids=SILENT.keys())
def test_silent_where_nothing_waits_or_that_is_not_known(loop: str, tmp_path: Path) -> None:
    check(PHOTOS + MODEL + PINNED_PHOTOS + loop + "\n", tmp_path)


def test_silent_where_memory_is_pageable_and_nothing_would_pin_it(tmp_path: Path) -> None:
    source = """
from torch.utils.data import TensorDataset
for (x,) in DataLoader(TensorDataset(torch.zeros(9, 8))):
    model(x.cuda()).sum().backward()
"""
    check(PHOTOS + MODEL + source, tmp_path)


def test_silent_in_a_lightning_module(tmp_path: Path) -> None:
    source = """
import lightning as L
class Net(L.LightningModule):
    def training_step(self, batch, index):
        for x, y in DataLoader(photos, num_workers=2, pin_memory=True):
            x = x.cuda()  # -> ACC312 info
"""
    check(PHOTOS + source, tmp_path)


PINNED = "import conf, argparse\nloader = DataLoader(photos, num_workers=2, pin_memory=True)\n"
DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
MOVED = "for x, y in loader:\n    x = x.cuda()\n"
EACH = "for x, y in loader:\n    "
LOADERS = {
    "to xla": ("import torch_xla.distributed.parallel_loader as pl\nloader = pl.MpDeviceLoader(loader, conf.d)\n"),
    "accelerate": "from accelerate import Accelerator\na = Accelerator()\nloader = a.prepare(loader)\n",
    "accelerate, loader only": (
        "from accelerate import Accelerator\na = Accelerator()\nloader = a.prepare_data_loader(loader)\n"
    ),
    "fabric": "from lightning import Fabric\nf = Fabric()\nloader = f.setup_dataloaders(loader)\n",
    "timm": (
        "from timm.data import create_loader\nloader = create_loader(photos, 8, 8, num_workers=2, pin_memory=True)\n"
    ),
    "fastai": (
        "from fastai.data.load import DataLoader\nloader = DataLoader(photos, num_workers=2, pin_memory=True)\n"
    ),
    "fastai by star module": (
        "from fastai.vision.all import DataLoader\nloader = DataLoader(photos, num_workers=2, pin_memory=True)\n"
    ),
    "dgl": (
        "from dgl.dataloading import DataLoader\n"
        "loader = DataLoader(conf.g, conf.i, conf.s, num_workers=2, pin_memory=True)\n"
    ),
    "ignite's loader": (
        "import ignite.distributed as idist\nloader = idist.auto_dataloader(photos, num_workers=2, pin_memory=True)\n"
    ),
    "DALI": (
        "from nvidia.dali.plugin.pytorch import DALIGenericIterator\nloader = DALIGenericIterator(conf.p, ['a'])\n"
    ),
    "ffcv": "from ffcv.loader import Loader\nloader = Loader('a.beton', num_workers=2)\n",
    "paddle": ("from paddle.io import DataLoader\nloader = DataLoader(photos, num_workers=2, pin_memory=True)\n"),
    "PyG's PrefetchLoader": (
        "from torch_geometric.loader import PrefetchLoader\nloader = PrefetchLoader(loader, 'cuda')\n"
    ),
    "ignite": (
        "from ignite.engine import create_supervised_trainer\n"
        "t = create_supervised_trainer(model, optimizer, conf.loss, device='cuda')\nt.run(loader)\n"
    ),
    "mmengine": ("from mmengine.runner import Runner\nr = Runner(model, '.', train_dataloader=loader)\nr.train()\n"),
    "accelerate, asynchronous": (
        "from accelerate import Accelerator, DataLoaderConfiguration as Conf\n"
        "a = Accelerator(dataloader_config=Conf(non_blocking=True))\nloader = a.prepare(loader)\n"
    ),
    "moved by a loader of the project": (
        "class L2(DataLoader):\n    def __iter__(self):\n        for b in super().__iter__():\n"
        "            yield [t.cuda() for t in b]\nloader = L2(photos, num_workers=2, pin_memory=True)\n"
    ),
}
PAIRS: dict[str, tuple[str, ...]] = {
    "asynchronous": (EACH + "step(x.cuda(non_blocking=True), y)", "non_blocking=True"),
    "asynchronous by position": (EACH + "step(x.cuda(0, True), y)", "0, True", "0"),
    "asynchronous by position, with a dtype": (EACH + "step(x.to('cuda', torch.float32, True), y)", ", True"),
    "decided at run time": (EACH + "x = x.to(device, non_blocking=conf.fast)", ", non_blocking=conf.fast"),
    "positions unseen": (EACH + "x = x.to(*conf.where)", "*conf.where", "'cuda'"),
    "keywords unseen": (EACH + "x = x.to('cuda', **conf.kw)", ", **conf.kw"),
    "to the host": (EACH + "x = x.to('cpu')", "cpu'", "cuda'"),
    "to the host by name": ("d = torch.device('cpu')\n" + EACH + "x = x.to(d)", "'cpu'", "'cuda'"),
    "to mps": (EACH + "x = x.to('mps')", "mps", "cuda"),
    "to xpu": (EACH + "x = x.to('xpu')", "xpu", "cuda"),
    "to xpu by method": (EACH + "x = x.xpu()", ".xpu()", ".cuda()"),
    "only a cast": (EACH + "x = x.to(torch.float32)", "torch.float32", "'cuda'"),
    "to where another tensor is": ("z = torch.zeros(1)\n" + EACH + "x = x.to(z)", "x.to(z)", "x.to('cuda')"),
    "to where a tensor on the GPU is": (
        "z = torch.zeros(1).cuda()\n" + EACH + "x = x.to(z)",
        "x.to(z)",
        "x.to('cuda')",
    ),
    "module": (EACH + "y = model.to('cuda')", "model.to", "x.to"),
    "optimizer": (
        ("class O(torch.optim.SGD):\n    def to(self, d): pass\no = O(model.parameters(), lr=1)\n")
        + EACH
        + "o.to('cuda'); step(x, y)",
        "o.to('cuda'); step(x, y)",
        "step(x.to('cuda'), y)",
    ),
    "dataset": (
        "class P(Photos):\n    def to(self, d): return self\np = P([])\n" + EACH + "p.to('cuda'); step(x, y)",
        "p.to('cuda'); step(x, y)",
        "step(x.to('cuda'), y)",
    ),
    "no batch": ("w = torch.zeros(8)\n" + EACH + "step(x, w.cuda())", "w.cuda()", "y.cuda()"),
    "one batch": (
        "it = iter(loader)\nx, y = next(it)\nx = x.cuda()",
        "it = iter(loader)\nx, y = next(it)\nx = x.cuda()",
        "it = iter(loader)\nfor i in range(9):\n    x, y = next(it)\n    x = x.cuda()",
    ),
    "after the loop": (EACH + "pass\nx = x.cuda()", "pass\n"),
    "device to host": (
        EACH + "x = x.cuda(non_blocking=True)\n    z = x.cpu()",
        "x = x.cuda(non_blocking=True)\n    z = x.cpu",
        "z = x.cuda",
    ),
    "from the GPU": (
        EACH + "x = x.cuda(non_blocking=True)\n    z = x.cuda()",
        "x = x.cuda(non_blocking=True)",
        "pass",
    ),
    "timed": (
        "import time\n"
        + EACH
        + ("start = time.time()\n    x = x.cuda()\n    torch.cuda.synchronize()\n    print(time.time() - start)"),
        "torch.cuda.synchronize()\n    ",
    ),
    "timed by events": (
        "s = torch.cuda.Event(True)\ne = torch.cuda.Event(True)\n"
        + EACH
        + ("s.record()\n    x = x.cuda()\n    e.record()\n    e.synchronize()\n    print(s.elapsed_time(e))"),
        "e = torch.cuda.Event(True)\n"
        + EACH
        + ("s.record()\n    x = x.cuda()\n    e.record()\n    e.synchronize()\n    print(s.elapsed_time(e))"),
        MOVED,
    ),
    "timed many times": (
        "import time\n"
        + EACH
        + (
            "torch.cuda.synchronize()\n    t = time.perf_counter()\n    for k in range(9):\n"
            "        z = x.cuda()\n    torch.cuda.synchronize()\n    print(time.perf_counter() - t)"
        ),
        (
            "torch.cuda.synchronize()\n    t = time.perf_counter()\n    for k in range(9):\n"
            "        z = x.cuda()\n    torch.cuda.synchronize"
        ),
        "t = time.perf_counter()\n    for k in range(9):\n        z = x.cuda",
    ),
    "mutated zero_": (EACH + "z = x.cuda()\n    x.zero_()", "x.zero_()", "x.sum()"),
    "mutated mul_": (EACH + "z = x.cuda()\n    x.mul_(2)", "x.mul_(2)", "x.mul(2)"),
    "mutated copy_": (EACH + "z = x.cuda()\n    x.copy_(y)", "x.copy_(y)", "x + y"),
    "mutated +=": (EACH + "z = x.cuda()\n    x += 1", "x += 1", "w = x + 1"),
    "mutated item": (EACH + "z = x.cuda()\n    x[0] = 1", "x[0] = 1", "w = x[0]"),
    "mutated out": (EACH + "z = x.cuda()\n    torch.add(x, 1, out=x)", ", out=x"),
    "mutated view": (EACH + "z = x.cuda()\n    x.view(-1).zero_()", ".zero_()", ".sum()"),
    "mutated slice": (EACH + "z = x.cuda()\n    x[0].zero_()", ".zero_()", ".sum()"),
    "staging buffer": (
        "buf = torch.empty(4, 8)\n" + EACH + "buf.copy_(x)\n    z = buf.cuda()",
        "buf = torch.empty(4, 8)\n" + EACH + "buf.copy_(x)\n    z = buf.cuda",
        EACH + "z = x.cuda",
    ),
    "mutated in func": (
        "def wipe(t):\n    t.zero_()\n" + EACH + "z = x.cuda()\n    wipe(x)",
        "t.zero_()",
        "t.sum()",
    ),
    "F.relu inplace": (
        "import torch.nn.functional as F\n" + EACH + "z = x.cuda()\n    F.relu(x, inplace=True)",
        ", inplace=True",
    ),
    "in the collate function": (
        (
            "def collate(s):\n    x = torch.stack([a for a, b in s])\n    return x.cuda()\n"
            "for x in DataLoader(photos, num_workers=2, pin_memory=True, collate_fn=collate):\n    model(x)"
        ),
        (
            "x = torch.stack([a for a, b in s])\n    return x.cuda()\n"
            "for x in DataLoader(photos, num_workers=2, pin_memory=True, collate_fn=collate):\n    model(x"
        ),
        (
            "return torch.stack([a for a, b in s])\n"
            "for x in DataLoader(photos, num_workers=2, pin_memory=True, collate_fn=collate):\n"
            "    model(x.cuda()"
        ),
    ),
    "in the data set": (
        (
            "class D(Dataset):\n    def __len__(self): return 9\n"
            "    def __getitem__(self, i): return torch.zeros(8).cuda()\n"
            "for x in DataLoader(D(), num_workers=2, pin_memory=True):\n    model(x)"
        ),
        ".cuda()\nfor x in DataLoader(D(), num_workers=2, pin_memory=True):\n    model(x",
        "\nfor x in DataLoader(D(), num_workers=2, pin_memory=True):\n    model(x.cuda()",
    ),
    "Lightning module": (
        (
            "import lightning as L\nclass Net(L.LightningModule):\n    def training_step(self, batch, index):\n"
            "        for x, y in DataLoader(photos, num_workers=2, pin_memory=True):\n"
            "            x = x.cuda()\n"
        ),
        "L.LightningModule",
        "nn.Module",
    ),
    "Lightning data module": (
        (
            "import pytorch_lightning as L\nclass Net(L.LightningDataModule):\n"
            "    def training_step(self, batch, index):\n"
            "        for x, y in DataLoader(photos, num_workers=2, pin_memory=True):\n"
            "            x = x.cuda()\n"
        ),
        "L.LightningDataModule",
        "nn.Module",
    ),
    "Composer": (
        (
            "from composer.models import ComposerModel as C\nclass Net(C):\n"
            "    def training_step(self, batch, index):\n"
            "        for x, y in DataLoader(photos, num_workers=2, pin_memory=True):\n"
            "            x = x.cuda()\n"
        ),
        "C):",
        "nn.Module):",
    ),
    "transformers Trainer": (
        (
            "from transformers import Trainer\nclass T(Trainer):\n    def evaluate(self):\n"
            "        for x, y in DataLoader(photos, num_workers=2, pin_memory=True):\n"
            "            x = x.cuda()\n"
        ),
        "from transformers import Trainer\nclass T(Trainer)",
        "class T",
    ),
    "skorch": (
        (
            "from skorch import NeuralNet\nclass N(NeuralNet):\n    def run(self):\n"
            "        for x, y in DataLoader(photos, num_workers=2, pin_memory=True):\n"
            "            x = x.cuda()\n"
        ),
        "from skorch import NeuralNet\nclass N(NeuralNet)",
        "class N",
    ),
    "pageable and no workers": (
        (
            "loader = DataLoader(TensorDataset(torch.zeros(8)), batch_size=2)\nfor (x,) in loader:\n"
            "    x.cuda().sum().backward()"
        ),
        "batch_size=2",
        "pin_memory=True",
    ),
    "through a buffer": (
        "buf = torch.empty(4, 8, pin_memory=True)\n" + EACH + "buf.copy_(x)\n    z = buf.cuda()",
        "buf = torch.empty(4, 8, pin_memory=True)\n" + EACH + "buf.copy_(x)\n    z = buf.cuda",
        EACH + "z = x.cuda",
    ),
    "an entry of a batch": ("for b in loader:\n    x = b['a'].cuda(non_blocking=True)", "non_blocking=True"),
    "moved by a generator": (
        (
            "def moved(l):\n    for x, y in l: yield x.cuda(non_blocking=True), y\nfor x, y in moved(loader):\n"
            "    x = x.cuda()"
        ),
        "x.cuda(non_blocking=True)",
        "x",
    ),
    "tensors on the GPU": (
        ("loader = DataLoader(TensorDataset(torch.zeros(8, 8).cuda(), torch.zeros(8)), num_workers=2)\n") + MOVED,
        ".cuda(),",
        ",",
    ),
    "a data set on the GPU": (
        (
            "class D(Dataset):\n    def __init__(self): self.x = torch.zeros(8, 8).cuda()\n"
            "    def __getitem__(self, i): return self.x[i], 1\nloader = DataLoader(D(), num_workers=2)\n"
        )
        + MOVED,
        ".cuda()\n    ",
        "\n    ",
    ),
    "collated on the GPU": (
        (
            "def c(s): return torch.stack([a for a, b in s]).cuda(), 1\n"
            "loader = DataLoader(photos, num_workers=2, collate_fn=c)\n"
        )
        + MOVED,
        ".cuda(),",
        ",",
    ),
    "accelerate in a class": (
        (
            "from accelerate import Accelerator\nclass T:\n    def __init__(self):\n"
            "        self.a = Accelerator()\n        self.loader = self.a.prepare(loader)\n    def fit(self):\n"
            "        for x, y in self.loader: x = x.cuda()\nT().fit()"
        ),
        (
            "from accelerate import Accelerator\nclass T:\n    def __init__(self):\n"
            "        self.a = Accelerator()\n        self.loader = self.a.prepare(loader)"
        ),
        "class T:\n    def __init__(self):\n        self.loader = loader",
    ),
    **{name: (loader + MOVED, loader) for name, loader in LOADERS.items()},
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC201", Pair(PHOTOS + MODEL + PINNED + DEVICE + source, *change), tmp_path)


def test_reports_a_statement_once(tmp_path: Path) -> None:
    loop = "for x, y in loader:\n    x, y = x.cuda(), y.cuda()  # -> ACC201 warning safe\n    step(x, y)\n"
    found = check(PHOTOS + MODEL + PINNED_PHOTOS + loop, tmp_path)
    assert len(found[0].related) == 1
    fixed_source = fixed("ACC201", PHOTOS + MODEL + PINNED_PHOTOS + loop, tmp_path)
    assert "x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)" in fixed_source


@pytest.mark.parametrize(
    "header",
    [
        "for x, y in loader:",
        "for i, (x, y) in enumerate(loader):",
        "for i, (x, y) in enumerate(loader, 1):",
        "from tqdm import tqdm\nfor x, y in tqdm(loader):",
        "from tqdm.auto import tqdm\nfor i, (x, y) in tqdm(enumerate(loader)):",
        "for (x, y), other in zip(loader, range(9)):",
        "import itertools\nfor x, y in itertools.islice(itertools.cycle(loader), 9):",
        "it = iter(loader)\nfor _ in range(9):\n  if True:\n    x, y = next(it)",
        "for batch in loader:\n    x, y = batch",
        "for batch in loader:\n    x = batch[0]",
    ],
)
def test_follows_batches_through_every_loop(header: str, tmp_path: Path) -> None:
    check(PHOTOS + MODEL + PINNED_PHOTOS + header + "\n    x = x.cuda()  # -> ACC201 warning safe\n", tmp_path)


def test_names_each_loader_once_in_one_line(tmp_path: Path) -> None:
    source = """
for loader in (
    DataLoader(photos, num_workers=2, pin_memory=True),
    DataLoader(photos, num_workers=3, pin_memory=True),
):
    for x, y in loader:
        x = x.to(  # -> ACC201 warning safe
            device,
        )
"""
    message = check(PHOTOS + DEVICE + source, tmp_path)[0].message
    assert message.startswith("`loader` pins its batches, but `x.to(")
    assert "\n" not in message


def test_only_an_opportunity_from_pageable_memory(tmp_path: Path) -> None:
    source = "loader = DataLoader(photos, num_workers=2)  # -> ACC101 warning\nfor x, y in loader:\n    x = x.cuda()  # -> ACC201 info safe\n"
    check(PHOTOS + source, tmp_path)


def test_asks_the_device_where_it_may_be_mps(tmp_path: Path) -> None:
    source = """
device = torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
loader = DataLoader(photos, num_workers=2, pin_memory=True)
for x, y in loader:
    x = x.to(device)  # -> ACC201 warning safe
"""
    check(PHOTOS + source, tmp_path)
    assert 'x.to(device, non_blocking=device.type == "cuda")' in fixed("ACC201", PHOTOS + source, tmp_path)


def test_a_cast_or_a_collate_function_makes_the_fix_unsafe(tmp_path: Path) -> None:
    source = """
for x, y in loader:
    x = x.to(device, torch.float32)  # -> ACC201 warning unsafe
for x, y in DataLoader(photos, num_workers=2, pin_memory=True, collate_fn=list):
    x = x.to(device)  # -> ACC201 warning unsafe
"""
    check(PHOTOS + DEVICE + PINNED_PHOTOS + source, tmp_path)


def test_an_array_over_the_memory_of_a_batch_makes_the_fix_unsafe(tmp_path: Path) -> None:
    source = """
for x, y in loader:
    z = x.to(device)  # -> ACC201 warning unsafe
    x.numpy()[:] = 0
"""
    check(PHOTOS + DEVICE + PINNED_PHOTOS + source, tmp_path)


def test_knows_the_batch_in_a_function_that_gets_the_loader(tmp_path: Path) -> None:
    source = """
def train(loader, device):
    for x, y in loader:
        x = x.to(device)  # -> ACC201 warning safe
def main():
    device = torch.device("cuda:0")
    train(DataLoader(photos, num_workers=2, pin_memory=True), device)
if __name__ == "__main__":
    main()
"""
    check(PHOTOS + source, tmp_path)


def test_asks_no_method_of_a_class_for_an_argument_that_it_may_not_take(tmp_path: Path) -> None:
    source = """
class Batch:
    def __init__(self, items): self.x = torch.stack([one[0] for one in items])
    def to(self, device):
        self.x = self.x.to(device)
        return self
def collate(items): return Batch(items)
loader = DataLoader(photos, num_workers=2, pin_memory=True, collate_fn=collate)
for batch in loader:
    model(batch.to(device).x).sum().backward()
"""
    check_one("ACC201", PHOTOS_AND_MODEL + source, tmp_path)


CHANGED_ELSEWHERE = """
def mix(images, labels):
    images.mul_(0.5)
    return images, labels
def load(split):
    return DataLoader(photos, num_workers=2, pin_memory=True)
def train(batches):
    for x, y in batches:
        a, b = mix(x, y)
        model(a.cuda(non_blocking=True)).sum().backward()
def measure(batches):
    for x, y in batches:
        model(x.cuda())  # -> warning safe
train(load("train"))
measure(load("val"))
"""


def test_a_change_in_another_loop_is_none_in_this(tmp_path: Path) -> None:
    check_one("ACC201", PHOTOS_AND_MODEL + CHANGED_ELSEWHERE, tmp_path)


def test_a_change_around_an_inner_loop_is_one_in_it(tmp_path: Path) -> None:
    source = PINNED + "for x, y in loader:\n    for a, b in loader:\n        z = x.cuda()\n    x.zero_()\n"
    check_pair("ACC201", Pair(PHOTOS_AND_MODEL + source, "    x.zero_()"), tmp_path)


def test_a_slice_of_a_batch_of_either_of_two_loaders(tmp_path: Path) -> None:
    source = """
import conf
if conf.ordered:
    loader = DataLoader(photos, num_workers=2, pin_memory=True)
else:
    loader = DataLoader(photos, num_workers=2, pin_memory=True, shuffle=True)
for x, y in loader:
    for i in range(0, len(x), 4):
        model(x[i : i + 4].cuda()).sum().backward()  # -> warning safe
"""
    check_one("ACC201", PHOTOS_AND_MODEL + source, tmp_path)


def test_parts_of_batches_of_several_loaders_that_their_copies_replace(tmp_path: Path) -> None:
    source = """
def measure(batches):
    for x, y in batches:
        for i in range(len(x)):
            x[i] = x[i].cuda(non_blocking=True)
        model(x[0], y.cuda())  # -> warning safe
measure(DataLoader(photos, num_workers=2, pin_memory=True))
measure(DataLoader(photos, num_workers=2, pin_memory=True, shuffle=True))
for loader in (DataLoader(photos, pin_memory=True), DataLoader(photos, pin_memory=True, num_workers=4)):
    measure(loader)
"""
    source = source.replace("photos", "open('names')").replace("warning safe", "warning unsafe")
    check_one("ACC201", PHOTOS_AND_MODEL + source, tmp_path)


def test_parts_that_are_changed_are_not_replaced(tmp_path: Path) -> None:
    source = (
        "loader = DataLoader(conf.photos, num_workers=2, pin_memory=True)\nfor x, y in loader:\n    model(y.cuda())\n"
        "    for i in range(len(x)):\n        x[i] = x[i] * 2\n"
    )
    check_pair("ACC201", Pair(PHOTOS_AND_MODEL + source, "x[i] * 2", "x[i].cuda()"), tmp_path)


@pytest.mark.parametrize("part", ["y[0]", "y[:3]", "y[:, -3:]", "y[..., 1:, 0]"])
def test_a_part_of_what_a_cast_made(part: str, tmp_path: Path) -> None:
    source = (
        "loader = DataLoader(photos, num_workers=2)\nfor x, y in loader:\n    y = y.float()\n    model(PART.cuda())\n"
    )
    (found,) = findings_of("ACC201", PHOTOS_AND_MODEL + source.replace("PART", part), tmp_path)
    assert "; let the loader pin its batches, copy first, with" in found.message
    assert not findings_of("ACC101", PHOTOS_AND_MODEL + source.replace("PART", part), tmp_path)


def test_reports_batches_of_deepspeed_which_the_program_copies(tmp_path: Path) -> None:
    made = "import deepspeed\nmodel, optimizer, loader, _ = deepspeed.initialize(model=model, training_data=photos)\n"
    source = PHOTOS + MODEL + PINNED + made + MOVED + "    step(x, y)\n"
    (found,) = findings_of("ACC201", source, tmp_path)
    assert str(found.confidence) == "evident"
    moved = made.replace("import deepspeed", "import fastai.vision.all, deepspeed")
    assert not findings_of("ACC201", source.replace(made, moved), tmp_path)
