"""The server of one client: what it has open, and what is sent to it unasked."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from accel_advisor import __version__
from accel_advisor.config import ConfigError
from accel_advisor.finding import Finding
from accel_advisor.rule import registry
from accel_advisor.rule_page import RulePage, rule_page
from accel_advisor.selection import SelectorError
from accel_advisor.server.checking import Checking
from accel_advisor.server.measured_figures import Trials
from accel_advisor.server.open_files import OpenFile
from accel_advisor.server.protocol_findings import Translator
from accel_advisor.server.running_trials import RunningTrial
from accel_advisor.server.workspaces import SECTION, Settings, Workspaces

TUNE = f"{SECTION}.tune"
WATCHED = ("**/*.py", "**/*.ipynb", "**/pyproject.toml", "**/requirements*.txt", "**/.gitignore", "**/*.json")

Answer = TypeVar("Answer")


class AdvisorServer(LanguageServer):
    """The server of one client."""

    def __init__(self) -> None:
        cells = types.NotebookCellLanguage(language="python")
        selector = types.NotebookDocumentFilterWithNotebook("*", [cells])
        super().__init__(
            "accel-advisor",
            __version__,
            types.TextDocumentSyncKind.Incremental,
            types.NotebookDocumentSyncOptions([selector], save=True),
        )
        self.workspaces = Workspaces()
        self.checking = Checking(self.workspaces, self.publish, self.failed)
        self.trials = Trials()
        self._wrong_settings = ""
        self._running: dict[str, RunningTrial] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Into the client's log: a message for each would only be in the way."""
        logging.getLogger(__name__).error("%s", error, exc_info=error)

    @property
    def translator(self) -> Translator:
        """Says where things stand in what is open now."""
        edits = self.client_capabilities.workspace and self.client_capabilities.workspace.workspace_edit
        return Translator(self.workspaces.at, self.encoding, versioned=bool(edits and edits.document_changes))

    @property
    def encoding(self) -> str:
        """The units in which the client counts characters."""
        return str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))

    def publish(self, file: OpenFile) -> None:
        """Sends the findings of a file to the client."""
        checked, translator = file.checked, self.translator
        found: dict[str, list[types.Diagnostic]] = {uri: [] for uri in (*file.uris, *file.published)}
        for one in checked.findings if checked is not None else ():
            translated = translator.diagnostic(one, _address(one))
            if translated is not None:
                found.setdefault(translated[0], []).append(translated[1])
        for uri, diagnostics in found.items():
            version = file.version_of(uri)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))
        file.published, file.failure = set(file.uris), ""
        self._forget_finished()

    def _forget_finished(self) -> None:
        """pygls (2.1) keeps for ever what became of each notification: some kilobytes for each key."""
        kept = getattr(self.protocol, "_request_futures", {})
        for number in [number for number, future in kept.items() if future.done()]:
            del kept[number]

    def withdraw(self, file: OpenFile) -> None:
        """Takes the findings of a closed file away."""
        for uri in file.published:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def failed(self, file: OpenFile, error: Exception) -> None:
        """Says why nothing is found in a file, once for all open files that it is true of."""
        usable = isinstance(error, (ConfigError, SelectorError, ValueError))
        text = str(error) if usable else f"internal error: {type(error).__name__}: {error}; please report it"
        if not usable:
            logging.getLogger(__name__).error("%s", error, exc_info=error)
        told = any(one.failure == text for one in self.workspaces.files.values())
        file.failure = text
        if not told:
            self.say(types.MessageType.Error, text)

    def say(self, kind: types.MessageType, text: str) -> None:
        """Shows a sentence to the person."""
        self.window_show_message(types.ShowMessageParams(kind, f"accel-advisor: {text}"))

    async def findings(self, file: OpenFile) -> tuple[Finding, ...]:
        """What is found in the texts as they are; nothing where that cannot be said."""
        try:
            if await self.checking.current(file) and file.checked is not None:
                return file.checked.findings
        except (ConfigError, SelectorError) as error:
            self.failed(file, error)
        return ()

    def set_up(self, path: str, data: Any) -> None:
        """Adds a folder with settings, or without where they cannot be used."""
        settings, wrong = Settings(), ""
        try:
            settings = Settings.of(data)
        except ValueError as error:
            wrong = str(error)
            if wrong != self._wrong_settings:
                self.say(types.MessageType.Error, wrong)
        self._wrong_settings = wrong
        self.workspaces.add(path, settings)

    async def asked(self, question: Awaitable[Answer]) -> Answer | None:
        """What the client answers; None where it refuses what it said that it can."""
        try:
            return await question
        except JsonRpcException as error:
            logging.getLogger(__name__).warning("the client refused a request: %s", error)
            return None

    async def configure(self) -> None:
        """Asks the client for the settings of each folder."""
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.configuration:
            folders = list(self.workspaces.folders)
            items = [types.ConfigurationItem(Path(one).as_uri(), SECTION) for one in folders]
            answers = await self.asked(self.workspace_configuration_async(types.ConfigurationParams(items)))
            for path, data in zip(folders, answers or (), strict=False):
                if data is not None:
                    self.set_up(path, data)
        self.checking.soon()

    async def watch(self) -> None:
        """Asks the client to say when settings, and files on disk, change."""
        workspace = self.client_capabilities.workspace
        configuration = workspace and workspace.did_change_configuration
        if configuration and configuration.dynamic_registration:  # VS Code tells only those who asked
            await self._register(types.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": SECTION})
        files = workspace and workspace.did_change_watched_files
        if files and files.dynamic_registration:
            watchers = [types.FileSystemWatcher(one) for one in WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            await self._register(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)

    async def _register(self, method: str, options: Any) -> None:
        registration = types.Registration(method, method, options)
        await self.asked(self.client_register_capability_async(types.RegistrationParams([registration])))

    def stop(self) -> None:
        """Ends what is under way."""
        for trial in self._running.values():
            trial.stop()
        self.checking.stop()

    def start_trial(self, script: str) -> None:
        """Starts a trial of a script or notebook as it is on disk, unless one of it runs."""
        name, file = Path(script).name, self.workspaces.at(script)
        if script in self._running:
            self.say(types.MessageType.Info, f"a trial of {name} runs already")
            return
        if not os.path.isfile(script):
            self.say(types.MessageType.Warning, f"{name} was never saved: save it, then measure it")
            return
        if file is not None and file.differs_from_disk:
            self.say(types.MessageType.Warning, f"{name} is measured as it was saved last, without the changes since")
        folder = self.workspaces.folder(script)
        trial = self._running[script] = RunningTrial(script, folder.path, folder.settings.tune_arguments)
        task = asyncio.get_running_loop().create_task(self._tune(trial, folder.path))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tune(self, trial: RunningTrial, root: str) -> None:
        """Runs a trial, and shows how it goes and what it came to."""
        script, token = trial.script, str(uuid4())
        progress = self.client_capabilities.window and self.client_capabilities.window.work_done_progress
        if progress:
            await self.asked(self.work_done_progress.create_async(token))
            title = f"accel-advisor tune {Path(script).name}"
            self.work_done_progress.begin(token, types.WorkDoneProgressBegin(title, cancellable=True))
            self.work_done_progress.tokens[token].add_done_callback(lambda _: trial.stop())

        def said(line: str) -> None:
            self.window_log_message(types.LogMessageParams(types.MessageType.Log, line))
            if progress:
                self.work_done_progress.report(token, types.WorkDoneProgressReport(message=line.strip()))

        try:
            status, lines = await trial.run(said)
            text = "" if trial.stopped else lines.strip().rpartition("\n")[2] or f"tune ended with status {status}"
        except OSError as error:
            status, text = 2, f"no trial can be started: {error}"
        finally:
            trial.stop()
            self._running.pop(script, None)
        if progress:
            self.work_done_progress.end(token, types.WorkDoneProgressEnd())
            self.work_done_progress.tokens.pop(token, None)
        measured = self.trials.of(script, root, [str(trial.record)]) if status in (0, 1) else None
        kind = types.MessageType.Info if status == 0 else types.MessageType.Warning
        text = measured.text if measured is not None else text or "the trial was stopped"
        self.window_show_message(types.ShowMessageParams(kind, f"{Path(script).name}: {text}"))
        lens = self.client_capabilities.workspace and self.client_capabilities.workspace.code_lens
        if lens and lens.refresh_support:
            await self.asked(self.workspace_code_lens_refresh_async(None))


@cache
def page_of(code: str) -> RulePage | None:
    """The page of a rule; None for the tool's own codes."""
    rule = registry().get(code)
    return rule_page(rule) if rule is not None else None


def _address(finding: Finding) -> str | None:
    page = page_of(finding.code)
    return page.url if page is not None else None
