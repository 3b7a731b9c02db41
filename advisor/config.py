"""``[tool.accel-advisor]`` in pyproject.toml -> Config; every error names the file and the key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from accel_advisor.finding import Confidence, Severity
from accel_advisor.project.gitignore import is_pattern
from accel_advisor.project.target import Platform, Target, Versions, platforms, versions
from accel_advisor.selection import Selection, Selector, selectors

NAME = "accel-advisor"
TABLE = f"tool.{NAME}"

_TABLE = re.compile(rb"^[ \t]*\[[ \t]*((tool[ \t]*\.[ \t]*)?(ac[\w-]*)[\w.-]*)", re.MULTILINE)
_ALIKE = 0.85
"""How like the name of our table another one is that people write when they mean it: `accel_advisor` is so like,
`accel_data` is not."""


class ConfigError(ValueError):
    """A configuration that cannot be used; the message is one sentence that names the file and the key."""


@dataclass(frozen=True, slots=True)
class Config:
    """What a project asks of the tool.

    Attributes:
        root: the project's folder; patterns of paths are relative to it.
        path: the file that the configuration comes from, or None where there is none.
        selection: which rules run.
        per_file_ignores: pattern of paths -> what does not run there.
        exclude: patterns of paths that are not linted, in the notation of .gitignore.
        include: patterns of paths that are linted although they would be skipped by default.
        min_severity: findings below it are not shown.
        min_confidence: findings that are less sure are not shown.
        minor: whether what is of little consequence where it stands is shown, too.
        fail_on: findings at or above it make the exit status 1.
        target: what the project runs on, as far as the configuration says so.
        baseline: the file of findings that the project lives with, relative to :attr:`root`.
        tune_script: the script that ``tune`` runs when none is named, relative to :attr:`root`.
        tune_args: its arguments.
        error: why it cannot be used, if it cannot: one sentence that names the file and the key.
    """

    root: Path
    path: Path | None = None
    selection: Selection = field(default_factory=Selection)
    per_file_ignores: tuple[tuple[str, tuple[Selector, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    min_severity: Severity = Severity.INFO
    min_confidence: Confidence = Confidence.EVIDENT
    minor: bool = False
    fail_on: Severity = Severity.WARNING
    target: Target = field(default_factory=Target)
    baseline: str | None = None
    tune_script: str | None = None
    tune_args: tuple[str, ...] = ()
    error: str | None = None

    @classmethod
    def read(cls, path: Path) -> Config | None:
        """The configuration in a pyproject.toml; None where there is no such file or it has no table of this tool.

        Raises:
            ConfigError: it cannot be read, or a key or value in it is wrong.
        """
        table = _table(path)
        return _Reader(path).config(table) if table is not None else None

    def changed(
        self,
        *,
        select: tuple[Selector, ...] | None = None,
        extend_select: tuple[Selector, ...] = (),
        ignore: tuple[Selector, ...] = (),
        per_file_ignores: tuple[tuple[str, tuple[Selector, ...]], ...] = (),
        min_severity: Severity | None = None,
        min_confidence: Confidence | None = None,
        minor: bool | None = None,
        fail_on: Severity | None = None,
        target: Target | None = None,
    ) -> Config:
        """This configuration as the options of a run change it."""
        old = self.selection
        return replace(
            self,
            selection=Selection(
                old.select if select is None else select,
                (old.extend_select if select is None else ()) + extend_select,
                old.ignore + ignore,
            ),
            per_file_ignores=self.per_file_ignores + per_file_ignores,
            min_severity=min_severity or self.min_severity,
            min_confidence=min_confidence or self.min_confidence,
            minor=self.minor if minor is None else minor,
            fail_on=fail_on or self.fail_on,
            target=target.over(self.target) if target is not None else self.target,
        )

    def settings(self) -> dict[str, object]:
        """The configuration as plain data under the keys of the file."""
        selection = self.selection
        return {
            "root": str(self.root),
            "config": str(self.path) if self.path else None,
            "select": None if selection.select is None else [one.text for one in selection.select],
            "extend-select": [one.text for one in selection.extend_select],
            "ignore": [one.text for one in selection.ignore],
            "per-file-ignores": {pattern: [one.text for one in what] for pattern, what in self.per_file_ignores},
            "exclude": list(self.exclude),
            "include": list(self.include),
            "min-severity": self.min_severity.value,
            "min-confidence": self.min_confidence.value,
            "minor": self.minor,
            "fail-on": self.fail_on.value,
            "torch-version": str(self.target.torch) or None,
            "python-version": str(self.target.python) or None,
            "platform": sorted(self.target.platforms),
            "baseline": self.baseline,
            "tune": {"script": self.tune_script, "args": list(self.tune_args)},
        }


def _table(path: Path) -> dict[str, Any] | None:
    try:
        raw = path.read_bytes() if path.is_file() else b""
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    for other in _TABLE.finditer(raw):
        if _means_ours(other[3].decode(), bool(other[2])):
            line = raw.count(b"\n", 0, other.start(1)) + 1
            raise ConfigError(f"{path}:{line}: nothing reads the table [{other[1].decode()}]; call it [{TABLE}]")
    if NAME.encode() not in raw:  # templates of projects need not even be TOML
        return None
    import tomllib

    try:
        data = tomllib.loads(raw.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not valid TOML: {error}") from error
    tool = data.get("tool", {})
    table = tool.get(NAME) if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{path}: {TABLE} must be a table")
    return table


def _means_ours(name: str, is_tool: bool) -> bool:
    """Whether a table that nothing reads has nearly the name of ours."""
    if is_tool and name == NAME:
        return False
    import difflib

    return difflib.SequenceMatcher(None, name, NAME).ratio() >= _ALIKE


class _Reader:
    """Reads one table, key by key."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def config(self, table: Mapping[str, Any]) -> Config:
        take: dict[str, Callable[[str, Any], Any]] = {
            "select": self._selectors,
            "extend-select": self._selectors,
            "ignore": self._selectors,
            "extend-ignore": self._selectors,
            "per-file-ignores": self._per_file_ignores,
            "extend-per-file-ignores": self._per_file_ignores,
            "exclude": self._patterns,
            "include": self._patterns,
            "min-severity": partial(self._one_of, Severity),
            "min-confidence": partial(self._one_of, Confidence),
            "minor": self._yes_or_no,
            "fail-on": partial(self._one_of, Severity),
            "torch-version": self._versions,
            "python-version": self._versions,
            "platform": self._platforms,
            "baseline": self._string,
            "tune": self._tune,
        }
        values = self._values(TABLE, table, take)
        ignore = values.get("ignore", ()) + values.get("extend-ignore", ())
        selection = Selection(values.get("select"), values.get("extend-select", ()), ignore)
        script, args = values.get("tune", (None, ()))
        return Config(
            root=self.path.parent,
            path=self.path,
            selection=selection,
            per_file_ignores=values.get("per-file-ignores", ()) + values.get("extend-per-file-ignores", ()),
            exclude=values.get("exclude", ()),
            include=values.get("include", ()),
            min_severity=values.get("min-severity", Severity.INFO),
            min_confidence=values.get("min-confidence", Confidence.EVIDENT),
            minor=values.get("minor", False),
            fail_on=values.get("fail-on", Severity.WARNING),
            target=Target(
                values.get("python-version", Versions()),
                values.get("torch-version", Versions()),
                values.get("platform", frozenset()),
            ),
            baseline=values.get("baseline"),
            tune_script=script,
            tune_args=args,
        )

    def _values(
        self, prefix: str, table: Mapping[str, Any], take: Mapping[str, Callable[[str, Any], Any]]
    ) -> dict[str, Any]:
        values = {}
        for key, value in table.items():
            if key not in take:
                import difflib

                close = difflib.get_close_matches(key, take, n=1)
                hint = f"did you mean '{close[0]}'?" if close else f"the keys are {', '.join(take)}"
                raise ConfigError(f"{self.path}: {prefix}: there is no key '{key}'; {hint}")
            values[key] = take[key](f"{prefix}.{key}", value)
        return values

    def _error(self, key: str, what: str) -> ConfigError:
        return ConfigError(f"{self.path}: {key}: {what}")

    def _strings(self, key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self._error(key, f"must be a list of strings, not {value!r}")
        return tuple(value)

    def _patterns(self, key: str, value: Any) -> tuple[str, ...]:
        lines = self._strings(key, value)
        wrong = next((line for line in lines if not is_pattern(line)), None)
        if wrong is not None:
            raise self._error(key, f"{wrong!r} is no pattern as .gitignore has them; remove it")
        return lines

    def _selectors(self, key: str, value: Any) -> tuple[Selector, ...]:
        return selectors(self._strings(key, value), f"{self.path}: {key}")

    def _per_file_ignores(self, key: str, value: Any) -> tuple[tuple[str, tuple[Selector, ...]], ...]:
        if not isinstance(value, dict):
            raise self._error(key, "must be a table of patterns with lists of rules")
        self._patterns(key, [pattern.removeprefix("!") for pattern in value])
        return tuple((pattern, self._selectors(f'{key}."{pattern}"', what)) for pattern, what in value.items())

    def _one_of(self, kind: type[StrEnum], key: str, value: Any) -> StrEnum:
        known = [one.value for one in kind]
        if value not in known:
            raise self._error(key, f"must be one of {', '.join(known)}, not {value!r}")
        return kind(value)

    def _yes_or_no(self, key: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self._error(key, f"must be true or false, not {value!r}")
        return value

    def _versions(self, key: str, value: Any) -> Versions:
        if not isinstance(value, str):
            raise self._error(key, f'must be a string such as "2.4" or ">=2.1,<3", not {value!r}')
        try:
            return versions(value)
        except ValueError as error:
            raise self._error(key, str(error)) from error

    def _platforms(self, key: str, value: Any) -> frozenset[Platform]:
        try:
            return platforms([value] if isinstance(value, str) else self._strings(key, value))
        except ConfigError:
            raise
        except ValueError as error:
            raise self._error(key, str(error)) from error

    def _tune(self, key: str, value: Any) -> tuple[str | None, tuple[str, ...]]:
        if not isinstance(value, dict):
            raise self._error(key, "must be a table with 'script' and 'args'")
        values = self._values(key, value, {"script": self._string, "args": self._strings})
        return values.get("script"), values.get("args", ())

    def _string(self, key: str, value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise self._error(key, f"must be a string, not {value!r}")
        return value
