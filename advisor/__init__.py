"""accel-advisor: finds what keeps an accelerator waiting in PyTorch training code, proves it, and fixes it.

What other programs may use stands in ``__all__``, is described in ``docs/library.md``, and is imported when it is asked
for.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "Applicability": "finding",
    "Confidence": "finding",
    "Edit": "finding",
    "Engine": "library.engine",
    "Finding": "finding",
    "Fix": "finding",
    "Report": "library.runs",
    "Severity": "finding",
    "Trial": "library.runs",
    "TrialError": "library.runs",
    "lint": "library.runs",
    "tune": "library.runs",
}
"""The modules that public names stand in; ``__init__.pyi`` has their types."""
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PUBLIC[name]}"), name)


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext accel_advisor`` calls."""
    importlib.import_module(f"{__name__}.kernel.accel_magic").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """What ``%unload_ext accel_advisor`` calls."""
    importlib.import_module(f"{__name__}.kernel.accel_magic").unload(shell)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
