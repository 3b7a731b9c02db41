"""One project, one answer: a file gets the same findings in whatever way it is asked for."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accel_advisor.configurations import Configurations
from accel_advisor.finding import Finding
from accel_advisor.linting.cache import FOLDER, Caches
from accel_advisor.linting.linter import POOL_BYTES, lint, to_lint
from accel_advisor.linting.report import Report
from accel_advisor.project import import_graph
from accel_advisor.project.discovery import Discoverer, Found

HEAD = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, Dataset\n"
LOADERS = (
    HEAD + "from .data import Photos\n"
    "def build(paths, workers=0):\n    return DataLoader(Photos(paths), 4, num_workers=workers)\n"
)
DATA = (
    "from PIL import Image\nfrom torch.utils.data import Dataset\n"
    "from torchvision.transforms.functional import to_tensor\n"
    "class Photos(Dataset):\n    def __init__(self, paths):\n        self.paths = paths\n"
    "    def __len__(self):\n        return len(self.paths)\n"
    "    def __getitem__(self, index):\n        return to_tensor(Image.open(self.paths[index]))\n"
)
ENGINE = HEAD + (
    "def step(model, batch):\n    loss = model(batch.to('cuda')).sum()\n    loss.backward()\n    return loss.item()\n"
    "def score(model, loader):\n    model.eval()\n    for x in loader:\n        model(x.cuda())\n"
)
TRAIN = HEAD + (
    "from pkg import engine\nfrom pkg.loaders import build\nmodel = nn.Linear(8, 2).cuda()\n"
    "for x in build(['a.jpg']):\n    print(engine.step(model, x), model(x.cuda()).sum().item())\n"
    "engine.score(model, build(['b.jpg'], 2))\n"
)
EVALUATE = HEAD + (
    "from pkg.loaders import build\nif not torch.cuda.is_available():\n    raise SystemExit('no GPU')\n"
    "from pkg.engine import score\nwith torch.no_grad():\n    score(nn.Linear(8, 2).cuda(), build(['c.jpg'], 3))\n"
)
MAIN = "import sys\nfrom pkg.loaders import build\nfor batch in build(sys.argv[1:], workers=4):\n    print(batch)\n"
TUNED = (
    HEAD
    + "from pkg.loaders import build\nmodel = nn.Linear(8, 2).cuda()\nfor x in build(['d.jpg']):\n    model(x.cuda())\n"
)
TESTED = (
    HEAD + "from pkg.loaders import build\nfor x in build(['e.jpg'], 8):\n"
    "    nn.Linear(8, 2).cuda()(x.cuda()).sum().backward()\n"
)
EIGHT = {
    "pkg/__init__.py": "",
    "pkg/data.py": DATA,
    "pkg/engine.py": ENGINE,
    "pkg/loaders.py": LOADERS,
    "evaluate.py": EVALUATE,
    "main.py": MAIN,
    "sub/tuned.py": TUNED,
    "train.py": TRAIN,
}
NESTED = '[tool.accel-advisor]\nextend-select = ["ALL"]\nper-file-ignores = { "tuned.py" = ["ACC102"] }\n'

Answer = dict[str, list[tuple[object, ...]]]
"""What was found in each file, by its path below the project's root."""


def make(root: Path, files: dict[str, str]) -> None:
    (root / ".git").mkdir(parents=True)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def ask(root: Path, folder: str, names: Iterable[str], *, jobs: int = 1, caching: bool = False) -> Answer:
    """The answer to paths that are named from a folder of the project."""
    with chdir(root / folder):
        configurations, caches = Configurations(), Caches() if caching else None
        files = Discoverer(configurations.patterns).discover(names).files
        report = lint(files, configurations, jobs=jobs, memory=caches)
        if caches:
            caches.save()
        return answer(root, to_lint(files, configurations), report)


def answer(root: Path, files: Sequence[Found], report: Report) -> Answer:
    found: Answer = {below(root, one.filename): [] for one in files}
    for one in report.findings:
        found[below(root, one.filename)].append(plain(root, one))
    return found


