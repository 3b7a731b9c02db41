"""What a project holds of code that it no longer runs: copies that its runs leave behind, snapshots beside logs and
checkpoints, and what its owner gave up, in a folder or under a name that says so."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

RUN_FOLDERS = frozenset(
    {"log", "logs", "tb_logs", "lightning_logs", "runs", "wandb", "mlruns", "multirun", "output", "outputs"}
    | {"checkpoint", "checkpoints", "ckpt", "ckpts", "snapshot", "snapshots"}
)
"""Folders that a training writes into."""
WORK_FOLDERS = frozenset({"exp", "exps", "experiment", "experiments", "results", "saved", "work_dirs"})
"""Folders that may hold what a training writes, or what people write."""
_FOLDERS = RUN_FOLDERS | WORK_FOLDERS
_CODE_FOLDERS = frozenset({"code", "codes", "src", "source", "scripts", "backup", "snapshot", "snapshots"})
GIVEN_UP_FOLDERS = frozenset(
    {"old", "deprecated", "legacy", "archive", "archived", "backup", "backups", "unused", "obsolete"}
)
"""Folders that a person keeps what was given up in, in letters of any size."""
_WORDS = "old|bak|backup|deprecated|legacy|obsolete|unused"
_GIVEN_UP_ENDS = (
    re.compile(rf"[-_. ](?:{_WORDS}|copy ?\d*)$", re.IGNORECASE),
    re.compile(r" (?:\(copy(?: \d+)?\)|- copy(?: \(\d+\))?)$", re.IGNORECASE),
    re.compile(rf"^(?:(?:{_WORDS})[-_. ]|copy[ _]of[ _])", re.IGNORECASE),
)
"""What people, and their desktops, add to the name of a file that they keep beside its successor."""


def without_copies(paths: Sequence[str], top: str) -> Iterator[str]:
    """The paths of files below a folder but for those that are copies of others of the project.

    A copy lies below a folder for runs, and has the name that a file has beside that folder, or the name of any file of
    the project that lies below no such folder: the content, too, unless it lies in the folder of one run.
    """
    lying = [(path, list(_places(path, top))) for path in paths]
    originals: dict[str, list[str]] = {}
    for path, places in lying:
        if not places:
            originals.setdefault(os.path.basename(path), []).append(path)
    for path, places in lying:
        known = originals.get(os.path.basename(path), ()) if places else ()
        of_a_run = any(name in RUN_FOLDERS and len(way) > 1 for _, name, way in places)
        if (known and of_a_run and os.path.basename(path) != "__init__.py") or any(
            _is_same(path, one) for one in known
        ):
            continue
        if not any(map(_has_original, places)):
            yield path


def is_named_like_an_original(path: str, top: str) -> bool:
    """Whether a file lies below a folder for runs of a folder, and has the name that a file has beside that one."""
    return any(map(_has_original, _places(path, top)))


def _places(path: str, top: str) -> Iterator[tuple[str, str, list[str]]]:
    """The folders for runs that a path lies in below a folder: what each lies in, its name, and the way from there."""
    if _FOLDERS.isdisjoint(path.split(os.sep)):
        return
    parts = os.path.relpath(path, top).split(os.sep)
    for at, part in enumerate(parts[:-1]):
        if part in _FOLDERS:
            around = os.path.join(top, *parts[:at])
            if not os.path.exists(os.path.join(around, part, "__init__.py")):
                yield around, part, parts[at + 1 :]


def _has_original(place: tuple[str, str, list[str]]) -> bool:
    """Whether some end of the way, behind the name of a run, leads to a file beside the folder for runs."""
    around, name, way = place
    if name in WORK_FOLDERS and _CODE_FOLDERS.isdisjoint(way[:-1]):
        return False
    ends = (way[at:] for at in range(1, len(way)))
    return any(end != ["__init__.py"] and os.path.isfile(os.path.join(around, *end)) for end in ends)


def _is_same(path: str, other: str) -> bool:
    try:
        if os.path.getsize(path) != os.path.getsize(other):
            return False
        with open(path, "rb") as one, open(other, "rb") as two:
            return one.read() == two.read()
    except OSError:  # one that cannot be read is reported by who reads it
        return False


def given_up_folder(path: str, root: str) -> str:
    """The outermost folder around a file, below a root, whose name says that what is in it was given up; empty where
    there is none."""
    if not path.startswith(root):
        return ""
    folders = path[len(root) :].split(os.sep)[:-1]
    at = next((at for at, name in enumerate(folders) if name.lower() in GIVEN_UP_FOLDERS), None)
    return "" if at is None else root + os.sep.join(folders[: at + 1])


def has_given_up_name(path: str, files: Collection[str]) -> bool:
    """Whether the name of a file says that it was given up for one beside it: that without ``_old`` or the like. Such a
    name alone says nothing: ``legacy_models.py`` may hold what models of old need."""
    folder, name = os.path.split(path)
    stem, suffix = os.path.splitext(name)
    shorter = (end.sub("", stem) for end in _GIVEN_UP_ENDS)
    return any(one != stem and os.path.join(folder, one + suffix) in files for one in shorter)


def unused_by_others(
    candidates: Iterable[str], imports: Mapping[str, Sequence[str]], matters: Iterable[str]
) -> frozenset[str]:
    """Those of some files that no other file of a project imports, near or far; none where nothing else matters.

    Args:
        candidates: the files that were given up by their names, or those of folders around them.
        imports: which others each file of the project imports.
        matters: the files of the project that mention accelerators.
    """
    left = frozenset(candidates).intersection(imports)
    if not left or left.issuperset(matters):
        return frozenset()
    used = [path for path in imports if path not in left]
    seen = set(used)
    while used:
        new = [hit for hit in imports[used.pop()] if hit not in seen]
        seen.update(new)
        used += new
    return left - seen
