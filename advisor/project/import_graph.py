"""Which files belong together: those that import each other are one program and are understood together."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from accel_advisor.project.discovery import is_generated, mentions_accelerators
from accel_advisor.project.search_path import added_folders, folders_meant
from accel_advisor.source.document import is_notebook, python_bytes

MOST_BYTES = 3_000_000
"""A program larger than this is taken in pieces, so that its trees fit in memory."""
WHOLE_BYTES = 1_000_000
MOST_CALLERS = 8
"""In a larger group of files, one that few others reach is understood with those alone and with what else they reach
that few others do, as an example of a large library is with the modules beside it: of what all import only as much is
read as it needs."""

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<dots>\.*)[ \t]*(?P<module>[\w.]*)[ \t]+import[ \t]*"
    rb"(?:\((?P<many>[^)]*)\)|(?P<one>[^#\r\n;]*))"
    rb"|import[ \t]+(?P<modules>[\w., \t]+))",
    re.MULTILINE,
)
_NAME = re.compile(rb"[A-Za-z_]\w*")
_BY_NAME = re.compile(rb"(?:\bimport_module|__import__)[ \t]*\(")
_TEXT_OF_NAME = re.compile(rb"['\"]([A-Za-z_]\w*(?:\.\w+)*\.?)(?=['\"{%])")
_COMPUTED = "?"
"""Before a text, among the imports of a file that imports modules by names which it computes."""
_MOST_TEXTS, _MOST_MEANT = 300, 200
"""Texts of one file that may be such names, and modules that one of them may mean: one that more begin with says
nothing."""


@dataclass(frozen=True, slots=True)
class Group:
    """Files that are understood together.

    Attributes:
        own: those whose program this is.
        callers: others that call them, and that belong to groups of their own or say nothing of accelerators.
        scripts: those of the callers that none of the files imports: of these only the excerpt is read
            (:func:`~accel_advisor.source.excerpt.excerpt`).
    """

    own: tuple[str, ...]
    callers: tuple[str, ...] = ()
    scripts: frozenset[str] = frozenset()

    @property
    def files(self) -> tuple[str, ...]:
        """All of them, in the order in which they are analysed."""
        return (*self.own, *self.callers)


@dataclass(frozen=True, slots=True)
class Source:
    """What has to be known of a file to group it with others.

    Attributes:
        size: bytes of Python in it, in thousands: what is understood together must not depend on a letter.
        relevant: it mentions accelerators, and no program wrote it.
        imports: what it imports: of each statement as many dots as stand before the module, the module, and the names
            that are imported from it, with spaces between them; and what may be, or begin, the name of a module where
            the file computes such names, behind a mark.
        added: the folders that it adds to `sys.path`.
    """

    size: int
    relevant: bool
    imports: tuple[str, ...]
    added: tuple[str, ...] = ()

    @classmethod
    def of(cls, filename: str, raw: bytes) -> Source:
        """Reads a file's bytes."""
        if is_generated(raw):
            return cls(0, False, ())
        code = python_bytes(filename, raw)
        imports = tuple(dict.fromkeys((*_imports(code), *_texts_of_names(code))))
        return cls(max(1000, round(len(code), -3)), mentions_accelerators(raw), imports, added_folders(filename, code))


def imports_of(files: Mapping[str, Source], root: str) -> dict[str, list[str]]:
    """The other ones of some files that each of them imports.

    Args:
        files: by absolute path.
        root: the project's root, in which absolute imports are looked for.
    """
    tops = _tops(files)
    hits = {path: dict.fromkeys(_all_targets(path, source, root, files, tops)) for path, source in files.items()}
    return {path: [hit for hit in found if hit != path] for path, found in hits.items()}


