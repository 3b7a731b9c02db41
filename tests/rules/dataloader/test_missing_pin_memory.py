"""ACC101 dataloader-missing-pin-memory, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair, findings_in, fixed
from ..programs import IMPORTS, LOOP, MODEL, PHOTOS, PHOTOS_AND_MODEL, data_set

SILENT = {
    "given": "loader = DataLoader(photos, num_workers=2, pin_memory=True)",
    "given by position": "loader = DataLoader(photos, 1, False, None, None, 2, None, True)",
    "given by an expression": "loader = DataLoader(photos, num_workers=2, pin_memory=torch.cuda.is_available())",
    "in a dict": "kw = {'num_workers': 2, 'pin_memory': True}\nloader = DataLoader(photos, **kw)",
    "in a dict by update": "kw = {'num_workers': 2}\nkw.update({'pin_memory': True})\nloader = DataLoader(photos, **kw)",
    "in a dict by item": "kw = dict(num_workers=2)\nkw['pin_memory'] = True\nloader = DataLoader(photos, **kw)",
    "in a dict by union": "kw = {'num_workers': 2} | {'pin_memory': True}\nloader = DataLoader(photos, **kw)",
    "in a dict on some machines": (
        "kw = {'num_workers': 2, 'pin_memory': True} if torch.cuda.is_available() else {}\n"
        "loader = DataLoader(photos, **kw)"
    ),
    "in a dict by a branch": (
        "kw = {'batch_size': 2, 'num_workers': 1}\nif torch.cuda.is_available():\n    kw.update(pin_memory=True)\n"
        "loader = DataLoader(photos, **kw)"
    ),
    "unknown dict": "import conf\nloader = DataLoader(photos, num_workers=2, **conf.loader)",
    "dict that was handed away": "import conf\nkw = {'num_workers': 2}\nconf.fill(kw)\nloader = DataLoader(photos, **kw)",
    "unknown positionals": "import conf\nloader = DataLoader(photos, *conf.loader)",
    "parameter of a factory": (
        "def make(data, **kw):\n    return DataLoader(data, num_workers=2, **kw)\nloader = make(photos, pin_memory=True)"
    ),
    "set by a subclass": (
        "class Mine(DataLoader):\n    def __init__(self, data):\n        super().__init__(data, num_workers=2, "
        "pin_memory=True)\nloader = Mine(photos)"
    ),
    "another library's": "from paddle.io import DataLoader\nloader = DataLoader(photos, num_workers=2)",
    "own class of that name": "class DataLoader(list):\n    pass\nloader = DataLoader([1, 2])",
    "moves its batches by itself": "from dgl.dataloading import DataLoader\nloader = DataLoader(photos, num_workers=2)",
}


@pytest.mark.parametrize("spelling", SILENT.values(), ids=SILENT.keys())
def test_silent_where_the_argument_is_given_or_may_be(spelling: str, tmp_path: Path) -> None:
    check(PHOTOS + MODEL + spelling + LOOP, tmp_path)


def test_silent_on_a_program_for_the_cpu(tmp_path: Path) -> None:
    loop = "loader = DataLoader(photos, num_workers=2)\nfor x, y in loader:\n    nn.Linear(8, 2)(x.to('cpu')).sum().backward()\n"
    check(PHOTOS + loop, tmp_path)


GRAPHS = {
    "on the GPU": ("graph = conf.load()[0].to(device)\n", ""),
    "its features on the GPU, in place": ("graph = conf.load()[0]\ngraph.to(device, 'x')\n", ""),
    "features that are read beside the workers": ("graph = conf.stores\n", ", filter_per_worker=False"),
}
NEIGHBOURS = """
import conf
from torch_geometric.loader import NeighborLoader
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
{graph}
loader = NeighborLoader(graph, [9, 9], num_workers=4{given})
for batch in loader:
    batch = batch.to(device)
    model(batch.x).sum().backward()
