"""Findings that a project lives with: hidden as long as their line stays, and reported again when it changes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from ..conftest import Done, Install, Run

LOADER = "loader = DataLoader(torch.zeros(64, 8), pin_memory=True, pin_memory_device='cuda')\n"
TRAIN = "import torch\nfrom torch.utils.data import DataLoader\n" + LOADER
SCALER = "scaler = torch.cuda.amp.GradScaler()\n"
NOTHING = "1 file checked, nothing found.\n"


@pytest.fixture
def adopted(run: Run, project: Path) -> Path:
    """A project whose only finding stands in its baseline."""
    (project / "train.py").write_text(TRAIN)
    done = run("lint", "--write-baseline", "baseline.json")
    assert done == Done(0, "Wrote 1 finding to baseline.json.\n", "")
    return project


def concise(run: Run, *args: str) -> list[str]:
    """The findings, each as ``file:row CODE``, beside the baseline."""
    done = run("lint", "--output-format", "json", "--baseline", "baseline.json", *args)
    return [f"{one['filename']}:{one['location']['row']} {one['code']}" for one in json.loads(done.out)]


class TestHides:
    def test_what_was_there(self, adopted: Path, run: Run) -> None:
        for _ in range(2):  # the second run asks the cache
            done = run("lint", "--baseline", "baseline.json", "--fail-on", "info")
            assert done == Done(0, "1 file checked, nothing new; 1 finding in the baseline.\n", "")
        assert run("lint", "--fail-on", "info").status == 1, "without the baseline it is shown"

    @pytest.mark.parametrize("output_format", ["concise", "json", "github", "sarif", "gitlab"])
    def test_in_every_format(self, output_format: str, adopted: Path, run: Run) -> None:
        assert "ACC118" in run("lint", "--output-format", output_format).out
        assert "ACC118" not in run("lint", "--output-format", output_format, "--baseline", "baseline.json").out

    def test_the_file_is_written_for_people_to_review(self, adopted: Path) -> None:
        line = json.dumps(LOADER.strip())
        assert (adopted / "baseline.json").read_text() == (
            '{\n  "version": 1,\n  "findings": {\n    "train.py": [\n'
            f'      {{"code": "ACC118", "count": 1, "line": {line}}}\n    ]\n  }}\n}}\n'
        )

    def test_a_line_that_moves_or_is_indented(self, adopted: Path, run: Run) -> None:
        (adopted / "train.py").write_text(TRAIN.replace(LOADER, f"\n# moved\nif True:\n    {LOADER}"))
        assert concise(run) == []

    def test_a_line_that_changes_comes_back(self, adopted: Path, run: Run) -> None:
        (adopted / "train.py").write_text(TRAIN.replace("64", "65"))
        done = run("lint", "--baseline", "baseline.json")
        assert "ACC118" in done.out
        assert done.err == (
            "Note: 1 finding in baseline.json no longer occurs; --write-baseline baseline.json drops it.\n"
        )

    def test_one_more_of_the_same_is_new(self, adopted: Path, run: Run) -> None:
        (adopted / "train.py").write_text(TRAIN + LOADER)
        assert concise(run) == ["train.py:4 ACC118"]

    def test_another_rule_in_the_same_line_is_new(self, adopted: Path, run: Run) -> None:
        (adopted / "train.py").write_text(TRAIN.replace("\nloader", f"\n{SCALER.strip()}; loader"))
        run("lint", "--write-baseline", "baseline.json", "--select", "ACC118")
        assert concise(run) == ["train.py:3 ACC402"]

    def test_the_same_line_in_another_file_is_new(self, adopted: Path, run: Run) -> None:
        (adopted / "other.py").write_text(TRAIN)
        assert concise(run) == ["other.py:3 ACC118"]

    def test_from_another_folder_and_for_single_files(
        self, adopted: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (adopted / "src").mkdir()
        (adopted / "train.py").rename(adopted / "src" / "train.py")
        run("lint", "--write-baseline", "baseline.json")
        assert concise(run, "src/train.py") == []
        monkeypatch.chdir(adopted / "src")
        assert run("lint", "train.py", "--baseline", "../baseline.json").out.endswith("1 finding in the baseline.\n")
        assert run("lint", str(adopted), "--baseline", str(adopted / "baseline.json")).out.startswith("1 file checked")

    def test_stdin(self, adopted: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((TRAIN + SCALER).encode())))
        assert concise(run, "-", "--stdin-filename", "train.py") == ["train.py:4 ACC402"]

    def test_a_file_that_does_not_parse(self, adopted: Path, run: Run) -> None:
        (adopted / "train.py").write_text("import torch\nprint 'old'\n")
        run("lint", "--write-baseline", "baseline.json")
        assert run("lint", "--baseline", "baseline.json").status == 0

    def test_an_internal_error_is_never_hidden(self, adopted: Path, run: Run, install_rules: Install) -> None:
        before = (adopted / "baseline.json").read_text()
        install_rules(
            """
            from accel_advisor.finding import Severity
            from accel_advisor.rule import Rule
            class RuleThatRaises(Rule):
                code, name, severity = "ZZZ001", "raises", Severity.INFO
                def check(self, facts):
                    raise KeyError("oops")
            """
        )
        done = run("lint", "--write-baseline", "baseline.json")
        assert done.status == 2
        assert "baseline.json was not written, because findings may be missing" in done.err
        assert (adopted / "baseline.json").read_text() == before
        done = run("lint", "--baseline", "baseline.json")
        assert (done.status, "ACC003" in done.out, done.err) == (2, True, "")


class TestWithOthers:
    def test_fixes_leave_alone_what_is_hidden(self, adopted: Path, run: Run) -> None:
        (adopted / "train.py").write_text(TRAIN + SCALER)
        done = run("lint", "--baseline", "baseline.json", "--fix", "--unsafe-fixes")
        assert "\n  train.py:4: Use `torch.amp.GradScaler` (ACC402)\n" in done.out
        assert done.out.endswith("Made 1 fix. 1 file checked, nothing left; 1 finding in the baseline.\n")
        assert (adopted / "train.py").read_text() == TRAIN + "scaler = torch.amp.GradScaler('cuda')\n"
        assert run("lint", "--baseline", "baseline.json", "--diff", "--unsafe-fixes").out == ""

    def test_comments_are_written_for_what_is_new(self, adopted: Path, run: Run) -> None:
        (adopted / "train.py").write_text(TRAIN + SCALER)
        run("lint", "--baseline", "baseline.json", "--add-ignore")
        assert (adopted / "train.py").read_text() == TRAIN + f"{SCALER[:-1]}  # accel: ignore[ACC402]\n"

    def test_the_configuration_names_it(self, adopted: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        (adopted / "pyproject.toml").write_text("[tool.accel-advisor]\nbaseline = 'baseline.json'\n")
        (adopted / "src").mkdir()
        monkeypatch.chdir(adopted / "src")
        assert run("lint", "..", "--fail-on", "info").status == 0
        assert run("lint", "..", "--fail-on", "info", "--no-baseline").status == 1
        (adopted / "baseline.json").unlink()
        done = run("lint", "..")
        assert done.status == 2
        assert "there is no such baseline; --write-baseline" in done.err

    def test_severities(self, adopted: Path, run: Run) -> None:
        """What is not shown is not written, and what is held stays although it is not shown."""
        (adopted / "train.py").write_text(TRAIN + SCALER)
        done = run("lint", "--write-baseline", "baseline.json", "--min-severity", "warning")
        assert done.out == "Wrote 1 finding to baseline.json.\n"
        done = run("lint", "--baseline", "baseline.json", "--min-severity", "warning")
        assert done == Done(0, NOTHING, "")
        assert concise(run) == ["train.py:4 ACC402"]


class TestStale:
    def test_what_a_run_did_not_look_at_is_not_stale(self, adopted: Path, run: Run) -> None:
        (adopted / "train.py").write_text("import torch\n")
        (adopted / "other.py").write_text("import torch\n")
        command = ("lint", "--baseline", "baseline.json")
        assert run(*command, "other.py").err == ""
        assert run(*command, "--ignore", "ACC118").err == ""
        assert run(*command, "--select", "ACC102").err == ""
        (adopted / "pyproject.toml").write_text("[tool.accel-advisor.per-file-ignores]\n'train.py' = ['ACC118']\n")
        assert run(*command).err == ""
        (adopted / "pyproject.toml").unlink()
        assert "1 finding in baseline.json no longer occurs" in run(*command).err
        (adopted / "train.py").unlink()
        assert "1 finding in baseline.json no longer occurs" in run(*command, "other.py").err

    def test_writing_again_drops_it_and_keeps_the_rest(self, adopted: Path, run: Run) -> None:
        (adopted / "other.py").write_text(TRAIN + SCALER)
        run("lint", "--write-baseline", "baseline.json")
        whole = (adopted / "baseline.json").read_text()
        (adopted / "train.py").write_text("import torch\n")
        run("lint", "other.py", "--write-baseline", "baseline.json")
        run("lint", "train.py", "--select", "ACC102", "--write-baseline", "baseline.json")
        assert (adopted / "baseline.json").read_text() == whole
        assert (
            run("lint", "train.py", "--write-baseline", "baseline.json").out == "Wrote 2 findings to baseline.json.\n"
        )
        assert list(json.loads((adopted / "baseline.json").read_text())["findings"]) == ["other.py"]
        (adopted / "other.py").unlink()
        run("lint", "train.py", "--write-baseline", "baseline.json")
        assert (adopted / "baseline.json").read_text() == '{\n  "version": 1,\n  "findings": {}\n}\n'
        assert run("lint", "--baseline", "baseline.json").out == NOTHING

    def test_writing_twice_changes_nothing(self, adopted: Path, run: Run) -> None:
        before = (adopted / "baseline.json").read_text()
        run("lint", "--write-baseline", "baseline.json")
        assert (adopted / "baseline.json").read_text() == before


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (None, "there is no such baseline; --write-baseline baseline.json makes it"),
        (b"{", "is not a baseline, because it is not valid JSON in line 1; remove it and write it again"),
        (b'{\n<<<<<<< HEAD\n"version": 1}', "is not a baseline, because it is not valid JSON in line 2"),
        (b"\xff\xfe{}", "is not a baseline, because it is not valid JSON"),
        (b"[]", "is not a baseline: it lacks what one holds"),
        (b"{}", "is not a baseline: it lacks what one holds"),
        (b'{"version": 2, "findings": {}}', "is a baseline of version 2, not 1"),
        (b'{"version": 1, "findings": []}', "is not a baseline: it lacks what one holds"),
        (b'{"version": 1, "findings": {"a.py": [{}]}}', "is not a baseline: it lacks what one holds"),
        (
            b'{"version": 1, "findings": {"a.py": [{"code": "ACC1", "line": "x", "count": "2"}]}}',
            "is not a baseline: it lacks what one holds",
        ),
    ],
)
def test_a_file_that_is_no_baseline_is_one_sentence(raw: bytes | None, sentence: str, run: Run, project: Path) -> None:
    (project / "train.py").write_text(TRAIN)
    if raw is not None:
        (project / "baseline.json").write_bytes(raw)
    done = run("lint", "--baseline", "baseline.json")
    assert done.status == 2
    assert done.out == ""
    assert done.err.startswith(f"Error: baseline.json: {sentence}")
    if raw is not None:
        assert run("lint", "--write-baseline", "baseline.json").status == 2, "what may be somebody's stays"
        assert (project / "baseline.json").read_bytes() == raw


def test_a_place_that_cannot_be_written_to(run: Run, project: Path) -> None:
    (project / "train.py").write_text(TRAIN)
    done = run("lint", "--write-baseline", "missing/baseline.json")
    assert done.status == 2
    assert done.err.startswith("Error: missing/baseline.json: cannot be written: ")


def test_an_unchanged_tree_costs_no_parser(adopted: Path, run: Run) -> None:
    from ..test_cli import python

    run("lint", "--baseline", "baseline.json")
    code = (
        "import sys\nfrom accel_advisor.cli import main\n"
        "try:\n    main(['lint', '--baseline', 'baseline.json'])\n"
        "finally:\n    print(sorted({'libcst', 'torch', 'packaging'} & set(sys.modules)))\n"
    )
    done = python("-c", code, cwd=adopted)
    assert done.stdout == "1 file checked, nothing new; 1 finding in the baseline.\n[]\n", done.stderr
