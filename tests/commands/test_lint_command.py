"""The command `lint`: options, output and exit status."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from accel_advisor.machine.cores import usable_cores

from ..conftest import Done, Install, Run
from .scripts import HEALTHY, NOT_TORCH, SLOW

WHY = "  `accel-advisor lint --why train.py:LINE` says why, line by line."


class TestNothingToSay:
    def test_an_empty_folder(self, run: Run, project: Path) -> None:
        said = "there is no Python file and no notebook in {}: name the folder that holds the training"
        assert run("lint") == Done(2, "", f"Error: {said.format('this folder')}\n")
        (project / "sub").mkdir()
        assert run("lint", "sub") == Done(2, "", f"Error: {said.format('sub')}\n")
        assert run("lint", "sub", "--show-files") == Done(0, "", "")
        assert run("lint", "sbu").err == "Error: sbu: there is no such file or folder; did you mean 'sub'?\n"
        (project / "other.py").write_text("")
        assert (
            run("lint", "othre.py").err
            == "Error: othre.py: there is no such file or folder; did you mean 'other.py'?\n"
        )
        assert run("lint", "gone.py").err == "Error: gone.py: there is no such file or folder\n"

    def test_a_folder_of_which_all_is_skipped(self, run: Run, project: Path) -> None:
        (project / "tests").mkdir()
        (project / "tests" / "train.py").write_text(SLOW)
        done = run("lint")
        assert (done.status, done.out) == (2, "")
        assert done.err.startswith("Error: the one file in this folder is skipped, as tests, documentation, ")
        assert run("lint", "tests").status == 1
        assert run("lint", "--force-exclude", "tests/train.py").status == 0, "hooks name what is excluded"

    def test_a_folder_that_was_given_up(self, run: Run, project: Path) -> None:
        for folder in (project, project / "old"):
            folder.mkdir(exist_ok=True)
            (folder / "train.py").write_text(SLOW)
        done = run("lint")
        assert done.out.endswith("; 1 file in old not checked, as given up (name the folder to check it).\n")
        assert "old/train.py" not in done.out
        assert run("lint", "--show-files").out == "train.py\n"
        assert run("lint", "--fix", "--unsafe-fixes").out.endswith("as given up (name the folder to check it).\n")
        assert (project / "old" / "train.py").read_text() == SLOW
        assert "old/train.py:" in run("lint", "old").out

    def test_healthy_code(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(HEALTHY)
        seen = "1 DataLoader (line 19: pinned, 4 workers), 1 asynchronous copy: nothing to mend"
        said = f"Files that train, and of which no rule says anything:\n  train.py: {seen}\n{WHY}\n\n"
        assert run("lint") == Done(0, f"{said}1 file checked, nothing found.\n", "")
        assert run("lint").out.startswith(said), "the cache remembers it"
        assert run("lint", "--select", "ACC102").out == "1 file checked, nothing found.\n"
        assert run("lint", "--output-format", "json").out == "[]\n"
        assert run("lint", "--diff").out == ""
        assert run("lint", "--fix", "--unsafe-fixes").status == 0
        assert (project / "train.py").read_text() == HEALTHY

    def test_files_that_mention_no_accelerator(self, run: Run, project: Path) -> None:
        (project / "a.py").write_text("x = 1\n")
        assert run("lint") == Done(0, "1 file checked, nothing found: it does not mention torch.\n", "")

    def test_a_file_that_was_named_is_parsed_whatever_it_mentions(self, run: Run, project: Path) -> None:
        (project / "a.py").write_text("def (:\n")
        done = run("lint", "a.py")
        assert done.status == 1
        assert done.out.startswith("a.py:1:5: ACC001 syntax-error (error)\n  Syntax error: invalid syntax.\n")
        assert run("lint", "a.py") == done, "the cache remembers it"
        assert run("lint").status == 0, "a template below a folder is nobody's mistake"
        (project / "a.ipynb").write_text("{")
        assert run("lint", "a.ipynb").status == 1
        (project / "a.py").write_text("def f(): ...\n")
        assert run("lint", "a.py").status == 0


class TestFindings:
    def test_text(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        done = run("lint", "train.py", "--select", "ACC102")
        assert done.status == 1
        assert done.err == ""
        first, reason, *_ = done.out.splitlines()
        assert first == "train.py:19:10: ACC102 dataloader-num-workers-zero (warning)"
        assert "`loader`" in reason
        assert "  19 | loader = DataLoader(Photos" in done.out
        assert "= fix: " in done.out
        assert done.out.endswith("1 finding (warning) in 1 of 1 file; 1 fixable with --fix --unsafe-fixes.\n")

    def test_json_has_the_shape_of_ruff(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        done = run("lint", "--output-format", "json", "--select", "ACC102")
        (found,) = json.loads(done.out)
        assert found["code"] == "ACC102"
        assert found["filename"] == "train.py"
        assert found["location"] == {"row": 19, "column": 10}
        assert found["end_location"] == {"row": 19, "column": 53}
        assert found["severity"] == "warning"
        assert found["fix"]["applicability"] == "unsafe"
        edit = found["fix"]["edits"][0]
        assert edit["location"] == edit["end_location"] == {"row": 19, "column": 52}
        assert edit["content"].startswith(", num_workers=")
        assert {"message", "name", "url", "related"} <= found.keys()

    def test_concise_and_statistics(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        done = run("lint", "--output-format", "concise", "--select", "ACC102")
        assert done.out.startswith("train.py:19:10: ACC102 `loader` ")
        assert run("lint", "--statistics", "--select", "ACC102").out == (
            "1  ACC102  dataloader-num-workers-zero  (1 fixable)\n"
        )
        counted = json.loads(run("lint", "--statistics", "--output-format", "json", "--select", "ACC102").out)
        assert counted == [{"code": "ACC102", "name": "dataloader-num-workers-zero", "count": 1, "fixable": 1}]

    def test_output_goes_to_a_file(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        done = run("lint", "--output-file", "report.json", "--output-format", "json")
        assert (done.status, done.out) == (1, "")
        assert json.loads((project / "report.json").read_text())

    def test_an_unwritable_output_file(self, run: Run, project: Path) -> None:
        (project / "plain.py").write_text(NOT_TORCH)
        done = run("lint", "--output-file", "nowhere/report.json")
        assert done.status == 2
        assert "--output-file: nowhere/report.json cannot be written: No such file or directory" in done.err

    @pytest.mark.parametrize(
        ("options", "status"),
        [
            ((), 1),
            (("--exit-zero",), 0),
            (("--fail-on", "error"), 0),
            (("--fail-on", "info"), 1),
            (("--min-severity", "error"), 0),
            (("--ignore", "ACC1"), 0),
            (("--ignore", "dataloader-num-workers-zero", "--ignore", "dataloader-missing-pin-memory"), 0),
        ],
    )
    def test_exit_status(self, run: Run, project: Path, options: tuple[str, ...], status: int) -> None:
        (project / "train.py").write_text(SLOW)
        assert run("lint", *options).status == status

    def test_suppressed(self, run: Run, project: Path) -> None:
        text = SLOW.replace("batch_size=2)", "batch_size=2)  # accel: ignore[ACC101, ACC102] two photos")
        (project / "train.py").write_text(text)
        assert run("lint").out == "1 file checked, nothing found.\n"

    def test_an_unused_suppression(self, run: Run, project: Path) -> None:
        text = HEALTHY.replace("pin_memory=True)", "pin_memory=True)  # accel: ignore[ACC102] why")
        (project / "train.py").write_text(text)
        done = run("lint")
        assert done.status == 1
        assert "ACC002 unused-suppression" in done.out
        assert run("lint", "--select", "ACC101").status == 0
        assert run("lint", "--fix").status == 0
        assert (project / "train.py").read_text() == HEALTHY

    def test_per_file_ignores(self, run: Run, project: Path) -> None:
        (project / "pyproject.toml").write_text('[tool.accel-advisor.per-file-ignores]\n"demo/*.py" = ["ACC1"]\n')
        for name in ("demo", "src"):
            (project / name).mkdir()
            (project / name / "train.py").write_text(SLOW)
        names = {one["filename"] for one in json.loads(run("lint", "--output-format", "json").out)}
        assert names == {os.path.join("src", "train.py")}

    def test_show_files_and_settings(self, run: Run, project: Path) -> None:
        (project / "pyproject.toml").write_text('[tool.accel-advisor]\nignore = ["ACC102"]\n')
        (project / "a.py").write_text(NOT_TORCH)
        assert run("lint", "--show-files").out == "a.py\n"
        settings = json.loads(run("lint", "--show-settings", "--ignore", "ACC201", "--fail-on", "error").out)
        assert settings["ignore"] == ["ACC102", "ACC201"]
        assert settings["fail-on"] == "error"


class TestFixing:
    def test_a_diff_writes_nothing(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        done = run("lint", "--diff", "--unsafe-fixes", "--select", "ACC102")
        assert done.status == 1
        assert done.out.startswith("--- a/train.py\n+++ b/train.py\n")
        assert '+loader = DataLoader(Photos(["a.jpg"]), batch_size=2, num_workers=' in done.out
        assert done.err == "1 fix in 1 file; nothing was written.\n"
        assert (project / "train.py").read_text() == SLOW

    def test_unsafe_fixes_need_their_option(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        run("lint", "--fix", "--select", "ACC102")
        assert (project / "train.py").read_text() == SLOW
        run("lint", "--fix", "--unsafe-fixes", "--select", "ACC102")
        assert "num_workers=" in (project / "train.py").read_text()

    def test_bytes_around_a_fix_stay(self, run: Run, project: Path) -> None:
        raw = b"\xef\xbb\xbf" + SLOW.replace("a.jpg", "é.jpg").replace("\n", "\r\n").encode()
        (project / "train.py").write_bytes(raw)
        (project / "train.py").chmod(0o754)
        done = run("lint", "--fix", "--unsafe-fixes")
        after = (project / "train.py").read_bytes()
        assert done.status == 0, done.out
        start = raw.index(b"batch_size=2") + len(b"batch_size=2")
        tail = raw[start:]
        assert after.startswith(raw[:start])
        assert after.endswith(tail)
        assert after.count(b"\r\n") == after.count(b"\n")
        assert (project / "train.py").stat().st_mode & 0o777 == 0o754
        assert run("lint", "--fix", "--unsafe-fixes").out.endswith("\n1 file checked, nothing found.\n")
        assert (project / "train.py").read_bytes() == after

    @pytest.mark.parametrize("options", [(), ("--output-format", "concise")])
    def test_what_may_change_a_run_is_announced(self, run: Run, project: Path, options: tuple[str, ...]) -> None:
        (project / "train.py").write_text(SLOW)
        done = run("lint", "--fix", "--unsafe-fixes", "--no-cache", *options)
        few = f"; this machine has {usable_cores()} usable core" if usable_cores() < 4 else ""
        told = done.out[done.out.index("Written, and it may change what a run does:") :].splitlines()
        assert told[1].startswith(f"  train.py:19: Pass `num_workers=4` (ACC102){few}")
        assert "  `accel-advisor tune train.py` measures what is best on this machine." in told
        assert "Written, and" not in run("lint", "--fix", "--no-cache").out

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everywhere")
    def test_a_folder_that_may_not_be_written(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        project.chmod(0o555)
        try:
            done = run("lint", "--fix", "--unsafe-fixes", "--no-cache")
        finally:
            project.chmod(0o755)
        assert done.status == 2
        assert "no file was changed" in done.err


class TestStandardInput:
    def test_lint(self, run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SLOW.encode())))
        done = run("lint", "-", "--stdin-filename", "src/train.py", "--output-format", "concise")
        assert done.status == 1
        assert done.out.startswith("src/train.py:19:10: ")
        assert list(project.iterdir()) == [project / ".git"], "what is not saved is not remembered"

    def test_fixed_text_goes_to_stdout_and_the_rest_to_stderr(
        self, run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SLOW.encode())))
        done = run("lint", "-", "--fix", "--unsafe-fixes")
        assert done.out.startswith(SLOW[: SLOW.index("batch_size")])
        assert "num_workers=" in done.out
        assert "Made " in done.err

    def test_without_findings_it_comes_back_as_it_was(
        self, run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(NOT_TORCH.encode())))
        assert run("lint", "-", "--fix").out == NOT_TORCH


class TestWrongUse:
    @pytest.mark.parametrize(
        ("args", "sentence"),
        [
            (("lint", "gone.py"), "Error: gone.py: there is no such file or folder"),
            (("lint", "--select", "ACC999"), "Error: --select: no rule is called 'ACC999'; did you mean ACC"),
            (("lint", "-", "a.py"), "'-' reads stdin and cannot be used with another path"),
            (("lint", "--stdin-filename", "a.py"), "--stdin-filename needs the path '-'"),
            (("lint", "--output-format", "xml"), "'xml' is not one of 'text'"),
            (("lint", "--jobs", "0"), "0 is not in the range"),
            (("lnt",), "there is no command 'lnt'; did you mean 'lint'?"),
            (("here.py",), "there is no command 'here.py'; to lint it, say 'accel-advisor lint here.py'"),
            (("rule",), "name one rule by its code or name, or say --all"),
            (("rule", "ACC999"), "Error: rule: no rule is called 'ACC999'; did you mean ACC"),
            (("rule", "ACC1"), "Error: rule: 'ACC1' means "),
        ],
    )
    def test_one_sentence_and_status_2(self, run: Run, project: Path, args: tuple[str, ...], sentence: str) -> None:
        (project / "here.py").write_text(NOT_TORCH)
        done = run(*args)
        assert done.status == 2
        assert done.out == ""
        assert sentence in done.err

    def test_a_wrong_configuration(self, run: Run, project: Path) -> None:
        (project / "pyproject.toml").write_text('[tool.accel-advisor]\nselect = ["dataloader-num-worker-zero"]\n')
        done = run("lint")
        assert done.status == 2
        assert done.err == (
            f"Error: {project / 'pyproject.toml'}: tool.accel-advisor.select: no rule is called "
            "'dataloader-num-worker-zero'; did you mean dataloader-num-workers-zero?\n"
        )

    @pytest.mark.parametrize(
        ("raw", "where", "message"),
        [
            (b"import torch\nprint 'x'\n", "bad.py:2:1", "Syntax error: Missing parentheses in call to 'print'"),
            (b"import torch\nx = (\n", "bad.py:2:5", "Syntax error: '(' was never closed."),
            (b"import torch\nx = '\xff'\n", "bad.py:2:1", "This file cannot be decoded as utf-8: invalid start byte."),
            (b"# coding: klingon\nimport torch\n", "bad.py:1:1", "This file cannot be decoded: unknown encoding"),
            (b"import torch\x00\n", "bad.py:1:", "Syntax error: "),
        ],
    )
    def test_a_file_that_is_no_python(self, run: Run, project: Path, raw: bytes, where: str, message: str) -> None:
        (project / "bad.py").write_bytes(raw)
        (project / "train.py").write_text(SLOW)
        done = run("lint", "--fix")
        assert done.status == 1
        assert done.out.startswith(f"{where}")
        assert "ACC001 syntax-error" in done.out
        assert message in done.out
        assert "ACC102" in done.out
        assert (project / "bad.py").read_bytes() == raw


class TestRulesThatFail:
    CRASHING = """
        from accel_advisor.finding import Severity
        from accel_advisor.rule import Rule

        class RuleThatRaises(Rule):
            code, name, severity = "ZZZ001", "raises", Severity.INFO
            def check(self, facts):
                yield self.finding(facts, facts.document.tree.body[0], "it is first", "do nothing")
                raise KeyError("oops")
    """
    BREAKING = """
        from accel_advisor.finding import Applicability, Fix, Severity
        from accel_advisor.rule import Rule

        class RuleWithABrokenFix(Rule):
            code, name, severity = "ZZZ002", "breaks", Severity.INFO
            def check(self, facts):
                edit = facts.document.edit(0, 0, "def (")
                yield self.finding(facts, facts.document.tree.body[0], "it is whole", "break it",
                                   fix=Fix("Break it", (edit,), Applicability.SAFE))

        class RuleThatNeverEnds(Rule):
            code, name, severity, enabled = "ZZZ003", "never-ends", Severity.INFO, False
            def check(self, facts):
                edit = facts.document.edit(0, 0, "# again\\n")
                yield self.finding(facts, facts.document.tree.body[0], "it goes on", "add a line",
                                   fix=Fix("Add a line", (edit,), Applicability.SAFE))
    """

    def test_the_rest_still_runs(self, run: Run, project: Path, install_rules: Install) -> None:
        install_rules(self.CRASHING)
        (project / "train.py").write_text(SLOW)
        done = run("lint")
        assert done.status == 2
        assert "ZZZ001 raises" in done.out
        assert "ACC102 dataloader-num-workers-zero" in done.out
        assert "Internal error: rule ZZZ001 (raises) failed with KeyError at plugin_" in done.out
        assert "please report it" in done.out

    @pytest.mark.parametrize(
        ("source", "reason"),
        [
            ("raise RuntimeError('no licence')\nclass RuleLost(object): pass", "RuntimeError: no licence"),
            ("import not_there\nclass RuleLost(object): pass", "ModuleNotFoundError: No module named 'not_there'"),
            ("import sys\nsys.exit(3)\nclass RuleLost(object): pass", "SystemExit: 3"),
            ("class RuleLost(object): pass", "is no class derived from accel_advisor.rule.Rule"),
            (
                "from accel_advisor.rule import Rule\nclass RuleLost(Rule): pass",
                "TypeError: Can't instantiate abstract",
            ),
            (
                "from accel_advisor.rule import Rule\nfrom accel_advisor.finding import Severity\n"
                "class RuleLost(Rule):\n    code, name, severity = 'ACC102', 'mine', Severity.INFO\n"
                "    def check(self, facts): yield from ()",
                "ValueError: another rule is called ACC102 or mine already",
            ),
        ],
    )
    def test_one_that_cannot_be_loaded_is_named_and_the_rest_still_runs(
        self, source: str, reason: str, run: Run, project: Path, install_rules: Install
    ) -> None:
        install_rules(source)
        (project / "train.py").write_text(SLOW)
        for _ in range(2):  # the second run asks the cache
            done = run("lint", "--extend-select", "LOST1", "--select", "ACC102")
            assert done.status == 2
            assert "ACC102 dataloader-num-workers-zero" in done.out
            assert done.err.startswith("Error: the rule 'RuleLost' of another package (plugin_")
            assert "cannot be loaded, so it did not run: " in done.err
            assert reason in done.err
        assert run("lint", "--diff").status == 2
        listed = run("rule", "--all")
        assert (listed.status, "ACC102 " in listed.out, reason in listed.err) == (2, True, True)

    def test_a_fix_that_breaks_the_file_is_not_made(self, run: Run, project: Path, install_rules: Install) -> None:
        install_rules(self.BREAKING)
        (project / "train.py").write_text(SLOW)
        done = run("lint", "--fix", "--unsafe-fixes", "--no-cache")
        assert done.status == 2
        assert "Internal error: the fix of rule ZZZ002 (breaks) syntax error: " in done.out
        after = (project / "train.py").read_text()
        assert "num_workers=" in after
        compile(after, "train.py", "exec")

    def test_fixes_that_never_end_are_cut_off(self, run: Run, project: Path, install_rules: Install) -> None:
        install_rules(self.BREAKING)
        (project / "train.py").write_text(SLOW)
        done = run("lint", "--fix", "--select", "ZZZ003", "--no-cache")
        assert done.status == 2
        assert "the fix of rule ZZZ003 (never-ends) is not done after 10 passes" in done.out
