"""A client that drives the real server over stdin and stdout, as an editor does."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.io_ import run_async
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

from accel_advisor.server.open_texts import OpenText, Places

from ..forked import Forks

LIMIT = 60
SERVED = """\
import accel_advisor.cli, accel_advisor.commands.server_command, accel_advisor.server.language_server
from accel_advisor.rule import registry
registry()
"""
"""What a server imports before it answers: half of the processor time of a short session."""


class Editor:
    """An editor with one server.

    Attributes:
        published: each notification of diagnostics, in order.
        registered: what the server asked to be told, by method.
    """

    def __init__(self, client: LanguageClient, result: types.InitializeResult) -> None:
        self.client = client
        self.capabilities = result.capabilities
        self.texts: dict[str, OpenText] = {}
        self.published: list[types.PublishDiagnosticsParams] = []
        self.registered: list[str] = []
        self._news = asyncio.Condition()

    def took(self, params: types.PublishDiagnosticsParams) -> None:
        self.published.append(params)
        self.client.diagnostics[params.uri] = params.diagnostics

    def open(self, path: Path, text: str, language: str = "python") -> str:
        uri = path.as_uri()
        self.texts[uri] = OpenText(uri, text, 1)
        item = types.TextDocumentItem(uri, language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def type(self, uri: str, start: int, end: int, new: str) -> int:
        """Replaces characters of a text; the version that this makes."""
        own = self.texts[uri]
        places = Places(own.text, "utf-16")
        change = types.TextDocumentContentChangePartial(places.range(start, end), new)
        own.apply([change], own.version + 1, "utf-16")
        document = types.VersionedTextDocumentIdentifier(own.version, uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        return own.version

    def replace(self, uri: str, text: str) -> int:
        return self.type(uri, 0, len(self.texts[uri].text), text)

    def close(self, uri: str) -> None:
        del self.texts[uri]
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def save(self, uri: str) -> None:
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT):
            while not holds():
                await asyncio.sleep(0.01)

    async def diagnostics(self, uri: str, version: int | None = None) -> Sequence[types.Diagnostic]:
        """Those of a version of a text; of the present one by default."""
        wanted = self.texts[uri].version if version is None else version
        await self.until(lambda: any(one.uri == uri and one.version == wanted for one in self.published))
        return self.client.diagnostics[uri]

    async def actions(self, uri: str, only: Sequence[str] | None = None) -> Sequence[types.CodeAction]:
        text = self.texts[uri].text if uri in self.texts else None
        everything = Places(text, "utf-16").range(0, len(text)) if text is not None else _first_lines()
        context = types.CodeActionContext(list(self.client.diagnostics.get(uri, ())), only=only)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), everything, context)
        found = await self.client.text_document_code_action_async(params)
        return [one for one in found or () if isinstance(one, types.CodeAction)]

    def edited(self, edit: types.WorkspaceEdit | None) -> dict[str, str]:
        """The open texts that an edit changes, as it changes them."""
        assert edit is not None
        changes = [one for one in edit.document_changes or () if isinstance(one, types.TextDocumentEdit)]
        edits = {one.text_document.uri: one.edits for one in changes} | dict(edit.changes or {})
        found: dict[str, str] = {}
        for uri, own in edits.items():
            text = self.texts[uri].text
            places = Places(text, "utf-16")
            for one in sorted(own, key=lambda one: (one.range.start.line, one.range.start.character))[::-1]:
                assert isinstance(one, types.TextEdit)
                text = text[: places.offset(one.range.start)] + one.new_text + text[places.offset(one.range.end) :]
            found[uri] = text
        return found


def _first_lines() -> types.Range:
    return types.Range(types.Position(0, 0), types.Position(100, 0))


@asynccontextmanager
async def editing(
    *roots: Path,
    capabilities: str = "visual-studio-code",
    plain: bool = False,
    settings: Mapping[str, Any] | None = None,
    options: Any = None,
    forks: Forks | None = None,
) -> AsyncIterator[Editor]:
    """An editor that has opened some folders.

    Args:
        capabilities: those of which editor, as pytest-lsp records them.
        plain: without what came to the protocol later: versions of edited texts, and actions that are resolved.
        settings: of the section ``accel-advisor``, by the folder that they are for; ``""`` for all others.
        options: what stands in ``initializationOptions``.
        forks: the server runs in one of these, which began with :data:`SERVED`, instead of a process from its start.
    """
    client = make_test_lsp_client()
    client._configuration = {
        where: {"accel-advisor": dict(data)} for where, data in {"": {}, **(settings or {})}.items()
    }

    registered: list[str] = []

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams) -> None:
        registered.extend(one.method for one in params.registrations)

    @client.feature(types.WORKSPACE_CODE_LENS_REFRESH)
    def refresh(params: None) -> None:
        return None

    can = client_capabilities(capabilities)
    can.notebook_document = types.NotebookDocumentClientCapabilities(
        types.NotebookDocumentSyncClientCapabilities(dynamic_registration=False)
    )
    if plain and can.workspace and can.text_document and can.text_document.code_action:
        can.workspace.workspace_edit = None
        can.text_document.code_action.resolve_support = None
    forked = None
    if forks is None:
        await client.start_io(sys.executable, "-m", "accel_advisor", "server", cwd=str(roots[0]))
    else:
        forked = await _fork(client, forks, roots[0])
    folders = [types.WorkspaceFolder(one.as_uri(), one.name) for one in roots]
    params = types.InitializeParams(can, workspace_folders=folders, initialization_options=options)
    editor: Editor | None = None
    try:
        async with asyncio.timeout(LIMIT):
            result = await client.initialize_session(params)
        editor = Editor(client, result)
        editor.registered = registered
        _listen(client, editor)
        yield editor
    finally:
        async with asyncio.timeout(LIMIT):
            await client.shutdown_session()
            await client.stop()
            if forked is not None:
                done = await forked
                sys.stderr.write(done.stderr)
                assert (done.returncode, done.stdout) == (0, "")


IN_FORK = """\
import os, socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv.pop())
    os.dup2(connection.fileno(), 0)
    os.dup2(connection.fileno(), 1)
from accel_advisor.cli import run
run()
"""
"""The command, whose standard input and output are a socket."""


async def _fork(client: LanguageClient, forks: Forks, folder: Path) -> asyncio.Future[subprocess.CompletedProcess[str]]:
    """Connects a client with a server in a fork; what comes is how that ended."""
    with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as listening:
        address = os.path.join(place, "s")
        listening.bind(address)
        listening.listen()
        listening.setblocking(False)
        words = ["accel-advisor", "server", address]
        done = asyncio.get_running_loop().run_in_executor(None, forks.run, IN_FORK, folder, words)
        async with asyncio.timeout(LIMIT):
            connection, _ = await asyncio.get_running_loop().sock_accept(listening)
    reader, writer = await asyncio.open_unix_connection(sock=connection)
    client.protocol.set_writer(writer)
    reading = run_async(
        stop_event=client._stop_event,
        reader=reader,
        protocol=client.protocol,
        error_handler=client.report_server_error,
    )
    client._async_tasks.append(asyncio.create_task(reading))
    return done


def _listen(client: LanguageClient, editor: Editor) -> None:
    client.protocol.fm._features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = editor.took


def driven(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """A test that is a coroutine."""
    import functools
    import inspect

    @functools.wraps(test)
    def run(*args: Any, **given: Any) -> None:
        asyncio.run(test(*args, **given))  # type: ignore[arg-type]

    run.__signature__ = inspect.signature(test)  # type: ignore[attr-defined]
    return run