"""


@pytest.mark.parametrize(("graph", "given"), GRAPHS.values(), ids=GRAPHS.keys())
def test_silent_where_batches_are_gathered_elsewhere(graph: str, given: str, tmp_path: Path) -> None:
    check(IMPORTS + MODEL + NEIGHBOURS.format(graph=graph, given=given), tmp_path)


def test_silent_where_nothing_pins_beside_the_program(tmp_path: Path) -> None:
    check(IMPORTS + MODEL + "loader = DataLoader(TensorDataset(torch.zeros(9), torch.ones(9)))" + LOOP, tmp_path)


def test_silent_where_single_batches_are_looked_at(tmp_path: Path) -> None:
    source = """
shown = DataLoader(photos, batch_size=9, num_workers=2)
def sample():
    x, y = next(iter(shown))
    return model(x.cuda(non_blocking=True))
loader = DataLoader(photos, num_workers=2, pin_memory=True)
for i, (x, y) in enumerate(loader):
    model(x.cuda(non_blocking=True)).sum().backward()
    if i % 100 == 0:
        sample()
"""
    check(PHOTOS + MODEL + source, tmp_path)


def test_silent_where_batches_stay_on_the_host(tmp_path: Path) -> None:
    check(
        PHOTOS + "loader = DataLoader(photos, num_workers=2)\ntotal = sum(x.float().mean() for x, y in loader)\n",
        tmp_path,
    )


def test_silent_where_the_data_set_is_on_the_device(tmp_path: Path) -> None:
    source = """
    data = TensorDataset(torch.zeros(64, 8, device="cuda"), torch.zeros(64, device="cuda"))
    loader = DataLoader(data, num_workers=0)
    """
    check(IMPORTS + MODEL + "\n".join(line.strip() for line in source.splitlines()) + LOOP, tmp_path)


STEPS = """
for x, y in loader:
    model(x.to(device, non_blocking=True)).sum().backward()
"""
ONE = "\nfor x in loader:\n    model(x.to(device, non_blocking=True)).sum().backward()\n"
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
    "sparse samples": data_set("return torch.load(str(i)).to_sparse()")
    + "loader = DataLoader(data, num_workers=2, collate_fn=torch.stack)"
    + ONE,
    "sparse by a factory": data_set("return torch.sparse_coo_tensor(*torch.load(str(i)), (3, 3))")
    + "loader = DataLoader(data, batch_size=None, num_workers=2)"
    + ONE,
    "moved by the collate function": (
        "def collate(items): return torch.stack([one[0] for one in items]).to(device), 1\n"
        "loader = DataLoader(photos, num_workers=2, collate_fn=collate)"
    )
    + STEPS,
    "moved there on a condition": (
        "def collate(items):\n    x = torch.stack([one[0] for one in items])\n    if conf.early:\n        x = x.cuda()\n"
        "    return x, 1\nloader = DataLoader(photos, num_workers=2, collate_fn=collate)"
    )
    + STEPS,
    "moved by a lambda": "loader = DataLoader(photos, num_workers=2, collate_fn=lambda b: torch.stack(b).cuda())" + ONE,
    "moved by a transform": (
        "from torchvision import datasets, transforms\n"
        "steps = transforms.Compose([transforms.ToTensor(), transforms.Lambda(lambda t: t.cuda())])\n"
        "loader = DataLoader(datasets.ImageFolder('r', steps), num_workers=2)"
    )
    + STEPS,
    "held on the device": data_set(
        "return self.x[i], i", "self.x = held", make="Data(torch.zeros(9, 8, device='cuda'))"
    )
    + "loader = DataLoader(data)"
    + STEPS,
    "a list on the device": "data = [(torch.zeros(8, device='cuda'), 1) for i in range(9)]\nloader = DataLoader(data)"
    + STEPS,
    "a loader that sets it": (
        "class Mine(DataLoader):\n    def __init__(self, *args, **kwargs):\n        kwargs.setdefault('pin_memory', True)\n"
        "        super().__init__(*args, **kwargs)\nloader = Mine(photos, num_workers=2)"
    )
    + STEPS,
    "Lightning builds it again": """
import lightning as L
class Data(L.LightningDataModule):
    def train_dataloader(self): return DataLoader(photos, num_workers=2, persistent_workers=True)
