"""What pyproject.toml, setup.cfg and setup.py declare. They are read, never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from accel_advisor.project.requirement_lines import requirements, versions_of
from accel_advisor.project.target import Versions

_OF_PUBLISHED = frozenset(
    "author author_email maintainer maintainer_email url download_url project_urls classifiers keywords license "
    "long_description entry_points scripts ext_modules".split()
)
"""Arguments of ``setup`` for people who look for a package, or use it."""
_TEXT_FILE = re.compile(r"[\w./-]*requir[\w./-]*\.(?:txt|in)")


@dataclass(slots=True)
class Statements:
    """What one file says, in the order in which it counts.

    Attributes:
        python: ranges of versions.
        needed: of what the project needs to run, each package with its versions.
        extras: of what it needs for something besides: tests, documentation, an option.
        classifiers: those of Python packages.
        includes: files of requirements that this one reads.
    """

    python: list[Versions] = field(default_factory=list)
    needed: list[tuple[str, Versions]] = field(default_factory=list)
    extras: list[tuple[str, Versions]] = field(default_factory=list)
    classifiers: list[str] = field(default_factory=list)
    includes: list[str] = field(default_factory=list)

    def need(self, lines: Iterable[str], *, extra: bool = False) -> None:
        """Notes what requirements say."""
        self.note(requirements(lines), extra=extra)

    def note(self, found: Iterable[tuple[str, Versions]], *, extra: bool = False) -> None:
        """Notes packages with their versions."""
        for package, versions in found:
            if package == "python":
                self.python.append(versions)
            else:
                (self.extras if extra else self.needed).append((package, versions))


def pyproject(text: str) -> Statements:
    """PEP 621, dependency groups, Poetry, and the files that setuptools reads."""
    found = Statements()
    if not text:
        return found
    import tomllib

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return found
    project, poetry = _table(data, "project"), _table(data, "tool", "poetry")
    found.python += [versions_of(one) for one in _strings([project.get("requires-python")])]
    found.classifiers += [*_strings(project.get("classifiers")), *_strings(poetry.get("classifiers"))]
    found.need(_strings(project.get("dependencies")))
    read = _table(data, "tool", "setuptools", "dynamic", "dependencies").get("file")
    found.includes += [read] if isinstance(read, str) else _strings(read)
    for group in (*_table(project, "optional-dependencies").values(), *_table(data, "dependency-groups").values()):
        found.need(_strings(group), extra=True)
    found.note(_poetry_group(_table(poetry, "dependencies")))
    groups = [_table(one, "dependencies") for one in _tables(_table(poetry, "group"))]
    for group in (*groups, _table(poetry, "dev-dependencies")):
        found.note(_poetry_group(group), extra=True)
    return found


def setup_cfg(text: str) -> Statements:
    """The sections for setuptools."""
    found = Statements()
    if not text:
        return found
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return found
    found.python += [versions_of(one) for one in [parser.get("options", "python_requires", fallback="")] if one]
    found.classifiers += parser.get("metadata", "classifiers", fallback="").splitlines()
    needed = parser.get("options", "install_requires", fallback="")
    if needed.startswith("file:"):
        found.includes += _TEXT_FILE.findall(needed)
    else:
        found.need(needed.splitlines())
    if parser.has_section("options.extras_require"):
        for _, lines in parser.items("options.extras_require"):
            found.need(lines.splitlines(), extra=True)
    return found


def setup_py(text: str) -> Statements:
    """The literals among the arguments of ``setup(...)``, where they are bound to a name at the top of the file, too,
    and the files of requirements whose names stand anywhere in it."""
    found = Statements()
    if "setup(" not in text:
        return found
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    bound: dict[str, list[ast.expr]] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    bound.setdefault(target.id, []).append(statement.value)
    literals = _Literals({name: values[0] for name, values in bound.items() if len(values) == 1})
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _TEXT_FILE.fullmatch(node.value):
            found.includes.append(node.value)
        if isinstance(node, ast.Call) and _called(node.func) == "setup":
            given = {one.arg: one.value for one in node.keywords}
            found.python += [versions_of(one) for one in literals.strings(given.get("python_requires"))]
            found.classifiers += literals.strings(given.get("classifiers"))
            found.need(literals.lines(given.get("install_requires")))
            extras = literals.behind(given.get("extras_require"))
            for group in extras.values if isinstance(extras, ast.Dict) else ():
                found.need(literals.lines(group), extra=True)
    return found


@dataclass(frozen=True, slots=True)
class _Literals:
    """The strings that expressions certainly hold."""

    bound: dict[str, ast.expr]

    def behind(self, node: ast.expr | None) -> ast.expr | None:
        return self.bound.get(node.id) if isinstance(node, ast.Name) else node

    def lines(self, node: ast.expr | None) -> list[str]:
        return [line for text in self.strings(node) for line in text.splitlines()]

    def strings(self, node: ast.expr | None) -> list[str]:
        """Those of a string, of a list, and of the parts of a sum; what is made by code is left out."""
        found: list[str] = []
        pending = [node]
        for _ in range(1000):  # a name may be bound to itself
            if not pending:
                break
            match self.behind(pending.pop()):
                case ast.Constant(value=str(text)):
                    found.append(text)
                case ast.List(elts=parts) | ast.Tuple(elts=parts):
                    pending += reversed(parts)
                case ast.BinOp(left=left, op=ast.Add(), right=right):
                    pending += [right, left]
                case ast.Starred(value=value):
                    pending.append(value)
        return found


def _poetry_group(table: dict[str, Any]) -> Iterator[tuple[str, Versions]]:
    for package, value in table.items():
        for text in _poetry(value):
            yield from ((name, versions_of(text)) for name, _ in requirements([package]))


def _poetry(value: Any) -> Iterator[str]:
    """Poetry's notation, in that of PEP 440: a caret keeps the major version, a tilde the minor one."""
    if isinstance(value, list):
        for one in value:
            yield from _poetry(one)
    elif isinstance(value, dict):
        yield from _poetry(value.get("version"))
    elif isinstance(value, str):
        for choice in value.split("||"):
            yield ",".join(_clause(part) for part in re.split(r"\s*,\s*|(?<=[\d*])\s+(?=[<>=!~^])", choice.strip()))


def _clause(part: str) -> str:
    found = re.fullmatch(r"([~^]?)\s*(\d+)(?:\.(\d+))?(\S*)", part)
    if part == "*" or found is None:
        return "" if part == "*" else part
    sign, major, minor, rest = found[1], int(found[2]), found[3], found[4]
    if not sign:
        return f"=={part}"
    if minor is None:
        below = f"{major + 1}.0"
    else:
        below = f"{major + 1}.0" if sign == "^" and major else f"{major}.{int(minor) + 1}"
    return f">={part.lstrip('~^ ')},<{below}" if not rest or rest[0] == "." else ""


def _called(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _table(data: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        value = data.get(key)
        if not isinstance(value, dict):
            return {}
        data = value
    return data


def _tables(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in data.values() if isinstance(one, dict)]


def _strings(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, (list, tuple)) else []


def is_published(setup: str) -> bool:
    """Whether a ``setup.py`` makes a package that others look for: one of only a name and packages is there so that
    the project finds its own modules (``pip install -e .``). What cannot be parsed may do anything, and what says
    nothing is said elsewhere."""
    try:
        tree = ast.parse(setup)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    made = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and _called(one.func) == "setup"]
    named = [given.arg for one in made for given in one.keywords]
    return not named or any(one is None or one in _OF_PUBLISHED for one in named)
