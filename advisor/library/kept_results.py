"""What was found in the programs that were checked last, in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from accel_advisor.linting.cache import program_key
from accel_advisor.linting.report import Program, Result
from accel_advisor.project.project_index import ProjectIndex
from accel_advisor.project.surroundings import OnDisk, Surroundings

MOST_RESULTS = 2_000

_Identity = tuple[str, tuple[str, ...], frozenset[str]]


@dataclass(frozen=True, slots=True)
class _Kept:
    """A result and all that it follows from.

    Attributes:
        key: of the program with the texts of its files.
        consulted: digests of the other files that were read.
        around: that of the names around the program.
    """

    key: str
    consulted: dict[str, str | None]
    around: str
    result: Result


class _Results:
    """The last result of each program. A file is checked in one program: where files go together otherwise than before,
    by another import or another name, what was found in the old program is forgotten."""

    def __init__(self) -> None:
        self._known: OrderedDict[_Identity, _Kept] = OrderedDict()
        self._program_of: dict[tuple[str, str], _Identity] = {}

    def get(self, program: Program) -> _Kept | None:
        """What was found in a program last."""
        return self._known.get(_identity(program))

    def used(self, program: Program) -> None:
        """Says that it was asked for."""
        self._known.move_to_end(_identity(program))

    def put(self, program: Program, kept: _Kept) -> None:
        """Remembers what was found, and forgets what was asked for longest ago where there is too much."""
        identity = _identity(program)
        for file in _own(identity):
            old = self._program_of.get(file)
            if old is not None and old != identity:
                self._forget(old)
            self._program_of[file] = identity
        self._known[identity] = kept
        self._known.move_to_end(identity)
        while len(self._known) > MOST_RESULTS:
            self._forget(next(iter(self._known)))

    def _forget(self, identity: _Identity) -> None:
        del self._known[identity]
        for file in _own(identity):
            if self._program_of[file] == identity:
                del self._program_of[file]


class KeptResults:
    """A memory for the linter: for each program the last result, and for each project its index."""

    def __init__(self) -> None:
        self._results = _Results()
        self._indexes: dict[str, ProjectIndex] = {}
        self._seen: set[str] = set()
        self._disk = OnDisk()

    def look_again(self) -> None:
        """Forgets what was seen on disk: files may be others by now."""
        self._seen = set()
        self._disk = OnDisk()

    def of(self, root: str, contents: Mapping[str, bytes]) -> KeptOfProject:
        """What is known of the project with a root.

        Args:
            contents: bytes by absolute path, which stand instead of what is on disk.
        """
        return KeptOfProject(root, Surroundings(contents, self._disk), self._results, self._indexes, self._seen)


class KeptOfProject:
    """What is known of one project while its files do not change."""

    def __init__(
        self,
        root: str,
        surroundings: Surroundings,
        results: _Results,
        indexes: dict[str, ProjectIndex],
        seen: set[str],
    ) -> None:
        self._root = root
        self._surroundings = surroundings
        self._results = results
        self._indexes = indexes
        self._seen = seen

    @property
    def index(self) -> ProjectIndex | None:
        """The project's index; None where there is none."""
        return self._indexes.get(self._root)

    @property
    def settled(self) -> bool:
        """Whether that index was made since files were looked at again."""
        return self._root in self._seen

    def keep_index(self, index: ProjectIndex) -> None:
        """Remembers the project's index."""
        self._indexes[self._root] = index
        self._seen.add(self._root)

    def get(self, program: Program, digests: Iterable[str]) -> Result | None:
        """What is known of a program whose files have these digests."""
        kept = self._results.get(program)
        if kept is None or kept.key != program_key(program, digests):
            return None
        if any(self._surroundings.digest(path) != digest for path, digest in kept.consulted.items()):
            return None
        if kept.around != self._surroundings.around(program.filenames, program.root):
            return None
        self._results.used(program)
        return kept.result

    def put(self, result: Result, digests: Iterable[str]) -> None:
        """Remembers what was found in a program whose files have these digests."""
        program = result.program
        kept = _Kept(
            program_key(program, digests),
            {path: self._surroundings.digest(path) for path in program.consulted},
            self._surroundings.around(program.filenames, program.root),
            result,
        )
        self._results.put(program, kept)


def _identity(program: Program) -> _Identity:
    return program.root, program.filenames, program.callers


def _own(identity: _Identity) -> Iterable[tuple[str, str]]:
    root, filenames, callers = identity
    return ((root, name) for name in filenames if name not in callers)
