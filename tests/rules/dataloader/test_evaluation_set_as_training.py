"""ACC129 evaluation-set-as-training, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

SOURCE = (
    IMPORTS
    + """
import h5py
from torchvision.utils import save_image
class Features(Dataset):
    def __init__(self, path):
        self.path, self.file = path, None
    def __len__(self):
        return 1000
    def __getitem__(self, index):
        if self.file is None:
            self.file = h5py.File(self.path, "r")
        return self.file["features"][index], self.file["labels"][index]
data = Features("features.h5")
val_loader = DataLoader(data, batch_size=32, shuffle=True, drop_last=True)
other = DataLoader(data, batch_size=32)
model = nn.Linear(8, 2).cuda()
def validate(loader):
    correct = 0
    with torch.no_grad():
        for x, y in loader:
            found = model(x.cuda()).argmax(1).cpu()
            correct += (found == y).sum()
    return correct
validate(val_loader)
"""
)
SHUFFLED = SOURCE.replace(", drop_last=True", "")
DROPPED = SOURCE.replace(", shuffle=True", "")
PAIRS = {
    "neither": Pair(SHUFFLED.replace("shuffle=True", "shuffle=False"), "shuffle=False", "shuffle=True"),
    "a file for each sample": Pair(
        SHUFFLED.replace("h5py.File", "torch.load").replace(', "r")', ")"), "torch.load", "h5py.File"
    ),
    "samples in memory may come in any order": Pair(
        SHUFFLED.replace('Features("features.h5")', "TensorDataset(torch.zeros(65, 8), torch.zeros(65))"),
        "TensorDataset(torch.zeros(65, 8), torch.zeros(65))",
        'Features("features.h5")',
    ),
    "an option decides": Pair(
        SHUFFLED.replace("shuffle=True", "shuffle=conf.shuffle").replace("import save", "import conf, save"),
        "shuffle=conf.shuffle",
        "shuffle=True",
    ),
    "a training takes it, too": Pair(
        SOURCE + "for x, y in val_loader:\n    model(x.cuda()).sum().backward()\n",
        "x, y in val_loader",
        "x, y in other",
    ),
    "the loop learns": Pair(
        SOURCE.replace("correct += ", "model(x.cuda()).sum().backward()\n            correct += "),
        "model(x.cuda()).sum().backward()",
        "model(x.cuda()).sum()",
    ),
    "some batches only": Pair(
        SOURCE.replace("correct += ", "if len(y) == 3: break\n            correct += "), "break", "pass"
    ),
    "another loop takes the first batches": Pair(
        SOURCE + "for x, y in val_loader:\n    model.eval()(x.cuda())\n    break\n", "    break\n"
    ),
    "a batch that is looked at": Pair(
        SOURCE + "x, y = next(iter(val_loader))\nprint(x.shape)\n", "next(iter(val_loader))", "next(iter(other))"
    ),
    "pictures are shown": Pair(
        SHUFFLED.replace("correct += ", "save_image(x, 'x.png')\n            correct += "), "save_image", "print"
    ),
    "no model": Pair(
        SOURCE.replace("model(x.cuda()).argmax(1).cpu()", "x.argmax(1)"), "x.argmax(1)", "model(x).argmax(1)"
    ),
    "nothing says that it evaluates": Pair(
        SOURCE.replace("validate", "go").replace("val_loader", "batches"), "go(", "test("
    ),
    "single samples are never left out": Pair(DROPPED.replace("=32", "=1"), "=1", "=32"),
    "nothing remains for the last batch": Pair(
        DROPPED.replace('Features("features.h5")', "TensorDataset(torch.zeros(64, 8), torch.zeros(64))"),
        "torch.zeros(64, 8), torch.zeros(64)",
        "torch.zeros(65, 8), torch.zeros(65)",
    ),
    "batches of one size": Pair(
        DROPPED.replace("found = m", "state = torch.zeros(batch_size, 8)\n            found = m"),
        "batch_size, 8",
        "7, 8",
    ),
    "the loader of a training": Pair(
        "import lightning as L\n"
        + SOURCE.partition("val_loader =")[0]
        + "class Data(L.LightningDataModule):\n    def train_dataloader(self):\n"
        "        return DataLoader(data, batch_size=32, shuffle=True, drop_last=True)\n",
        "train_dataloader",
        "val_dataloader",
    ),
}


LEARNED = """
def features(loader):
    found = []
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            found.extend(model(x.cuda()).cpu().numpy())
    return np.array(found), len(found)
def loaders_of(found):
    data = TensorDataset(torch.from_numpy(found), torch.zeros(len(found)))
    return DataLoader(data, batch_size=32)
found, count = features(val_loader)
head = nn.Linear(2, 2).cuda()
optimizer = torch.optim.SGD(head.parameters(), 0.1)
for x, y in loaders_of(found):
    optimizer.zero_grad()
    head(x.cuda()).sum().backward()
    optimizer.step()
"""


def test_silent_where_a_training_learns_from_what_a_model_makes_of_the_batches(tmp_path: Path) -> None:
    source = "import numpy as np\n" + SOURCE.partition("def validate")[0] + LEARNED
    check_pair("ACC129", Pair(source, "in loaders_of(found)", "in loaders_of(np.zeros((64, 2)))"), tmp_path)


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC129", PAIRS[case], tmp_path)


def test_reported_at_the_loader(tmp_path: Path) -> None:
    marked = SOURCE.replace("drop_last=True)", "drop_last=True)  # -> info none")
    (found,) = check_one("ACC129", marked, tmp_path)
    (related,) = found.related
    assert SOURCE.splitlines()[related.span.start.row - 1].strip() == "for x, y in loader:"


@pytest.mark.parametrize(
    ("source", "flags", "costs"),
    [
        (
            SOURCE,
            "`shuffle=True` and `drop_last=True`",
            "random order for nothing and never evaluates those of the last",
        ),
        (SHUFFLED, "`shuffle=True`,", "reads its samples in random order for nothing; leave it"),
        (DROPPED, "`drop_last=True`,", "never evaluates those of the last batch; leave it"),
    ],
)
def test_says_which_flags(source: str, flags: str, costs: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC129", source, tmp_path)
    assert flags in found.message
    assert costs in found.message


def test_one_of_the_flags_may_have_a_reason(tmp_path: Path) -> None:
    shown = SOURCE.replace("correct += ", "save_image(x, 'x.png')\n            correct += ")
    sized = SOURCE.replace("found = m", "state = torch.zeros(batch_size, 8)\n            found = m")
    assert "`drop_last=True`, although" in findings_of("ACC129", shown, tmp_path)[0].message
    assert "`shuffle=True`, although" in findings_of("ACC129", sized, tmp_path)[0].message
