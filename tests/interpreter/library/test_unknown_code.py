"""Functions and classes that a program chooses by a text, as the rule about pinned batches (ACC101) sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ...rules.checks import check_one, findings_of

HEAD = """
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import ToTensor
photos = ImageFolder("photos", transform=ToTensor())
"""
LOOP = """
model = nn.Linear(8, 2).cuda()
for images, labels in batches:
    model(images.cuda(non_blocking=True)).sum().backward()
"""
MADE_BY_CLASS = """
class Photos(DataLoader):
    def __init__(self, size, workers):
        super().__init__(photos, batch_size=size, num_workers=workers)  # -> info unsafe
"""
MADE_BY_FUNCTION = """
def make_photos(size, workers):
    return DataLoader(photos, batch_size=size, num_workers=workers)  # -> info unsafe
"""
BY_MODULE = HEAD + "import json, made\nsettings = json.load(open('settings.json'))\nbatches = "
WAYS = {
    "an attribute of a module": "getattr(made, settings['loader'])(**settings['arguments'])",
    "the names of a module": "made.__dict__[settings['loader']](8, 4)",
    "the same, asked for": "vars(made)[settings['loader']](8, 4)",
    "a module that is imported by its name": "getattr(__import__('made'), settings['loader'])(8, workers=4)",
}


@pytest.mark.parametrize("made", [MADE_BY_CLASS, MADE_BY_FUNCTION])
@pytest.mark.parametrize("way", WAYS)
def test_what_a_module_defines_is_what_a_name_may_stand_for(tmp_path: Path, way: str, made: str) -> None:
    others = {"made.py": (HEAD + made).replace("# -> info unsafe", "")}
    used = BY_MODULE + WAYS[way] + "\n" + LOOP.replace("non_blocking=True", "")
    found = findings_of("ACC201", used, tmp_path, others)
    assert ["the program chooses among its own" in one.message for one in found] == [True]
    imported = {
        "made.py": "from inner import Photos, make_photos\n",
        "inner.py": HEAD + MADE_BY_CLASS + MADE_BY_FUNCTION,
    }
    assert not findings_of("ACC201", used, tmp_path, imported)


def test_a_package_offers_what_it_takes_from_its_own_modules(tmp_path: Path) -> None:
    used = BY_MODULE.replace("json, made", "json, pkg as made") + WAYS["an attribute of a module"] + LOOP
    used = used.replace("non_blocking=True", "")
    for line in ("from .photos import Photos\n", "from .photos import *\n"):
        others = {"pkg/__init__.py": line, "pkg/photos.py": HEAD + MADE_BY_CLASS}
        assert len(findings_of("ACC201", used, tmp_path, others)) == 1


@pytest.mark.parametrize("module", ["globals()[sys.argv[1]]", "getattr(sys.modules[__name__], sys.argv[1])"])
def test_a_script_may_mean_itself(tmp_path: Path, module: str) -> None:
    check_one("ACC101", f"{HEAD}{MADE_BY_CLASS}batches = {module}(8, 4)\n{LOOP}", tmp_path)
    silent = MADE_BY_CLASS.replace("  # -> info unsafe", "").replace("size, workers", "size, workers, extra")
    check_one("ACC101", f"{HEAD}{silent}batches = {module}(8, 4)\n{LOOP}", tmp_path)


def test_an_entry_of_a_dict_may_be_any_of_them(tmp_path: Path) -> None:
    made = MADE_BY_CLASS + MADE_BY_FUNCTION + "\nmakers = {'class': Photos, 'function': make_photos}\n"
    for entry in ("makers[sys.argv[1]]", "makers.get(sys.argv[1])"):
        check_one("ACC101", f"{HEAD}{made}batches = {entry}(8, 4)\n{LOOP}", tmp_path)


def test_too_many_to_choose_from_are_not_followed(tmp_path: Path) -> None:
    made = MADE_BY_FUNCTION.replace("  # -> info unsafe", "")
    many = "".join(f"def other{number}(size, workers): return None\n" for number in range(40))
    check_one("ACC101", f"{HEAD}{made}{many}batches = globals()[sys.argv[1]](8, 4)\n{LOOP}", tmp_path)
    check_one("ACC101", f"{HEAD}{MADE_BY_FUNCTION}batches = globals()[sys.argv[1]](8, 4)\n{LOOP}", tmp_path)


def test_a_loader_of_the_project_keeps_its_methods(tmp_path: Path) -> None:
    made = """