def plain(root: Path, one: Finding) -> tuple[object, ...]:
    """All of a finding but the names of other files in its message, which depend on the working directory."""
    edits = (
        [(below(root, edit.filename), edit.span.start.row, edit.content) for edit in one.fix.edits] if one.fix else []
    )
    related = [(below(root, place.filename), place.span.start.row, place.message) for place in one.related]
    weight, place = (one.severity.value, one.minor), (str(one.span.start), str(one.span.end))
    return one.code, weight, *place, len(one.message) > 0, edits, related


def below(root: Path, filename: str) -> str:
    return os.path.relpath(os.path.realpath(filename), os.path.realpath(root)).replace(os.sep, "/")


def each_alone(root: Path, names: Iterable[str]) -> Answer:
    """What every file gets that is the only one named, from the project's root."""
    return {name: ask(root, ".", [name])[name] for name in names}


def count_as_large(patch: pytest.MonkeyPatch) -> None:
    """Have every project count as one that is too large to be understood as a whole, and a file as one that few reach
    where one other file does."""
    patch.setattr(import_graph, "WHOLE_BYTES", 0)
    patch.setattr(import_graph, "MOST_CALLERS", 1)


def eight(folder: Path) -> Path:
    make(folder / "project", EIGHT | {"sub/pyproject.toml": NESTED})
    return folder / "project"


@pytest.fixture(scope="module")
def known() -> dict[str, Answer]:
    """The answers that are expected of the eight files as they are, by the size that they count as."""
    return {}


