"""Names that the files of configurations of a project speak of."""

from __future__ import annotations

import os
import re
from functools import cached_property

_WORD = re.compile(rb"[A-Za-z_]\w*")
_ENDS = (".yaml", ".yml")
_MOST_FOLDERS, _MOST_NAMES, _MOST_BYTES = 500, 20_000, 4_000_000
"""Folders that are looked through, names in them, and bytes that are read: data may lie beside the code."""


class Configurations:
    """The files of configurations of a project (``*.yaml``).

    Attributes:
        consulted: those files, and the folders that were looked through.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._consulted: set[str] = set()

    @property
    def consulted(self) -> frozenset[str]:
        """The files and folders that were looked at."""
        return frozenset(self._consulted)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words in them, as they may name what the code defines; none where there are too many to read."""
        found: set[bytes] = set()
        left, seen = _MOST_BYTES, 0
        for at, (folder, below, names) in enumerate(os.walk(self._root)):
            below[:] = sorted(one for one in below if not one.startswith((".", "__")))
            seen += len(below) + len(names)
            if at >= _MOST_FOLDERS or seen > _MOST_NAMES:
                return frozenset()
            self._consulted.add(folder)
            for path in (os.path.join(folder, one) for one in sorted(names) if one.endswith(_ENDS)):
                raw = _bytes(path)
                self._consulted.add(path)
                left -= len(raw)
                if left < 0:
                    return frozenset()
                found.update(_WORD.findall(raw))
        return frozenset(one.decode("ascii", "ignore") for one in found)


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
