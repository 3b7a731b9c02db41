"""When texts are checked: shortly after the last key, the latest text first, one at a time, never in the loop that
answers the client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from accel_advisor.linting.garbage_collection import collect_what_is_new
from accel_advisor.server.open_files import OpenFile
from accel_advisor.server.workspaces import Workspaces

DELAY = 0.06
"""Seconds without a key after which a text is checked."""
STACK_BYTES = 64 << 20
"""Of the thread that parses: deep syntax needs as much as the main thread of a process has, and more."""

Answer = TypeVar("Answer")


class Checking:
    """Checks the open files of workspaces.

    Args:
        publish: is given each file with a new answer, in the loop.
        failed: is given what kept a file from being checked, such as a configuration that cannot be used.
    """

    def __init__(
        self, workspaces: Workspaces, publish: Callable[[OpenFile], None], failed: Callable[[OpenFile, Exception], None]
    ) -> None:
        self._workspaces = workspaces
        self._publish = publish
        self._failed = failed
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="check")
        self._edited: OpenFile | None = None
        self._due = 0.0
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins, in the loop that runs."""
        before = threading.stack_size(STACK_BYTES)
        try:
            self._pool.submit(int).result()
        finally:
            threading.stack_size(before)
        self._task = asyncio.get_running_loop().create_task(self._run())

    def stop(self) -> None:
        """Ends, without waiting for an answer that is under way."""
        if self._task is not None:
            self._task.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def soon(self, file: OpenFile | None = None) -> None:
        """Checks what is open after a moment of silence, and the file that was edited first."""
        self._edited = file or self._edited
        self._due = asyncio.get_running_loop().time() + DELAY
        self._woken.set()

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """What a function says in the thread that checks."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def current(self, file: OpenFile) -> bool:
        """Makes sure that what is known of a file is about all texts as they are; False where it was closed meanwhile.

        Raises:
            ConfigError, SelectorError: as :meth:`~accel_advisor.library.engine.Engine.check`.
        """
        while file.checked_at != self._workspaces.changes:
            if self._workspaces.files.get(file.uri) is not file:
                return False
            await self._check(file)
        return True

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._woken.wait()
            while (left := self._due - loop.time()) > 0:
                await asyncio.sleep(left)
            self._woken.clear()
            first, self._edited = self._edited, None
            if first is not None and self._workspaces.files.get(first.uri) is first:
                await self._check_each([first])
            if not self._woken.is_set():  # else the text is another one by now, and comes first again
                await self._check_each(list(self._workspaces.files.values()))

    async def _check_each(self, files: Sequence[OpenFile]) -> None:
        """Checks files one by one, until a text changes: that comes first. What keeps one from being checked does not
        keep the others."""
        for file in files:
            try:
                if not await self._check(file):
                    return
            except Exception as error:
                self._failed(file, error)

    async def _check(self, file: OpenFile) -> bool:
        """Checks a file, where that is not done, and publishes what is found; False where a text changed meanwhile."""
        if file.checked_at == self._workspaces.changes:
            return True
        changes, found = await self.run(lambda: (self._workspaces.changes, file.engine.check([file.path])))
        if changes != self._workspaces.changes:
            return False
        (file.checked,), file.checked_at = found, changes
        if self._workspaces.files.get(file.uri) is file:
            self._publish(file)
        await self.run(collect_what_is_new)
        return True
