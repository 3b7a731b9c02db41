"""Fixes that change other files, and what several of them come to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from accel_advisor.finding import Applicability
from accel_advisor.linting.fix_loop import fix

from ..conftest import Install
from ..rules.programs import PHOTOS
from .training_project import linted

CROSS = """
    import os

    from accel_advisor.finding import Applicability, Edit, Fix, Location, Severity, Span
    from accel_advisor.rule import Rule

    class RuleThatEditsAnotherFile(Rule):
        code, name, severity = "ZZZ009", "edits-another-file", Severity.INFO
        def check(self, facts):
            document = facts.document
            if "# DONE" not in document.text:
                place = Location(0, 1, 1)
                edit = Edit(os.path.abspath("settings.py"), Span(place, place), "WORKERS = 4\\n")
                mine = document.edit(0, 0, "# DONE\\n")
                yield self.finding(facts, document.tree.body[0], "they belong together", "edit both",
                                   fix=Fix("Edit both", (edit, mine), Applicability.SAFE))
"""


def test_a_fix_may_change_another_file(project: Path, install_rules: Install) -> None:
    install_rules(CROSS)
    (project / "train.py").write_text("import torch\nfrom settings import SIZE\n")
    (project / "settings.py").write_text("SIZE = 3\r\n")
    report = linted("train.py")
    outcome = fix(report, {Applicability.SAFE})
    assert {os.path.basename(name): raw for name, raw in outcome.after.items()} == {
        "train.py": b"# DONE\nimport torch\nfrom settings import SIZE\n",
        "settings.py": b"WORKERS = 4\nSIZE = 3\r\n",
    }
    assert [one.code for one in outcome.report.findings] == []


COLLECTS = """import gc
import torch

model = torch.nn.Linear(8, 2).cuda()
for x in torch.utils.data.DataLoader(torch.zeros(8, 8), num_workers=2, pin_memory=True):
    model(x.cuda(non_blocking=True)).sum().backward()
    gc.collect()
for x in torch.utils.data.DataLoader(torch.zeros(8, 8), num_workers=2, pin_memory=True):
    model(x.cuda(non_blocking=True)).mean().backward()
    gc.collect()
"""


@pytest.mark.parametrize(
    ("more", "goes"), [("", True), ("gc.freeze()\n", False), ("gc.collect()  # accel: ignore[ACC214]\n", False)]
)
def test_an_import_goes_with_its_last_use_that_several_fixes_take_out(more: str, goes: bool, project: Path) -> None:
    (project / "train.py").write_text(COLLECTS + more)
    report = linted("train.py")
    collects = [one for one in report.findings if one.code == "ACC214"]
    assert [len(one.fix.edits) for one in collects if one.fix is not None] == [1, 1]
    outcome = fix(report, {Applicability.UNSAFE}, lambda report: [o for o in report.findings if o.code == "ACC214"])
    (after,) = outcome.after.values()
    text = COLLECTS.replace("    gc.collect()\n", "") + more
    assert after.decode() == (text.removeprefix("import gc\n") if goes else text)


def test_an_import_stays_that_another_file_takes(project: Path) -> None:
    (project / "train.py").write_text(COLLECTS)
    (project / "other.py").write_text("import torch\nfrom train import gc, model\nmodel.eval()\n")
    report = linted("train.py", "other.py")
    outcome = fix(report, {Applicability.UNSAFE}, lambda report: [o for o in report.findings if o.code == "ACC214"])
    assert [raw.startswith(b"import gc\n") for raw in outcome.after.values()] == [True]


TRAINS = """
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(9):
    for x, y in loader:
        optimizer.zero_grad()
        model(x.cuda(non_blocking=True)).sum().backward()
        optimizer.step()
print('aaaaaaaaaaaaaaa',
      'b')
"""
INDENT = "\n                    "


@pytest.mark.parametrize(
    ("drops", "wanted"),
    [
        ("False", ", pin_memory=True, persistent_workers=True)"),
        ("len(photos) > 1000", f", pin_memory=True,{INDENT}persistent_workers=True)"),
        ("len(photos) % 16 > len(photos) // 1000", f",{INDENT}pin_memory=True, persistent_workers=True)"),
    ],
)
def test_keywords_of_two_fixes_share_a_line_where_they_fit(drops: str, wanted: str, project: Path) -> None:
    call = f"loader = DataLoader(photos, batch_size=16, num_workers=4, drop_last={drops}"
    (project / "train.py").write_text(f"{PHOTOS}# {'-' * 117}\n{call})\n{TRAINS}")
    outcome = fix(linted("train.py"), set(Applicability))
    (after,) = outcome.after.values()
    assert f"{call}{wanted}\n" in after.decode()
    assert [one.code for one in outcome.fixed] == ["ACC101", "ACC106"]
