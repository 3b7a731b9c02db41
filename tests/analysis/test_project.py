"""What holds for a program holds for none of the files that are only read beside it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.records.facts import Facts
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

TRAINS = """
import torch
model = torch.nn.Linear(8, 2){moved}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(9):
    model(torch.zeros(2, 8)).sum().backward()
    optimizer.step()
"""
LIGHTNING = """
import lightning, torch
trainer = lightning.Trainer()
"""
ON_HOST = """
from torch.utils.data import DataLoader
import lightning, nets
trainer = lightning.Trainer(accelerator="cpu")
trainer.fit(nets.model, DataLoader([1]))
"""


def facts_of(files: dict[str, str], folder: Path) -> dict[str, Facts]:
    """The facts of files that are analysed together, in this order."""
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text))
    found = analyze([Document.read(folder / name) for name in files], folder)
    assert not found.failures
    return {Path(name).name: facts for name, facts in found.facts.items()}


@pytest.mark.parametrize("first", ["framework.py", "plain.py"])
def test_a_framework_belongs_to_its_own_program(first: str, tmp_path: Path) -> None:
    files = {"framework.py": LIGHTNING, "plain.py": TRAINS.format(moved="")}
    found = facts_of(dict(sorted(files.items(), key=lambda item: item[0] != first)), tmp_path)
    plain, framework = found["plain.py"], found["framework.py"]
    assert (plain.frameworks, plain.trains, plain.placed) == (frozenset(), True, False)
    assert (framework.frameworks, framework.trains, framework.placed) == ({"lightning"}, False, True)


def test_a_rule_reports_beside_a_framework_of_another_program(tmp_path: Path) -> None:
    broken = TRAINS.format(moved=".cuda()").replace("torch.zeros(2, 8)", 'torch.zeros(2, 8, device="cpu")')
    found = facts_of({"framework.py": LIGHTNING, "plain.py": broken}, tmp_path)
    assert len(list(registry()["ACC302"].check(found["plain.py"]))) == 1


def test_a_program_is_what_imports_a_file_and_what_that_imports(tmp_path: Path) -> None:
    found = facts_of(
        {
            "nets.py": "import torch\nmodel = torch.nn.Linear(8, 2)\n",
            "data.py": "import torch\n",
            "first.py": "import nets, data\n" + LIGHTNING,
            "second.py": "import nets\n" + TRAINS.format(moved=".cuda()"),
        },
        tmp_path,
    )
    of_nets, of_data, first, second = (found[name] for name in ("nets.py", "data.py", "first.py", "second.py"))
    assert of_nets.frameworks == of_data.frameworks == first.frameworks == {"lightning"}
    assert second.frameworks == frozenset()
    assert [one.trains for one in (of_nets, of_data, first, second)] == [True, False, False, True]
    assert all(one.placed for one in (of_nets, of_data, first, second))


@pytest.mark.parametrize(
    "placing",
    ["torch.set_default_device('cuda')", "torch.zeros(1).cuda()", "import accelerate\naccelerate.Accelerator()"],
)
def test_a_neighbour_places_nothing(placing: str, tmp_path: Path) -> None:
    found = facts_of({"a.py": f"import torch\n{placing}\n", "b.py": TRAINS.format(moved="")}, tmp_path)
    assert (found["a.py"].placed, found["b.py"].placed) == (True, False)


def test_a_framework_that_one_program_keeps_on_the_host_moves_the_batches_of_another(tmp_path: Path) -> None:
    nets = "import torch\nmodel = torch.nn.Linear(8, 2)\n"
    elsewhere = ON_HOST.replace('"cpu"', '"gpu"')
    found = facts_of({"nets.py": nets, "host.py": ON_HOST, "gpu.py": elsewhere}, tmp_path)
    assert [one.moved_by for one in found["host.py"].loaders] == [None]
    assert [one.moved_by for one in found["gpu.py"].loaders] == ["lightning"]


PATHS = "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'lib'))\n"


@pytest.mark.parametrize("adds", [PATHS, "import paths\n", ""])
def test_imports_are_looked_for_where_the_script_says(adds: str, tmp_path: Path) -> None:
    for folder in ("tools", "lib/datasets"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "tools/paths.py").write_text(PATHS)
    (tmp_path / "lib/datasets/photos.py").write_text("workers = 4\n")
    script = (
        "from datasets.photos import workers\nimport torch\ntorch.utils.data.DataLoader([1], 1, num_workers=workers)\n"
    )
    found = facts_of({"tools/train.py": adds + script}, tmp_path)
    assert found["train.py"].loaders[0].fixed_workers == (4 if adds else None)


IMPORTS_OF_A_SCRIPT = {
    "main/settings.py": "import os, sys\nclass Settings:\n    top = os.path.join(os.path.dirname(__file__), '..')\n"
    "settings = Settings()\nsys.path.insert(0, os.path.join(settings.top, 'common'))\n",
    "main/net.py": "import torch\nmodel = torch.nn.Linear(8, 2)\n",
    "common/base.py": "from net import model\n",
    "main/train.py": "import torch\nfrom settings import settings\nfrom base import model\n"
    "for step in range(9):\n    model(torch.zeros(2, 8)).sum().backward()\n",
}


def test_what_a_script_imports_finds_the_modules_beside_the_script(tmp_path: Path) -> None:
    for name in ("main", "common"):
        (tmp_path / name).mkdir()
    for name, text in IMPORTS_OF_A_SCRIPT.items():
        (tmp_path / name).write_text(text)
    found = analyze([Document.read(tmp_path / "main" / "train.py")], tmp_path)
    (facts,) = found.facts.values()
    assert [context.model is not None for call in facts.module_calls for context in call.contexts] == [True]
    (tmp_path / "main" / "net.py").rename(tmp_path / "common" / "net_of_others.py")
    (facts,) = analyze([Document.read(tmp_path / "main" / "train.py")], tmp_path).facts.values()
    assert not facts.module_calls
