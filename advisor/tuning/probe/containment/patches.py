"""Routes Python's file functions through the overlay: what the script writes never reaches the user's files.

Patched are the functions of ``os`` and ``io.open``, which pathlib, shutil, numpy, PIL and most savers end in, and the
few well-known savers that open files in compiled code. What no Python function opens, such as a compiled extension's
or another program's files, is found by comparing the tree before and after the trial.
"""

from __future__ import annotations

import builtins
import functools
import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

from accel_advisor.tuning.probe.containment.module_imports import patch_imports
from accel_advisor.tuning.probe.containment.overlay import Overlay
from accel_advisor.tuning.probe.containment.scratch_layer import Layer
from accel_advisor.tuning.probe.script.import_watch import ImportHook

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_readlink = os.readlink


class Entry:
    """A directory entry of the merged view; it stands for :class:`os.DirEntry`, which cannot be built."""

    def __init__(self, folder: str | bytes, name: str) -> None:
        as_asked = os.fsencode(name) if isinstance(folder, bytes) else name
        self.name: Any = as_asked
        self.path: Any = os.path.join(folder, as_asked)  # type: ignore[arg-type]

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return os.stat(self.path, follow_symlinks=follow_symlinks)

    def inode(self) -> int:
        return self.stat(follow_symlinks=False).st_ino

    def is_symlink(self) -> bool:
        return os.path.islink(self.path)

    def is_junction(self) -> bool:
        return False

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return os.path.isdir(self.path) and (follow_symlinks or not self.is_symlink())

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return os.path.isfile(self.path) and (follow_symlinks or not self.is_symlink())


class _Scan:
    def __init__(self, entries: list[Entry]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[Entry]:
        return self

    def __next__(self) -> Entry:
        return next(self._entries)

    def __enter__(self) -> _Scan:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())


