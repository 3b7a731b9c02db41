"""Whether workers that do not fork could be sent what they need, where the script is a notebook."""

from __future__ import annotations

import pickle
import sys
from types import FunctionType
from typing import Any


class _FoundError(Exception):
    """Something of the cells is to be sent."""


class _Nowhere:
    def write(self, data: Any) -> int:
        """Take what a pickler writes, and keep nothing of it."""
        return len(data)


class _Search(pickle.Pickler):
    """Follows all that would be sent, but for the numbers in tensors and arrays."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, (type, FunctionType)) and value.__module__ == "__main__":
            raise _FoundError
        if type(value).__module__.partition(".")[0] in ("torch", "numpy") and hasattr(value, "dtype"):
            return int, ()
        return NotImplemented


def needs_cells(loader: Any) -> bool:
    """Whether workers of a loader would have to find what only the cells of a notebook define: they look for it in a
    module that has no file. What cannot be sent at all needs nothing of them."""
    if getattr(sys.modules["__main__"], "__file__", None) is not None:
        return False
    try:
        _Search(_Nowhere()).dump((loader.dataset, loader.collate_fn, loader.worker_init_fn))
    except _FoundError:
        return True
    except Exception:  # whatever a user's own way to pickle raises, the worker's start will say
        return False
    return False
