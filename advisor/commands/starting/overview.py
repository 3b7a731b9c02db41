"""What ``accel-advisor`` alone says: what it sees in this folder, and the one command to run next."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from accel_advisor.config import TABLE, Config
from accel_advisor.configurations import Configurations
from accel_advisor.linting.seen_words import count_of
from accel_advisor.project.discovery import Discoverer, mentions_accelerators
from accel_advisor.tuning.target.user_command import is_training_script

_LOADER = re.compile(rb"\b\w*DataLoader\(")
_MOST_NAMES = 3
_LABEL = 12


@dataclass(frozen=True, slots=True)
class Overview:
    """What is seen in a folder, by looking for words in its files: nothing is parsed.

    Attributes:
        files: how many files a lint would look at.
        using: how many of them mention torch or a framework on it.
        loaders: how many calls of a DataLoader, or of a class that is called like one, are written in them.
        scripts: those that build a loader and train.
        config: the configuration that holds.
        declared: the versions of torch that the project declares; empty where it says nothing.
    """

    files: int
    using: int
    loaders: int
    scripts: tuple[str, ...]
    config: Config
    declared: str


def overview(folder: str = ".") -> Overview:
    """Looks at a folder, as ``lint`` would.

    Raises:
        ConfigError: a configuration cannot be used.
    """
    from accel_advisor.linting.linter import to_lint
    from accel_advisor.project.requirements import Requirements

    configurations = Configurations()
    config = configurations.of(folder)
    found = to_lint(Discoverer(configurations.patterns).discover([folder]).files, configurations)
    using, loaders = 0, 0
    scripts: list[str] = []
    for one in found:
        try:
            raw = Path(one.filename).read_bytes()
        except OSError:  # lint says why it cannot be read
            continue
        if mentions_accelerators(raw):
            using += 1
            loaders += len(_LOADER.findall(raw))
            if is_training_script(Path(one.filename)):
                scripts.append(one.filename)
    here = os.path.abspath(folder)
    stated = Requirements().of(here, configurations.root(here)).target
    declared = str(config.target.over(stated).torch)
    return Overview(len(found), using, loaders, tuple(scripts), config, declared)


def overview_lines(seen: Overview) -> Iterator[str]:
    """What is seen, in words, and what to do next."""
    labelled = [
        ("Files", _files(seen)),
        ("Training", _scripts(seen.scripts)),
        ("torch", f"{_installed()}; {_declared(seen.declared)}"),
        ("Device", _device()),
        ("Settings", str(seen.config.path) if seen.config.path else f"the defaults: no [{TABLE}] in a pyproject.toml"),
    ]
    yield from (f"{label:<{_LABEL}}{text}" for label, text in labelled)
    yield ""
    yield f"Next:       {_next(seen)}"
    yield "All commands: accel-advisor --help"


def _files(seen: Overview) -> str:
    if not seen.files:
        return "no Python file and no notebook"
    loaders = f", with {count_of(seen.loaders, 'call')} of a DataLoader" if seen.loaders else ""
    return f"{count_of(seen.files, 'file')}, {seen.using:,} of them with torch{loaders}"


def _scripts(scripts: Sequence[str]) -> str:
    if not scripts:
        return "no script that builds a DataLoader and trains"
    more = len(scripts) - _MOST_NAMES
    return ", ".join(scripts[:_MOST_NAMES]) + (f", and {more:,} more" if more > 0 else "")


def _installed() -> str:
    try:
        return f"{version('torch')} is installed beside accel-advisor"
    except PackageNotFoundError:
        return "not installed beside accel-advisor: lint needs none, tune does"


def _declared(versions: str) -> str:
    return f"the project declares {versions}" if versions else "the project declares no version"


def _device() -> str:
    """The GPUs as their driver knows them: to ask torch would take seconds."""
    from accel_advisor.machine.cores import usable_cores
    from accel_advisor.machine.gpus import gpus

    names = [gpu.name for gpu in gpus()]
    cores = f"{count_of(usable_cores(), 'usable core')}"
    if not names:
        return f"no NVIDIA GPU is seen, {cores}; `accel-advisor doctor` looks closer"
    shown = f"{len(names)} x {names[0]}" if len(set(names)) == 1 and len(names) > 1 else ", ".join(names)
    return f"{shown}, {cores}"


def _next(seen: Overview) -> str:
    if not seen.using:
        what = "nothing here mentions torch: go to the folder that holds the training, or name it"
        return f"accel-advisor lint FOLDER      ({what})"
    scripts = [one for one in seen.scripts if one.endswith(".py")]
    command = "accel-advisor lint"
    if not scripts:
        return command
    return f"{command}      (then `{shlex.join(['accel-advisor', 'tune', scripts[0]])}` measures)"
