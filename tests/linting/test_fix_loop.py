"""Fixes that change other files."""

from __future__ import annotations

import os
from pathlib import Path

from accel_advisor.finding import Applicability
from accel_advisor.linting.fix_loop import fix

from ..conftest import Install
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
                yield self.finding(facts, document.tree.body[0], "Edit both.",
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
