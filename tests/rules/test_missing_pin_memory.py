"""ACC101, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import check, findings_in, fixed
from .programs import IMPORTS, LOOP, MODEL, PHOTOS

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


def test_pins_what_the_workers_take_out_of_a_graph(tmp_path: Path) -> None:
    found = findings_in(IMPORTS + MODEL + NEIGHBOURS.format(graph="graph = conf.graph", given=""), tmp_path)[1]
    assert [one.code for one in found] == ["ACC101", "ACC201"]


WITHOUT_WORKERS = {
    "tensors": "from torch.utils.data import TensorDataset\nloader = DataLoader(TensorDataset(torch.zeros(9), torch.ones(9)))",
    "what is not known": "import conf\nloader = DataLoader(conf.data)",
}


@pytest.mark.parametrize("source", WITHOUT_WORKERS.values(), ids=WITHOUT_WORKERS.keys())
def test_silent_where_nothing_pins_beside_the_program(source: str, tmp_path: Path) -> None:
    check(IMPORTS + MODEL + source + LOOP, tmp_path)


def test_silent_where_single_batches_are_looked_at(tmp_path: Path) -> None:
    source = """
shown = DataLoader(photos, batch_size=9, num_workers=1)
def sample():
    x, y = next(iter(shown))
    return model(x.cuda(non_blocking=True))
loader = DataLoader(photos, num_workers=1, pin_memory=True)
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
    assert "num_workers=2, pin_memory=torch.cuda.is_available())" in fixed(PHOTOS + source, tmp_path, "ACC101")


def test_lightning_moves_batches_but_does_not_pin_them(tmp_path: Path) -> None:
    source = """
import lightning as L
class Data(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(photos, num_workers=2)  # -> ACC101 warning unsafe
"""
    check(PHOTOS + source, tmp_path)
