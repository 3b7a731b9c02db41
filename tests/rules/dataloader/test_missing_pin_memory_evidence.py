"""ACC101 where evidence, and no proof, says that pinning would help; silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Confidence

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS, LOOP, MODEL, PHOTOS

HEAD = PHOTOS + MODEL + "import conf\nloader = DataLoader(photos, num_workers=2)\n"
WRAPPED = """
class Masked:
    def __init__(self, x): self.x = x
    def to(self, device): return Masked(self.x.to(device))
    def other(self): return self
def wrap(items): return Masked(torch.stack(items))
def collate(items):
    items = list(zip(*items))
    items[0] = wrap(items[0])
    return tuple(items)
loader = DataLoader(photos, num_workers=2, collate_fn=collate)
"""
PAIRS = {
    "text that is encoded in the loop": Pair(
        IMPORTS
        + MODEL
        + "import conf\nfor texts, y in DataLoader(conf.data):\n    x = conf.encode(texts)\n    step(x.cuda(), 1)",
        "conf.encode(texts)",
        "texts",
    ),
    "tensors that are built again": Pair(
        HEAD + "for x, y in loader:\n    step(torch.from_numpy(x.numpy()).cuda(), 1)",
        "torch.from_numpy(x.numpy())",
        "x",
    ),
    "arrays that are made tensors": Pair(
        HEAD + "for x, y in loader:\n    step(torch.Tensor(x).cuda(), 1)", "torch.Tensor(x)", "x"
    ),
    "a cast, whose result is moved once more": Pair(
        HEAD + "for x, y in loader:\n    x = x.long().cuda()\n    step(x[:, 1:].to(device), 1)",
        "x = x.long().cuda()",
        "x = x[:9]",
    ),
    "a part of what a cast made": Pair(
        HEAD + "for x, y in loader:\n    x = x.long()\n    step(x[:, 1:].cuda(), 1)", "x = x.long()", "x = x[:9]"
    ),
    "a cast": Pair(HEAD + "for x, y in loader:\n    step(x.long().cuda(), 1)", "x.long().cuda()", "x.cuda().long()"),
    "a cast by its type": Pair(
        HEAD + "for x, y in loader:\n    step(x.type(torch.LongTensor).cuda(), 1)", ".type(torch.LongTensor)"
    ),
    "a cast by its dtype": Pair(
        HEAD + "for x, y in loader:\n    step(x.to(torch.int64).cuda(), 1)", ".to(torch.int64)"
    ),
    "no GPU is named": Pair(
        HEAD.replace(".cuda()", "") + "for x, y in loader:\n    step(x.to(conf.device), 1)",
        "conf.device",
        "torch.device('cuda' if conf.gpu else 'cpu')",
    ),
    "graphs in memory": Pair(
        IMPORTS
        + MODEL
        + "import conf\nimport torch_geometric.loader as G\nfor b in G.DataLoader(conf.data): step(b.to('cuda').x, 1)",
        "G.DataLoader(conf.data)",
        "G.DataLoader(conf.data, num_workers=2)",
    ),
    "what a framework moves may be text": Pair(
        IMPORTS
        + "import conf\nimport lightning as L\nclass Data(L.LightningDataModule):\n"
        + "    def train_dataloader(self): return DataLoader(conf.data)\n",
        "DataLoader(conf.data)",
        "DataLoader(conf.data, num_workers=2)",
    ),
    "a class in a batch without pin_memory": Pair(
        HEAD + WRAPPED + "for b, y in loader:\n    step(b.to('cuda').x, y)", "other(self)", "pin_memory(self)"
    ),
    "graphs of DGL": Pair(
        HEAD
        + "import dgl\ndef collate(items): return dgl.batch(items), 1\n"
        + "loader = DataLoader(photos, num_workers=2, collate_fn=collate)\nfor g, y in loader:\n    step(g.to('cuda'), y)",
        "dgl.batch",
        "conf.batch",
    ),
    "a look at one batch": Pair(
        HEAD + "x, y = next(iter(DataLoader(photos, num_workers=2)))\nstep(x.cuda(), 1)",
        "x, y = next(iter(DataLoader(photos, num_workers=2)))\n",
        "for x, y in loader: ",
    ),
    "pinned by hand": Pair(
        HEAD + "for x, y in loader:\n    step(x.pin_memory().cuda(non_blocking=True), 1)", ".pin_memory()"
    ),
    "an engine of MONAI on the host": Pair(
        HEAD
        + "from monai.engines import SupervisedTrainer\nSupervisedTrainer(torch.device('cpu'), 9, loader, model).run()",
        "torch.device('cpu')",
        "torch.device('cuda')",
    ),
    "its workers are not known": Pair(
        IMPORTS + MODEL + "import conf\nloader = DataLoader(conf.data, **conf.kw)" + LOOP, ", **conf.kw"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC101", PAIRS[case], tmp_path)


def test_a_data_set_that_is_not_known(tmp_path: Path) -> None:
    source = "import conf\nloader = DataLoader(conf.data)  # -> info unsafe"
    check_one("ACC101", IMPORTS + MODEL + source + LOOP, tmp_path)


def test_a_device_that_is_not_known(tmp_path: Path) -> None:
    source = """
