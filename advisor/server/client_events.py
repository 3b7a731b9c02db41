"""What a client tells: texts that are opened, changed, saved and closed, folders, settings and files on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lsprotocol import types
from pygls.uris import to_fs_path

from accel_advisor.server.advisor_server import AdvisorServer
from accel_advisor.server.workspaces import SECTION, roots_of


def initialize(ls: AdvisorServer, params: types.InitializeParams) -> None:
    for path in roots_of(params):
        ls.set_up(path, params.initialization_options)


async def initialized(ls: AdvisorServer, params: types.InitializedParams) -> None:
    ls.checking.start()
    await ls.watch()
    await ls.configure()


def shutdown(ls: AdvisorServer, params: None) -> None:
    ls.stop()


def did_open(ls: AdvisorServer, params: types.DidOpenTextDocumentParams) -> None:
    ls.checking.soon(ls.workspaces.open_text(params.text_document))


def did_change(ls: AdvisorServer, params: types.DidChangeTextDocumentParams) -> None:
    file = ls.workspaces.files.get(params.text_document.uri)
    if file is not None and file.text is not None:
        file.text.apply(params.content_changes, params.text_document.version, ls.encoding)
        ls.workspaces.changed(file)
        ls.checking.soon(file)


def did_close(ls: AdvisorServer, params: types.DidCloseTextDocumentParams) -> None:
    _closed(ls, params.text_document.uri)


def notebook_did_open(ls: AdvisorServer, params: types.DidOpenNotebookDocumentParams) -> None:
    ls.checking.soon(ls.workspaces.open_notebook(params.notebook_document, params.cell_text_documents))


def notebook_did_change(ls: AdvisorServer, params: types.DidChangeNotebookDocumentParams) -> None:
    file = ls.workspaces.files.get(params.notebook_document.uri)
    if file is not None and file.notebook is not None:
        file.notebook.apply(params.change, ls.encoding)
        ls.workspaces.changed(file)
        ls.checking.soon(file)


def notebook_did_close(ls: AdvisorServer, params: types.DidCloseNotebookDocumentParams) -> None:
    _closed(ls, params.notebook_document.uri)


def disk_changed(
    ls: AdvisorServer,
    params: types.DidSaveTextDocumentParams | types.DidSaveNotebookDocumentParams | types.DidChangeWatchedFilesParams,
) -> None:
    ls.workspaces.look_again()
    ls.checking.soon()


async def folders(ls: AdvisorServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    for removed in params.event.removed:
        if (path := to_fs_path(removed.uri)) is not None:
            ls.workspaces.remove(path)
    for added in params.event.added:
        if (path := to_fs_path(added.uri)) is not None:
            ls.set_up(path, None)
    await ls.configure()


async def configuration(ls: AdvisorServer, params: types.DidChangeConfigurationParams) -> None:
    sent = params.settings.get(SECTION) if isinstance(params.settings, dict) else None
    if sent is not None:
        for path in list(ls.workspaces.folders):
            ls.set_up(path, sent)
    await ls.configure()


def _closed(ls: AdvisorServer, uri: str) -> None:
    file = ls.workspaces.close(uri)
    if file is not None:
        ls.withdraw(file)
        ls.checking.soon()


EVENTS: Mapping[str, Callable[..., Any]] = {
    types.INITIALIZE: initialize,
    types.INITIALIZED: initialized,
    types.SHUTDOWN: shutdown,
    types.TEXT_DOCUMENT_DID_OPEN: did_open,
    types.TEXT_DOCUMENT_DID_CHANGE: did_change,
    types.TEXT_DOCUMENT_DID_SAVE: disk_changed,
    types.TEXT_DOCUMENT_DID_CLOSE: did_close,
    types.NOTEBOOK_DOCUMENT_DID_OPEN: notebook_did_open,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE: notebook_did_change,
    types.NOTEBOOK_DOCUMENT_DID_SAVE: disk_changed,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE: notebook_did_close,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: disk_changed,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: folders,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: configuration,
}