class Containment:
    """Installs the overlay into this process, for good."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay
        self._replaced: dict[int, tuple[Any, Any]] = {}

    def install(self) -> None:
        """Patch; modules that were imported before and hold the functions under names of their own are mended too."""
        self._patch_open()
        self._patch_imports()
        for name in ("stat", "lstat", "access", "listdir", "scandir", "readlink", "statvfs", "getxattr", "listxattr"):
            self._patch(name, functools.partial(self._reads, name))
        for name in ("chdir", "pathconf"):
            self._patch(name, functools.partial(self._reads, name))
        for name in ("chmod", "chown", "lchown", "utime", "truncate", "setxattr", "removexattr", "chflags"):
            self._patch(name, self._lifts)
        self._patch_changes()
        # shutil.rmtree works by folder descriptors where it can, behind the layer's back.
        shutil._use_fd_functions = False  # type: ignore[attr-defined]
        self._mend_modules()
        sys.addaudithook(self._watch)
        ImportHook("torch", self._patch_torch).install()
        ImportHook("sqlite3", self._patch_sqlite).install()
        ImportHook("safetensors", self._patch_safetensors).install()
        ImportHook("cv2", self._patch_cv2).install()
        ImportHook("h5py", self._patch_h5py).install()

    # -- how to patch -------------------------------------------------------------------------------------------

    def _patch(self, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]], owner: Any = os) -> None:
        original = getattr(owner, name, None)
        if original is None:
            return
        patched = functools.wraps(original)(make(original))
        setattr(owner, name, patched)
        self._replaced[id(original)] = original, patched
        for able in (os.supports_follow_symlinks, os.supports_fd, os.supports_effective_ids):
            if original in able:
                able.add(patched)

    def _mend_modules(self) -> None:
        spared = {"posix", "nt", "_io", __name__, Overlay.__module__, Layer.__module__, "importlib._bootstrap_external"}
        for module in list(sys.modules.values()):
            names = getattr(module, "__dict__", None)
            if names is None or getattr(module, "__name__", "") in spared or "_frozen_importlib" in str(module):
                continue
            for name, value in list(names.items()):
                found = self._replaced.get(id(value))
                if found is not None and found[0] is value:
                    names[name] = found[1]

    @staticmethod
    def _text(path: Any, dir_fd: int | None = None) -> str | None:
        """A path as text; None for a descriptor, and for what cannot be a path, which the real function refuses."""
        if isinstance(path, int):
            return None
        try:
            text = os.fsdecode(path)
        except TypeError:
            return None
        if not text or "\0" in text:
            return None
        if dir_fd is not None and not text.startswith("/"):
            try:
                return f"{_readlink(f'/proc/self/fd/{dir_fd}')}/{text}"
            except OSError:
                return None
        return text

    def _watch(self, event: str, args: tuple[Any, ...]) -> None:
        """What is opened for writing behind the patched functions is noted and its content saved, before it happens."""
        if event == "open" and isinstance(args[0], (str, bytes)) and args[2] & _WRITES:
            path = os.fsdecode(args[0])
            if not path.startswith(self._overlay.scratch):
                self._overlay.expose(path)

    # -- reading ------------------------------------------------------------------------------------------------

    def _reads(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        overlay, text = self._overlay, self._text
        follows = name not in ("lstat", "readlink")

        def listdir(path: Any = ".") -> Any:
            asked = text("." if path is None else path)
            if asked is None or not overlay.used:
                return original(path)
            names = overlay.names_in(asked)
            return [os.fsencode(each) for each in names] if isinstance(path, bytes) else names

        def scandir(path: Any = ".") -> Any:
            asked = text("." if path is None else path)
            if asked is None or not overlay.used:
                return original(path)
            folder = os.fspath("." if path is None else path)
            return _Scan([Entry(folder, each) for each in overlay.names_in(asked)])

        def reads(path: Any = None, *args: Any, **kwargs: Any) -> Any:
            asked = text(path, kwargs.get("dir_fd")) if overlay.used else None
            if asked is None:
                return original(path, *args, **kwargs)
            try:
                place = overlay.reading(asked, follow=follows and kwargs.get("follow_symlinks", True))
            except OSError:
                if name == "access":
                    return False
                raise
            if place == asked:
                return original(path, *args, **kwargs)
            kwargs.pop("dir_fd", None)
            return original(os.fsencode(place) if isinstance(path, bytes) else place, *args, **kwargs)

        return {"listdir": listdir, "scandir": scandir}.get(name, reads)

    # -- writing ------------------------------------------------------------------------------------------------

    def _patch_open(self) -> None:
        overlay, text = self._overlay, self._text
        real_open, real_os_open = io.open, os.open

        @functools.wraps(real_open)
        def open_file(file: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> Any:
            asked = text(file)
            if asked is None or not isinstance(mode, str):
                return real_open(file, mode, *args, **kwargs)
            if not set(mode) & set("wax+"):
                place = overlay.reading(asked) if overlay.used else asked
            else:
                place = overlay.writing(asked, keep="w" not in mode, create="r" not in mode, exclusive="x" in mode)
            opened = real_open(file if place == asked else place, mode, *args, **kwargs)
            if place != asked:
                _call_by(opened, file)
            return opened

        def open_number(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            asked = text(path, dir_fd)
            if asked is None:
                return real_os_open(path, flags, mode, dir_fd=dir_fd)
            if flags & _WRITES and not flags & getattr(os, "O_TMPFILE", 0) & ~os.O_DIRECTORY:
                creates = bool(flags & os.O_CREAT)
                exclusive = creates and bool(flags & os.O_EXCL)
                place = overlay.writing(asked, keep=not flags & os.O_TRUNC, create=creates, exclusive=exclusive)
            else:
                place = overlay.reading(asked) if overlay.used else asked
            if place == asked:
                return real_os_open(path, flags, mode, dir_fd=dir_fd)
            return real_os_open(place, flags & ~os.O_EXCL, mode)

        for owner in (builtins, io):
            owner.open = open_file  # type: ignore[attr-defined]
        self._replaced[id(real_open)] = real_open, open_file
        self._patch("open", lambda _: open_number)

    def _patch_imports(self) -> None:
        overlay = self._overlay

        def open_code(original: Callable[[str], Any]) -> Callable[[str], Any]:
            return lambda path: original(overlay.reading(path) if overlay.used else path)

        patch_imports(overlay)
        self._patch("open_code", open_code, io)

    def _lifts(self, original: Callable[..., Any]) -> Callable[..., Any]:
        overlay, text = self._overlay, self._text

        def changes(path: Any, *args: Any, **kwargs: Any) -> Any:
            asked = text(path, kwargs.get("dir_fd"))
            if asked is None:
                return original(path, *args, **kwargs)
            place = overlay.lift(asked, follow=kwargs.get("follow_symlinks", True))
            if place != asked:
                kwargs.pop("dir_fd", None)
            return original(path if place == asked else place, *args, **kwargs)

        return changes

    def _patch_changes(self) -> None:
        overlay, text = self._overlay, self._text

        def one(change: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
            def make(original: Callable[..., Any]) -> Callable[..., Any]:
                def changes(path: Any, *args: Any, dir_fd: int | None = None, **kwargs: Any) -> Any:
                    asked = text(path, dir_fd)
                    if asked is None:
                        return original(path, *args, dir_fd=dir_fd, **kwargs)
                    return change(asked, *args, **kwargs)

                return changes

            return make

        def two(change: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
            def make(original: Callable[..., Any]) -> Callable[..., Any]:
                def changes(src: Any, dst: Any, *args: Any, **kwargs: Any) -> Any:
                    left = text(src, kwargs.get("src_dir_fd"))
                    right = text(dst, kwargs.get("dst_dir_fd", kwargs.get("dir_fd")))
                    if left is None or right is None:
                        return original(src, dst, *args, **kwargs)
                    return change(left, right)

                return changes

            return make

        for name in ("unlink", "remove"):
            self._patch(name, one(overlay.unlink))
        self._patch("mkdir", one(overlay.mkdir))
        self._patch("rmdir", one(overlay.rmdir))
        for name in ("rename", "replace"):
            self._patch(name, two(overlay.rename))
        self._patch("symlink", two(overlay.symlink))
        self._patch("link", two(overlay.link))
        self._patch("getcwd", lambda _: lambda: overlay.getcwd())
        self._patch("getcwdb", lambda _: lambda: os.fsencode(overlay.getcwd()))
        for name in ("mkfifo", "mknod"):
            self._patch(name, self._makes)

    def _makes(self, original: Callable[..., Any]) -> Callable[..., Any]:
        overlay, text = self._overlay, self._text

        def makes(path: Any, *args: Any, **kwargs: Any) -> Any:
            asked = text(path, kwargs.pop("dir_fd", None))
            if asked is None:
                return original(path, *args, **kwargs)
            return original(overlay.writing(asked, keep=False, exclusive=True), *args, **kwargs)

        return makes

    # -- savers in compiled code --------------------------------------------------------------------------------

    def _redirect(self, owner: Any, name: str, place: int, keyword: str, writes: Callable[[Any], bool]) -> None:
        """Send the path argument of a function through the layer."""
        original = getattr(owner, name, None)
        if original is None:
            return
        overlay, text = self._overlay, self._text

        def resolve(path: Any, call: Any) -> Any:
            asked = text(path) if isinstance(path, (str, bytes, os.PathLike)) else None
            if asked is None or asked == ":memory:" or asked.startswith("file:"):
                return path
            if writes(call):
                return overlay.writing(asked, keep=True)
            return overlay.reading(asked) if overlay.used else path

        @functools.wraps(original)
        def redirected(*args: Any, **kwargs: Any) -> Any:
            if keyword in kwargs:
                kwargs[keyword] = resolve(kwargs[keyword], (args, kwargs))
            elif len(args) > place:
                args = (*args[:place], resolve(args[place], (args, kwargs)), *args[place + 1 :])
            return original(*args, **kwargs)

        setattr(owner, name, redirected)

    def _patch_torch(self) -> None:
        import torch

        for owner in (torch, torch.serialization, torch.jit):
            self._redirect(owner, "save", 1, "f", lambda _: True)
            self._redirect(owner, "load", 0, "f", lambda _: False)
        self._redirect(torch.jit.ScriptModule, "save", 1, "f", lambda _: True)
        self._redirect(torch.Tensor, "tofile", 1, "filename", lambda _: True)

    def _patch_sqlite(self) -> None:
        import sqlite3
        import sqlite3.dbapi2

        for owner in (sqlite3, sqlite3.dbapi2):
            self._redirect(owner, "connect", 0, "database", lambda _: True)

    def _patch_safetensors(self) -> None:
        safetensors = sys.modules["safetensors"]
        self._redirect(safetensors, "serialize_file", 1, "filename", lambda _: True)

    def _patch_cv2(self) -> None:
        cv2 = sys.modules["cv2"]
        self._redirect(cv2, "imwrite", 0, "filename", lambda _: True)
        self._redirect(cv2, "imread", 0, "filename", lambda _: False)
        self._redirect(cv2, "VideoWriter", 0, "filename", lambda _: True)

    def _patch_h5py(self) -> None:
        def writes(call: tuple[tuple[Any, ...], dict[str, Any]]) -> bool:
            args, kwargs = call
            return bool((args[2] if len(args) > 2 else kwargs.get("mode", "r")) != "r")

        self._redirect(sys.modules["h5py"].File, "__init__", 1, "name", writes)


def _call_by(opened: Any, name: Any) -> None:
    """Let a file answer by the name that the script gave it."""
    for layer in (getattr(opened, "buffer", opened), getattr(getattr(opened, "buffer", opened), "raw", None)):
        if isinstance(layer, io.FileIO):
            layer.name = name
