"""What is known of a module depends neither on who needs it first nor on what was under way there."""

from __future__ import annotations

import itertools
import textwrap
from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

Said = tuple[str, int, str]
"""The code, the line and the severity of a finding."""

MODEL = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(8, 2).to(device)
data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2))
loader = DataLoader(data, batch_size=16, pin_memory=True)
total = largest = 0.0
"""
WAITS = (
    MODEL
    + """
for x, y in loader:
    out = model(x.to(device, non_blocking=True))
    loss = nn.functional.mse_loss(out, y.to(device, non_blocking=True))
    loss.backward()
    total += loss.item()
    largest = max(largest, out.max().item())
"""
)
EVALUATES = (
    MODEL
    + """
def evaluate():
    model.eval()
    losses = 0
    for x, y in loader:
        losses += model(x.to(device, non_blocking=True)).sum()
    return losses

evaluate()
"""
)
MOVES = """
import torch
{imports}
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.zeros(size).to(device)
"""
TIMES = """
import time, torch, lib
model = torch.nn.Linear(8, 2).cuda()
x = torch.zeros(2, 8, device="cuda")
begin = time.time()
y = model(x)
{between}
print(time.time() - begin)
"""

GUARDED = """
import sys
if len(sys.argv) < 2:
    raise SystemExit
"""


def findings(files: dict[str, str], folder: Path) -> dict[str, list[Said]]:
    """What is found in files that are analysed together, in this order."""
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text))
    analysis = analyze([Document.read(folder / name) for name in files], folder)
    assert not analysis.failures
    return {
        Path(name).name: sorted(
            (rule.code, found.span.start.line, str(found.severity))
            for rule in registry().values()
            for found in rule.check(facts)
        )
        for name, facts in analysis.facts.items()
    }


def in_every_order(files: dict[str, str], folder: Path) -> dict[str, list[Said]]:
    """What is found, which must be the same in whichever order the files are analysed."""
    found = [findings(dict(order), folder) for order in itertools.permutations(files.items())]
    for one in found[1:]:
        assert one == found[0]
    return found[0]


def codes(found: list[Said]) -> set[str]:
    return {code for code, _, _ in found}


@pytest.mark.parametrize(
    "needed",
    [
        pytest.param("if model is not None:\n    print(model)", id="under a condition"),
        pytest.param("if torch.rand(1) > 0:\n    raise SystemExit\nprint(model)", id="after an exit on a condition"),
        pytest.param("for _ in range(3):\n    print(model)", id="in a loop"),
        pytest.param("for _ in range(3):\n    if _ % 2:\n        print(model)", id="in some passes of a loop"),
        pytest.param("with torch.no_grad():\n    print(model)", id="under a context manager"),
        pytest.param("@torch.no_grad()\ndef f():\n    print(model)\nf()", id="in a decorated function"),
        pytest.param("with torch.device('cuda'):\n    print(model)", id="with another default device"),
        pytest.param("torch.set_default_device('cuda')\nprint(model)", id="after the default device was set"),
        pytest.param("class A:\n    def __init__(self):\n        self.m = model\nA()", id="while an object is built"),
    ],
)
@pytest.mark.parametrize("lib", [WAITS, EVALUATES], ids=["training", "evaluation"])
def test_what_needs_a_module_first_says_nothing_about_it(needed: str, lib: str, tmp_path: Path) -> None:
    alone = findings({"lib.py": lib}, tmp_path)["lib.py"]
    assert codes(alone) & {"ACC208", "ACC401"}
    other = "import torch\nfrom lib import model\n" + needed + "\n"
    assert in_every_order({"lib.py": lib, "other.py": other}, tmp_path)["lib.py"] == alone


def test_a_guard_at_the_top_of_a_module_ends_with_it(tmp_path: Path) -> None:
    found = in_every_order({"a.py": GUARDED, "b.py": WAITS}, tmp_path)["b.py"]
    assert found == findings({"b.py": WAITS}, tmp_path)["b.py"]
    assert "ACC208" in codes(found)
    own = WAITS.replace("    total +=", "    if total % 2:\n        continue\n    total +=")
    assert "ACC208" not in codes(in_every_order({"a.py": GUARDED, "b.py": own}, tmp_path)["b.py"])


def test_a_guard_of_one_file_does_not_reach_functions_that_nobody_calls(tmp_path: Path) -> None:
    forward = textwrap.dedent(
        """
        import torch
        class Net(torch.nn.Module):
            def forward(self, x):
                {}return x + torch.zeros(4).to("cuda")
        """
    )
    often, seldom = forward.format(""), forward.format("if x is not None: ")
    found = in_every_order({"a.py": GUARDED, "b.py": often}, tmp_path)["b.py"]
    assert found == findings({"b.py": often}, tmp_path)["b.py"]
    assert found != in_every_order({"a.py": GUARDED, "b.py": seldom}, tmp_path)["b.py"]


def test_the_default_device_is_that_of_a_program_that_sets_it(tmp_path: Path) -> None:
    sets = "import torch\ntorch.set_default_device('cuda')\nsize = 4\n"
    here, there = MOVES.format(imports="size = 4"), MOVES.format(imports="from sets import size")
    found = in_every_order({"sets.py": sets, "here.py": here, "there.py": there}, tmp_path)
    assert "ACC205" in codes(found["here.py"])
    assert "ACC205" not in codes(found["there.py"])


def test_a_function_that_nobody_calls_may_run_after_the_default_device_was_set(tmp_path: Path) -> None:
    uncalled = "import torch\nimport a\ndef make():\n    return torch.zeros(4).to('cuda')\n"
    plain = "import torch\nsize = 4\n"
    sets = plain + "def main():\n    torch.set_default_device('cuda')\n"
    assert "ACC205" not in codes(in_every_order({"a.py": sets, "b.py": uncalled}, tmp_path)["b.py"])
    assert "ACC205" in codes(in_every_order({"a.py": plain, "b.py": uncalled}, tmp_path)["b.py"])


def test_a_module_that_is_first_needed_between_two_readings_of_the_clock_takes_no_time(tmp_path: Path) -> None:
    lib = "import torch\nname = 'run'\nprint(torch.zeros(1).item())\n"
    used, waits = TIMES.format(between="lib.name"), TIMES.format(between="torch.cuda.synchronize()")
    assert "ACC217" in codes(in_every_order({"lib.py": lib, "main.py": used}, tmp_path)["main.py"])
    assert "ACC217" not in codes(in_every_order({"lib.py": lib, "main.py": waits}, tmp_path)["main.py"])


def test_a_reading_of_the_clock_in_another_module_is_not_compared(tmp_path: Path) -> None:
    times = TIMES.format(between="").replace("begin = time.time()\n", "")
    lib = "import time\nbegin = time.time()\n"
    local = times.replace("import time, torch, lib", "import time, torch\nbegin = time.time()")
    assert "ACC217" in codes(findings({"main.py": local}, tmp_path)["main.py"])
    imported = times.replace("torch, lib", "torch\nfrom lib import begin")
    assert "ACC217" not in codes(in_every_order({"lib.py": lib, "main.py": imported}, tmp_path)["main.py"])
