"""What the script changes, written to the scratch layer in place of the user's files.

Nothing is patched here: :mod:`containment` routes Python's file functions through the layer.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator

from accel_advisor.tuning.probe.containment.scratch_layer import (
    COPY_BYTES,
    GONE,
    Layer,
    copy_real,
    is_real_folder,
    make_folders,
    open_real,
    read_log,
    real_access,
    real_exists,
    real_listdir,
    real_mkdir,
    real_open,
    real_rename,
    real_rmdir,
    real_stat,
    real_symlink,
    real_unlink,
)


class Overlay(Layer):
    """The layer, and every way to change what is in it."""

    # -- changing -----------------------------------------------------------------------------------------------

    def note(self, name: str) -> None:
        """Remember that a path was contained; in a file, so that workers' writes are known too."""
        self.used_flag[0] = 1
        if name in self.logged:
            return
        self.logged.add(name)
        number = real_open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(number, os.fsencode(name) + b"\0")
        finally:
            os.close(number)

    def contained(self) -> tuple[str, ...]:
        """Every path that was contained, in the order of the first write."""
        return read_log(self.log)

    def expose(self, path: str) -> None:
        """A file is about to be written where it is, behind the layer's back: save what it holds, so that the parent
        can put it back."""
        name = self.follow(self.name(path))
        if self.free(name) or name in self.exposed:
            return
        self.exposed.add(name)
        saved = f"{self.scratch}/overlay/exposed/{len(self.exposed)}-{os.getpid()}"
        make_folders(saved)
        with open_real(f"{saved}/name", "wb") as file:
            file.write(os.fsencode(name))
        if real_exists(name) and stat.S_ISREG(real_stat(name).st_mode) and real_stat(name).st_size <= COPY_BYTES:
            copy_real(name, f"{saved}/content")
        elif not real_exists(name):
            make_folders(f"{saved}/absent")

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
        name = self.follow(name)
        if self.free(name):
            return path
        place = self.place_of(name)
        if place is not None and real_exists(place):
            status = real_stat(place)
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
            if not stat.S_ISREG(status.st_mode):
                return path  # a pipe, a socket, a device
            if place == name and not real_access(name, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
            if keep and place == name and status.st_size > COPY_BYTES:
                return path
        elif not create:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        upper = self._lift_folder(name, path)
        if place == name and real_exists(name):
            if keep:
                copy_real(name, upper)
            else:
                os.close(
                    real_open(upper, os.O_WRONLY | os.O_CREAT, stat.S_IMODE(real_stat(name).st_mode) | stat.S_IWUSR)
                )
        self._appear(name)
        return upper

    def _lift_folder(self, name: str, path: str) -> str:
        folder = os.path.dirname(name)
        if not self.is_folder(folder):
            code = errno.ENOTDIR if self.exists(folder) else errno.ENOENT
            raise OSError(code, os.strerror(code), path)
        make_folders(self.upper + folder)
        return self.upper + name

    def _appear(self, name: str) -> None:
        if self.used and self.is_gone(name):
            real_unlink(f"{self.gone}{name}/{GONE}")
        self.note(name)

    def _vanish(self, name: str) -> None:
        """Hide a real path, which may be a folder with all below it."""
        marker = self.gone + name
        if is_real_folder(name) and self.link_at(name) is None:
            for each in real_listdir(name):
                self._vanish(f"{name}/{each}")
        make_folders(marker)
        os.close(real_open(f"{marker}/{GONE}", os.O_WRONLY | os.O_CREAT, 0o600))
        self.note(name)

    def lift(self, path: str, *, follow: bool = True) -> str:
        """The path in the layer of something that exists, copied up as it is: for changes of its mode or times."""
        name = self.name(path)
        if follow:
            name = self.follow(name)
        if self.free(name):
            return path
        place = self.place_of(name)
        if self.link_at(place) is not None:  # of the link itself
            if place == name:
                copy_real(name, self._lift_folder(name, path))
                self.note(name)
            return self.upper + name
        if self.is_folder(name):
            self.note(name)
            make_folders(self.upper + name)
            return self.upper + name
        return self.writing(name, keep=True, create=False)

    def mkdir(self, path: str, mode: int = 0o777) -> None:
        """As :func:`os.mkdir`."""
        name = self.name(path)
        if self.free(name):
            return real_mkdir(path, mode)
        if self.exists(path, follow=False):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        real_mkdir(self._lift_folder(name, path), mode)
        self._cover(name)
        self._appear(name)
        return None

    def _cover(self, name: str) -> None:
        """A folder comes where a real link to a folder was: what that leads to is not in the new one."""
        if self.link_at(name) is not None and is_real_folder(name):
            for each in real_listdir(name):
                self._vanish(f"{name}/{each}")

    def rmdir(self, path: str) -> None:
        """As :func:`os.rmdir`."""
        name = self.name(path)
        if self.free(name):
            return real_rmdir(path)
        if not self._is_own_folder(name):
            code = errno.ENOTDIR if self.exists(path, follow=False) else errno.ENOENT
            raise OSError(code, os.strerror(code), path)
        if self.names_in(path):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        if real_exists(self.upper + name):
            real_rmdir(self.upper + name)
        if real_exists(name):
            self._vanish(name)
        return None

    def unlink(self, path: str) -> None:
        """As :func:`os.unlink`."""
        name = self.name(path)
        if self.free(name):
            return real_unlink(path)
        place = self.place_of(name)
        if place is None or not real_exists(place):
            above = os.path.dirname(name)
            code = errno.ENOTDIR if self.exists(above) and not self.is_folder(above) else errno.ENOENT
            raise OSError(code, os.strerror(code), path)
        if is_real_folder(place) and self.link_at(place) is None:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if place != name:
            real_unlink(place)
        if real_exists(name):
            self._vanish(name)
        self.folders.clear()
        return None

    def rename(self, source: str, target: str) -> None:
        """As :func:`os.rename` and :func:`os.replace`."""
        old, new = self.name(source), self.name(target)
        if self.free(old) and self.free(new):
            return real_rename(source, target)
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
            if is_real_folder(place) and self.link_at(place) is None:
                make_folders(landing)
            else:
                if real_exists(landing):
                    real_unlink(landing)
                copy_real(place, landing)
            if not self.free(new):
                self._appear(new + each[len(old) :])
        self._drop(old)
        self.folders.clear()
        return None

    def _is_own_folder(self, name: str) -> bool:
        place = self.place_of(name)
        return place is not None and is_real_folder(place) and self.link_at(place) is None

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
        place = self.place_of(name)
        if place is None:
            return
        yield name, place
        if is_real_folder(place) and self.link_at(place) is None:
            for each in self.names_in(name) if not self.free(name) else real_listdir(name):
                yield from self._merged(f"{name}/{each}")

    def _drop(self, name: str) -> None:
        """Let a path and all below it be gone."""
        if self.free(name):
            if is_real_folder(name):
                shutil.rmtree(name)
            else:
                real_unlink(name)
            return
        upper = self.upper + name
        if is_real_folder(upper) and self.link_at(upper) is None:
            for each in real_listdir(upper):
                self._drop(f"{name}/{each}")
            real_rmdir(upper)
        elif real_exists(upper):
            real_unlink(upper)
        if real_exists(name) and not self.is_gone(name):
            self._vanish(name)

    def symlink(self, source: str, target: str) -> None:
        """As :func:`os.symlink`."""
        name = self.name(target)
        if self.free(name):
            return real_symlink(source, target)
        if self.exists(target, follow=False):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), source, None, target)
        real_symlink(source, self._lift_folder(name, target))
        self._appear(name)
        self.folders.clear()
        return None

    def link(self, source: str, target: str) -> None:
        """As :func:`os.link`, by a copy."""
        name = self.name(target)
        if self.exists(target, follow=False):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), source, None, target)
        into = target if self.free(name) else self._lift_folder(name, target)
        copy_real(self.reading(source), into)
        if not self.free(name):
            self._appear(name)
