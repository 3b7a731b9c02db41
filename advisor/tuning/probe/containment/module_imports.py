"""Imports what the script wrote. Modules are opened by functions that Python, or the system, keeps to itself."""

from __future__ import annotations

import copy
import functools
import importlib.machinery
from typing import Any

from accel_advisor.tuning.probe.containment.overlay import Overlay
from accel_advisor.tuning.probe.containment.scratch_layer import open_real


def patch_imports(overlay: Overlay) -> None:
    """Patches the loaders of sources and of compiled modules."""
    _patch_sources(overlay)
    _patch_compiled(overlay)


def _patch_sources(overlay: Overlay) -> None:
    """What lies in the layer is compiled from there, and never taken from the cached bytecode of the file below it."""
    kind: Any = importlib.machinery.SourceFileLoader
    code_of = kind.get_code

    @functools.wraps(code_of)
    def get_code(loader: Any, name: str) -> Any:
        path = loader.get_filename(name)
        place = overlay.reading(path) if overlay.used else path
        if place == path:
            return code_of(loader, name)
        with open_real(place, "rb") as file:
            return loader.source_to_code(file.read(), path)

    kind.get_code = get_code


def _patch_compiled(overlay: Overlay) -> None:
    """Triton, for one, keeps modules that it has compiled below the home folder, and imports them from there."""
    kind: Any = importlib.machinery.ExtensionFileLoader
    create = kind.create_module

    @functools.wraps(create)
    def create_module(loader: Any, spec: Any) -> Any:
        place = overlay.reading(spec.origin) if overlay.used else spec.origin
        if place != spec.origin:
            spec = copy.copy(spec)
            spec.origin = place
        return create(loader, spec)

    kind.create_module = create_module