L.Trainer(reload_dataloaders_every_n_epochs=1).fit(conf.model, Data())
""",
}


@pytest.mark.parametrize("source", UNPINNABLE.values(), ids=UNPINNABLE.keys())
def test_silent_about_batches_that_cannot_be_pinned(source: str, tmp_path: Path) -> None:
    check_one("ACC101", PHOTOS_AND_MODEL + source, tmp_path)


HEAD = PHOTOS + MODEL + "import conf\n"
ON_HOST = HEAD.replace(".cuda()", "")
FED = "loader = DataLoader(photos, num_workers=2)" + LOOP
PIN = "loader = DataLoader(data, num_workers=2)" + LOOP
PAIR_LIGHTNING = """
import lightning as L
class Module(L.LightningModule):
    def train_dataloader(self):
        return DataLoader(data, num_workers=2)
"""
RELOADED = """
import lightning as L
class Data(L.LightningDataModule):
    def train_dataloader(self): return DataLoader(photos, num_workers=2, persistent_workers=True)
L.Trainer(reload_dataloaders_every_n_epochs=1).fit(conf.model, Data())
"""
PAIR_BATCH = """
class Batch:
    def __init__(self, items): self.x = torch.stack([one[0] for one in items])
    def to(self, device):
        self.x = self.x.to(device)
        return self
    def other(self): return self
def collate(items): return Batch(items)
loader = DataLoader(photos, num_workers=2, collate_fn=collate)
for batch in loader:
    model(batch.to("cuda").x).sum().backward()
