"""Findings in what nothing in a program uses are minor: not where something may use it, though no name says so."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import pytest

from accel_advisor.configurations import Configurations
from accel_advisor.finding import Finding
from accel_advisor.linting.cache import Caches
from accel_advisor.linting.linter import lint
from accel_advisor.project.discovery import Found

HEAD = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader\n"
LAYERS = HEAD + (
    "class Used(nn.Module):\n    def forward(self, x):\n        return x\n"
    "class Left(nn.Module):\n    def forward(self, x):\n        return x + torch.zeros(3).cuda()\n"
)
TRAIN = HEAD + (
    "import layers\nmodel = layers.Used().cuda()\n"
    "for x in DataLoader(range(9)):\n    model(x.cuda()).sum().backward()\n"
)
FILES = {"layers.py": LAYERS, "train.py": TRAIN}
METHOD = {
    "trainer.py": HEAD
    + "class Trainer:\n    def run(self, model):\n        pass\n    def probe(self, model):\n"
    + "        for x in DataLoader(range(9), num_workers=2):\n            model(x.cuda()).sum().backward()\n",
    "train.py": "import torch\nfrom trainer import Trainer\nTrainer().run(torch.nn.Linear(3, 3).cuda())\n",
}
PACKAGE = {"run.py": "print(1)\n", "parts/__init__.py": "", "parts/left.py": LAYERS}
"""A file of a package that nothing imports, beside a script."""


def make(root: Path, files: dict[str, str]) -> None:
    (root / ".git").mkdir(parents=True)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def found_in(root: Path, files: dict[str, str], name: str) -> list[Finding]:
    """What is found in a file, the same whether it is named alone or with all others."""
    make(root, files)
    with chdir(root):
        names = [one for one in files if one.endswith(".py") and one != "setup.py"]
        alone, together, kept = (
            list(lint([Found(one, named=True) for one in asked], Configurations(), memory=memory).findings)
            for asked, memory in (([name], None), (names, None), (names, Caches()))
        )
    found = [one for one in alone if one.filename == name]
    assert found
    assert [one for one in together if one.filename == name] == found
    assert [one for one in kept if one.filename == name] == found
    return found


def _with(lines: str) -> tuple[dict[str, str], str]:
    return {**FILES, "train.py": TRAIN + lines}, "layers.py"


def _asking(asks: str, nets: str) -> tuple[dict[str, str], str]:
    """Another module that is asked for a name."""
    return {**FILES, "nets.py": nets, "train.py": f"{TRAIN}import nets\nprint({asks})\n"}, "layers.py"


LORA = {
    "parts/__init__.py": "",
    "parts/base.py": "import torch\n",
    "parts/lora.py": LAYERS.replace(HEAD, HEAD + "import parts.base\n") + "ALL = [Used, Left]\n",
}
LORA |= {
    "train.py": TRAIN.replace("import layers", "import parts.base as layers").replace("layers.Used", "torch.nn.Module")
}
"""Beside a script, a file of a package that imports what the script does, and that nothing imports."""

UNSEEN = {
    **LORA,
    "parts/lora.py": LAYERS + "def build():\n    return Left()\n",
    "parts/logs.py": "from parts.lora import Used\nif __name__ == '__main__':\n    print(Used)\n",
    "parts/base.py": "import torch\nfrom parts.logs import Used\n",
    "train.py": "from elsewhere.lora import build\nbuild()\n",
}
"""The file that does something is imported by others, and the script finds what it imports in a way of its own."""

OWN_SETUP = "from setuptools import setup, find_packages\nsetup(name='nets', packages=find_packages())\n"
CONFIGURED = FILES | {"train.py": TRAIN + "import hydra\nprint(hydra.utils.instantiate)\n"}

OPTIONS = {
    "moves.py": "import torch\ndef move(x, wide=False):\n    if wide:\n        return x.float().cuda()\n    return x\n",
    "train.py": HEAD + "from moves import move\nmodel = torch.nn.Linear(3, 3).cuda()\n"
    "for x in DataLoader(range(9), pin_memory=True):\n    model(move(x)).sum().backward()\n",
}
"""A branch for an option that no call gives."""
MEASURED = {
    "heads.py": "import torch\ndef measure(x):\n    return x + torch.zeros(3).cuda()\n",
    "nets.py": HEAD
    + "from elsewhere import build\nfrom heads import measure\n"
    + "class Head(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    + "        self.layer = nn.Linear(3, 3)\n"
    + "    def forward(self, x, measured=False):\n        x = self.layer(x)\n"
    + "        if measured:\n            return measure(x)\n        return x\n"
    + "class Net(nn.Module):\n    def __init__(self, measured=False):\n        super().__init__()\n"
    + "        self.parts = build(Head)\n        self.measured = measured\n"
    + "    def forward(self, x):\n        for part in self.parts:\n            x = part[0](x, self.measured)\n"
    + "        return x\n",
    "train.py": HEAD
    + "from nets import Net\nmodel = Net().cuda()\n"
    + "for x in DataLoader(range(9)):\n    model(x.cuda()).sum().backward()\n",
}
"""A branch of a ``forward`` for an option that an attribute hands on, and that no construction gives."""

BROKEN = {
    **FILES,
    "run.py": HEAD
    + "from layers import Missing\nmodel = nn.Linear(3, 3).cuda()\n"
    + "for x in DataLoader(range(9)):\n    model(x.cuda() + torch.zeros(3).cuda()).sum().backward()\n",
}
"""A script that ends where it imports what the file beside it has not."""


def _whole(instead: str, text: str) -> tuple[dict[str, str], str]:
    """The same script with something else in it, or in what it imports."""
    files = {name: one.replace(instead, text) for name, one in BROKEN.items()}
    assert files != BROKEN
    return files, "run.py"


NETS = {"nets/__init__.py": "", "nets/small.py": "def build():\n    pass\n"}


def _by_text(imports: str) -> tuple[dict[str, str], str]:
    """A script that imports modules by texts, beside a package for such modules."""
    return {**FILES, **NETS, "train.py": f"{TRAIN}import importlib\n{imports}\n"}, "layers.py"


LEFT = {
    "modules of a package by their texts": _by_text("importlib.import_module('nets.' + input()).build()"),
    "modules of a package, which a text begins": _by_text("__import__(f'nets.small_{input()}', fromlist=['build'])"),
    "modules of a package, by a filled text": _by_text("importlib.import_module('nets.%s' % input())"),
    "a module by its whole text": _by_text("importlib.import_module('nets.small')"),
    "a module of a library by its text": _by_text("importlib.import_module('json')"),
    "a script that imports what is not there": (BROKEN, "run.py"),
    "a branch that no call asks for": (OPTIONS, "moves.py"),
    "a branch of forward for an attribute that nothing sets": (MEASURED, "heads.py"),
    "a class": (FILES, "layers.py"),
    "a class that a comment mentions": ({**FILES, "train.py": TRAIN + "# Left\n"}, "layers.py"),
    "a function": (
        {
            **FILES,
            "layers.py": LAYERS.split("class Left")[0] + "def left(x):\n    return x.cuda() + torch.zeros(3).cuda()\n",
        },
        "layers.py",
    ),
    "a method": (METHOD, "trainer.py"),
    "a file of a package": (PACKAGE, "parts/left.py"),
    "a file that says how it is checked": ({**FILES, "pyproject.toml": "[tool.ruff]\nline-length = 99\n"}, "layers.py"),
    "options by their texts": (
        {**FILES, "train.py": TRAIN + "print(vars(model), getattr(model, input()))\n"},
        "layers.py",
    ),
    "an import that nothing reads": _with("from layers import Left\n"),
    "all that a script imports, beside what it reads of itself": _with("print(globals())\n"),
    "a list of what is there": ({**FILES, "layers.py": LAYERS + "__all__ = ['Used', 'Left']\n"}, "layers.py"),
    "documentation": _with('def build():\n    """Left"""\nbuild()\n'),
    "what another one calls that nothing calls": _with("def build():\n    return layers.Left()\n"),
    "functions that call each other": _with("def a():\n    b(layers.Left)\ndef b(x):\n    a()\n"),
    "a branch that never runs": _with("if False and input():\n    layers.Left()\n"),
    "another function of the name": _with("def Left():\n    pass\nLeft()\n"),
    "a keyword": _with("print(dict(Left=1))\n"),
    "a method of a library's name": (
        {**METHOD, "train.py": METHOD["train.py"] + "torch.autograd.probe()\n"},
        "trainer.py",
    ),
    "a function that a script of other names does not come to": (
        UNSEEN
        | {
            "parts/base.py": "",
            "train.py": "from elsewhere.lora import other\nother()\n",
        },
        "parts/lora.py",
    ),
    "beside a function that is named like one of Python": _with("def eval():\n    pass\neval()\n"),
    "a function that is named like what it does": (
        {**FILES, "train.py": TRAIN + "def test():\n    layers.Left()\n"},
        "layers.py",
    ),
    "a text that is evaluated and begins with another module": _asking(
        "eval('nets.' + input())", "def other():\n    pass\n"
    ),
    "one that is formatted": _asking("eval(f'nets.{input()}')", "def other():\n    pass\n"),
    "one that is filled in": _asking("eval('nets.{}()'.format(input()))", "def other():\n    pass\n"),
    "a decorator that documents": (
        {**FILES, "layers.py": LAYERS.replace("class Left", "@print_docstring('it')\nclass Left")},
        "layers.py",
    ),
    "a decorator of torch": (
        {**FILES, "layers.py": LAYERS.replace("class Left", "@torch.jit.script\nclass Left")},
        "layers.py",
    ),
    "names that another module is asked for": _asking("nets.__dict__[input()]", "def other():\n    pass\n"),
    "names that another module is asked for, which imports some": _asking(
        "getattr(nets, input())", "from layers import Used\n"
    ),
    "a project that is a package for itself": ({**FILES, "setup.py": OWN_SETUP}, "layers.py"),
    "settings that name another class": (CONFIGURED | {"conf/model.yaml": "_target_: layers.Used\n"}, "layers.py"),
    "a file that nothing imports": (LORA, "parts/lora.py"),
    "a file that binds what a library makes": (
        LORA | {"parts/lora.py": LORA["parts/lora.py"] + "made = nn.ReLU()\n"},
        "parts/lora.py",
    ),
}


@pytest.mark.parametrize("case", LEFT)
def test_minor_where_nothing_uses_it(case: str, tmp_path: Path) -> None:
    files, name = LEFT[case]
    assert all(one.minor for one in found_in(tmp_path, files, name))


USED = {
    "a script that imports what is there": _whole("Missing", "Used"),
    "a script that imports a name of any kind": _whole("class Left", "Missing = 3\nclass Left"),
    "a script that may import what is not there": _whole(
        "from layers import Missing", "if nn:\n    from layers import Missing"
    ),
    "a script that looks into another folder first": _whole(
        "from layers", "import sys\nsys.path.insert(0, '..')\nfrom layers"
    ),
    "a script that imports from elsewhere": _whole("from layers import Missing", "from nets import Missing"),
    "what a file takes of others": _whole("class Left", "from nets import *\nclass Left"),
    "what a file makes names of": _whole("class Left", "globals().update(found())\nclass Left"),
    "what a file gives when asked": _whole("class Left", "def __getattr__(name):\n    return name\nclass Left"),
    "a branch that a call asks for": (
        OPTIONS | {"train.py": OPTIONS["train.py"].replace("move(x)", "move(x, wide=input())")},
        "moves.py",
    ),
    "a branch of forward for an attribute that a construction sets": (
        MEASURED | {"train.py": MEASURED["train.py"].replace("Net()", "Net(True)")},
        "heads.py",
    ),
    "a branch of forward that an evaluation takes, too": (
        MEASURED
        | {"train.py": MEASURED["train.py"] + "import heads\nfor x in DataLoader(range(9)):\n    heads.measure(x)\n"},
        "heads.py",
    ),
    "a text that Python evaluates": _with("eval(input())\n"),
    "a name in a test": _with("def test_left():\n    layers.Left()\n"),
    "a name": _with("print(layers.Left)\n"),
    "a text": _with("print('Left')\n"),
    "a name that is computed": _with("print(getattr(layers, input()))\n"),
    "a text that is evaluated and begins with the module": _with("print(eval('layers.' + input()))\n"),
    "a text that is evaluated and begins with one that takes it": _asking(
        "eval('nets.' + input())", "from layers import Left\n"
    ),
    "a text that is evaluated and begins with anything": _with("import nets\nprint(eval(input() + 'nets.'))\n"),
    "two texts that are evaluated": _asking("eval('nets.' + input()), eval(input())", "def other():\n    pass\n"),
    "a dict of names": _with("print(layers.__dict__[input()])\n"),
    "a name that a module is asked for, which imports it": _asking(
        "getattr(nets, input())", "from layers import Left\n"
    ),
    "a name that a module is asked for, which takes all": _asking("vars(nets)[input()]", "from layers import *\n"),
    "a name that a package is asked for": (
        {
            **PACKAGE,
            "run.py": "import torch, parts\nprint(getattr(parts, input()))\n",
            "parts/__init__.py": "from . import left\n",
        },
        "parts/left.py",
    ),
    "a name that something of another module is asked for": (
        {
            **FILES,
            "nets.py": "import layers as chosen\n",
            "train.py": TRAIN + "from nets import chosen\nprint(getattr(chosen, input()))\n",
        },
        "layers.py",
    ),
    "all that is imported": _with("from layers import *\nprint(globals())\n"),
    "an import that a text may read": _with("from layers import Left\nprint(globals())\n"),
    "a text that is evaluated": _with("print(eval(input()))\n"),
    "another name": _with("from layers import Left as Other\nprint(Other)\n"),
    "a method by another name": (
        {**METHOD, "trainer.py": METHOD["trainer.py"] + "    again = probe\n"},
        "trainer.py",
    ),
    "what another one that runs calls": _with("def build():\n    return layers.Left()\nbuild()\n"),
    "a branch that may run": _with("if input() and 1:\n    layers.Left()\n"),
    "a function that an unseen importer comes to": (UNSEEN, "parts/lora.py"),
    "a file that others import": (LORA | {"train.py": LORA["train.py"] + "import parts.lora\n"}, "parts/lora.py"),
    "a file that binds what it makes": (
        LORA | {"parts/lora.py": LORA["parts/lora.py"] + "made = Used()\n"},
        "parts/lora.py",
    ),
    "a file that does something": (
        LORA | {"parts/lora.py": LORA["parts/lora.py"] + "print(ALL)\n"},
        "parts/lora.py",
    ),
    "an attribute of something of the project": (
        {**METHOD, "train.py": METHOD["train.py"] + "import layers\nlayers.model.probe()\n", "layers.py": ""},
        "trainer.py",
    ),
    "a module by its text": _with("import importlib\nimportlib.import_module(input())\n"),
    "a module by a text that begins no package": _by_text("importlib.import_module('nets' + input())"),
    "a module of any package": _by_text("importlib.import_module('%s.small' % input())"),
    "a module of any package, by another filled text": _by_text("importlib.import_module('{}.small'.format(input()))"),
    "a module by a text of its own package": _by_text("importlib.import_module('.' + input(), 'nets')"),
    "this module by its text": _by_text("importlib.import_module('layers')"),
    "a function that imports, by another name": _by_text("load = importlib.import_module\nload(input())"),
    "what modules of a package know of it": (
        {
            **_by_text("importlib.import_module('nets.' + input()).build()")[0],
            "nets/small.py": "from layers import Left\n",
        },
        "layers.py",
    ),
    "classes by their base": _with("print(layers.nn.Module.__subclasses__())\n"),
    "settings that name classes": _with("import hydra\n"),
    "settings that name it": (CONFIGURED | {"conf/model.yaml": "_target_: layers.Left\n"}, "layers.py"),
    "a package that others look for": (
        {**FILES, "setup.py": OWN_SETUP.replace("packages", "url='https://example.org', packages")},
        "layers.py",
    ),
    "a package of which more is said elsewhere": (
        {**FILES, "setup.py": OWN_SETUP.replace("packages", "**found(), packages")},
        "layers.py",
    ),
    "a name in its own file": ({**FILES, "layers.py": LAYERS + "ALL = [Left]\n"}, "layers.py"),
    "a decorator that may keep it, by its name": (
        {**FILES, "layers.py": LAYERS.replace("class Left", "@print.cache_class\nclass Left")},
        "layers.py",
    ),
    "a decorator": ({**FILES, "layers.py": LAYERS.replace("class Left", "@print\nclass Left")}, "layers.py"),
    "a package that others install": ({**FILES, "setup.py": ""}, "layers.py"),
    "a project that others install": ({**FILES, "pyproject.toml": "[project]\nname = 'layers'\n"}, "layers.py"),
    "a test": ({**FILES, "layers.py": LAYERS.replace("Left", "TestLeft")}, "layers.py"),
    "a file by itself": ({"layers.py": LAYERS}, "layers.py"),
    "a package by itself": ({name: text for name, text in PACKAGE.items() if name != "run.py"}, "parts/left.py"),
    "a file in no package": ({name: text for name, text in PACKAGE.items() if "init" not in name}, "parts/left.py"),
    "a script that imports in a way of its own": ({**PACKAGE, "run.py": "run('somewhere.Left')\n"}, "parts/left.py"),
    "a script that names the file": ({**PACKAGE, "run.py": "run('left')\n"}, "parts/left.py"),
    "a method that is called": ({**METHOD, "train.py": METHOD["train.py"] + "Trainer().probe(1, 2)\n"}, "trainer.py"),
    "methods by their texts": (
        {**METHOD, "train.py": METHOD["train.py"] + "getattr(Trainer(), input())()\n"},
        "trainer.py",
    ),
    "a method of a framework": (
        {**METHOD, "trainer.py": METHOD["trainer.py"].replace("Trainer:", "Trainer(lib.Base):")},
        "trainer.py",
    ),
    "a method that a library calls": (
        {**METHOD, "trainer.py": METHOD["trainer.py"].replace("probe", "forward")},
        "trainer.py",
    ),
}


@pytest.mark.parametrize("case", USED)
def test_as_ever_where_something_may_use_it(case: str, tmp_path: Path) -> None:
    files, name = USED[case]
    assert not all(one.minor for one in found_in(tmp_path, files, name))


def test_as_ever_in_what_is_used_beside_it(tmp_path: Path) -> None:
    both = LAYERS.replace("return x\n", "return x + torch.ones(3).cuda()\n")
    found = found_in(tmp_path, {**FILES, "layers.py": both}, "layers.py")
    assert {one.minor for one in found} == {True, False}


NAMES_OTHER = CONFIGURED | {"conf/other.yaml": "_target_: layers.Used\n"}


@pytest.mark.parametrize(
    ("files", "name", "text"),
    [(FILES, "setup.py", ""), (NAMES_OTHER, "conf/model.yaml", "_target_: layers.Left\n")],
    ids=["a package that comes to be installed", "settings that come to name it"],
)
def test_what_comes_to_be_used_is_looked_at_again(files: dict[str, str], name: str, text: str, tmp_path: Path) -> None:
    make(tmp_path, files)
    with chdir(tmp_path):
        answers = []
        for _ in range(2):
            memory = Caches()
            found = lint([Found("layers.py", named=True)], Configurations(), memory=memory).findings
            memory.save()
            answers.append(all(one.minor for one in found))
            Path(name).write_text(text)
    assert answers == [True, False]
