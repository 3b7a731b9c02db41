"""Several files at once, in one process and in several, and files that change under the linter's eyes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accel_advisor.configurations import Configurations
from accel_advisor.finding import Applicability
from accel_advisor.linting.fix_loop import fix
from accel_advisor.linting.linter import lint
from accel_advisor.project.discovery import Found
from accel_advisor.source.document import Document

from ..conftest import Install
from .training_project import LOADERS, TRAIN, linted, listed


class TestSeveralFiles:
    @pytest.fixture(autouse=True)
    def files(self, project: Path) -> None:
        (project / "loaders.py").write_text(LOADERS)
        (project / "train.py").write_text(TRAIN)

    def test_a_factory_in_another_file_is_understood(self) -> None:
        together = listed(linted("loaders.py", "train.py"))
        assert ("loaders.py", 18, "ACC102") in together
        assert listed(linted("loaders.py")) == [one for one in together if one[0] == "loaders.py"]
        assert listed(linted("train.py")) == [one for one in together if one[0] == "train.py"]

    def test_every_file_is_fixed_and_nothing_is_left(self, project: Path) -> None:
        outcome = fix(linted("loaders.py", "train.py"), frozenset(Applicability))
        left = [
            one for one in outcome.report.findings if one.fix and one.fix.applicability is not Applicability.DISPLAY
        ]
        assert left == []
        assert "non_blocking=True" in outcome.document_after("train.py").text
        assert (project / "train.py").read_text() == TRAIN
        for name, raw in outcome.after.items():
            (project / name).write_bytes(raw)
        again = fix(linted("loaders.py", "train.py"), frozenset(Applicability))
        assert again.after == {}

    def test_a_pool_finds_the_same(self, project: Path) -> None:
        names = []
        for number in range(4):
            folder = project / f"part{number}"
            folder.mkdir()
            (folder / "loaders.py").write_text(LOADERS + "#" * 250_000)
            (folder / "train.py").write_text(TRAIN)
            names += [os.path.join(f"part{number}", "loaders.py"), os.path.join(f"part{number}", "train.py")]
        alone = linted(*names)
        assert len(alone.findings) >= 8
        assert linted(*names, jobs=2).findings == alone.findings


DEADLY = """
    import os

    from accel_advisor.finding import Severity
    from accel_advisor.rule import Rule

    class RuleThatKills(Rule):
        code, name, severity = "ZZZ008", "kills", Severity.INFO
        def check(self, facts):
            if "DEADLY" in facts.document.text:
                os._exit(11)
            return iter(())
"""


def test_a_process_that_dies_costs_its_own_program_only(project: Path, install_rules: Install) -> None:
    install_rules(DEADLY)
    text = TRAIN.replace("from loaders", "from gone") + "#" * 450_000
    for name in ("a.py", "b.py", "c.py"):
        (project / name).write_text(text + ("  DEADLY\n" if name == "b.py" else "\n"))
    report = linted("a.py", "b.py", "c.py", jobs=2)
    (internal,) = [one for one in report.findings if one.code == "ACC003"]
    assert internal.filename == "b.py"
    assert "the process that analysed this file died" in internal.message
    assert {name for one in report.programs for name in one.filenames} == {"a.py", "b.py", "c.py"}


def test_says_where_files_could_not_be_understood_together(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from accel_advisor.analysis import project as analysis

    alone = analysis.analyze

    def fails_together(documents: Sequence[Document], *args: Any, **kwargs: Any) -> Any:
        if len(documents) > 1:
            raise RuntimeError("no way")
        return alone(documents, *args, **kwargs)

    (project / "loaders.py").write_text(LOADERS)
    (project / "train.py").write_text(TRAIN)
    assert not [one for one in linted("loaders.py", "train.py").findings if one.code == "ACC003"]
    monkeypatch.setattr(analysis, "analyze", fails_together)
    (internal,) = [one for one in linted("loaders.py", "train.py").findings if one.code == "ACC003"]
    assert "the analysis of 2 files together, in place of which each was read by itself, failed" in internal.message


def compiles(raw: bytes) -> bool:
    try:
        compile(raw, "train.py", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_programs_are_linted_and_fixed_without_harm(project: Path, data: st.DataObject) -> None:
    text = LOADERS + "\n\n" + TRAIN.replace("from loaders import build_loader\n", "")
    for _ in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 30))
        put = data.draw(st.sampled_from(["", "\n", "    ", "(", ")", "é", "# accel: ignore"]))
        text = text[:start] + put + text[start + length :]
    (project / "train.py").write_text(text, encoding="utf-8")
    report = linted("train.py")
    assert not [one for one in report.findings if one.code == "ACC003"], listed(report)
    outcome = fix(report, frozenset(Applicability))
    assert not [one for one in outcome.report.findings if one.code == "ACC003"], listed(outcome.report)
    for name, raw in outcome.after.items():
        if compiles(text.encode()):
            assert compiles(raw)
        (project / name).write_bytes(raw)
    assert fix(linted("train.py"), frozenset(Applicability)).after == {}


class TestFilesThatChange:
    def test_one_that_vanished(self, project: Path) -> None:
        assert linted("gone.py").checked == 0

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
    def test_one_that_may_not_be_read(self, project: Path) -> None:
        (project / "a.py").write_text("import torch\n")
        (project / "a.py").chmod(0)
        (found,) = linted("a.py").findings
        assert (found.code, found.message) == ("ACC001", "This file cannot be read: Permission denied.")

    def test_generated_code_is_skipped_unless_it_is_named(self, project: Path) -> None:
        (project / "a.py").write_text("# @generated\n" + LOADERS)
        assert lint([Found("a.py", named=False)], Configurations()).checked == 0
        assert lint([Found("a.py", named=True)], Configurations()).checked == 1

    @pytest.mark.skipif(sys.platform == "win32", reason="newlines differ")
    def test_deep_nesting_is_reported(self, project: Path) -> None:
        (project / "a.py").write_text("import torch\nx = " + "(" * 3000 + ")" * 3000 + "\n")
        (found,) = linted("a.py").findings
        assert found.code in ("ACC001", "ACC004")
