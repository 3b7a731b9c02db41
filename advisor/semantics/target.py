"""What a project says that it runs on."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

_LEAST = re.compile(r">=?\s*(\d+)\.(\d+)")


def least_python(root: Path) -> tuple[tuple[int, int] | None, Path | None]:
    """The oldest Python that a project supports, as (major, minor), from ``requires-python`` in its pyproject.toml.

    Returns:
        The version, None where the project does not say; and the file that was read, if there is one. A file that
        cannot be read or parsed says nothing: reporting it is not a linter's business.
    """
    path = root / "pyproject.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None, None
    except (OSError, ValueError):
        return None, path
    project = table.get("project")
    stated = project.get("requires-python") if isinstance(project, dict) else None
    found = _LEAST.search(stated) if isinstance(stated, str) else None
    return ((int(found[1]), int(found[2])) if found else None), path