def programs(files: Mapping[str, Source], imports: Mapping[str, Sequence[str]]) -> list[Group]:
    """Groups files by their imports of each other. Files that mention no accelerator call a program where they import
    one of its files, or another such file: through the ``__init__.py`` of a package lead the names that it brings.

    Args:
        files: by absolute path.
        imports: which others each of them imports (:func:`imports_of`).

    Returns:
        The groups; every relevant file is its own in one of them. Files stand in the order of ``files``.
    """
    above: dict[str, list[str]] = {}
    for path in files:
        for hit in imports[path]:
            above.setdefault(hit, []).append(path)
    linked = _upwards([path for path, source in files.items() if source.relevant], above)
    edges = {path: [hit for hit in imports[path] if hit in linked] for path in files if path in linked}
    return [program for group in _connected(edges, edges) for program in _programs_of(group, files, edges)]


def programs_apart(
    files: Mapping[str, Source], imports: Mapping[str, Sequence[str]], given_up: Collection[str]
) -> list[Group]:
    """Groups files as :func:`programs` does, as if those that were given up and that no others import were not there.
    These are understood with all that they import and that imports it."""
    if not given_up:
        return programs(files, imports)
    kept = {path: source for path, source in files.items() if path not in given_up}
    groups = programs(kept, imports)
    for group in programs(files, imports):
        own = tuple(path for path in group.own if path in given_up)
        if own:
            groups.append(Group(own, tuple(path for path in group.files if path not in own), group.scripts))
    return groups


