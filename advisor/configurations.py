"""The configuration of each file, and the root of its project."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from accel_advisor.config import Config, ConfigError
from accel_advisor.finding import Finding
from accel_advisor.project.discovery import Discoverer, Patterns
from accel_advisor.project.leftovers import given_up_folder, has_given_up_name
from accel_advisor.project.roots import Roots
from accel_advisor.selection import Selection


class Configurations:
    """The configuration of each file: that of the nearest pyproject.toml upwards with a table ``[tool.accel-advisor]``,
    whichever other files are linted beside it. One that cannot be used holds for the files that follow it, and for no
    other: it says nothing but why. Each folder is looked at once.

    Args:
        change: what the options of the command line make of a configuration.
    """

    def __init__(self, change: Callable[[Config], Config] = lambda config: config) -> None:
        self._change = change
        self._roots = Roots()
        self._read: dict[str, Config | None] = {}
        self._tables: dict[str, Config | None] = {}
        self._found: dict[str, Config] = {}
        self._changed: dict[Config, Config] = {}
        self._refused: dict[Config, Config] = {}
        self._patterns: dict[Config, Patterns] = {}
        self._files: dict[str, tuple[str, ...]] = {}
        self._given_up: dict[str, frozenset[str]] = {}

    @property
    def known(self) -> tuple[Config, ...]:
        """All that were asked for so far and can be used."""
        return tuple(one for one in self._asked if one.error is None)

    @property
    def errors(self) -> tuple[str, ...]:
        """Why others that were asked for cannot be used."""
        return tuple(one.error for one in self._asked if one.error is not None)

    @property
    def _asked(self) -> list[Config]:
        return [self._refused.get(one, one) for one in self._changed.values()]

    def of(self, path: str | os.PathLike[str]) -> Config:
        """That of a file, or of a folder.

        Raises:
            ConfigError: it cannot be read, or a key or value in it is wrong.
        """
        config = self.near(path)
        if config.error is not None:
            raise ConfigError(config.error)
        return config

    def near(self, path: str | os.PathLike[str]) -> Config:
        """That of a file, or of a folder, usable or not: see :attr:`~accel_advisor.config.Config.error`."""
        absolute = os.path.abspath(path)
        folder = absolute if os.path.isdir(absolute) else os.path.dirname(absolute)
        if folder not in self._found:
            plain = self._table(folder) or Config(root=Path(self._roots.of(folder)))
            if plain not in self._changed:
                self._changed[plain] = self._change(plain)
            self._found[folder] = self._changed[plain]
        return self._refused.get(self._found[folder], self._found[folder])

    def refuse(self, config: Config, error: ValueError) -> None:
        """Counts a configuration as one that cannot be used, because its selectors mean no rules."""
        self._refused[config] = replace(config, selection=Selection(), per_file_ignores=(), error=str(error))

    def shows(self, finding: Finding) -> bool:
        """Whether a finding is severe and sure enough, and of consequence, for the configuration of its file to be
        shown."""
        return self.would_show(finding) and (self.of(finding.filename).minor or not finding.minor)

    def would_show(self, finding: Finding) -> bool:
        """Whether a finding is severe and sure enough for the configuration of its file to be shown, minor or not."""
        config = self.of(finding.filename)
        sure = finding.confidence.rank >= config.min_confidence.rank
        return sure and finding.severity.rank >= config.min_severity.rank

    def fails(self, finding: Finding) -> bool:
        """Whether a finding is severe enough for the configuration of its file to make a run fail."""
        return finding.severity.rank >= self.of(finding.filename).fail_on.rank

    def patterns(self, folder: str) -> Patterns:
        """Which files below a folder are linted."""
        config = self.near(folder)
        if config not in self._patterns:
            self._patterns[config] = Patterns(config.root, config.exclude, config.include)
        return self._patterns[config]

    def root(self, folder: str) -> str:
        """The root of the project that a folder is part of, which its imports are looked for in: the topmost folder
        with a configuration, as far as the repository around the nearest one goes; without any, that which
        :class:`~accel_advisor.project.roots.Roots` finds.
        """
        nearest = self._table(os.path.abspath(folder))
        if nearest is None:
            return self._roots.of(os.path.abspath(folder))
        top = at = str(nearest.root)
        while not self._roots.is_repository(at) and os.path.dirname(at) != at:
            at = os.path.dirname(at)
            if self._own_table(at) is not None:
                top = at
        return top

    def files(self, root: str) -> tuple[str, ...]:
        """The files that a lint of a project's root finds and that are part of this project, free of symbolic links.

        Args:
            root: as :meth:`root` gives it, free of symbolic links.
        """
        if root not in self._files:
            discoverer = Discoverer(self.patterns, enters=lambda folder: self.root(folder) == root)
            found = (os.path.realpath(path) if os.path.islink(path) else path for path in discoverer.walk(root, []))
            self._files[root] = tuple(dict.fromkeys(found))
        return self._files[root]

    def given_up(self, root: str) -> frozenset[str]:
        """Those of the files of a project that its owner gave up by their names, or those of folders around them, and
        that no ``include`` brings back."""
        if root not in self._given_up:
            files = frozenset(self.files(root))
            lying = [path for path in files if given_up_folder(path, root) or has_given_up_name(path, files)]
            self._given_up[root] = frozenset(
                path for path in lying if not self.patterns(os.path.dirname(path)).includes(path)
            )
        return self._given_up[root]

    def _table(self, folder: str) -> Config | None:
        """The nearest configuration upwards, as its file says it."""
        if folder not in self._tables:
            parent = os.path.dirname(folder)
            own = self._own_table(folder)
            self._tables[folder] = own if own is not None or parent == folder else self._table(parent)
        return self._tables[folder]

    def _own_table(self, folder: str) -> Config | None:
        if folder not in self._read:
            path = Path(folder, "pyproject.toml")
            try:
                self._read[folder] = Config.read(path)
            except ConfigError as error:
                self._read[folder] = Config(root=path.parent, path=path, error=str(error))
        return self._read[folder]
