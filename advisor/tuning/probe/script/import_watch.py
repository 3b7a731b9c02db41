"""Notices when the script has imported a module."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

from accel_advisor.tuning.probe.script.garbage import uncollected

TORCH = ("torch", "torch._dynamo")
"""What takes seconds to import; each optimizer imports the second."""


class ImportHook(importlib.abc.MetaPathFinder):
    """Calls a function when one module has been imported.

    Args:
        name: the module.
        then: what is called.
        during: makes what surrounds the import.
    """

    def __init__(
        self,
        name: str,
        then: Callable[[], None],
        during: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._name = name
        self._then = then
        self._during = during
        self._finding = False

    def install(self) -> None:
        """Watch imports from now on; where the module is imported already, call at once."""
        if self._name in sys.modules:
            self._then()
        else:
            sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find the module as everybody else does, and notice when it has run."""
        if fullname != self._name or self._finding:
            return None
        # Many a library only asks whether torch is there: the watch ends with the import, not with the question.
        self._finding = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._finding = False
        if spec is None or spec.loader is None:
            return None
        spec.loader = _Reporting(spec.loader, self._imported, self._during)  # type: ignore[assignment]
        return spec

    def _imported(self) -> None:
        if self in sys.meta_path:
            # The old list may be gone through at this moment: a finder may import the module to answer for another one.
            sys.meta_path = [finder for finder in sys.meta_path if finder is not self]
            self._then()


class _Reporting:
    """A module's loader that reports when the module has run, and then is its own again."""

    def __init__(
        self, loader: Any, then: Callable[[], None], during: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._loader = loader
        self._then = then
        self._during = during

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        with self._during():
            self._loader.exec_module(module)
        self._then()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def import_without_collection(*names: str) -> None:
    """Keep garbage collection off while these modules are imported: they make many objects and hardly any garbage, and
    looking for it takes a sixth of their import."""
    for name in names:
        ImportHook(name, _nothing, uncollected).install()


def _nothing() -> None:
    pass
