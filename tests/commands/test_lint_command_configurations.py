"""The command `lint` over files with several configurations: each file follows its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..conftest import Run
from .scripts import HEALTHY, SLOW

TABLE = "[tool.accel-advisor]\n"


@pytest.fixture
def nested(project: Path) -> Path:
    """Two scripts with the same findings; the one in ``sub`` has a configuration of its own."""
    (project / "sub").mkdir()
    (project / "other.py").write_text(SLOW)
    (project / "sub" / "train.py").write_text(SLOW)
    (project / "pyproject.toml").write_text(TABLE)
    configure(project, "")
    return project


def configure(project: Path, text: str) -> None:
    (project / "sub" / "pyproject.toml").write_text(TABLE + text)


def found(run: Run, *args: str) -> dict[str, set[str]]:
    """The codes of what is found in each file."""
    codes: dict[str, set[str]] = {}
    for one in json.loads(run("lint", "--output-format", "json", *args).out):
        codes.setdefault(one["filename"], set()).add(one["code"])
    return codes


WAYS = (("sub/train.py", "other.py"), ("other.py", "sub/train.py"), (".",), ("sub", "other.py"))


@pytest.mark.parametrize("ways", WAYS)
class TestEachFileFollowsItsOwn:
    def test_selection(self, run: Run, nested: Path, ways: tuple[str, ...]) -> None:
        assert all("ACC102" in codes for codes in found(run, *ways).values())
        configure(nested, 'ignore = ["ACC102"]\n')
        codes = found(run, *ways)
        assert "ACC102" in codes["other.py"]
        assert codes["sub/train.py"] == codes["other.py"] - {"ACC102"}

    def test_patterns_are_relative_to_it(self, run: Run, nested: Path, ways: tuple[str, ...]) -> None:
        configure(nested, 'per-file-ignores = { "/train.py" = ["ACC102"], "/other.py" = ["ACC1"] }\n')
        codes = found(run, *ways)
        assert codes["sub/train.py"] == codes["other.py"] - {"ACC102"}

    def test_severities(self, run: Run, nested: Path, ways: tuple[str, ...]) -> None:
        configure(nested, 'min-severity = "error"\n')
        assert set(found(run, *ways)) == {"other.py"}
        assert set(found(run, *ways, "--min-severity", "info")) == {"other.py", "sub/train.py"}

    def test_exit_status(self, run: Run, nested: Path, ways: tuple[str, ...]) -> None:
        (nested / "pyproject.toml").write_text(TABLE + 'fail-on = "error"\n')
        configure(nested, 'fail-on = "error"\n')
        assert run("lint", *ways).status == 0
        configure(nested, 'fail-on = "warning"\n')
        assert run("lint", *ways).status == 1
        assert run("lint", *ways, "--fail-on", "error").status == 0
        assert run("lint", "other.py").status == 0

    def test_baselines(self, run: Run, nested: Path, ways: tuple[str, ...]) -> None:
        run("lint", "sub", "--write-baseline", "sub/known.json")
        configure(nested, 'baseline = "known.json"\n')
        done = run("lint", "--output-format", "json", *ways)
        assert {one["filename"] for one in json.loads(done.out)} == {"other.py"}
        assert set(found(run, *ways, "--no-baseline")) == {"other.py", "sub/train.py"}
        assert run("lint", *ways).err == ""
        (nested / "sub" / "train.py").write_text(HEALTHY)
        assert f"{nested / 'sub' / 'known.json'} " in run("lint", *ways).err

    def test_what_it_runs_on(self, run: Run, nested: Path, ways: tuple[str, ...]) -> None:
        old = "import torch\nscaler = torch.cuda.amp.GradScaler()\n"
        (nested / "other.py").write_text(old)
        (nested / "sub" / "train.py").write_text(old)
        configure(nested, 'torch-version = ">=2.0,<2.2"\n')
        codes = found(run, *ways)
        assert "ACC402" in codes["other.py"]
        assert "ACC402" not in codes.get("sub/train.py", set())


def test_exclude_holds_where_it_stands(run: Run, nested: Path) -> None:
    configure(nested, 'exclude = ["train.py", "other.py"]\n')
    assert run("lint", "--show-files").out.splitlines() == ["other.py"]
    assert run("lint", "--show-files", "sub").out == ""
    assert run("lint", "--show-files", "sub/train.py").out == "sub/train.py\n"
    assert run("lint", "--show-files", "sub/train.py", "other.py", "--force-exclude").out == "other.py\n"


def test_include_holds_where_it_stands(run: Run, nested: Path) -> None:
    for folder in (nested, nested / "sub"):
        (folder / "tests").mkdir()
        (folder / "tests" / "train.py").write_text(SLOW)
    configure(nested, 'include = ["tests/"]\n')
    assert run("lint", "--show-files").out.splitlines() == ["other.py", "sub/train.py", "sub/tests/train.py"]


def test_settings_are_those_of_the_path_that_is_named(run: Run, nested: Path) -> None:
    configure(nested, 'fail-on = "info"\n')
    assert json.loads(run("lint", "--show-settings", "sub/train.py").out)["fail-on"] == "info"
    assert json.loads(run("lint", "--show-settings", "other.py").out)["fail-on"] == "warning"
    done = run("lint", "--show-settings", "sub/train.py", "other.py")
    assert (done.status, done.out) == (2, "")
    assert "several configurations hold for these paths; name one of them" in done.err


WRONG = pytest.mark.parametrize(
    ("text", "error"),
    [
        ('selct = ["ACC102"]\n', "tool.accel-advisor: there is no key 'selct'; did you mean 'select'?"),
        ('ignore = ["ACC9999"]\n', "tool.accel-advisor.ignore: no rule is called 'ACC9999'"),
        ('per-file-ignores = { "a.py" = ["ACC9999"] }\n', "tool.accel-advisor.per-file-ignores"),
        ("ignore = [\n", "is not valid TOML"),
    ],
)


@WRONG
class TestAWrongOne:
    """It holds for the files that follow it; what is found in others is what would be found if it were right."""

    @pytest.mark.parametrize("ways", WAYS)
    def test_of_some_files(self, run: Run, nested: Path, ways: tuple[str, ...], text: str, error: str) -> None:
        expected = found(run, "other.py")
        configure(nested, text)
        for args in ((), (), ("--no-cache",)):
            done = run("lint", "--output-format", "json", *ways, *args)
            assert done.status == 2
            assert done.err.startswith(f"Error: {nested / 'sub' / 'pyproject.toml'}: {error}")
            assert len(done.err.splitlines()) == 1
            assert {one["filename"] for one in json.loads(done.out)} == {"other.py"}
            assert found(run, *ways, *args) == expected

    def test_of_others_only(self, run: Run, nested: Path, text: str, error: str) -> None:
        expected = found(run, "other.py")
        configure(nested, text)
        for _ in range(2):
            done = run("lint", "other.py")
            assert (done.status, done.err) == (1, "")
            assert found(run, "other.py") == expected

    def test_of_all_files(self, run: Run, nested: Path, text: str, error: str) -> None:
        configure(nested, text)
        for args in (("sub",), ("sub/train.py",), ("sub", "--diff"), ("--output-format", "json", "sub")):
            done = run("lint", *args)
            assert (done.status, done.out) == (2, "")
            assert error in done.err
            assert len(done.err.splitlines()) == 1

    def test_of_a_file_that_another_one_imports(self, run: Run, nested: Path, text: str, error: str) -> None:
        (nested / "sub" / "made.py").write_text("def workers():\n    return 0\n")
        (nested / "other.py").write_text("from sub.made import workers\n" + SLOW)
        expected = found(run, "other.py")
        configure(nested, text)
        assert found(run, "other.py") == expected
        assert run("lint", "other.py").status == 1

    def test_no_baseline_is_written(self, run: Run, nested: Path, text: str, error: str) -> None:
        configure(nested, text)
        done = run("lint", "--write-baseline", "known.json")
        assert done.status == 2
        assert error in done.err
        assert not (nested / "known.json").exists()

    def test_others_are_fixed(self, run: Run, nested: Path, text: str, error: str) -> None:
        configure(nested, text)
        assert run("lint", "--fix", "--unsafe-fixes").status == 2
        assert (nested / "other.py").read_text() != SLOW
        assert (nested / "sub" / "train.py").read_text() == SLOW


def test_files_are_not_listed_under_a_wrong_one(run: Run, nested: Path) -> None:
    configure(nested, 'exclude = "train.py"\n')
    assert run("lint", "--show-files", "other.py").out == "other.py\n"
    done = run("lint", "--show-files")
    assert (done.status, done.out) == (2, "")
    assert "tool.accel-advisor.exclude: must be a list of strings" in done.err


def test_templates_of_projects_are_not_read(run: Run, nested: Path) -> None:
    (nested / "template").mkdir()
    (nested / "template" / "pyproject.toml").write_text("[project]\nname = {{ name }}\n")
    assert run("lint", "other.py").status == 1
