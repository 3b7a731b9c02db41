"""Findings in files that cannot be loaded, since a module of the project is missing, are minor: not where it may be
elsewhere, or may come to be there."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import pytest

from accel_advisor.configurations import Configurations
from accel_advisor.linting.cache import Caches
from accel_advisor.linting.linter import lint
from accel_advisor.project.discovery import Found
from tests.analysis.test_unused_code import HEAD, found_in, make

STEP = (
    "model = torch.nn.Linear(3, 3).cuda()\n"
    "for x in DataLoader(range(9)):\n"
    "    model(x.cuda() + torch.zeros(3).cuda()).sum().backward()\n"
)
FILES = {
    "nets/__init__.py": "",
    "nets/small.py": "import torch\n",
    "train.py": HEAD + "from nets.large import Large\n" + STEP,
}
SPREAD = {name: text for name, text in FILES.items() if name != "nets/__init__.py"}
"""The folder is no package by itself."""


def _importing(line: str, **others: str) -> dict[str, str]:
    named = {name.replace("__", "/", 1) + ".py": text for name, text in others.items()}
    return FILES | {"train.py": FILES["train.py"].replace("from nets.large import Large\n", line)} | named


MISSING = {
    "a module of a package": FILES,
    "a package of a package": _importing("import nets.deep.large\n"),
    "in a file that is imported": _importing(
        "from nets.small import Small\nprint(Small)\n", nets__small="from .large import Large\nSmall = 3\n"
    ),
    "in a file beside it that is imported": _importing(
        "from heads import Head\nprint(Head)\n", heads="from nets.large import Large\nHead = 3\n"
    ),
    "in the beginning of a package": _importing(
        "from nets.small import Small\n", nets____init__="from nets.large import Large\n"
    ),
    "a module of a folder of which the file imports more": SPREAD
    | {"train.py": FILES["train.py"].replace("from nets", "from nets.small import torch\nfrom nets", 1)},
    "in a file that looks for its own elsewhere, for one that is imported": _importing(
        "import sys\nsys.path.append(sys.argv[1])\nfrom nets.small import Small\nprint(Small)\n",
        nets__small="from nets.large import Large\nSmall = 3\n",
    ),
}


@pytest.mark.parametrize("case", MISSING)
def test_minor_where_the_file_cannot_be_loaded(case: str, tmp_path: Path) -> None:
    assert all(one.minor for one in found_in(tmp_path, MISSING[case], "train.py"))


THERE = {
    "a module that is there": _importing("from nets.small import torch\n"),
    "a module that another one replaces": _importing(
        "try:\n    from nets.large import Large\nexcept ImportError:\n    Large = None\n"
    ),
    "a module that a function imports": _importing("def build():\n    from nets.large import Large\n"),
    "a file beside it, or a library": _importing("import heads\n"),
    "a module of a library": _importing("from networks.large import Large\n"),
    "a folder that gives way to a library": SPREAD,
    "a module that may lie elsewhere": _importing("import sys\nsys.path.append('..')\nfrom nets.large import Large\n"),
    "a module that a build writes": _importing("from nets.layers_pb2 import Large\n"),
    "a module that is compiled": FILES | {"nets/large.pyx": ""},
    "a module that the package makes": FILES | {"nets/__init__.py": "import sys\nsys.modules['nets.large'] = sys\n"},
}


@pytest.mark.parametrize("case", THERE)
def test_as_ever_where_it_may_be_loaded(case: str, tmp_path: Path) -> None:
    assert not all(one.minor for one in found_in(tmp_path, THERE[case], "train.py"))


def test_as_ever_where_a_folder_is_to_be_filled(tmp_path: Path) -> None:
    """As git does where a submodule is asked for."""
    (tmp_path / "nets" / "other").mkdir(parents=True)
    files = _importing("from nets.other.large import Large\n")
    assert not all(one.minor for one in found_in(tmp_path, files, "train.py"))


def test_modules_that_import_each_other_are_no_missing_ones(tmp_path: Path) -> None:
    files = _importing(
        "from nets.small import Small\n", nets__small="import nets.wide\n", nets__wide="import nets.small\n"
    )
    assert not all(one.minor for one in found_in(tmp_path, files, "train.py"))


@pytest.mark.parametrize("name", ["nets/large.py", "nets/large/__init__.py"])
def test_a_module_that_comes_to_be_there_is_looked_for_again(name: str, tmp_path: Path) -> None:
    make(tmp_path, FILES)
    with chdir(tmp_path):
        answers = []
        for _ in range(2):
            memory = Caches()
            found = lint([Found("train.py", named=True)], Configurations(), memory=memory).findings
            memory.save()
            answers.append(all(one.minor for one in found))
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).touch()
    assert answers == [True, False]
