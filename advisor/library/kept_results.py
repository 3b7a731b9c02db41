"""What was found in the programs that were checked last, in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from accel_advisor.linting.cache import program_key
from accel_advisor.linting.report import Program, Result
from accel_advisor.project.surroundings import Surroundings

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


class KeptResults:
    """A memory for the linter: for each program the last result, and for each project its index."""

    def __init__(self) -> None:
        self._results: OrderedDict[_Identity, _Kept] = OrderedDict()
        self._indexes: dict[str, dict[str, Any]] = {}
        self._present: dict[str, KeptOfProject] = {}

    def look_again(self) -> None:
        """Begins a run: files and texts may be others than in the one before."""
        self._present = {}

    def of(self, root: str, contents: Mapping[str, bytes]) -> KeptOfProject:
        """What is known of the project with a root.

        Args:
            contents: bytes by absolute path, which stand instead of what is on disk; the same in all of a run.
        """
        if root not in self._present:
            self._present[root] = KeptOfProject(root, Surroundings(contents), self._results, self._indexes)
        return self._present[root]


class KeptOfProject:
    """What is known of one project while its files do not change."""

    def __init__(
        self,
        root: str,
        surroundings: Surroundings,
        results: OrderedDict[_Identity, _Kept],
        indexes: dict[str, dict[str, Any]],
    ) -> None:
        self._root = root
        self._surroundings = surroundings
        self._results = results
        self._indexes = indexes

    @property
    def index(self) -> Any:
        """The data of the project's index; None where there is none."""
        return self._indexes.get(self._root)

    def keep_index(self, data: dict[str, Any]) -> None:
        """Remembers the data of the project's index."""
        self._indexes[self._root] = data

    def get(self, program: Program, digests: Iterable[str]) -> Result | None:
        """What is known of a program whose files have these digests."""
        kept = self._results.get(_identity(program))
        if kept is None or kept.key != program_key(program, digests):
            return None
        if any(self._surroundings.digest(path) != digest for path, digest in kept.consulted.items()):
            return None
        if kept.around != self._surroundings.around(program.filenames, program.root):
            return None
        self._results.move_to_end(_identity(program))
        return kept.result

    def put(self, result: Result, digests: Iterable[str]) -> None:
        """Remembers what was found in a program whose files have these digests."""
        program = result.program
        self._results[_identity(program)] = _Kept(
            program_key(program, digests),
            {path: self._surroundings.digest(path) for path in program.consulted},
            self._surroundings.around(program.filenames, program.root),
            result,
        )
        self._results.move_to_end(_identity(program))
        while len(self._results) > MOST_RESULTS:
            self._results.popitem(last=False)


def _identity(program: Program) -> _Identity:
    return program.root, program.filenames, program.callers
