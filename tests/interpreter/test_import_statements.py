"""Which module or name of the project an import means."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.finding import Confidence
from accel_advisor.source.document import Document

from ..rules.checks import check_one, findings_of
from ..rules.programs import PHOTOS


def test_a_name_that_two_modules_import_from_each_other(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("import torch\ntry:\n    from two import thing\nexcept ImportError:\n    pass\n")
    (tmp_path / "two.py").write_text("import torch\nfrom one import thing\nthing()\n")
    path = tmp_path / "train.py"
    path.write_text("import torch\nfrom two import thing\nthing()\ntorch.cuda.synchronize()\n")
    analysis = analyze([Document.read(path)], tmp_path)
    assert not analysis.failures
    assert [one.what.full for one in analysis.facts[str(path)].operations] == ["torch.cuda.synchronize"]


LOADING = PHOTOS + "\ndef make_loader(): return DataLoader(photos, num_workers=2, pin_memory=True)\n"
TRAINING = """
import torch
IMPORT
model = torch.nn.Linear(8, 2).cuda()
for x, y in MAKE():
    model(x.cuda()).sum().backward()  # -> warning safe
"""
SPELLINGS = {
    "a module of a package": ("from data import loading", "loading.make_loader", {"data/__init__.py": ""}),
    "a module that its package imports": (
        "import data",
        "data.loading.make_loader",
        {"data/__init__.py": "from . import loading\n"},
    ),
    "a module of a package under a full name": (
        "import data.loading",
        "data.loading.make_loader",
        {"data/__init__.py": "version = '1'\n"},
    ),
    "a module beside star imports of a library": (
        "from data import loading",
        "loading.make_loader",
        {"data/__init__.py": "from numpy import *\n"},
    ),
    "a module of a folder that is no package": ("from data import loading", "loading.make_loader", {}),
    "a full name through a folder that is no package": ("import data.loading", "data.loading.make_loader", {}),
    "a module in a folder in a folder": (
        "import lib.data.loading",
        "lib.data.loading.make_loader",
        {"lib/data/loading.py": LOADING},
    ),
    "a star import of a package that imports one": (
        "from data import *",
        "make_loader",
        {"data/__init__.py": "from .loading import *\n"},
    ),
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_follows_every_spelling_of_an_import(spelling: tuple[str, str, dict[str, str]], tmp_path: Path) -> None:
    statement, name, others = spelling
    source = TRAINING.replace("IMPORT", statement).replace("MAKE", name)
    check_one("ACC201", source, tmp_path, {"data/loading.py": LOADING, **others})


def test_a_name_that_a_package_binds_is_no_module_of_it(tmp_path: Path) -> None:
    source = TRAINING.replace("IMPORT", "from data import loading").replace("MAKE", "loading.make_loader")
    others = {"data/loading.py": LOADING, "data/__init__.py": "import conf\nloading = conf.pick()\n"}
    check_one("ACC201", source.replace("# -> warning safe", "# -> info"), tmp_path, others)


def test_a_module_that_is_no_package_has_no_modules_in_it(tmp_path: Path) -> None:
    source = TRAINING.replace("IMPORT", "import tool").replace("MAKE", "tool.loading.make_loader")
    others = {"loading.py": LOADING, "tool.py": "import torch\n"}
    check_one("ACC201", source.replace("# -> warning safe", "# -> info"), tmp_path, others)


MADE_OF_A_BASE = """
from torch.utils.data import DataLoader, TensorDataset
from data import Base
class KIND(Base):
    pass
"""
BASE = """
import torch
from torch.utils.data import DataLoader, TensorDataset
class Base:
    def make(self):
        return DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), pin_memory=True)
"""


@pytest.mark.parametrize("first", ["from .base import *\n", "from .base import Base\n"])
def test_follows_what_modules_of_a_package_import_from_it(first: str, tmp_path: Path) -> None:
    source = TRAINING.replace("IMPORT", "from data import A, B, C").replace("MAKE", "B().make")
    stars = "".join(f"from .{name} import *\n" for name in "abc")
    kinds = {f"data/{name}.py": MADE_OF_A_BASE.replace("KIND", name.upper()) for name in "abc"}
    others = {"data/__init__.py": first + stars, "data/base.py": BASE, **kinds}
    check_one("ACC201", source, tmp_path, others)


def test_a_name_that_each_of_two_branches_imports(tmp_path: Path) -> None:
    first, second = (f"    from {module} import make_loader\n" for module in ("first", "second"))
    either = f"import sys\nif len(sys.argv) > 1:\n{first}else:\n{second}"
    source = TRAINING.replace("IMPORT", either).replace("MAKE", "make_loader")
    check_one("ACC201", source, tmp_path, {"first.py": LOADING, "second.py": LOADING})
    unpinned = {"first.py": LOADING, "second.py": LOADING.replace("pin_memory=True", "pin_memory=False")}
    (tmp_path / "mixed").mkdir()
    check_one("ACC201", source.replace("# -> warning safe", "# -> info safe"), tmp_path / "mixed", unpinned)


OLDER_PYTHON = (
    PHOTOS
    + """
model = nn.Linear(8, 2).cuda()
pinned = DataLoader(photos, num_workers=2, pin_memory=True)
IMPORT
LOOP
    model(x.cuda()).sum().backward()
"""
)
OLDER_NAMES = {
    "zip": ("from itertools import izip", "for (x, _), number in izip(pinned, count):"),
    "zip, if it is there": (
        "try:\n    from itertools import izip as zip\nexcept ImportError:\n    pass",
        "for (x, _), number in zip(pinned, count):",
    ),
    "zip of six": ("from six.moves import zip", "for (x, _), number in zip(pinned, count):"),
}


@pytest.mark.parametrize("case", OLDER_NAMES)
def test_what_python_2_called_otherwise_is_known(case: str, tmp_path: Path) -> None:
    imported, loop = OLDER_NAMES[case]
    source = OLDER_PYTHON.replace("IMPORT", imported).replace("LOOP", loop)
    (found,) = findings_of("ACC201", source, tmp_path)
    assert found.confidence is Confidence.PROVEN
    unknown = source.replace("itertools", "elsewhere").replace("six.moves", "elsewhere")
    assert all(one.confidence is Confidence.EVIDENT for one in findings_of("ACC201", unknown, tmp_path))


@pytest.mark.parametrize(("counted", "says"), [("xrange(9)", True), ("range(9)", True), ("ranges(9)", False)])
def test_the_range_of_python_2_counts(counted: str, says: bool, tmp_path: Path) -> None:
    source = PHOTOS + f"loader = DataLoader(photos, num_workers=2)\nfor pass_ in {counted}:\n    for x, _ in loader:\n"
    source += "        model(x).sum().backward()\n"
    assert bool(findings_of("ACC106", source, tmp_path)) is says
