"""No import runs up the floors of the house, and each part imports only what it may."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import accel_advisor
import accel_advisor.rules

PACKAGE = "accel_advisor"
FLOORS: dict[str, int] = {
    "": 0,
    "finding": 0,
    "selection": 0,
    "target": 0,
    "machine": 0,
    "gpus": 0,
    "bandwidth": 0,
    "limits": 1,
    "collector": 0,
    "plugins": 0,
    "config": 1,
    "source": 1,
    "semantics": 2,
    "rule": 3,
    "rule_page": 4,
    "rules": 4,
    "fixer": 4,
    "report": 5,
    "trouble": 5,
    "pool": 5,
    "linter": 5,
    "baseline": 5,
    "fix_loop": 5,
    "cache": 5,
    "output": 6,
    "tune": 7,
    "adoption": 7,
    "lint_command": 8,
    "rule_command": 8,
    "doctor": 8,
    "scaffold": 8,
    "cli": 9,
    "__main__": 10,
}
"""The floor of each part, from the ground up. A part may import those on its own floor and below."""
FOR_RULES = ("accel_advisor.finding", "accel_advisor.rule", "accel_advisor.semantics")
EXCEPTIONS = {("rule", "rules"): "the registry is the one place that knows rules: it lists their package"}


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the package, by its full name, wherever its folder lies."""
    for folder, prefix in (
        (Path(accel_advisor.__path__[0]), PACKAGE),
        (Path(accel_advisor.rules.__path__[0]), f"{PACKAGE}.rules"),
    ):
        for path in sorted(folder.rglob("*.py")):
            parts = list(path.relative_to(folder).with_suffix("").parts)
            if parts[:1] == ["rules"] and prefix == PACKAGE:
                continue
            if parts[-1] == "__init__":
                parts.pop()
            yield ".".join([prefix, *parts]), path


MODULES = dict(modules())


def imports(name: str, path: Path) -> Iterator[str]:
    """The modules of this package that a module imports, those for type checking included: a type from above is a
    dependency like another."""
    is_package = path.name == "__init__.py"
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == PACKAGE)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = name.split(".")
                base = base[: len(base) - node.level + is_package]
                target = ".".join([*base, *(node.module or "").split(".")]).rstrip(".")
            else:
                target = node.module or ""
            if target.split(".")[0] != PACKAGE:
                continue
            for alias in node.names:
                inner = f"{target}.{alias.name}"
                yield inner if inner in MODULES else target


def part(module: str) -> str:
    return [*module.split("."), ""][1]


@pytest.mark.parametrize("name", MODULES)
def test_no_import_runs_upwards(name: str) -> None:
    here = part(name)
    assert here in FLOORS, f"the part '{here}' has no floor yet"
    for target in imports(name, MODULES[name]):
        there = part(target)
        allowed = FLOORS[there] <= FLOORS[here] or (here, there) in EXCEPTIONS
        assert allowed, f"{name} imports {target} from a floor above"


@pytest.mark.parametrize("name", [one for one in MODULES if part(one) == "rules"])
def test_rules_import_their_own_kind_of_thing_only(name: str) -> None:
    for target in imports(name, MODULES[name]):
        assert target.startswith(FOR_RULES), f"{name} imports {target}"


@pytest.mark.parametrize("name", [one for one in MODULES if one.startswith(f"{PACKAGE}.tune.probe.")])
def test_the_probe_imports_itself_only(name: str) -> None:
    for target in imports(name, MODULES[name]):
        assert target.startswith(f"{PACKAGE}.tune.probe"), f"{name} imports {target}"


def test_nothing_but_the_registry_names_a_rule() -> None:
    for name, path in MODULES.items():
        if part(name) not in ("rules", "rule"):
            assert not [one for one in imports(name, path) if part(one) == "rules"], name


def test_every_package_is_installed() -> None:
    """A folder that the build does not list is missing from an installed copy."""
    import tomllib

    root = Path(__file__).parent.parent
    listed = set(tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found = set()
    for folder, prefix in ((root / "advisor", PACKAGE), (root / "rules", f"{PACKAGE}.rules")):
        for path in folder.rglob("__init__.py"):
            inner = path.parent.relative_to(folder).parts
            found.add(".".join([prefix, *inner]))
    assert listed == found


def test_no_module_is_a_grab_bag() -> None:
    for name in MODULES:
        assert not {"utils", "util", "common", "helpers", "misc"} & set(name.split(".")), name
