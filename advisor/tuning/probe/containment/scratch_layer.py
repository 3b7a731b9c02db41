"""Where each path of the script really is: in the scratch layer, below it, or nowhere because the script removed it.

A file's place in the layer is its own absolute path below ``upper``; what the script removed has a marker below
``gone``. The layer is on disk, so that workers and other processes of the script see the same.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import stat

COPY_BYTES = 256 << 20
"""Larger files are not copied to be changed in place: they are opened as they are, and named."""
_PLAIN_SYSTEM = ("/dev", "/proc", "/sys")
GONE = ".gone"
_LINKS_MOST = 40

# The real ones: containment replaces the names in os.
_getcwd, real_stat, _lstat, _readlink, real_listdir = os.getcwd, os.stat, os.lstat, os.readlink, os.listdir
real_mkdir, real_rmdir, real_unlink, real_rename, real_symlink, real_open = (
    os.mkdir,
    os.rmdir,
    os.unlink,
    os.rename,
    os.symlink,
    os.open,
)
real_access, _chmod, _utime, open_real = os.access, os.chmod, os.utime, open


def real_exists(path: str) -> bool:
    """Whether something is there, be it a dangling link."""
    try:
        _lstat(path)
    except (OSError, ValueError):
        return False
    return True


def is_real_folder(path: str) -> bool:
    """Whether a folder, or a link to one, is there."""
    try:
        return stat.S_ISDIR(real_stat(path).st_mode)
    except OSError:
        return False


def make_folders(path: str) -> None:
    """As :func:`os.makedirs`, and content with what is there already."""
    if not is_real_folder(path):
        make_folders(os.path.dirname(path))
        try:
            real_mkdir(path)
        except FileExistsError:
            if not is_real_folder(path):
                raise


def copy_real(source: str, target: str) -> None:
    """Copy a file with its times and permissions, but writable; a link as a link."""
    try:
        link = _readlink(source)
    except OSError:
        with open_real(source, "rb") as reader, open_real(target, "wb") as writer:
            shutil.copyfileobj(reader, writer, 1 << 20)
        status = real_stat(source)
        _chmod(target, stat.S_IMODE(status.st_mode) | stat.S_IWUSR)
        _utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    else:
        real_symlink(link, target)


class Layer:
    """Where each path of the script really is.

    Args:
        scratch: folder of the trial; it is free to be written, but for the layer's own folders.
        fresh: whether the script can have changed nothing yet; False in a process that joins later.
    """

    def __init__(self, scratch: str, *, fresh: bool) -> None:
        self.scratch = scratch
        self.upper = f"{scratch}/overlay/upper"
        self.gone = f"{scratch}/overlay/gone"
        self.log = f"{scratch}/overlay/contained"
        self.logged: set[str] = set()
        self.exposed: set[str] = set()
        self.folders: dict[str, str] = {}
        self._free = tuple(f"{root}/" for root in (*_PLAIN_SYSTEM, scratch))
        # Shared with forked workers, so that a read costs nothing as long as nobody has written.
        self.used_flag = mmap.mmap(-1, 1)
        for folder in (self.upper, self.gone):
            make_folders(folder)
        if not fresh or real_listdir(self.upper):
            self.used_flag[0] = 1

    # -- names --------------------------------------------------------------------------------------------------

    @property
    def used(self) -> bool:
        """Whether anything was written or removed yet."""
        return bool(self.used_flag[0])

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
        known = self.folders.get(path)
        if known is None:
            known = self._resolve(path)
            if len(self.folders) > 4096:
                self.folders.clear()
            self.folders[path] = known
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
            link = self.link_at(self.place_of(candidate))
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
        return name.startswith(self._free) or f"{name}/" in self._free

    # -- looking up ---------------------------------------------------------------------------------------------

    def is_gone(self, name: str) -> bool:
        return real_exists(f"{self.gone}{name}/{GONE}")

    def place_of(self, name: str) -> str | None:
        """Where a name is now: in the layer, below it, or nowhere because it was removed."""
        if not self.used:
            return name
        upper = self.upper + name
        if real_exists(upper):
            return upper
        return None if self.is_gone(name) else name

    @staticmethod
    def link_at(place: str | None) -> str | None:
        if place is None:
            return None
        try:
            return _readlink(place)
        except (OSError, ValueError):
            return None

    def follow(self, name: str) -> str:
        return self._followed(name)[0]

    def _followed(self, name: str) -> tuple[str, str | None]:
        """What a name leads to, and its place."""
        for _ in range(_LINKS_MOST):
            place = self.place_of(name)
            link = self.link_at(place)
            if link is None:
                return name, place
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
        place = self._followed(name)[1] if follow else self.place_of(name)
        if place is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return place

    def exists(self, path: str, *, follow: bool = True) -> bool:
        """Whether the script sees something at ``path``."""
        name = self.name(path)
        place = self._followed(name)[1] if follow else self.place_of(name)
        return place is not None and real_exists(place)

    def is_folder(self, path: str) -> bool:
        """Whether the script sees a folder at ``path``."""
        _, place = self._followed(self.name(path))
        return place is not None and is_real_folder(place)

    def names_in(self, path: str) -> list[str]:
        """What a folder holds, layer and below together.

        Raises:
            OSError: it is no folder.
        """
        if not self.used:
            return real_listdir(path)
        name = self.follow(self.name(path))
        if self.free(name):
            return real_listdir(path)
        upper = self.upper + name
        if not real_exists(upper):
            self.reading(path)
            above: list[str] = []
        else:
            above = real_listdir(upper)
        try:
            below = real_listdir(name) if not self.is_gone(name) else []
        except (FileNotFoundError, NotADirectoryError):
            if not is_real_folder(upper):
                raise
            below = []
        known = set(above)
        return above + [each for each in below if each not in known and not self.is_gone(f"{name}/{each}")]


def read_log(path: str) -> tuple[str, ...]:
    """The paths in a log of contained writes, each once; () where there is none."""
    try:
        with open_real(path, "rb") as file:
            names = file.read().split(b"\0")
    except FileNotFoundError:
        return ()
    return tuple(dict.fromkeys(os.fsdecode(name) for name in names if name))