class Photos(DataLoader):
    def __init__(self, size):
        self.settings = dict(dataset=photos, batch_size=size, num_workers=4)
        super().__init__(**self.settings)
    def tests(self):
        return DataLoader(**self.settings)  # -> warning
"""
    check_one("ACC101", f"{HEAD}{made}batches = Photos(8).tests()\n{LOOP}", tmp_path)
    silent = made.replace("num_workers=4", "num_workers=4, pin_memory=True").replace("  # -> warning", "")
    check_one("ACC101", f"{HEAD}{silent}batches = Photos(8).tests()\n{LOOP}", tmp_path)


PACKAGE = {
    "zoo/__init__.py": "",
    "zoo/photos_data.py": HEAD + MADE_BY_CLASS,
    "zoo/photos_tools.py": "def show(size, workers):\n    return None\n",
}
PICK = "import importlib, os\ndef pick(name, kind):\n{}    return found(8, 4)\nbatches = pick(*sys.argv[1:])\n"
OUT_OF_MODULE = "    found = getattr(module, kind)\n"
OUT_OF_ALL = (
    "    for module in modules:\n        found = getattr(module, kind, None)\n        if found is not None:\n"
    "            break\n"
)
BY_TEXT = {
    "an f-string": "    module = importlib.import_module(f'zoo.{name}_data')\n" + OUT_OF_MODULE,
    "a sum": "    file = 'zoo.' + name + '_data'\n    module = importlib.import_module(file)\n" + OUT_OF_MODULE,
    "a format": "    module = importlib.import_module('zoo.{}_data'.format(name))\n" + OUT_OF_MODULE,
    "an old format": "    module = importlib.import_module('zoo.%s_data' % name)\n" + OUT_OF_MODULE,
    "a name within a package": "    module = importlib.import_module('.' + name, 'zoo')\n" + OUT_OF_MODULE,
    "all that it holds": "    module = importlib.import_module('zoo.' + name)\n    found = None\n"
    "    for key, value in module.__dict__.items():\n        if key.lower() == kind:\n            found = value\n",
    "the modules of a folder": "    modules = [importlib.import_module(f'zoo.{one}') for one in os.listdir('zoo')]\n"
    + OUT_OF_ALL,
}


@pytest.mark.parametrize("way", BY_TEXT)
def test_a_part_of_a_name_says_which_modules_are_meant(tmp_path: Path, way: str) -> None:
    source = HEAD + PICK.format(BY_TEXT[way]) + LOOP.replace("non_blocking=True", "")
    assert len(findings_of("ACC201", source, tmp_path, PACKAGE)) == 1
    assert not findings_of("ACC201", source.replace("zoo", "farm"), tmp_path, PACKAGE)


@pytest.mark.parametrize(("name", "count"), [("__name__", 1), ("__package__", 1), ("sys.argv[2]", 0)])
def test_a_package_imports_its_own_modules_by_name(tmp_path: Path, name: str, count: int) -> None:
    package = (
        "import importlib, sys\ndef pick(name, kind):\n"
        + f"    module = importlib.import_module(f'{{{name}}}.{{name}}')\n"
    )
    others = PACKAGE | {"zoo/__init__.py": package + OUT_OF_MODULE + "    return found(8, 4)\n"}
    source = HEAD + "import zoo\nbatches = zoo.pick(*sys.argv[1:])\n" + LOOP.replace("non_blocking=True", "")
    assert len(findings_of("ACC201", source, tmp_path, others)) == count