"""
OTHERS = {
    "dgl": ("from dgl.dataloading import DataLoader as Other", "Other("),
    "fastai": ("from fastai.data.load import DataLoader as Other", "Other("),
    "ignite": ("import ignite.distributed as idist", "idist.auto_dataloader("),
    "ffcv": ("from ffcv.loader import Loader", "Loader("),
    "timm": ("from timm.data import create_loader", "create_loader("),
    "paddle": ("from paddle.io import DataLoader as Other", "Other("),
    "mindspore": ("from mindspore.dataset import DataLoader as Other", "Other("),
    "mxnet": ("from mxnet.gluon.data import DataLoader as Other", "Other("),
    "mlx": ("import mlx.data", "mlx.data.DataLoader("),
}
PAIRS = {
    "the host": Pair(ON_HOST + FED.replace("cuda(non_blocking=True)", "to('cpu')"), "to('cpu')", "to('cuda')"),
    "mps": Pair(ON_HOST + FED.replace("cuda(non_blocking=True)", "to('mps')"), "to('mps')", "to('cuda')"),
    "XLA": Pair(
        ON_HOST
        + "import torch_xla.core.xla_model as xm\ndevice = xm.xla_device()\n"
        + FED.replace("cuda(non_blocking=True)", "to(device)"),
        "xm.xla_device()",
        "'cuda'",
    ),
    "samples on the device": Pair(HEAD + data_set("return torch.load(str(i)).cuda(), i") + PIN, ".cuda(), i", ", i"),
    "a transform to the device": Pair(
        HEAD
        + "from torchvision import datasets, transforms\nsteps = transforms.Compose([transforms.ToTensor(), transforms.Lambda(lambda t: t.cuda())])\ndata = datasets.ImageFolder('r', steps)\n"
        + PIN,
        "t.cuda()",
        "t",
    ),
    "a collate function to the device": Pair(
        HEAD
        + "def collate(items): return torch.stack([one[0] for one in items]).cuda(), 1\nloader = DataLoader(photos, num_workers=2, collate_fn=collate)"
        + LOOP,
        "items]).cuda()",
        "items])",
    ),
    "tensors on the device": Pair(
        HEAD + "device = 'cuda'\nx = torch.zeros(9, 8)\ndata = TensorDataset(x.to(device), x.to(device))\n" + PIN,
        ".to(device)",
    ),
    "a list on the device": Pair(
        HEAD + "data = [(torch.zeros(8, device='cuda'), 1) for i in range(9)]\n" + PIN, ", device='cuda'"
    ),
    "sparse samples": Pair(HEAD + data_set("return torch.load(str(i)).to_sparse(), i") + PIN, ".to_sparse()"),
    "sparse by a factory": Pair(
        HEAD + data_set("return torch.sparse_coo_tensor(*torch.load(str(i))), i") + PIN,
        "torch.sparse_coo_tensor(*torch.load(str(i)))",
        "torch.load(str(i))",
    ),
    "nested batches": Pair(
        HEAD
        + "def collate(items): return torch.nested.nested_tensor([one[0] for one in items]), 1\nloader = DataLoader(photos, num_workers=2, collate_fn=collate)"
        + LOOP,
        "torch.nested.nested_tensor",
        "torch.stack",
    ),
    "a class without pin_memory": Pair(HEAD + PAIR_BATCH, "other(self)", "pin_memory(self)"),
    "text that is encoded in the loop": Pair(
        HEAD
        + data_set("return open(str(i)).read(), i")
        + "loader = DataLoader(data, num_workers=2)\nfor texts, y in loader:\n    x = conf.tokenize(texts)\n    model(x.cuda()).sum().backward()\n",
        "conf.tokenize(texts)",
        "texts",
    ),
    "text that a framework takes": Pair(
        PHOTOS + data_set("return open(str(i)).read()") + PAIR_LIGHTNING, "open(str(i)).read()", "torch.load(str(i))"
    ),
    "work on the host": Pair(
        HEAD + "loader = DataLoader(photos, num_workers=2)\ntotal = sum(x.cpu().float().mean() for x, y in loader)\n",
        ".cpu()",
        ".cuda()",
    ),
    "only its length": Pair(
        HEAD
        + "loader = DataLoader(photos, num_workers=2)\nprint(len(loader))\nother = DataLoader(photos, pin_memory=True, num_workers=2)\n"
        + LOOP.replace("loader", "other"),
        "print(len(loader))",
        "for x, y in loader: step(x.cuda(), y.cuda())",
    ),
    "a loader that moves": Pair(
        HEAD
        + "from torch_xla.distributed.parallel_loader import MpDeviceLoader\nloader = MpDeviceLoader(DataLoader(photos, num_workers=2), conf.device)"
        + LOOP,
        "MpDeviceLoader(DataLoader(photos, num_workers=2), conf.device)",
        "DataLoader(photos, num_workers=2)",
    ),
    "TrainingArguments": Pair(
        HEAD
        + "from transformers import TrainingArguments, Trainer\nTrainer(args=TrainingArguments('o', dataloader_num_workers=2), train_dataset=photos).train()\nloader = DataLoader(photos, num_workers=2, pin_memory=True)"
        + LOOP,
        ", pin_memory=True",
    ),
    "unknown keywords": Pair(HEAD + "loader = DataLoader(photos, num_workers=2, **conf.kw)" + LOOP, ", **conf.kw"),
    "unknown positionals": Pair(HEAD + "loader = DataLoader(photos, *conf.kw)" + LOOP, "*conf.kw", "num_workers=2"),
    "a subclass that sets it": Pair(
        HEAD
        + "class Mine(DataLoader):\n    def __init__(self, data):\n        super().__init__(data, num_workers=2, pin_memory=True)\nloader = Mine(photos)"
        + LOOP,
        ", pin_memory=True",
    ),
    "Lightning builds it again": Pair(PHOTOS + "import conf" + RELOADED, "reload_dataloaders_every_n_epochs=1"),
    "workers of Lightning that live on": Pair(PHOTOS + "import conf" + RELOADED, ", persistent_workers=True"),
    "given by position": Pair(
        HEAD + "loader = DataLoader(photos, 1, False, None, None, 2, None, True)" + LOOP, ", None, True)", ", None)"
    ),
    "given by an option": Pair(
        HEAD
        + "import argparse\nq = argparse.ArgumentParser()\nq.add_argument('--pin', default=True)\nargs = q.parse_args()\nloader = DataLoader(photos, num_workers=2, pin_memory=args.pin)"
        + LOOP,
        ", pin_memory=args.pin",
    ),
    "single batches": Pair(
        HEAD + "loader = DataLoader(photos, num_workers=2)\nx, y = next(iter(loader))\nstep(x.cuda(), y.cuda())\n",
        "x, y = next(iter(loader))\n",
        "for x, y in loader: ",
    ),
    **{
        name: Pair(
            f"{HEAD}{imported}\nloader = {call}photos, num_workers=2){LOOP}", f"{call}photos", "DataLoader(photos"
        )
        for name, (imported, call) in OTHERS.items()
    },
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC101", PAIRS[case], tmp_path)


def test_pins_what_the_workers_take_out_of_a_graph(tmp_path: Path) -> None:
    found = findings_in(IMPORTS + MODEL + NEIGHBOURS.format(graph="graph = conf.graph", given=""), tmp_path)[1]
    assert [one.code for one in found] == ["ACC101", "ACC201"]


def test_warns_with_workers(tmp_path: Path) -> None:
    check(PHOTOS + MODEL + "loader = DataLoader(photos, num_workers=2)  # -> ACC101 warning safe" + LOOP, tmp_path)


def test_warns_where_an_option_gives_workers(tmp_path: Path) -> None:
    source = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=4)
args = parser.parse_args()
loader = DataLoader(photos, num_workers=args.workers)  # -> ACC101 warning safe
"""
    check(PHOTOS + MODEL + source + LOOP, tmp_path)


