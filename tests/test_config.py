"""The configuration, and the rules that it selects."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.config import ConfigError
from accel_advisor.configurations import Configurations
from accel_advisor.finding import Severity


def write(folder: Path, text: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return path


class TestLoad:
    def test_without_a_file_the_defaults_hold(self, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        (tmp_path / "src").mkdir()
        config = Configurations().of(tmp_path / "src" / "train.py")
        assert config.path is None
        assert config.root == tmp_path
        assert config.fail_on is Severity.WARNING

    def test_a_file_without_the_table_is_skipped(self, tmp_path: Path) -> None:
        write(tmp_path, '[tool.accel-advisor]\nfail-on = "error"\n')
        (tmp_path / "inner").mkdir()
        write(tmp_path / "inner", "[project]\nname = 'x'\n")
        config = Configurations().of(tmp_path / "inner")
        assert (config.root, config.fail_on) == (tmp_path, Severity.ERROR)

    def test_every_key(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            """
            [tool.accel-advisor]
            select = ["ACC1", "blocking-copy"]
            extend-select = ["ACC2"]
            ignore = ["ACC102"]
            exclude = ["legacy/"]
            include = ["tests/train.py"]
            min-severity = "warning"
            min-confidence = "proven"
            minor = true
            fail-on = "error"
            torch-version = "2.4"
            python-version = ">=3.9,<3.14"
            platform = ["linux", "macos"]
            baseline = "baseline.json"
            tune = { script = "train.py", args = ["--epochs", "2"] }
            [tool.accel-advisor.per-file-ignores]
            "scripts/*.py" = ["ACC201"]
            """,
        )
        config = Configurations().of(tmp_path)
        assert config.settings() == {
            "root": str(tmp_path),
            "config": str(tmp_path / "pyproject.toml"),
            "select": ["ACC1", "blocking-copy"],
            "extend-select": ["ACC2"],
            "ignore": ["ACC102"],
            "per-file-ignores": {"scripts/*.py": ["ACC201"]},
            "exclude": ["legacy/"],
            "include": ["tests/train.py"],
            "min-severity": "warning",
            "min-confidence": "proven",
            "minor": True,
            "fail-on": "error",
            "torch-version": ">=2.4",
            "python-version": ">=3.9,<3.14",
            "platform": ["linux", "macos"],
            "baseline": "baseline.json",
            "tune": {"script": "train.py", "args": ["--epochs", "2"]},
        }

    @pytest.mark.parametrize(
        ("body", "sentence"),
        [
            ("selct = []", "tool.accel-advisor: there is no key 'selct'; did you mean 'select'?"),
            ("colour = 1", "tool.accel-advisor: there is no key 'colour'; the keys are select, "),
            ("select = 'ACC1'", "tool.accel-advisor.select: must be a list of strings, not 'ACC1'"),
            ("exclude = [1]", "tool.accel-advisor.exclude: must be a list of strings, not [1]"),
            (
                "exclude = ['out/', '!']",
                "tool.accel-advisor.exclude: '!' is no pattern as .gitignore has them; remove it",
            ),
            ("per-file-ignores = {'!!' = []}", "tool.accel-advisor.per-file-ignores: '!' is no pattern as .gitignore"),
            ("fail-on = 'warn'", "tool.accel-advisor.fail-on: must be one of error, warning, info, not 'warn'"),
            ("min-confidence = 1", "tool.accel-advisor.min-confidence: must be one of proven, evident, not 1"),
            ("torch-version = 2.4", 'tool.accel-advisor.torch-version: must be a string such as "2.4" or '),
            ("torch-version = 'two'", "tool.accel-advisor.torch-version: 'two' is neither a version such as 2.4"),
            ("platform = 'osx'", "tool.accel-advisor.platform: 'osx' is none of linux, macos, windows, all"),
            ("platform = 1", "tool.accel-advisor.platform: must be a list of strings, not 1"),
            ("tune = 'train.py'", "tool.accel-advisor.tune: must be a table with 'script' and 'args'"),
            ("tune = { scrpt = 'a' }", "tool.accel-advisor.tune: there is no key 'scrpt'; did you mean 'script'?"),
            ("tune = { args = 'a' }", "tool.accel-advisor.tune.args: must be a list of strings, not 'a'"),
            ("per-file-ignores = []", "tool.accel-advisor.per-file-ignores: must be a table of patterns"),
            ("per-file-ignores = {'a' = 1}", 'tool.accel-advisor.per-file-ignores."a": must be a list of strings'),
        ],
    )
    def test_a_wrong_key_or_value_is_named(self, tmp_path: Path, body: str, sentence: str) -> None:
        path = write(tmp_path, f"[tool.accel-advisor]\n{body}\n")
        with pytest.raises(ConfigError) as caught:
            Configurations().of(tmp_path)
        assert str(caught.value).startswith(f"{path}: {sentence}")

    @pytest.mark.parametrize(
        "table",
        ["tool.accel_advisor", "accel-advisor", "tool.acceladvisor.tune", "tool.accel-advisr", "tool.accel-adviser"],
    )
    def test_a_table_of_another_name_is_reported(self, tmp_path: Path, table: str) -> None:
        path = write(tmp_path, f"[project]\nname = 'x'\n[{table}]\nignore = []\n")
        with pytest.raises(ConfigError) as caught:
            Configurations().of(tmp_path)
        assert str(caught.value) == f"{path}:3: nothing reads the table [{table}]; call it [tool.accel-advisor]"

    def test_tables_of_others_are_left_alone(self, tmp_path: Path) -> None:
        write(
            tmp_path, "[tool.accel]\n[tool.accel_data]\n[accelerate]\n[tool.ruff]\nextend-exclude = ['accel_advisor']\n"
        )
        assert Configurations().of(tmp_path).path is None

    @pytest.mark.parametrize("raw", [b"[tool.accel-advisor", b"\xff\xfe# accel-advisor"])
    def test_what_is_no_toml_is_named(self, tmp_path: Path, raw: bytes) -> None:
        (tmp_path / "pyproject.toml").write_bytes(raw)
        with pytest.raises(ConfigError, match=r"pyproject\.toml: is not valid TOML"):
            Configurations().of(tmp_path)

    def test_the_table_must_be_one(self, tmp_path: Path) -> None:
        write(tmp_path, "[tool]\naccel-advisor = 1\n")
        with pytest.raises(ConfigError, match="must be a table"):
            Configurations().of(tmp_path)