class TestEightFiles:
    @pytest.fixture(autouse=True, params=["whole", "large"])
    def size(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
        if request.param == "large":
            count_as_large(monkeypatch)
        return str(request.param)

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        return eight(tmp_path)

    @pytest.fixture
    def expected(self, root: Path, size: str, known: dict[str, Answer]) -> Answer:
        if size not in known:
            known[size] = each_alone(root, EIGHT)
        return known[size]

    def test_there_is_something_to_find(self, expected: Answer) -> None:
        codes = {name: {one[0] for one in found} for name, found in expected.items() if found}
        assert {"pkg/loaders.py", "pkg/engine.py", "sub/tuned.py", "train.py"} <= set(codes)
        assert codes["pkg/loaders.py"] == {"ACC101"}, "the workers of its callers differ"

    def test_pairs_in_both_orders(self, root: Path, expected: Answer) -> None:
        with chdir(root):
            caches = Caches()
            for pair in itertools.permutations(EIGHT, 2):
                files = [Found(name, named=True) for name in pair]
                found = answer(root, files, lint(files, Configurations(), memory=caches))
                assert found == {name: expected[name] for name in pair}

    def test_pairs_without_what_is_known_from_others(self, root: Path, expected: Answer) -> None:
        for pair in (("evaluate.py", "train.py"), ("train.py", "evaluate.py"), ("sub/tuned.py", "pkg/loaders.py")):
            assert ask(root, ".", pair) == {name: expected[name] for name in pair}

    @pytest.mark.parametrize(
        ("folder", "names"),
        [
            (".", ["."]),
            (".", ["pkg", "sub", "train.py"]),
            ("pkg", [".."]),
            ("pkg", ["."]),
            ("sub", ["../pkg", "tuned.py", "../train.py"]),
            ("sub", ["."]),
        ],
    )
    def test_folders_from_anywhere(self, root: Path, expected: Answer, folder: str, names: list[str]) -> None:
        found = ask(root, folder, names)
        assert found == {name: expected[name] for name in found}
        assert ask(root, folder, [str(root / folder / name) for name in names]) == found

    def test_in_several_processes(self, root: Path) -> None:
        for name in ("a", "b"):
            (root / name).mkdir()
            (root / name / "train.py").write_text(TUNED + "#" * POOL_BYTES)
        names = [*EIGHT, "a/train.py", "b/train.py"]
        assert ask(root, ".", ["."], jobs=2) == each_alone(root, names)

    def test_with_a_cache_and_after_an_edit(self, root: Path, expected: Answer) -> None:
        assert ask(root, ".", ["train.py"], caching=True) == {"train.py": expected["train.py"]}
        assert ask(root, ".", ["."], caching=True) == expected
        assert (root / FOLDER / "index.json").exists()
        for name, old, new in (
            ("main.py", "workers=4", "workers=0"),
            ("pkg/loaders.py", "workers=0", "workers=2"),
            ("sub/pyproject.toml", "ACC102", "ACC101"),
            ("train.py", "from pkg import engine", "from pkg import data, engine"),
        ):
            text = (root / name).read_text()
            assert old in text
            (root / name).write_text(text.replace(old, new))
            found = ask(root, ".", ["."], caching=True)
            assert found == each_alone(root, EIGHT)
            assert ask(root, "sub", ["../pkg/loaders.py"], caching=True) == {"pkg/loaders.py": found["pkg/loaders.py"]}

    def test_a_test_that_is_named_changes_nothing(self, root: Path, expected: Answer) -> None:
        (root / "tests").mkdir()
        (root / "tests" / "test_train.py").write_text(TESTED)
        alone = ask(root, ".", ["tests/test_train.py"])
        assert alone["tests/test_train.py"]
        assert ask(root, ".", ["tests/test_train.py", "."]) == expected | alone
        assert ask(root, "tests", ["."]) == alone

    def test_files_with_the_same_text_have_the_same_findings(self, root: Path) -> None:
        (root / "twin.py").write_text(TRAIN)
        found = ask(root, ".", ["."])
        assert [one[:5] for one in found["twin.py"]] == [one[:5] for one in found["train.py"]] != []

    def test_unsaved_text_stands_for_the_file(self, root: Path) -> None:
        raw = LOADERS.replace("workers=0", "workers=2").encode()
        with chdir(root):
            files = [Found("pkg/loaders.py", named=True), Found("train.py", named=True)]
            unsaved = lint(files, Configurations(), sources={"pkg/loaders.py": raw})
            unsaved_answer = answer(root, files, unsaved)
            (root / "pkg/loaders.py").write_bytes(raw)
            assert unsaved_answer == answer(root, files, lint(files, Configurations()))


def test_the_command_in_processes_of_its_own(tmp_path: Path) -> None:
    """Each with another order of sets of strings."""
    root = eight(tmp_path)

    def command(seed: int, folder: str, *args: str) -> dict[str, list[tuple[str, int]]]:
        done = subprocess.run(
            [sys.executable, "-m", "accel_advisor", "lint", "--exit-zero", "--output-format", "json", *args],
            cwd=root / folder,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
            timeout=120,
        )
        found: dict[str, list[tuple[str, int]]] = {}
        for one in json.loads(done.stdout):
            place = below(root, str(root / folder / one["filename"]))
            found.setdefault(place, []).append((one["code"], one["location"]["row"]))
        return found

    whole = command(0, ".", "--no-cache", ".")
    assert "train.py" in whole
    for seed, folder, path in ((1, ".", "train.py"), (2, "pkg", "loaders.py"), (3, "sub", "tuned.py")):
        name = below(root, str(root / folder / path))
        assert command(seed, folder, "--no-cache", path) == {name: whole[name]}
    assert command(4, "sub", "..") == whole
    assert command(5, "sub", "..", "../train.py") == whole


NAMES = (
    *("pkg/__init__.py", "pkg/a.py", "pkg/b.py", "pkg/inner/c.py", "sub/d.py", "e.py", "f.py", "g.ipynb", "h.py"),
    *("old/i.py", "old/j.py", "pkg/legacy/k.py", "e_old.py", "pkg/old_a.py", "old/i_copy.py"),
)
BLOCKS = (
    "def build(data, workers=0):\n    return DataLoader(data, 4, num_workers=workers)\n",
    "def build(data, workers=2):\n    return DataLoader(data, 4, num_workers=workers, pin_memory=True)\n",
    "def step(model, x):\n    loss = model(x.to('cuda')).sum()\n    loss.backward()\n    return loss.item()\n",
    "def score(model, loader):\n    model.eval()\n    for x in loader:\n        model(x.cuda())\n",
    "@torch.no_grad()\ndef score(model, loader):\n    for x in loader:\n        model(x.cuda(non_blocking=True))\n",
    "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layer = nn.Linear(8, 2)\n"
    "    def forward(self, x):\n        return self.layer(x) + torch.zeros(2)\n",
    "class Data(Dataset):\n    def __len__(self):\n        return 9\n    def __getitem__(self, index):\n"
    "        return torch.zeros(8).cuda()\n",
    "if not torch.cuda.is_available():\n    raise SystemExit\n",
    "torch.set_grad_enabled(False)\n",
    "torch.set_default_device('cuda')\n",
    "torch.backends.cudnn.benchmark = True\n",
    "for x in DataLoader([torch.zeros(8)] * 9, 3):\n    nn.Linear(8, 2).cuda()(x.cuda()).sum().backward()\n",
)
USES = (
    "for x in $build([torch.zeros(8)] * 9):\n    print(x.cuda().sum().item())\n",
    "for x in $build([torch.zeros(8)] * 9, 4):\n    $step(nn.Linear(8, 2).cuda(), x)\n",
    "def run(data):\n    for x in $build(data, 0):\n        print($step(nn.Linear(8, 2).cuda(), x))\n",
    "with torch.no_grad():\n    $score(nn.Linear(8, 2).cuda(), $build([torch.zeros(8)] * 9, 1))\n",
    "$score($Net().cuda(), DataLoader($Data(), 4))\n",
    "if __name__ == '__main__':\n    $run([torch.zeros(8)])\n",
)


@dataclass(frozen=True)
class Import:
    """An import of another file, and what is done with what it defines."""

    target: str
    relative: bool
    form: str
    uses: tuple[str, ...]

    def text(self, importer: str) -> str:
        module = self.target.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if self.relative and importer.startswith("pkg/") and module.startswith("pkg"):
            module = "." * importer.count("/") + module.removeprefix("pkg").removeprefix(".")
            head, prefix = f"from {module} import *\n", ""
        elif self.form == "module":
            head, prefix = f"import {module} as other\n", "other."
        elif self.form == "names":
            head, prefix = f"from {module} import build, score, step, run, Net, Data\n", ""
        else:
            head, prefix = f"from {module} import *\n", ""
        return head + "".join(one.replace("$", prefix) for one in self.uses)


imports = st.builds(
    Import,
    st.sampled_from([name for name in NAMES if name.endswith(".py")]),
    st.booleans(),
    st.sampled_from(["module", "names", "star"]),
    st.lists(st.sampled_from(USES), max_size=2, unique=True).map(tuple),
)
parts = st.lists(st.sampled_from(BLOCKS) | imports, max_size=3)


@st.composite
def projects(draw: st.DrawFn) -> dict[str, str]:
    """Files by name: Python with loaders and training in it that import each other, a notebook, configurations."""
    files: dict[str, str] = {}
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=8, unique=True)):
        head = HEAD if draw(st.integers(0, 4)) else ""
        text = head + "".join(one.text(name) if isinstance(one, Import) else one for one in draw(parts))
        if name.endswith(".ipynb"):
            cell = {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None}
            text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        files[name] = text
    if draw(st.booleans()):
        files["sub/pyproject.toml"] = "[tool.accel-advisor]\nignore = ['ACC102']\n"
    if draw(st.booleans()):
        files["pyproject.toml"] = "[tool.accel-advisor]\nextend-select = ['ALL']\nexclude = ['h.py']\n"
    return files


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("large", [False, True])
@given(files=projects(), data=st.data())
def test_any_project_in_any_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], data: st.DataObject, large: bool
) -> None:
    if large:
        count_as_large(monkeypatch)
    root = Path(tempfile.mkdtemp(dir=tmp_path), "project")
    make(root, files)
    sources = sorted(name for name in files if not name.endswith(".toml"))
    expected = each_alone(root, sources)
    folders = sorted({".", *(os.path.dirname(name) or "." for name in sources)})
    for _ in range(3):
        folder = data.draw(st.sampled_from(folders))
        names = data.draw(st.lists(st.sampled_from([*sources, *folders]), min_size=1, max_size=4))
        absolute = data.draw(st.booleans())
        paths = [str(root / name) if absolute else os.path.relpath(root / name, root / folder) for name in names]
        found = ask(root, folder, paths, caching=data.draw(st.booleans()))
        assert found == {name: expected[name] for name in found}
        assert found.keys() >= set(names) & set(sources)
    changed = data.draw(st.sampled_from(sources))
    if changed.endswith(".py"):
        with (root / changed).open("a") as file:
            file.write("\n" + data.draw(st.sampled_from(BLOCKS)))
        found = ask(root, ".", ["."], caching=True)
        assert found == {name: ask(root, ".", [name])[name] for name in found}
