"""How a message names a file."""

from __future__ import annotations

import os


def shown_path(path: str) -> str:
    """A path relative to the working directory where it lies below that, else absolute."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return os.path.abspath(path)
    return os.path.abspath(path) if relative.startswith(os.pardir) else relative
