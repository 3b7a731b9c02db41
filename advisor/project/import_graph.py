"""Which files belong together: those that import each other are one program and are understood together."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

MOST_BYTES = 3_000_000
"""A program larger than this is taken in pieces, so that its trees fit in memory."""

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<dots>\.*)[ \t]*(?P<module>[\w.]*)[ \t]+import[ \t]*"
    rb"(?:\((?P<many>[^)]*)\)|(?P<one>[^#\r\n;]*))"
    rb"|import[ \t]+(?P<modules>[\w., \t]+))",
    re.MULTILINE,
)
_NAME = re.compile(rb"[A-Za-z_]\w*")


def programs(files: Mapping[str, bytes], root: str) -> list[list[str]]:
    """Groups files by their imports of each other.

    Args:
        files: contents by filename, relative to the working directory or absolute.
        root: the project's root, in which absolute imports are looked for.

    Returns:
        Every filename in one group, groups and their members in the order of ``files``.
    """
    known = {os.path.abspath(filename): filename for filename in files}
    leader = {filename: filename for filename in files}

    def find(filename: str) -> str:
        while leader[filename] != filename:
            leader[filename] = leader[leader[filename]]
            filename = leader[filename]
        return filename

    tops = _tops(known)
    for path, filename in known.items():
        for target in _imported(files[filename], path, os.path.abspath(root), known, tops):
            leader[find(target)] = find(filename)
    groups: dict[str, list[str]] = {}
    for filename in files:
        groups.setdefault(find(filename), []).append(filename)
    return [piece for group in groups.values() for piece in _pieces(group, files)]


def _pieces(group: list[str], files: Mapping[str, bytes]) -> Iterator[list[str]]:
    piece: list[str] = []
    size = 0
    for filename in group:
        if piece and size + len(files[filename]) > MOST_BYTES:
            yield piece
            piece, size = [], 0
        piece.append(filename)
        size += len(files[filename])
    yield piece


def _tops(paths: Iterable[str]) -> frozenset[bytes]:
    """What an absolute import can begin with that means one of the files: most name a library and need no look."""
    names: set[str] = set()
    folders: set[str] = set()
    for path in paths:
        folder, name = os.path.split(path)
        names.add(os.path.splitext(name)[0])
        folders.add(folder)
    for folder in folders:
        names.update(folder.split(os.sep))
    return frozenset(name.encode(errors="surrogateescape") for name in names)


def _imported(raw: bytes, path: str, root: str, known: Mapping[str, str], tops: Collection[bytes]) -> Iterator[str]:
    folder = os.path.dirname(path)
    for found in _IMPORT.finditer(raw):
        wanted: list[tuple[int, bytes, list[bytes]]]
        if found["modules"] is not None:
            wanted = [(0, name.split(b" as ")[0].strip(), []) for name in found["modules"].split(b",")]
        else:
            names = _NAME.findall(found["many"] if found["many"] is not None else found["one"])
            wanted = [(len(found["dots"]), found["module"], names)]
        for level, module, names in wanted:
            if not level and module.partition(b".")[0] not in tops:
                continue
            parts = [part.decode() for part in module.split(b".") if part]
            for base in _bases(level, folder, root):
                targets = [parts, *([*parts, name.decode()] for name in names)]
                hits = [hit for target in targets if target or level for hit in _files(base, target) if hit in known]
                yield from (known[hit] for hit in hits)
                if hits:
                    break


def _bases(level: int, folder: str, root: str) -> Iterator[str]:
    if level:
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        yield folder
        return
    while True:
        yield folder
        if folder == root or os.path.dirname(folder) == folder or not folder.startswith(root):
            break
        folder = os.path.dirname(folder)
    yield os.path.join(root, "src")


def _files(base: str, parts: list[str]) -> tuple[str, str]:
    target = os.path.join(base, *parts)
    return target + ".py", os.path.join(target, "__init__.py")