import conf
loader = DataLoader(photos, num_workers=2)  # -> info unsafe
for x, y in loader:
    step(x.to(conf.device), y)
"""
    found = check_one("ACC101", PHOTOS + MODEL + source, tmp_path)
    assert found[0].confidence is Confidence.EVIDENT
    assert "blocks, assuming that the device is a GPU; pass" in found[0].message


def test_without_pinning_an_asynchronous_copy_waits_all_the_same(tmp_path: Path) -> None:
    line = "loader = DataLoader(photos, num_workers=2, pin_memory=False)  # -> info none"
    found = check_one("ACC101", PHOTOS + MODEL + line + LOOP, tmp_path)
    assert "from pageable memory and waits for it all the same; unless that is on purpose" in found[0].message


OPTION = "import argparse\nq = argparse.ArgumentParser()\nq.add_argument('--pin', {})\nargs = q.parse_args()\n"
SETTINGS = "settings = conf.load()\n"
COPIES = "for x, y in loader:\n    step(x.cuda(non_blocking=True), 1)\n"
OFF = {
    "an option": (OPTION.format("action='store_true'"), "args.pin", OPTION.format("action='store_false'"), "args.pin"),
    "settings": (SETTINGS, "settings.get('pin', False)", SETTINGS, "settings.get('pin', True)"),
    "settings in a file": (
        "import json\nsettings = json.load(open('a.json'))\n",
        "settings.get('pin', False)",
        "import json\nsettings = json.load(open('a.json'))\n",
        "settings.get('pin')",
    ),
}


@pytest.mark.parametrize("case", OFF)
def test_reports_a_setting_that_is_off_by_default(case: str, tmp_path: Path) -> None:
    before, off, other, on = OFF[case]
    made = "loader = DataLoader(photos, num_workers=2, pin_memory={})"
    (found,) = check_one("ACC101", f"{HEAD}{before}{made.format(off)}  # -> info none\n{COPIES}", tmp_path)
    assert found.minor == (case == "an option")
    check_one("ACC101", f"{HEAD}{other}{made.format(on)}\n{COPIES}", tmp_path)


BRANCHES = """
def make(train, settings):
    if train:
        given = dict(num_workers=4, shuffle=True)
    else:
        given = dict(num_workers=2)
    given["pin_memory"] = {}
    return DataLoader(photos, **given)
loader = make(conf.train, conf.load())
"""


@pytest.mark.parametrize(("given", "count"), [("settings.get('pin', False)", 1), ("True", 0), ("conf.pin", 0)])
def test_an_entry_of_a_dict_that_branches_made_is_read_through_its_name(given: str, count: int, tmp_path: Path) -> None:
    assert len(findings_of("ACC101", HEAD + BRANCHES.format(given) + COPIES, tmp_path)) == count


BESIDE = (
    HEAD
    + """
def train():
    for {names} in loader:
        step(conf.again({first}), {labels}.cuda())
train()
"""
)


@pytest.mark.parametrize(
    ("names", "first", "labels", "minor"),
    [
        ("x, y", "x", "y", True),
        ("_, y", "y", "y", False),
        ("index, x", "x", "x", False),
        ("index, x", "index", "x", True),
    ],
)
def test_labels_alone_are_little_and_samples_behind_what_nothing_reads_are_not(
    names: str, first: str, labels: str, minor: bool, tmp_path: Path
) -> None:
    (found,) = findings_of("ACC101", BESIDE.format(names=names, first=first, labels=labels), tmp_path)
    assert found.minor is minor
