"""What a project says that it runs on: the oldest Python and the oldest torch that it supports."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Version = tuple[int, int]

_LEAST = re.compile(r">=?\s*(\d+)\.(\d+)")
_TORCH = re.compile(r"^\s*torch(?![\w.-])\s*(?:\[[^\]]*\])?\s*\(?\s*[^#;]*?(?:>=|==|~=)\s*(\d+)\.(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Target:
    """The oldest versions that a project supports, as (major, minor); None where it does not say.

    Attributes:
        read: the files that this was read from.
    """

    python: Version | None = None
    torch: Version | None = None
    read: tuple[Path, ...] = ()


def target_of(root: Path) -> Target:
    """What ``requires-python`` and the dependencies in pyproject.toml, and requirements.txt beside it, say.

    A file that cannot be read or parsed says nothing: reporting it is not a linter's business.
    """
    project, requirements = _text(root / "pyproject.toml"), _text(root / "requirements.txt")
    read = tuple(
        root / name
        for name, text in (("pyproject.toml", project), ("requirements.txt", requirements))
        if text is not None
    )
    stated = _project_table(project or "")
    dependencies = stated.get("dependencies")
    lines = "\n".join(one for one in dependencies if isinstance(one, str)) if isinstance(dependencies, list) else ""
    python = stated.get("requires-python")
    floors = [floor for text in (lines, requirements or "") if (floor := _version(_TORCH.search(text))) is not None]
    return Target(
        _version(_LEAST.search(python)) if isinstance(python, str) else None, min(floors) if floors else None, read
    )


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return ""


def _project_table(text: str) -> dict[str, Any]:
    try:
        table = tomllib.loads(text).get("project")
    except tomllib.TOMLDecodeError:
        return {}
    return table if isinstance(table, dict) else {}


def _version(found: re.Match[str] | None) -> Version | None:
    return (int(found[1]), int(found[2])) if found is not None else None
