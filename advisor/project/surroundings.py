"""What an analysis depends on beside the files of its program: what it consults, and which names imports could mean."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from accel_advisor.project.project_index import digest_of
from accel_advisor.project.requirement_files import files_that_declare


class OnDisk:
    """Digests of files, and the names in folders, each of which is looked at once."""

    def __init__(self) -> None:
        self._digests: dict[str, str | None] = {}
        self._names: dict[str, frozenset[str]] = {}

    def digest(self, path: str) -> str | None:
        """That of the bytes of a file, or of the names of the files in a folder that say what it needs, or configure
        it; None for what is gone."""
        if path not in self._digests:
            try:
                raw: bytes | None = Path(path).read_bytes()
            except OSError:
                folder = os.path.isdir(path)
                names = f"{files_that_declare(path)!r} {_configurations(path)!r}" if folder else ""
                raw = names.encode(errors="surrogateescape") if folder else None
            self._digests[path] = None if raw is None else digest_of(raw)
        return self._digests[path]

    def names(self, folder: str) -> frozenset[str]:
        """Those of its Python files, and of the packages in it."""
        if folder not in self._names:
            self._names[folder] = frozenset(_listed(folder))
        return self._names[folder]


class Surroundings:
    """Digests of files and folders.

    Args:
        contents: bytes by absolute path, which stand instead of what is on disk.
        disk: what was seen there already, where nothing changed since.
    """

    def __init__(self, contents: Mapping[str, bytes], disk: OnDisk | None = None) -> None:
        self._contents = contents
        self._disk = disk or OnDisk()
        self._folders: dict[str, str] = {}

    def digest(self, path: str) -> str | None:
        """That of the bytes of a file, or of names in a folder (:meth:`OnDisk.digest`); None for what is gone, which is
        a change like another."""
        return digest_of(self._contents[path]) if path in self._contents else self._disk.digest(path)

    def around(self, filenames: Iterable[str], root: str) -> str:
        """That of the names of the Python files in the folders that imports of some files of a project are looked for
        in: a new one may change what an import means."""
        folders = {os.path.join(root, "src")}
        for name in filenames:
            folder = os.path.dirname(os.path.abspath(name))
            while folder not in folders:
                folders.add(folder)
                if folder == root or not folder.startswith(root):
                    break
                folder = os.path.dirname(folder)
        digest = hashlib.blake2b(digest_size=20)
        for folder in sorted(folders):
            if folder not in self._folders:
                self._folders[folder] = "\n".join(sorted({*self._disk.names(folder), *self._unsaved(folder)}))
            digest.update(f"{folder}\n{self._folders[folder]}\n".encode(errors="surrogateescape"))
        return digest.hexdigest()

    def _unsaved(self, folder: str) -> Iterator[str]:
        for path in self._contents:
            if os.path.dirname(path) == folder and path.endswith(".py"):
                yield os.path.basename(path)
            elif os.path.basename(path) == "__init__.py" and os.path.dirname(os.path.dirname(path)) == folder:
                yield os.path.basename(os.path.dirname(path)) + "/"


def _configurations(folder: str) -> list[str]:
    try:
        return sorted(one for one in os.listdir(folder) if one.endswith((".yaml", ".yml")))
    except OSError:
        return []


def _listed(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    yield entry.name
                elif "." not in entry.name and os.path.exists(os.path.join(entry.path, "__init__.py")):
                    yield entry.name + "/"
    except OSError:
        return