def test_info_without_workers(tmp_path: Path) -> None:
    check(PHOTOS + MODEL + "loader = DataLoader(photos)  # -> ACC101 info safe, ACC102 warning unsafe" + LOOP, tmp_path)


def test_a_literal_false_is_a_decision(tmp_path: Path) -> None:
    line = "loader = DataLoader(photos, num_workers=2, pin_memory=False)  # -> ACC101 info none"
    check(PHOTOS + MODEL + line + LOOP, tmp_path)


def test_a_collate_function_makes_the_fix_unsafe(tmp_path: Path) -> None:
    line = "loader = DataLoader(photos, num_workers=2, collate_fn=list)  # -> ACC101 warning unsafe"
    check(PHOTOS + MODEL + line + LOOP, tmp_path)


@pytest.mark.parametrize(
    ("imported", "called"),
    [
        ("import torch.utils.data", "torch.utils.data.DataLoader"),
        ("from torch.utils import data as D", "D.DataLoader"),
        ("from torch.utils.data import DataLoader as Loader", "Loader"),
        ("from torch.utils.data.dataloader import DataLoader as Loader", "Loader"),
        ("import torch as t", "t.utils.data.DataLoader"),
        ("from torchdata.stateful_dataloader import StatefulDataLoader", "StatefulDataLoader"),
    ],
)
def test_knows_the_loader_by_every_name(imported: str, called: str, tmp_path: Path) -> None:
    source = f"{imported}\nloader = {called}(photos, num_workers=2)  # -> ACC101 warning safe"
    check(PHOTOS + MODEL + source + LOOP, tmp_path)


def test_knows_a_subclass_and_a_factory(tmp_path: Path) -> None:
    source = """
class Mine(DataLoader):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
loader = Mine(photos, num_workers=2)  # -> ACC101 warning safe
for x, y in loader:
    step(x.cuda(non_blocking=True), y.cuda(non_blocking=True))
def make(data, workers=2):
    return DataLoader(data, num_workers=workers)  # -> ACC101 warning safe
for x, y in make(photos):
    step(x.cuda(non_blocking=True), y.cuda(non_blocking=True))
"""
    check(PHOTOS + MODEL + source, tmp_path)


def test_follows_batches_through_helpers_and_other_files(tmp_path: Path) -> None:
    source = """
from helpers import batches, to_device
loader = DataLoader(photos, num_workers=2)  # -> ACC101 warning safe
for x, y in batches(loader):
    step(to_device(x), to_device(y))
"""
    helpers = """
    def to_device(value):
        return value.to("cuda", non_blocking=True)
    def batches(loader):
        for batch in loader:
            yield batch
    """
    check(PHOTOS + MODEL + source, tmp_path, {"helpers.py": helpers})


def test_asks_whether_there_is_a_gpu_where_the_program_does(tmp_path: Path) -> None:
    source = """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(photos, num_workers=2)
for x, y in loader:
    x = x.to(device, non_blocking=True)
    y.to(device, non_blocking=True)
"""
    assert "num_workers=2, pin_memory=torch.cuda.is_available())" in fixed("ACC101", PHOTOS + source, tmp_path)


def test_lightning_moves_batches_but_does_not_pin_them(tmp_path: Path) -> None:
    source = """
import lightning as L
class Data(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(photos, num_workers=2)  # -> ACC101 warning unsafe
"""
    check(PHOTOS + source, tmp_path)
