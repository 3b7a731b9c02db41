"""What the files of a project declare that it runs on. They are read, never run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

from accel_advisor.project import requirement_lines
from accel_advisor.project.manifests import Statements, pyproject, setup_cfg, setup_py
from accel_advisor.project.requirement_files import Kind, files_that_declare
from accel_advisor.project.search_path import lies_in
from accel_advisor.project.target import Platform, Target, Version, Versions

MOST_BYTES = 1_000_000

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
        read: the files that were read and the folders whose names were looked at: a change of one, or a file that
            appears in one, may change the target.
    """

    target: Target
    read: frozenset[str]

    def over(self, other: Declared) -> Declared:
        """This and, for what it does not say, another one."""
        return Declared(self.target.over(other.target), self.read | other.read)


class Requirements:
    """What holds for the scripts of each folder; every folder is read once.

    The nearest folder that says something of a package counts, up to the root of the project. In a folder, all that
    the project needs to run are taken together, and what is said of it in extras, groups, Dockerfiles and other files
    of requirements only where those are silent. README counts where nothing else names an oldest version of torch. A
    file that cannot be read or parsed says nothing: to report it is not a linter's business.
    """

    def __init__(self) -> None:
        self._stated: dict[str, Declared] = {}
        self._advised: dict[str, Declared] = {}

    def of(self, folder: str | os.PathLike[str], root: str | os.PathLike[str]) -> Declared:
        """What is declared for the scripts in a folder of the project with a root."""
        folders = _upwards(os.path.realpath(folder), os.path.realpath(root))
        found = reduce(Declared.over, map(self._of_folder, folders))
        if found.target.torch.oldest is None:
            found = reduce(Declared.over, map(self._advice, folders), found)
        return found

    def _of_folder(self, folder: str) -> Declared:
        if folder not in self._stated:
            self._stated[folder] = _stated(folder)
        return self._stated[folder]

    def _advice(self, folder: str) -> Declared:
        if folder not in self._advised:
            paths = files_that_declare(folder)[Kind.README]
            said = [one for path in paths for one in requirement_lines.demanded(_text(path))]
            self._advised[folder] = Declared(Target(advised=_by_package(said)), frozenset(paths))
        return self._advised[folder]


def _upwards(folder: str, root: str) -> list[str]:
    """A folder and those around it up to the root; the root alone where it does not lie below that."""
    if not lies_in(folder, root):
        return [root]
    found = [folder]
    while found[-1] != root:
        found.append(os.path.dirname(found[-1]))
    return found


def _stated(folder: str) -> Declared:
    files = files_that_declare(folder)
    read: set[str] = {folder, *(path for kind in Kind if kind is not Kind.README for path in files[kind])}
    built = [
        *(pyproject(_text(path)) for path in files[Kind.PYPROJECT]),
        *(setup_cfg(_text(path)) for path in files[Kind.SETUP_CFG]),
        *(setup_py(_text(path)) for path in files[Kind.SETUP_PY]),
    ]
    own = os.path.join(folder, "requirements.txt")
    starts = [os.path.normpath(os.path.join(folder, name)) for one in built for name in one.includes]
    included = _included([own, *starts], folder)
    read |= included.keys()
    main, others = Statements(), Statements()
    for lines in included.values():
        main.need(lines)
    for path in files[Kind.REQUIREMENTS]:
        if path not in included:
            others.need(_text(path).splitlines(), extra=True)
    environments = Statements()
    for path in files[Kind.CONDA]:
        environments.need(requirement_lines.conda_entries(_text(path)))
    for path in files[Kind.DOCKER]:
        others.note(list(requirement_lines.built(_text(path))), extra=True)
    return Declared(_target([*built, main, environments, others]), frozenset(read))


def _included(starts: list[str], folder: str) -> dict[str, list[str]]:
    """The lines of files of requirements and of those that they include, below a folder."""
    found: dict[str, list[str]] = {}
    pending = starts[::-1]
    while pending:
        path = pending.pop()
        if path in found or not lies_in(path, folder):
            continue
        found[path] = lines = _text(path).splitlines()
        names = [included[1] for line in lines if (included := requirement_lines.INCLUDED.match(line))]
        pending += [os.path.normpath(os.path.join(os.path.dirname(path), name)) for name in names]
    return found


def _target(found: list[Statements]) -> Target:
    """What the files of one folder say together, the first ones first."""
    needed = dict(_by_package(one for file in found for one in file.needed))
    extras = dict(_by_package(one for file in found for one in file.extras))
    libraries = extras | needed
    unbound = {name: extras[name] for name, one in needed.items() if one == Versions() and name in extras}
    stated = [one for file in found for one in file.python if one != Versions()]
    classifiers = [one for file in found for one in file.classifiers]
    return Target(
        _named(stated[0] if stated else Versions(), classifiers),
        libraries.pop("torch", Versions()),
        _platforms(classifiers),
        tuple(sorted(libraries.items())),
        tuple(sorted(unbound.items())),
    )


def _by_package(found: Iterable[tuple[str, Versions]]) -> tuple[tuple[str, Versions], ...]:
    """The versions that one of several statements allows, by package."""
    joined: dict[str, Versions] = {}
    for package, versions in found:
        joined[package] = joined[package].joined(versions) if package in joined else versions
    return tuple(sorted(joined.items()))


def _text(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return stream.read(MOST_BYTES).decode("utf-8-sig", errors="replace")
    except OSError:  # what a file includes need not exist
        return ""


def _named(stated: Versions, classifiers: list[str]) -> Versions:
    """A range, and the versions of Python that classifiers name."""
    matches = [_PYTHON_CLASSIFIER.fullmatch(one.strip()) for one in classifiers]
    named: list[Version] = [(int(one[1]), int(one[2])) for one in matches if one is not None]
    if not named:
        return stated
    oldest = stated.oldest if stated != Versions() else min(named)
    return replace(stated, oldest=oldest, newest=max(named))


def _platforms(classifiers: list[str]) -> frozenset[Platform]:
    """The systems that classifiers name. "OS Independent" and "POSIX" stand in too many templates to mean much."""
    found = {
        platform
        for one in classifiers
        for prefix, platform in _SYSTEMS.items()
        if one.strip() == prefix or one.strip().startswith(f"{prefix} ::")
    }
    return frozenset(found)