def _connected(paths: Iterable[str], edges: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The parts of a graph between which no edge runs, each and all of them in the order of the paths."""
    leader = {path: path for path in paths}

    def find(path: str) -> str:
        while leader[path] != path:
            leader[path] = leader[leader[path]]
            path = leader[path]
        return path

    for path, targets in edges.items():
        for target in targets:
            leader[find(target)] = find(path)
    parts: dict[str, list[str]] = {}
    for path in leader:
        parts.setdefault(find(path), []).append(path)
    return list(parts.values())


def _programs_of(
    group: list[str], files: Mapping[str, Source], edges: Mapping[str, Collection[str]]
) -> Iterator[Group]:
    own = [path for path in group if files[path].relevant]
    callers = [path for path in group if not files[path].relevant]
    imported = {target for path in group for target in edges[path]}

    def program(own: Iterable[str], callers: Iterable[str]) -> Group:
        callers = tuple(callers)
        scripts = frozenset(one for one in callers if one not in imported and not is_notebook(one))
        return Group(tuple(own), callers, scripts)

    if sum(files[path].size for path in own) > WHOLE_BYTES:
        above: dict[str, list[str]] = {}
        for path in group:
            for target in edges[path]:
                above.setdefault(target, []).append(path)
        reached = {path: found for path in own if len(found := _reaching(path, above)) <= MOST_CALLERS}
        for part in _connected(group, reached):
            asked = [path for path in part if path in reached]
            if asked and sum(files[path].size for path in part) <= WHOLE_BYTES:
                yield program(asked, (path for path in part if path not in reached))
            else:
                yield from (program([path], (one for one in group if one in reached[path])) for path in asked)
        callers = [path for path in group if path in callers or path in reached]
        own = [path for path in own if path not in reached]
    piece: list[str] = []
    size = 0
    for path in own:
        if piece and size + files[path].size > MOST_BYTES:
            yield program(piece, _calling(piece, size, callers, files, edges))
            piece, size = [], 0
        piece.append(path)
        size += files[path].size
    if piece:
        yield program(piece, _calling(piece, size, callers, files, edges))


def _upwards(paths: Iterable[str], above: Mapping[str, Collection[str]]) -> set[str]:
    """Files, and those that import one of them, near or far."""
    found = set(paths)
    todo = list(found)
    while todo:
        new = [one for one in above.get(todo.pop(), ()) if one not in found]
        found.update(new)
        todo += new
    return found


def _reaching(path: str, above: Mapping[str, Collection[str]]) -> set[str]:
    """The files that import one, or import one that does; a few more than are of interest, where they are many."""
    found: set[str] = set()
    todo = [path]
    while todo and len(found) <= MOST_CALLERS:
        for one in above.get(todo.pop(), ()):
            if one not in found and one != path:
                found.add(one)
                todo.append(one)
    return found


def _calling(
    piece: list[str],
    size: int,
    callers: Iterable[str],
    files: Mapping[str, Source],
    edges: Mapping[str, Collection[str]],
) -> Iterator[str]:
    """Those of the callers that import one of the files of a piece, or another caller without a word of accelerators
    that does, as far as there is room for them."""
    callers, members = list(callers), set(piece)
    above: dict[str, list[str]] = {}
    for path in callers:
        for target in edges[path]:
            if target in members or not files[target].relevant:
                above.setdefault(target, []).append(path)
    reaching = _upwards(piece, above)
    for path in callers:
        if path in reaching and size + files[path].size <= MOST_BYTES:
            size += files[path].size
            yield path


def importers(wanted: Collection[str], files: Mapping[str, Source], root: str) -> list[str]:
    """The files that import one of the wanted ones themselves, in the order of ``files``."""
    tops = _tops(wanted)
    adding = _tops([path for path, source in files.items() if source.added])
    return [
        path
        for path, source in files.items()
        if path not in wanted and any(hit in wanted for hit in _all_targets(path, source, root, files, tops | adding))
    ]


def _all_targets(
    path: str, source: Source, root: str, files: Mapping[str, Source], tops: Collection[str]
) -> Iterator[str]:
    """The files that one imports, also from folders that it or a file that it imports adds to `sys.path`."""
    written = [one for one in source.imports if not one.startswith(_COMPUTED)]
    hits = list(_targets(written, path, root, files, tops))
    yield from hits
    added: dict[str, None] = {}
    for one in dict.fromkeys([path, *hits]):
        folders = tuple(folders_meant(files[one].added, one, root))
        added |= dict.fromkeys(folders)
        yield from _targets(written, path, root, files, tops, folders) if folders else ()
    for one in source.imports[len(written) :]:
        yield from _meant_by(one.removeprefix(_COMPUTED), path, root, files, added)


def _imports(code: bytes) -> Iterator[str]:
    for found in _IMPORT.finditer(code):
        if found["modules"] is not None:
            for part in found["modules"].split(b","):
                yield " " + part.split(b" as ")[0].strip().decode(errors="replace")
        else:
            names = _NAME.findall(found["many"] if found["many"] is not None else found["one"])
            yield b" ".join((found["dots"], found["module"], *names)).decode(errors="replace")


def _texts_of_names(code: bytes) -> Iterator[str]:
    """What may be, or begin, the name of a module in a file that imports modules by names which it computes."""
    if (b"import_module" in code or b"__import__" in code) and _BY_NAME.search(code):
        for one in list(dict.fromkeys(_TEXT_OF_NAME.findall(code)))[:_MOST_TEXTS]:
            yield _COMPUTED + one.decode()


def _meant_by(text: str, path: str, root: str, known: Collection[str], added: Collection[str]) -> list[str]:
    """The modules whose name a text may be, with those beside them in a folder for such modules, or whose names it may
    begin."""
    folder = os.path.dirname(path)
    for base in (*_bases(0, folder, root), *added):
        place = os.path.join(base, *text.rstrip(".").split("."))
        inside = "" if "." not in text else place + os.sep
        if place + ".py" in known:
            inside = os.path.dirname(place) + os.sep
            deeper = [one for one in known if one.startswith(inside) and os.sep not in one[len(inside) :]]
            hits = [place + ".py", *(deeper if os.path.dirname(place) != folder else ())]
        else:
            hits = [one for one in known if inside and one.startswith(inside)]
        if hits:
            return hits if len(hits) <= _MOST_MEANT else []
    return []


def imported_modules(code: bytes) -> Iterator[tuple[str, int]]:
    """The modules that are imported, and how many dots stand before each."""
    for one in _imports(code):
        dots, module, *_ = one.split(" ")
        if module:
            yield module, len(dots)


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
    imports: Iterable[str],
    path: str,
    root: str,
    known: Collection[str],
    tops: Collection[str],
    added: Collection[str] = (),
) -> Iterator[str]:
    folder = os.path.dirname(path)
    for one in imports:
        dots, module, *names = one.split(" ")
        level = len(dots)
        if not level and module.partition(".")[0] not in tops:
            continue
        parts = [part for part in module.split(".") if part]
        for base in (*_bases(level, folder, root), *(() if level else added)):
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
