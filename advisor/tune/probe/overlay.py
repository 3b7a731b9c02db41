"""A scratch layer over the file system: what the script writes lies there, and shadows what it reads afterwards.

A file's place in the layer is its own absolute path below ``upper``; what the script removed has a marker below
``gone``. The layer itself is on disk, so that workers and other processes of the script see the same. Nothing is
patched here: :mod:`containment` routes Python's file functions through the layer.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import stat
from collections.abc import Iterator

COPY_BYTES = 256 << 20
"""Larger files are not copied to be changed in place: they are opened as they are, and named."""
_PLAIN_SYSTEM = ("/dev", "/proc", "/sys")
_GONE = ".gone"
_LINKS_MOST = 40

# The real ones: containment replaces the names in os.
_getcwd, _stat, _lstat, _readlink, _listdir = os.getcwd, os.stat, os.lstat, os.readlink, os.listdir
_mkdir, _rmdir, _unlink, _rename, _symlink, _open = os.mkdir, os.rmdir, os.unlink, os.rename, os.symlink, os.open
_access, _chmod, _utime, _copyfile_open = os.access, os.chmod, os.utime, open


def _exists(path: str) -> bool:
    try:
        _lstat(path)
    except (OSError, ValueError):
        return False
    return True


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(_stat(path).st_mode)
    except OSError:
        return False


def _make_folders(path: str) -> None:
    if not _is_folder(path):
        _make_folders(os.path.dirname(path))
        try:
            _mkdir(path)
        except FileExistsError:
            if not _is_folder(path):
                raise


def _copy(source: str, target: str) -> None:
    try:
        link = _readlink(source)
    except OSError:
        with _copyfile_open(source, "rb") as reader, _copyfile_open(target, "wb") as writer:
            shutil.copyfileobj(reader, writer, 1 << 20)
        status = _stat(source)
        _chmod(target, stat.S_IMODE(status.st_mode) | stat.S_IWUSR)
        _utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    else:
        _symlink(link, target)


class Overlay:
    """Where each path of the script really is.

    Args:
        scratch: folder of the trial; it is free to be written, but for the layer's own folders.
        fresh: whether nothing can lie in the layer yet; False in a process that joins later.
    """

    def __init__(self, scratch: str, *, fresh: bool) -> None:
        self.scratch = scratch
        self.upper = f"{scratch}/overlay/upper"
        self._gone = f"{scratch}/overlay/gone"
        self._log = f"{scratch}/overlay/contained"
        self._logged: set[str] = set()
        self._exposed: set[str] = set()
        self._folders: dict[str, str] = {}
        # Shared with forked workers, so that a read costs nothing as long as nobody has written.
        self._used = mmap.mmap(-1, 1)
        for folder in (self.upper, self._gone):
            _make_folders(folder)
        if not fresh:
            self._used[0] = 1

    # -- names --------------------------------------------------------------------------------------------------

    @property
    def used(self) -> bool:
        """Whether anything was written or removed yet."""
        return bool(self._used[0])

    def getcwd(self) -> str:
        """The working folder, as the script knows it."""
        return self._below_upper(_getcwd())

    def _below_upper(self, path: str) -> str:
        if path.startswith(self.upper) and path[len(self.upper) :][:1] in ("", "/"):
            return path[len(self.upper) :] or "/"
        return path

    def name(self, path: str) -> str:
        """The one absolute name of a path: its folder resolved, its last component as it is."""
        path = self._below_upper(path)
        if not path.startswith("/"):
            path = f"{self.getcwd()}/{path}"
        folder, _, last = path.rstrip("/").rpartition("/")
        if last in ("", ".", ".."):
            return self._folder(path)
        folder = self._folder(folder or "/")
        return f"{folder}/{last}" if folder != "/" else f"/{last}"

    def _folder(self, path: str) -> str:
        known = self._folders.get(path)
        if known is None:
            known = self._resolve(path)
            if len(self._folders) > 4096:
                self._folders.clear()
            self._folders[path] = known
        return known

    def _resolve(self, path: str) -> str:
        resolved = "/"
        parts = path.split("/")[::-1]
        links = 0
        while parts:
            part = parts.pop()
            if part in ("", "."):
                continue
            if part == "..":
                resolved = os.path.dirname(resolved)
                continue
            candidate = f"{resolved}/{part}" if resolved != "/" else f"/{part}"
            link = self._link(self._place(candidate))
            if link is None:
                resolved = candidate
            else:
                links += 1
                if links > _LINKS_MOST:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                parts.extend(link.split("/")[::-1])
                if link.startswith("/"):
                    resolved = "/"
        return resolved

    def free(self, name: str) -> bool:
        """Whether a path is left alone: devices, and the scratch folder."""
        return any(name == root or name.startswith(f"{root}/") for root in (*_PLAIN_SYSTEM, self.scratch))

    # -- looking up ---------------------------------------------------------------------------------------------

    def _is_gone(self, name: str) -> bool:
        return _exists(f"{self._gone}{name}/{_GONE}")

    def _place(self, name: str) -> str | None:
        """Where a name is now: in the layer, below it, or nowhere because it was removed."""
        if not self.used:
            return name
        upper = self.upper + name
        if _exists(upper):
            return upper
        return None if self._is_gone(name) else name

    @staticmethod
    def _link(place: str | None) -> str | None:
        if place is None:
            return None
        try:
            return _readlink(place)
        except (OSError, ValueError):
            return None

    def _follow(self, name: str) -> str:
        for _ in range(_LINKS_MOST):
            link = self._link(self._place(name))
            if link is None:
                return name
            name = self.name(link if link.startswith("/") else f"{os.path.dirname(name)}/{link}")
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)

    def reading(self, path: str, *, follow: bool = True) -> str:
        """The path to read for ``path``.

        Raises:
            FileNotFoundError: the script removed it.
        """
        if not self.used:
            return path
        name = self.name(path)
        if self.free(name):
            return path
        place = self._place(self._follow(name) if follow else name)
        if place is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return place

    def exists(self, path: str, *, follow: bool = True) -> bool:
        """Whether the script sees something at ``path``."""
        name = self.name(path)
        place = self._place(self._follow(name) if follow else name)
        return place is not None and _exists(place)

    def is_folder(self, path: str) -> bool:
        """Whether the script sees a folder at ``path``."""
        place = self._place(self._follow(self.name(path)))
        return place is not None and _is_folder(place)

    def names_in(self, path: str) -> list[str]:
        """What a folder holds, layer and below together.

        Raises:
            OSError: it is no folder.
        """
        if not self.used:
            return _listdir(path)
        name = self._follow(self.name(path))
        if self.free(name):
            return _listdir(path)
        upper = self.upper + name
        if not _exists(upper):
            self.reading(path)
            above: list[str] = []
        else:
            above = _listdir(upper)
        try:
            below = _listdir(name) if not self._is_gone(name) else []
        except (FileNotFoundError, NotADirectoryError):
            if not _is_folder(upper):
                raise
            below = []
        known = set(above)
        return above + [each for each in below if each not in known and not self._is_gone(f"{name}/{each}")]

    # -- changing -----------------------------------------------------------------------------------------------

    def note(self, name: str) -> None:
        """Remember that a path was contained; in a file, so that workers' writes are known too."""
        self._used[0] = 1
        if name in self._logged:
            return
        self._logged.add(name)
        number = _open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(number, os.fsencode(name) + b"\0")
        finally:
            os.close(number)

    def contained(self) -> tuple[str, ...]:
        """Every path that was contained, in the order of the first write."""
        return read_log(self._log)

    def expose(self, path: str) -> None:
        """A file is about to be written where it is, behind the layer's back: save what it holds, so that the parent
        can put it back."""
        name = self._follow(self.name(path))
        if self.free(name) or name in self._exposed:
            return
        self._exposed.add(name)
        saved = f"{self.scratch}/overlay/exposed/{len(self._exposed)}-{os.getpid()}"
        _make_folders(saved)
        with _copyfile_open(f"{saved}/name", "wb") as file:
            file.write(os.fsencode(name))
        if _exists(name) and stat.S_ISREG(_stat(name).st_mode) and _stat(name).st_size <= COPY_BYTES:
            _copy(name, f"{saved}/content")
        elif not _exists(name):
            _make_folders(f"{saved}/absent")

    def writing(self, path: str, *, keep: bool, create: bool = True, exclusive: bool = False) -> str:
        """The path to write for ``path``; its folder is there in the layer, and where ``keep``, its content too.

        Raises:
            FileNotFoundError: its folder does not exist, or the file does not and ``create`` is False.
            FileExistsError: it exists, and ``exclusive``.
            IsADirectoryError: it is a folder.
        """
        name = self.name(path)
        if self.free(name):
            return path
        if exclusive and self.exists(path, follow=False):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        name = self._follow(name)
        if self.free(name):
            return path
        place = self._place(name)
        if place is not None and _exists(place):
            status = _stat(place)
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
            if not stat.S_ISREG(status.st_mode):
                return path  # a pipe, a socket, a device
            if place == name and not _access(name, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
            if keep and place == name and status.st_size > COPY_BYTES:
                return path
        elif not create:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        upper = self._lift_folder(name, path)
        if place == name and _exists(name):
            if keep:
                _copy(name, upper)
            else:
                os.close(_open(upper, os.O_WRONLY | os.O_CREAT, stat.S_IMODE(_stat(name).st_mode) | stat.S_IWUSR))
        self._appear(name)
        return upper

    def _lift_folder(self, name: str, path: str) -> str:
        folder = os.path.dirname(name)
        if not self.is_folder(folder):
            code = errno.ENOTDIR if self.exists(folder) else errno.ENOENT
            raise OSError(code, os.strerror(code), path)
        _make_folders(self.upper + folder)
        return self.upper + name

    def _appear(self, name: str) -> None:
        if self.used and self._is_gone(name):
            _unlink(f"{self._gone}{name}/{_GONE}")
        self.note(name)

    def _vanish(self, name: str) -> None:
        """Hide a real path, which may be a folder with all below it."""
        marker = self._gone + name
        if _is_folder(name) and self._link(name) is None:
            for each in _listdir(name):
                self._vanish(f"{name}/{each}")
        _make_folders(marker)
        os.close(_open(f"{marker}/{_GONE}", os.O_WRONLY | os.O_CREAT, 0o600))
        self.note(name)

    def lift(self, path: str, *, follow: bool = True) -> str:
        """The path in the layer of something that exists, copied up as it is: for changes of its mode or times."""
        name = self.name(path)
        if follow:
            name = self._follow(name)
        if self.free(name):
            return path
        place = self._place(name)
        if self._link(place) is not None:  # of the link itself
            if place == name:
                _copy(name, self._lift_folder(name, path))
                self.note(name)
            return self.upper + name
        if self.is_folder(name):
            self.note(name)
            _make_folders(self.upper + name)
            return self.upper + name
        return self.writing(name, keep=True, create=False)

    def mkdir(self, path: str, mode: int = 0o777) -> None:
        """As :func:`os.mkdir`."""
        name = self.name(path)
        if self.free(name):
            return _mkdir(path, mode)
        if self.exists(path, follow=False):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        _mkdir(self._lift_folder(name, path), mode)
        self._cover(name)
        self._appear(name)
        return None

    def _cover(self, name: str) -> None:
        """A folder comes where a real link to a folder was: what that leads to is not in the new one."""
        if self._link(name) is not None and _is_folder(name):
            for each in _listdir(name):
                self._vanish(f"{name}/{each}")

    def rmdir(self, path: str) -> None:
        """As :func:`os.rmdir`."""
        name = self.name(path)
        if self.free(name):
            return _rmdir(path)
        if not self._is_own_folder(name):
            code = errno.ENOTDIR if self.exists(path, follow=False) else errno.ENOENT
            raise OSError(code, os.strerror(code), path)
        if self.names_in(path):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        if _exists(self.upper + name):
            _rmdir(self.upper + name)
        if _exists(name):
            self._vanish(name)
        return None

    def unlink(self, path: str) -> None:
        """As :func:`os.unlink`."""
        name = self.name(path)
        if self.free(name):
            return _unlink(path)
        place = self._place(name)
        if place is None or not _exists(place):
            above = os.path.dirname(name)
            code = errno.ENOTDIR if self.exists(above) and not self.is_folder(above) else errno.ENOENT
            raise OSError(code, os.strerror(code), path)
        if _is_folder(place) and self._link(place) is None:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if place != name:
            _unlink(place)
        if _exists(name):
            self._vanish(name)
        self._folders.clear()
        return None

    def rename(self, source: str, target: str, *, replace: bool) -> None:
        """As :func:`os.rename` and :func:`os.replace`."""
        old, new = self.name(source), self.name(target)
        if self.free(old) and self.free(new):
            return _rename(source, target)
        if not self.exists(old, follow=False):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), source, None, target)
        if old == new:
            return None
        code = self._refuses(old, new)
        if code:
            raise OSError(code, os.strerror(code), source, None, target)
        into = new if self.free(new) else self._lift_folder(new, target)
        if self._is_own_folder(new):
            self.rmdir(new)
        self._cover(new)
        for each, place in list(self._merged(old)):
            landing = into + each[len(old) :]
            if _is_folder(place) and self._link(place) is None:
                _make_folders(landing)
            else:
                if _exists(landing):
                    _unlink(landing)
                _copy(place, landing)
            if not self.free(new):
                self._appear(new + each[len(old) :])
        self._drop(old)
        self._folders.clear()
        return None

    def _is_own_folder(self, name: str) -> bool:
        place = self._place(name)
        return place is not None and _is_folder(place) and self._link(place) is None

    def _refuses(self, old: str, new: str) -> int:
        """The error number that a rename would give; 0 where it is possible."""
        if new.startswith(f"{old}/"):
            return errno.EINVAL
        if old.startswith(f"{new}/"):
            return errno.ENOTEMPTY
        if self._is_own_folder(old) and self.exists(new, follow=False):
            if not self._is_own_folder(new):
                return errno.ENOTDIR
            return errno.ENOTEMPTY if self.names_in(new) else 0
        return errno.EISDIR if self._is_own_folder(new) else 0

    def _merged(self, name: str) -> Iterator[tuple[str, str]]:
        """A path and all below it as the script sees them, folders first, each with its place."""
        place = self._place(name)
        if place is None:
            return
        yield name, place
        if _is_folder(place) and self._link(place) is None:
            for each in self.names_in(name) if not self.free(name) else _listdir(name):
                yield from self._merged(f"{name}/{each}")

    def _drop(self, name: str) -> None:
        """Let a path and all below it be gone."""
        if self.free(name):
            if _is_folder(name):
                shutil.rmtree(name)
            else:
                _unlink(name)
            return
        upper = self.upper + name
        if _is_folder(upper) and self._link(upper) is None:
            for each in _listdir(upper):
                self._drop(f"{name}/{each}")
            _rmdir(upper)
        elif _exists(upper):
            _unlink(upper)
        if _exists(name) and not self._is_gone(name):
            self._vanish(name)

    def symlink(self, source: str, target: str) -> None:
        """As :func:`os.symlink`."""
        name = self.name(target)
        if self.free(name):
            return _symlink(source, target)
        if self.exists(target, follow=False):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), source, None, target)
        _symlink(source, self._lift_folder(name, target))
        self._appear(name)
        self._folders.clear()
        return None

    def link(self, source: str, target: str) -> None:
        """As :func:`os.link`, by a copy."""
        name = self.name(target)
        if self.exists(target, follow=False):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), source, None, target)
        into = target if self.free(name) else self._lift_folder(name, target)
        _copy(self.reading(source), into)
        if not self.free(name):
            self._appear(name)


def read_log(path: str) -> tuple[str, ...]:
    """The paths in a log of contained writes, each once; () where there is none."""
    try:
        with _copyfile_open(path, "rb") as file:
            names = file.read().split(b"\0")
    except FileNotFoundError:
        return ()
    return tuple(dict.fromkeys(os.fsdecode(name) for name in names if name))
