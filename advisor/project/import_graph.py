"""Which files belong together: those that import each other are one program and are understood together."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from accel_advisor.project.discovery import is_generated, mentions_accelerators
from accel_advisor.source.document import python_bytes

MOST_BYTES = 3_000_000
"""A program larger than this is taken in pieces, so that its trees fit in memory."""

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<dots>\.*)[ \t]*(?P<module>[\w.]*)[ \t]+import[ \t]*"
    rb"(?:\((?P<many>[^)]*)\)|(?P<one>[^#\r\n;]*))"
    rb"|import[ \t]+(?P<modules>[\w., \t]+))",
    re.MULTILINE,
)
_NAME = re.compile(rb"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Source:
    """What has to be known of a file to group it with others.

    Attributes:
        size: bytes of Python in it.
        relevant: it mentions accelerators, and no program wrote it.
        imports: what it imports: of each statement as many dots as stand before the module, the module, and the names
            that are imported from it, with spaces between them.
    """

    size: int
    relevant: bool
    imports: tuple[str, ...]

    @classmethod
    def of(cls, filename: str, raw: bytes) -> Source:
        """Reads a file's bytes."""
        if is_generated(raw):
            return cls(0, False, ())
        code = python_bytes(filename, raw)
        return cls(len(code), mentions_accelerators(raw), tuple(dict.fromkeys(_imports(code))))


def programs(files: Mapping[str, Source], root: str) -> list[list[str]]:
    """Groups files by their imports of each other. Files that mention no accelerator belong to a program where they
    import one of its files: they call it.

    Args:
        files: by absolute path.
        root: the project's root, in which absolute imports are looked for.

    Returns:
        Every relevant file in one group, groups and their members in the order of ``files``; those that only call the
        others stand last.
    """
    tops = _tops(files)
    edges: dict[str, list[str]] = {}
    for path, source in files.items():
        hits = _targets(source.imports, path, root, files, tops)
        wanted = list(dict.fromkeys(hit for hit in hits if files[hit].relevant and hit != path))
        if source.relevant or wanted:
            edges[path] = wanted
    leader = {path: path for path in edges}

    def find(path: str) -> str:
        while leader[path] != path:
            leader[path] = leader[leader[path]]
            path = leader[path]
        return path

    for path, wanted in edges.items():
        for target in wanted:
            leader[find(target)] = find(path)
    groups: dict[str, list[str]] = {}
    for path in edges:
        groups.setdefault(find(path), []).append(path)
    return [piece for group in groups.values() for piece in _pieces(group, files, edges)]


def _pieces(group: list[str], files: Mapping[str, Source], edges: Mapping[str, Collection[str]]) -> Iterator[list[str]]:
    callers = [path for path in group if not files[path].relevant]
    piece: list[str] = []
    size = 0
    for path in group:
        if not files[path].relevant:
            continue
        if piece and size + files[path].size > MOST_BYTES:
            yield piece + [one for one in callers if not set(piece).isdisjoint(edges[one])]
            piece, size = [], 0
        piece.append(path)
        size += files[path].size
    yield piece + [one for one in callers if not set(piece).isdisjoint(edges[one])]


def importers(wanted: Collection[str], files: Mapping[str, Source], root: str) -> list[str]:
    """The files that import one of the wanted ones themselves, in the order of ``files``."""
    tops = _tops(wanted)
    return [
        path
        for path, source in files.items()
        if path not in wanted and any(hit in wanted for hit in _targets(source.imports, path, root, files, tops))
    ]


def _imports(code: bytes) -> Iterator[str]:
    for found in _IMPORT.finditer(code):
        if found["modules"] is not None:
            for part in found["modules"].split(b","):
                yield " " + part.split(b" as ")[0].strip().decode(errors="replace")
        else:
            names = _NAME.findall(found["many"] if found["many"] is not None else found["one"])
            yield b" ".join((found["dots"], found["module"], *names)).decode(errors="replace")


def imports_top(code: bytes, name: str) -> bool:
    """Whether a module or package of that name is imported, with no dots before it."""
    return any(one.startswith((f" {name} ", f" {name}.")) for one in (f"{found} " for found in _imports(code)))


def _tops(paths: Iterable[str]) -> frozenset[str]:
    """What an absolute import can begin with that means one of the files: most name a library and need no look."""
    names: set[str] = set()
    folders: set[str] = set()
    for path in paths:
        folder, name = os.path.split(path)
        names.add(os.path.splitext(name)[0])
        folders.add(folder)
    for folder in folders:
        names.update(folder.split(os.sep))
    return frozenset(names)


def _targets(
    imports: Iterable[str], path: str, root: str, known: Collection[str], tops: Collection[str]
) -> Iterator[str]:
    folder = os.path.dirname(path)
    for one in imports:
        dots, module, *names = one.split(" ")
        level = len(dots)
        if not level and module.partition(".")[0] not in tops:
            continue
        parts = [part for part in module.split(".") if part]
        for base in _bases(level, folder, root):
            targets = [parts, *([*parts, name] for name in names)]
            hits = [hit for target in targets if target or level for hit in _files(base, target) if hit in known]
            yield from hits
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
