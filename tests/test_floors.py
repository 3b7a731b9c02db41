"""No import runs up the floors of the house, and each part imports only what it may."""

from __future__ import annotations

import ast
import graphlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import accel_advisor
import accel_advisor.rules

PACKAGE = "accel_advisor"
FLOORS: tuple[tuple[str, ...], ...] = (
    ("",),
    ("finding", "sights", "machine", "plugins"),
    ("selection",),
    ("syntax",),
    ("source",),
    ("project",),
    ("config",),
    ("configurations",),
    ("editing",),
    ("tables",),
    ("values",),
    ("records",),
    ("records.queries",),
    ("interpreter",),
    ("datasets",),
    ("analysis",),
    ("rule", "rule_page"),
    ("tool_pages",),
    ("rules",),
    ("linting",),
    ("output",),
    ("why",),
    ("tuning.probe.channel",),
    ("tuning.probe.script",),
    ("tuning.probe.containment",),
    ("tuning.probe.measuring",),
    ("tuning.probe.plain",),
    ("tuning.probe.turning",),
    ("tuning.probe.knobs",),
    ("tuning.probe",),
    ("tuning.search", "tuning.target"),
    ("tuning.nodes",),
    ("tuning.trial",),
    ("tuning.applying",),
    ("tuning.wording",),
    ("tuning.knobs",),
    ("tuning.record",),
    ("tuning.showing",),
    ("tuning.pricing",),
    ("tuning.racing",),
    ("tuning.plain",),
    ("tuning.page",),
    ("tuning",),
    ("library",),
    ("server", "kernel"),
    ("commands", "flake8_plugin"),
    ("cli",),
    ("__main__",),
)
"""The rooms, and the files that stand by themselves, from the ground up. Each may import its own floor and those below.
A module stands on the floor of the longest name here that its own begins with."""
LEVELS = {name: level for level, floor in enumerate(FLOORS) for name in floor}
FOR_RULES = ("accel_advisor.finding", "accel_advisor.rule", "accel_advisor.records")
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


def room(module: str) -> str:
    """The entry of :data:`FLOORS` that a module belongs to."""
    parts = module.split(".")[1:]
    names = (".".join(parts[:count]) for count in range(len(parts), -1, -1))
    return next(name for name in names if name in LEVELS)


@pytest.mark.parametrize("name", MODULES)
def test_no_import_runs_upwards(name: str) -> None:
    here = room(name)
    assert here or name == PACKAGE, f"{name} has no floor yet"
    for target in imports(name, MODULES[name]):
        there = room(target)
        allowed = LEVELS[there] <= LEVELS[here] or {(here, there)} & EXCEPTIONS.keys()
        assert allowed, f"{name} imports {target} from a floor above"


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Neither when they run nor for their types: what stands below can be read, and changed, without what is above."""
    graph = {name: set(imports(name, path)) - {name} for name, path in MODULES.items()}
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_no_room_is_crowded() -> None:
    """A person takes in a room at a glance: about fifteen files."""
    sizes: dict[Path, int] = {}
    for path in MODULES.values():
        if path.name != "__init__.py":
            sizes[path.parent] = sizes.get(path.parent, 0) + 1
    assert {folder.name: size for folder, size in sizes.items() if size > 15} == {}


def test_no_rule_is_long() -> None:
    """A rule is a page, a short loop, a message and a fix: what analyses is a query over records."""
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    assert {name: length for name, length in lengths.items() if room(name) == "rules" and length > 110} == {}


def test_no_two_files_share_a_name() -> None:
    names = [path.stem for path in MODULES.values() if path.name != "__init__.py"]
    assert {name for name in names if names.count(name) > 1} == set()


def forbidden_to_a_rule(name: str, path: Path) -> set[str]:
    """What a rule's module imports, be it for its types only, beyond Python's own library and what a rule may ask."""
    found = {one for one in imports(name, path) if not f"{one}.".startswith(tuple(f"{one}." for one in FOR_RULES))}
    for node in ast.walk(ast.parse(path.read_bytes())):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found |= {one.partition(".")[0] for one in modules} - sys.stdlib_module_names - {PACKAGE}
    return found


@pytest.mark.parametrize("name", [one for one in MODULES if room(one) == "rules"])
def test_rules_import_what_a_rule_may_ask_only(name: str) -> None:
    assert not forbidden_to_a_rule(name, MODULES[name])


def test_what_a_rule_may_not_import_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "rule_of_another.py"
    lines = ("import libcst as cst", "import re", "from accel_advisor.records.facts import Facts")
    path.write_text("\n".join((*lines, "if Facts:", "    from accel_advisor.syntax import shapes")))
    assert forbidden_to_a_rule(path.stem, path) == {"libcst", "accel_advisor.syntax.shapes"}


@pytest.mark.parametrize("name", [one for one in MODULES if one.startswith(f"{PACKAGE}.tuning.probe.")])
def test_the_probe_imports_itself_only(name: str) -> None:
    for target in imports(name, MODULES[name]):
        assert target.startswith(f"{PACKAGE}.tuning.probe"), f"{name} imports {target}"


def test_nothing_but_the_registry_names_a_rule() -> None:
    for name, path in MODULES.items():
        if room(name) not in ("rules", "rule"):
            assert not [one for one in imports(name, path) if room(one) == "rules"], name


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


def test_the_picture_in_contributing_is_that_of_the_floors() -> None:
    text = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    picture = next(block for block in text.split("```") if block.startswith("text\n__main__\n")).removeprefix("text\n")
    lines = [re.match(r"[\w.]+(?:, [\w.]+)*", line) for line in picture.strip().splitlines()]
    shown = tuple(tuple(line[0].replace(PACKAGE, "").split(", ")) for line in reversed(lines) if line is not None)
    assert shown == FLOORS, "change the picture in CONTRIBUTING.md, too"
