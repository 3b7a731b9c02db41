"""Noticing an import, whatever was asked about the module before."""

import gc
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from pathlib import Path

import pytest

from accel_advisor.tuning.probe.script.import_watch import ImportHook, import_without_collection


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "watched_package").mkdir()
    (tmp_path / "watched_package" / "__init__.py").write_text("")
    (tmp_path / "watched_package" / "inner.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    for name in ("watched_package", "watched_package.inner"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


@pytest.mark.parametrize("name", ["watched_package", "watched_package.inner"])
def test_asking_whether_a_module_is_there_is_no_import(modules: Path, name: str) -> None:
    heard: list[str] = []
    before = list(sys.meta_path)
    ImportHook(name, lambda: heard.append(name)).install()
    assert importlib.util.find_spec(name) is not None
    assert importlib.util.find_spec(name) is not None
    assert heard == []
    module = importlib.import_module(name)
    assert heard == [name]
    assert sys.meta_path == before
    assert module.__spec__ is not None
    assert module.__spec__.loader is module.__loader__
    assert type(module.__loader__).__module__ == "_frozen_importlib_external"


def test_a_module_that_is_imported_already_is_reported_at_once(modules: Path) -> None:
    importlib.import_module("watched_package")
    heard: list[int] = []
    ImportHook("watched_package", lambda: heard.append(1)).install()
    assert heard == [1]


class _Importing(importlib.abc.MetaPathFinder):
    """A finder that imports another module before it leaves the question to the others."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "watched_package.inner":
            importlib.import_module("json.tool")


def test_an_import_by_a_finder_leaves_the_finders_behind_it_in_their_turn(
    modules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "json.tool", raising=False)
    heard: list[int] = []
    sys.meta_path[:] = [_Importing(), importlib.machinery.PathFinder]
    ImportHook("json.tool", lambda: heard.append(1)).install()
    assert importlib.import_module("watched_package.inner").VALUE == 1
    assert heard == [1]


def test_a_module_that_is_not_there_is_not_found(modules: Path) -> None:
    ImportHook("watched_package.missing", lambda: None).install()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("watched_package.missing")


@pytest.mark.parametrize("enabled", [True, False])
def test_an_import_without_garbage_collection_leaves_it_as_it_was(modules: Path, enabled: bool) -> None:
    (modules / "watched_package" / "inner.py").write_text("import gc\nENABLED = gc.isenabled()\n")
    (modules / "watched_package" / "failing.py").write_text("raise ValueError\n")
    import_without_collection("watched_package.inner", "watched_package.failing")
    if not enabled:
        gc.disable()
    try:
        assert importlib.import_module("watched_package.inner").ENABLED is False
        assert gc.isenabled() is enabled
        with pytest.raises(ValueError, match=r"^$"):
            importlib.import_module("watched_package.failing")
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_other_imports_are_collected_as_ever(modules: Path) -> None:
    (modules / "watched_package" / "inner.py").write_text("import gc\nENABLED = gc.isenabled()\n")
    import_without_collection("watched_package.other")
    assert importlib.import_module("watched_package.inner").ENABLED is True
