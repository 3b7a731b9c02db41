"""The folders of a workspace, their settings, and the files that are open in them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from lsprotocol import types
from pygls.uris import to_fs_path

from accel_advisor.finding import Confidence, Severity
from accel_advisor.library.engine import Engine
from accel_advisor.server.open_files import OpenFile, path_of
from accel_advisor.server.open_texts import OpenNotebook, OpenText

SECTION = "accel-advisor"
WORDS = {"min_severity": [one.value for one in Severity], "min_confidence": [one.value for one in Confidence]}
"""What the settings that are one word may be."""
LOOKS_EVERY = 2.0
"""Seconds for which a project's files count as they were seen while someone types: to look at thousands of them at each
key would take longer than all else. What a client saves, opens, closes or watches is looked at at once."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a client sets for a folder; the keys are those of the section ``accel-advisor`` in camel case.

    Attributes:
        select, extend_select, ignore, min_severity, min_confidence: as on the command line; None and () leave all to
            pyproject.toml.
        trials: files of ``tune --json`` and ``tune --history``, relative to the folder, that are looked at beside
            those that lie next to a script.
        tune_arguments: words behind ``accel-advisor tune SCRIPT``.
    """

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_severity: str | None = None
    min_confidence: str | None = None
    trials: tuple[str, ...] = ()
    tune_arguments: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: Any) -> Settings:
        """Reads what a client sends; null leaves a key as it is.

        Raises:
            ValueError: a key is unknown, or its value is none that it may have; one sentence.
        """
        if data is None:
            return cls()
        if not isinstance(data, Mapping):
            raise ValueError(f"{SECTION}: must be an object of settings")
        names = {_camel(one.name): one.name for one in fields(cls)}
        found: dict[str, Any] = {}
        for key, value in data.items():
            if key not in names:
                raise ValueError(f"{SECTION}.{key}: there is no such setting; the settings are {', '.join(names)}")
            if value is None:
                continue
            wants_text = names[key] in WORDS
            if wants_text != isinstance(value, str) or not (wants_text or _is_list_of_text(value)):
                raise ValueError(f"{SECTION}.{key}: must be {'a word' if wants_text else 'a list of words'}")
            if wants_text and value not in (allowed := WORDS[names[key]]):
                raise ValueError(f"{SECTION}.{key}: {value!r} is none of {', '.join(allowed)}")
            found[names[key]] = value if wants_text else tuple(value)
        return cls(**found)

    def engine(self, root: str) -> Engine:
        """An engine for a folder."""
        return Engine(
            root,
            select=self.select,
            extend_select=self.extend_select,
            ignore=self.ignore,
            min_severity=self.min_severity,
            min_confidence=self.min_confidence,
            looks_every=LOOKS_EVERY,
        )


@dataclass(slots=True)
class Folder:
    """A root of the workspace."""

    path: str
    settings: Settings
    engine: Engine


@dataclass(slots=True)
class Workspaces:
    """What is open where. Files outside of all folders have an engine of their own.

    Attributes:
        files: by the URI of the document or notebook.
        changes: how many times a text, a file or a setting changed: what was found before may hold no more.
    """

    folders: dict[str, Folder] = field(default_factory=dict)
    files: dict[str, OpenFile] = field(default_factory=dict)
    changes: int = 0
    _cells: dict[str, str] = field(default_factory=dict)

    def add(self, path: str, settings: Settings) -> None:
        """Adds a folder, or gives it other settings."""
        path = os.path.abspath(path)
        self.folders[path] = Folder(path, settings, settings.engine(path))
        self._rehouse()

    def remove(self, path: str) -> None:
        """Forgets a folder."""
        self.folders.pop(os.path.abspath(path), None)
        self._rehouse()

    def folder(self, path: str) -> Folder:
        """The innermost folder that a file lies in, else the first one, else the file's own."""
        around = [one for one in self.folders.values() if path == one.path or path.startswith(one.path + os.sep)]
        if around:
            return max(around, key=lambda one: len(one.path))
        if not self.folders:
            here = os.path.dirname(path) or os.getcwd()
            return Folder(here, Settings(), self._engine_outside(here))
        return next(iter(self.folders.values()))

    def _engine_outside(self, here: str) -> Engine:
        return next((one.engine for one in self.files.values()), None) or Settings().engine(here)

    def _rehouse(self) -> None:
        """Gives every open text to the engine of the folder that it is in by now."""
        self.changes += 1
        for file in self.files.values():
            file.engine.close(file.path)
            file.engine = self.folder(file.path).engine
            file.give()

    def open_text(self, document: types.TextDocumentItem) -> OpenFile | None:
        """Takes a text document; None where it is no Python file, or a cell of a notebook."""
        if document.language_id != "python" or document.uri.startswith("vscode-notebook-cell:"):
            return None
        text = OpenText(document.uri, document.text, document.version)
        return self._open(document.uri, text=text)

    def open_notebook(
        self, notebook: types.NotebookDocument, documents: Iterable[types.TextDocumentItem]
    ) -> OpenFile | None:
        """Takes a notebook document with its cells."""
        opened = OpenNotebook(list(notebook.cells))
        opened.open(list(documents))
        return self._open(notebook.uri, notebook=opened)

    def _open(self, uri: str, *, text: OpenText | None = None, notebook: OpenNotebook | None = None) -> OpenFile | None:
        root = next(iter(self.folders), os.getcwd())
        path = path_of(uri, root, ".py" if notebook is None else ".ipynb")
        if path is None or (notebook is not None) != path.endswith(".ipynb"):
            return None
        file = OpenFile(uri, path, self.folder(path).engine, text, notebook)
        self.files[uri] = file
        self.changed(file)
        self.look_again()
        return file

    def changed(self, file: OpenFile) -> None:
        """Gives the new text of a file to its engine."""
        file.give()
        self.changes += 1
        if file.notebook is not None:
            others = {cell: own for cell, own in self._cells.items() if own != file.uri}
            self._cells = others | dict.fromkeys(file.notebook.texts, file.uri)

    def look_again(self) -> None:
        """Lets what is on disk count as it is now: a client said, or did, what may have changed it."""
        for engine in (*(one.engine for one in self.folders.values()), *(one.engine for one in self.files.values())):
            engine.look_again()
        self.changes += 1

    def close(self, uri: str) -> OpenFile | None:
        """Lets what is on disk count again; the file that was open, if one was."""
        file = self.files.pop(uri, None)
        if file is not None:
            file.engine.close(file.path)
            self._cells = {cell: own for cell, own in self._cells.items() if own != uri}
            file.engine.look_again()
            self.look_again()
        return file

    def of(self, uri: str) -> OpenFile | None:
        """The open file that a document is, or that a cell belongs to."""
        return self.files.get(uri) or self.files.get(self._cells.get(uri, ""))

    def at(self, place: str) -> OpenFile | None:
        """The open file with a path or a URI."""
        if "://" in place or place in self.files or place in self._cells:
            return self.of(place)
        path = os.path.realpath(place)
        return next((one for one in self.files.values() if os.path.realpath(one.path) == path), None)


def roots_of(params: types.InitializeParams) -> list[str]:
    """The folders that a client opens its workspace with."""
    uris = [one.uri for one in params.workspace_folders or []]
    uris = uris or [uri for uri in [params.root_uri] if uri]
    paths = [path for uri in uris if (path := to_fs_path(uri)) is not None]
    return paths or ([params.root_path] if params.root_path else [])


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
