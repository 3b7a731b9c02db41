"""What the files of a project declare that it runs on. They are read, never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

from accel_advisor.project.target import Platform, Target, Version, Versions, specified

FILES = ("pyproject.toml", "requirements.txt", "setup.cfg", "setup.py", "environment.yml", "environment.yaml")
MOST_BYTES = 1_000_000

_NAME = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(.*)", re.DOTALL)
_INCLUDED = re.compile(r"\s*(?:-r|--requirement)[\s=]+(\S+)")
_CONDA = re.compile(r"(\s*)-\s*[\"']?(?:[\w.-]+::)?(torch|pytorch|python)\b(?![-.])\s*([^\"'#]*)")
_PYTHON_CLASSIFIER = re.compile(r"Programming Language :: Python :: (\d+)\.(\d+)\s*")
_SYSTEMS: dict[str, Platform] = {
    "Operating System :: POSIX :: Linux": "linux",
    "Operating System :: MacOS": "macos",
    "Operating System :: Microsoft :: Windows": "windows",
}


@dataclass(frozen=True, slots=True)
class Declared:
    """What was read.

    Attributes:
        target: what the files say together.
        read: the files that were looked for or at: a change of one, or one that appears, may change the target.
    """

    target: Target
    read: frozenset[str]


@dataclass(slots=True)
class _Statements:
    """What one file says, in the order in which it counts."""

    python: list[str] = field(default_factory=list)
    torch: list[Versions] = field(default_factory=list)
    """Of what the project needs to run."""
    extras: list[Versions] = field(default_factory=list)
    """Of what it needs for something besides: tests, documentation, an option."""
    classifiers: list[str] = field(default_factory=list)
    lightning: list[Versions] = field(default_factory=list)

    def need(self, lines: Iterable[str], *, extra: bool = False) -> None:
        """Notes what requirements in the notation of PEP 508 say of torch and Lightning."""
        lines = list(lines)
        (self.extras if extra else self.torch).extend(_stated(lines, "torch"))
        self.lightning.extend(_stated(lines, "lightning"))


def declared(root: Path) -> Declared:
    """What pyproject.toml (PEP 621, dependency groups and Poetry), setup.cfg, the literals of setup.py, requirements
    files and a conda environment in a project's folder say.

    Of Python, the first of them that names a version counts. Of torch, all that the project needs to run are taken
    together, and what its extras and groups say only where those are silent about it. A file that cannot be read or
    parsed says nothing: to report it is not a linter's business.
    """
    read = {str(root / name) for name in FILES}
    texts = {name: _text(root / name) for name in FILES}
    main, others = _requirements(root, read)
    found = [
        _pyproject(texts["pyproject.toml"]),
        _setup_cfg(texts["setup.cfg"]),
        _setup_py(texts["setup.py"]),
        main,
        _conda(texts["environment.yml"] or texts["environment.yaml"]),
        others,
    ]
    torch = [one for file in found for one in file.torch] or [one for file in found for one in file.extras]
    stated = [versions for file in found for text in file.python if (versions := _specified(text)) != Versions()]
    classifiers = [one for file in found for one in file.classifiers]
    python = _named(stated[0] if stated else Versions(), classifiers)
    lightning = [one for file in found for one in file.lightning]
    target = Target(python, _joined(torch), _platforms(classifiers), _joined(lightning))
    return Declared(target, frozenset(read))


def _text(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return stream.read(MOST_BYTES).decode("utf-8-sig", errors="replace")
    except OSError:  # most projects have only one or two of the files
        return ""


def _pyproject(text: str) -> _Statements:
    found = _Statements()
    if not text:
        return found
    import tomllib

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return found
    project, poetry = _table(data, "project"), _table(data, "tool", "poetry")
    found.python += _strings([project.get("requires-python")])
    found.classifiers += [*_strings(project.get("classifiers")), *_strings(poetry.get("classifiers"))]
    found.need(_strings(project.get("dependencies")))
    for group in (*_table(project, "optional-dependencies").values(), *_table(data, "dependency-groups").values()):
        found.need(_strings(group), extra=True)
    own = _table(poetry, "dependencies")
    found.python += list(_poetry(own.get("python")))
    found.torch += _merged(_poetry(own.get("torch")))
    groups = [_table(one, "dependencies") for one in _tables(_table(poetry, "group"))]
    for group in (*groups, _table(poetry, "dev-dependencies")):
        found.extras += _merged(_poetry(group.get("torch")))
    return found


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


def _setup_cfg(text: str) -> _Statements:
    found = _Statements()
    if not text:
        return found
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return found
    found.python += _strings([parser.get("options", "python_requires", fallback=None)])
    found.classifiers += parser.get("metadata", "classifiers", fallback="").splitlines()
    found.need(parser.get("options", "install_requires", fallback="").splitlines())
    if parser.has_section("options.extras_require"):
        for _, lines in parser.items("options.extras_require"):
            found.need(lines.splitlines(), extra=True)
    return found


def _setup_py(text: str) -> _Statements:
    """The arguments of ``setup(...)`` that are literals, or names that are bound to one at the top of the file."""
    found = _Statements()
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
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _called(call.func) == "setup":
            given = {one.arg: _literal(one.value, bound) for one in call.keywords}
            found.python += _strings([given.get("python_requires")])
            found.classifiers += _strings(given.get("classifiers"))
            needed = given.get("install_requires")
            found.need(needed.splitlines() if isinstance(needed, str) else _strings(needed))
            extras = given.get("extras_require")
            for lines in extras.values() if isinstance(extras, dict) else ():
                found.need(_strings(lines), extra=True)
    return found


def _called(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _literal(node: ast.expr, bound: dict[str, list[ast.expr]]) -> Any:
    if isinstance(node, ast.Name) and len(bound.get(node.id, ())) == 1:
        node = bound[node.id][0]
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):  # made by code, which is not run
        return None


def _requirements(root: Path, read: set[str]) -> tuple[_Statements, _Statements]:
    """What requirements.txt says with the files that it includes, and what others of the kind say."""
    main, others = _Statements(), _Statements()
    pending = [root / "requirements.txt"]
    seen: set[Path] = set()
    while pending:
        path = pending.pop()
        if path in seen or not path.is_relative_to(root) or ".." in path.relative_to(root).parts:
            continue
        seen.add(path)
        lines = _text(path).splitlines()
        main.need(lines)
        pending += [path.parent / included[1] for line in lines if (included := _INCLUDED.match(line))]
    try:
        rest = {*root.glob("requirements*.txt"), *root.glob("requirements/*.txt")} - seen
    except OSError:  # a folder that cannot be listed
        rest = set()
    for path in sorted(rest):
        others.need(_text(path).splitlines(), extra=True)
    read |= {str(path) for path in seen | rest}
    return main, others


def _conda(text: str) -> _Statements:
    """The dependencies of a conda environment, line by line: ``- pytorch=2.1`` and, below ``pip:``, ``- torch>=2``."""
    found = _Statements()
    for line in text.splitlines():
        match = _CONDA.fullmatch(line.partition("#")[0].rstrip().rstrip("\"'"))
        if match is None:
            continue
        package, written = match[2], match[3].strip()
        single = re.match(r"=\s*([\d.]*\d)", written)
        spec = f"=={single[1]}.*" if single else written.partition("=py")[0]
        if package == "python":
            found.python.append(spec)
        else:
            found.torch.append(_specified(spec))
    return found


def _stated(lines: Iterable[str], package: str) -> Iterator[Versions]:
    for line in lines:
        match = _NAME.match(re.sub(r"(^|\s)#.*", "", line))
        if match is not None and match[1].lower() == package:
            text = re.split(r"[;@\\]|\s--", match[2], maxsplit=1)[0].strip()
            yield _specified(text.removeprefix("(").removesuffix(")"))


def _joined(found: list[Versions]) -> Versions:
    return reduce(Versions.joined, found) if found else Versions()


def _merged(texts: Iterator[str]) -> list[Versions]:
    return [_specified(text) for text in texts]


def _specified(text: str) -> Versions:
    return specified(text) or Versions()


def _named(stated: Versions, classifiers: list[str]) -> Versions:
    """A range, and the versions of Python that classifiers name."""
    matches = [_PYTHON_CLASSIFIER.fullmatch(one.strip()) for one in classifiers]
    named: list[Version] = [(int(one[1]), int(one[2])) for one in matches if one is not None]
    if not named:
        return stated
    oldest = stated.oldest if stated != Versions() else min(named)
    return Versions(oldest, stated.below, max(named))


def _platforms(classifiers: list[str]) -> frozenset[Platform]:
    """The systems that classifiers name. "OS Independent" and "POSIX" stand in too many templates to mean much."""
    found = {
        platform
        for one in classifiers
        for prefix, platform in _SYSTEMS.items()
        if one.strip() == prefix or one.strip().startswith(f"{prefix} ::")
    }
    return frozenset(found)


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
