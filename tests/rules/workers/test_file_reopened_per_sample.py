"""ACC128 file-reopened-per-sample, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of

SOURCE = """
import functools, h5py, lmdb, os, sqlite3, zipfile
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Pictures(Dataset):
    def __init__(self, path, files):
        self.path, self.files, self.file, self.cache = path, files, None, {}
    def __len__(self):
        return 64
    def read(self, path, index):
        with h5py.File(path, "r") as file:
            return torch.from_numpy(file["pictures"][index])
    def __getitem__(self, index):
        return self.read(self.path, index)

loader = DataLoader(Pictures("pictures.h5", []), batch_size=16, num_workers=4)
model = nn.Linear(8, 2)
for x in loader:
    model(x).sum().backward()
"""
READ = """        with h5py.File(path, "r") as file:
            return torch.from_numpy(file["pictures"][index])
"""
OPENED = """        file = h5py.File(path, "r")
        return torch.from_numpy(file["pictures"][index])
"""
TAKEN = '        return h5py.File(path, "r")["pictures"][index]\n'
OPENED_ONCE = SOURCE.replace(
    READ, "        if self.file is None:\n            self.file = self.load(path)\n        return self.file[index]\n"
).replace(
    "    def __len__",
    """    def load(self, path):
        with h5py.File(path, "r") as file:
            return file["x"][()]
    def __len__""",
)
PAIRS = {
    "a file for each sample": Pair(
        SOURCE.replace("self.read(self.path", "self.read(self.files[index]"), "self.files[index]", "self.path"
    ),
    "a file for each sample, named by its index": Pair(
        SOURCE.replace("self.read(self.path", 'self.read(f"{index}.h5"'), '(f"{index}.h5"', '("all.h5"'
    ),
    "a file for each sample, named before": Pair(
        SOURCE.replace("return self.read(self.path", "path = self.files[index]\n        return self.read(path"),
        "path = self.files[index]\n",
        "path = os.path.join(self.path, 'all.h5')\n",
    ),
    "every file": Pair(
        SOURCE.replace("return self.read(self.path, index)", "return [self.read(one, index) for one in self.files]"),
        "self.read(one, index)",
        "self.read(self.path, index)",
    ),
    "one caller has another file for each sample": Pair(
        SOURCE.replace("index)\n\nloader", "index) + self.read(self.files[index], 0)\n\nloader"),
        "self.files[index]",
        "self.path",
    ),
    "another file before each sample": Pair(
        SOURCE.replace("path, index):", "index):")
        .replace("File(path", "File(self.path")
        .replace("self.read(self.path, index)", "self.read(index)")
        .replace("        with h5", '        self.path = f"{index}.h5"\n        with h5'),
        '        self.path = f"{index}.h5"\n',
    ),
    "an attribute keeps it": Pair(
        SOURCE.replace(READ, OPENED.replace("file = ", "self.file = file = ")), "self.file = file = ", "file = "
    ),
    "an attribute keeps what was opened": Pair(
        SOURCE.replace(READ, OPENED.replace("        return", "        self.file = file\n        return")),
        "        self.file = file\n",
    ),
    "a dict keeps it": Pair(
        SOURCE.replace(
            READ, OPENED.replace("        return", "        self.files.setdefault(0, file)\n        return")
        ),
        "        self.files.setdefault(0, file)\n",
    ),
    "it is opened once": Pair(OPENED_ONCE, "if self.file is None", "if len(self.files) == 0"),
    "it is opened once, as a truth says": Pair(
        OPENED_ONCE.replace("if self.file is None", "if not self.file"), "if not self.file", "if not self.files[0]"
    ),
    "it is opened once, as an attribute says that is there": Pair(
        OPENED_ONCE.replace("if self.file is None", 'if not hasattr(self, "kept")'),
        'if not hasattr(self, "kept")',
        'if not print(self, "kept")',
    ),
    "what was read is kept": Pair(
        SOURCE.replace(
            "return self.read(self", "if index in self.cache:\n            return 1\n        return self.read(self"
        ),
        "if index in self.cache",
        "if index == 3",
    ),
    "the branch for what is not kept yet": Pair(
        SOURCE.replace(
            "return self.read(self",
            "if index in self.files:\n            return 1\n        else:\n            return self.read(self",
        ),
        "if index in self.files",
        "if self.keep and index in self.files",
    ),
    "a cache keeps what a function returns": Pair(
        SOURCE.replace("    def read", "    @functools.lru_cache\n    def read"), "    @functools.lru_cache\n"
    ),
    "the open file is returned": Pair(
        SOURCE.replace(READ, TAKEN.replace('["pictures"][index]', "")), '"r")\n', '"r")["pictures"][index]\n'
    ),
    "opened as an option says": Pair(SOURCE.replace('"r"', "self.mode"), "self.mode", '"r"'),
    "written": Pair(SOURCE.replace('"r"', '"r+"'), '"r+"', '"r"'),
    "opened where the data set is made": Pair(
        SOURCE.replace(
            "self.cache = path, files, None, {}", "self.cache = path, files, self.read(path, 0), {}"
        ).replace("return self.read(self.path, index)", "return self.file"),
        "return self.file\n",
        "return self.read(self.path, index)\n",
    ),
    "no loader and no training": Pair(
        SOURCE.partition("loader =")[0],
        "        return self.read(self.path, index)\n",
        "        return self.read(self.path, index)\nloader = DataLoader(Pictures('x.h5', []))\nfor x in loader: pass\n",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC128", PAIRS[case], tmp_path)


@pytest.mark.parametrize("body", [READ, OPENED, TAKEN])
def test_reported_however_it_is_read(body: str, tmp_path: Path) -> None:
    marked = body.replace("\n", "  # -> info none\n", 1)
    check_one("ACC128", SOURCE.replace(READ, marked), tmp_path)


@pytest.mark.parametrize(
    ("opening", "cost"),
    [
        ('zipfile.ZipFile(path).open("x")', "reads the list of all that the archive holds again"),
        ("lmdb.open(path, 9, readonly=True).begin()", "maps it into memory again"),
        ("sqlite3.connect(path).cursor()", "reads its schema again"),
    ],
)
def test_says_what_opening_does(opening: str, cost: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC128", SOURCE.replace(READ, f"        return {opening}\n"), tmp_path)
    assert cost in found.message


def test_openings_of_one_file_are_one_remark(tmp_path: Path) -> None:
    twice = SOURCE.replace("    def __getitem__", f"    def label(self, path, index):\n{READ}    def __getitem__")
    found = findings_of("ACC128", twice.replace("index)\n\nl", "index), self.label(self.path, 0)\n\nl"), tmp_path)
    assert len(found) == 2
    assert len({one.group for one in found}) == 1
